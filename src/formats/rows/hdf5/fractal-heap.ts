/** Fractal heaps: where groups with many links, and objects with many attributes, store their messages. */
import { recordsOfTree } from './b-trees.js';
import { bytesFor, CHECKSUM_BYTES, Cursor, type Hdf5Bytes, Hdf5Problem } from './hdf5-bytes.js';

const HEADER_BYTES = 142 + CHECKSUM_BYTES;
const ADDRESS_BYTES = 8;
/** Kinds of objects, by the first byte of their ids. Messages are too long for the third kind. */
const KIND_BITS = 0x30;
const MANAGED = 0;
const HUGE = 0x10;

/** @returns a reader of the objects of a heap by their ids. */
function openHeap(file: Hdf5Bytes, address: number): { idBytes: number; read(id: Cursor): Buffer } {
  const header = file.checked(address, HEADER_BYTES).expect('FRHP').skip(1);
  const idBytes = header.u16();
  if (header.u16() !== 0) throw new Hdf5Problem('it has filtered links or attributes, which cannot be read', false);
  const mostManagedBytes = header.skip(1).u32();
  const hugeTree = header.skip(8).u64OrNone();
  const width = header.skip(10 * 8).u16();
  const [startBytes, mostDirectBytes] = [header.u64(), header.u64()];
  const offsetBytes = Math.ceil(header.u16() / 8);
  const root = header.skip(2).u64OrNone();
  const rootRows = header.u16();
  if (width === 0 || startBytes === 0) throw new Hdf5Problem(`the heap at byte ${address} is damaged`);
  const lengthBytes = Math.min(Math.ceil(Math.log2(mostDirectBytes) / 8), bytesFor(mostManagedBytes));
  const blockBytesIn = (row: number) => startBytes * 2 ** Math.max(0, row - 1);

  /** An indirect block leads to rows of blocks, each row after the second with blocks twice as large. */
  const managed = (offset: number, byteLength: number) => {
    let [block, rows, within] = [root, rootRows, offset];
    while (rows > 0 && block !== undefined) {
      let row = 0;
      for (; row < rows && within >= width * blockBytesIn(row); row++) within -= width * blockBytesIn(row);
      const blockBytes = blockBytesIn(row);
      const entry = row * width + Math.floor(within / blockBytes);
      within %= blockBytes;
      block = file.at(block + 5 + ADDRESS_BYTES + offsetBytes + entry * ADDRESS_BYTES, ADDRESS_BYTES).u64OrNone();
      // A block that is too large for a direct one has as many rows as fill it.
      rows = blockBytes <= mostDirectBytes ? 0 : Math.log2(blockBytes / (startBytes * width)) + 1;
    }
    return block === undefined ? undefined : file.at(block + within, byteLength).take(byteLength);
  };
  const huge = (number: number) => {
    for (const record of hugeTree === undefined ? [] : recordsOfTree(file, hugeTree)) {
      const [position, byteLength] = [record.u64(), record.u64()];
      if (record.u64() === number) return file.at(position, byteLength).take(byteLength);
    }
    return undefined;
  };
  const read = (id: Cursor) => {
    const kind = id.u8() & KIND_BITS;
    const found =
      kind === MANAGED
        ? managed(id.uint(offsetBytes), id.uint(lengthBytes))
        : kind === HUGE
          ? huge(id.uint(Math.min(8, id.left)))
          : undefined;
    if (found !== undefined) return found;
    throw new Hdf5Problem(`the heap at byte ${address} lacks a link or an attribute that its index names`);
  };
  return { idBytes, read };
}

interface MessageInHeap {
  readonly body: Buffer;
  /** The rest of its record in the tree. */
  readonly record: Cursor;
}

/**
 * All messages in a heap, in the order of a tree.
 * @param idAt where records of the tree have the id of a message in the heap.
 */
export function* messagesInHeap(file: Hdf5Bytes, heap: number, tree: number, idAt: number): Generator<MessageInHeap> {
  const { idBytes, read } = openHeap(file, heap);
  for (const record of recordsOfTree(file, tree))
    yield { body: read(new Cursor(record.skip(idAt).take(idBytes), heap)), record };
}
