/** Reads pages of columns as a source does, and gives the rows. */
import { ColumnMemory } from '#src/formats/rows/parquet/columns/column-memory.js';
import { LeafReader, type PageToDecode } from '#src/formats/rows/parquet/columns/leaf-reader.js';
import { RowJoiner } from '#src/formats/rows/parquet/columns/row-joiner.js';
import type { Leaf } from '#src/formats/rows/parquet/leaf.js';
import type { PageCodec } from '#src/formats/rows/parquet/row-group.js';

export interface PagesOfLeaf {
  readonly leaf: Leaf;
  readonly codec: PageCodec;
  readonly pages: readonly { readonly header: PageToDecode; readonly body: Uint8Array }[];
  /** From the definition levels of the file to those of the leaf; else they are the same. */
  readonly definitions?: Uint8Array;
}

const noSpare = { takeSpare: () => false, giveSpare: () => {} };

export function openMemory(allowanceBytes = 64 * 1024 * 1024): ColumnMemory {
  return new ColumnMemory(noSpare, allowanceBytes);
}

export interface JoinOptions {
  readonly memory?: ColumnMemory;
  /** Of rows at a time. It grows when one of them is larger. */
  readonly roomBytes?: number;
  readonly rowsAtOnce?: number;
}

/** All rows of a chunk of each leaf. */
export function joinedRows(leaves: readonly PagesOfLeaf[], options: JoinOptions = {}): Buffer[] {
  const { memory = openMemory(), rowsAtOnce = 1000 } = options;
  const readers = leaves.map(
    ({ leaf, definitions }) =>
      new LeafReader(memory, leaf, definitions ?? Uint8Array.from({ length: leaf.maxDefinition + 1 }, (_, i) => i)),
  );
  const joiner = new RowJoiner(memory, readers);
  let room = taken(memory, options.roomBytes ?? 64 * 1024);
  const ends = taken(memory, 4 * rowsAtOnce);
  const waiting = leaves.map(({ pages }) => [...pages]);
  const over = leaves.map(() => false);
  const rows: Buffer[] = [];
  try {
    for (const [i, reader] of readers.entries()) {
      const { codec, pages } = leaves[i] ?? { codec: 'UNCOMPRESSED', pages: [] };
      const data = pages.filter(({ header }) => header.kind === 'data');
      reader.beginChunk({ codec, valueCount: data.reduce((sum, { header }) => sum + header.valueCount, 0) });
    }
    for (;;) {
      for (let i = joiner.starvedLeaf(); i >= 0; i = joiner.starvedLeaf(i)) {
        if (over[i]) return rows;
        const page = waiting[i]?.shift();
        if (page !== undefined) readers[i]?.addPage(page.header, page.body);
        else readers[i]?.endChunk();
        over[i] = page === undefined;
      }
      const { rowCount, neededBytes } = joiner.join(room, ends);
      if (neededBytes > 0) {
        memory.release(room);
        room = taken(memory, neededBytes);
      }
      const view = new DataView(memory.bytes.buffer, ends.address, 4 * rowCount);
      let start = 0;
      for (let i = 0; i < rowCount; i++) {
        const end = view.getUint32(4 * i, true);
        rows.push(Buffer.from(memory.bytes.slice(room.address + start, room.address + end)));
        start = end;
      }
    }
  } finally {
    for (const region of [room, ends]) memory.release(region);
    joiner.close();
    for (const reader of readers) reader.close();
  }
}

function taken(memory: ColumnMemory, byteLength: number) {
  const region = memory.allocate(byteLength);
  if (region === undefined) throw new RangeError(`the memory of a test has no ${byteLength} bytes`);
  return region;
}
