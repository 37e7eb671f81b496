/**
 * Both ends of an output: the head, with the numbers of rows and the places of the indexes of their chunks, and these
 * indexes, after the chunks. Both follow from the spec and from the chunks that are there.
 */
import { encodeUnitDescription, listStagedUnits, type StagedUnitFile } from '../../staged-units.js';
import { gridOf, placeOf, productOf } from './chunk-box.js';
import { chunkTree } from './chunk-tree.js';
import { writtenMask } from './filters/chunk-filters.js';
import { Cursor, packFields, withChecksum } from './hdf5-bytes.js';
import type { FileHead, RowsDataset } from './rows-spec.js';

export interface FileEnds {
  readonly head: Uint8Array;
  tail(): Generator<Uint8Array, void>;
}

/** The places in the superblock of the length of the file, and of its checksum. */
const [END_AT, SUM_AT] = [28, 44];

export function fileEndsOf(
  datasets: readonly RowsDataset[],
  { bytes, byteLength, rows: heads }: FileHead,
  staged: StagedUnitFile,
): FileEnds {
  const head = Buffer.from(bytes, 'base64');
  const { rows, chunks } = chunksOf(datasets, staged, byteLength);
  let end = staged.byteLength;
  const trees = chunks.map(({ dataset, addresses, byteLengths }, i) => {
    const { chunkLengths, elementBytes, rowShape, mostLengths, filters } = dataset;
    const grid = gridOf([0, ...rowShape], chunkLengths);
    const mask = writtenMask(filters);
    const entryAt = (n: number) => {
      return { place: placeOf(n, grid), address: addresses[n] ?? 0, byteLength: byteLengths[n] ?? 0, mask };
    };
    const tree = chunkTree({ count: addresses.length, chunkLengths, elementBytes, entryAt }, end);
    end += tree.byteLength;
    const ofRows = heads[i];
    if (ofRows === undefined) throw new RangeError(`the head has no dataset ${dataset.path}`);
    const { start, countAt, treeAt } = ofRows;
    const [most = null] = mostLengths;
    head.set(packFields([rows, 8]), countAt);
    if (most !== null) head.set(packFields([Math.max(most, rows), 8]), countAt + 8 * chunkLengths.length);
    head.set(packFields([tree.root, 8]), treeAt);
    head.set(withChecksum(head.subarray(start, ofRows.end - 4)), start);
    return tree;
  });
  head.set(packFields([end, 8]), END_AT);
  head.set(withChecksum(head.subarray(0, SUM_AT)));
  return {
    head,
    *tail() {
      for (const tree of trees) yield* tree.nodes();
    },
  };
}

/** The chunks of a dataset in the file, in row-major order. */
interface WrittenChunks {
  readonly dataset: RowsDataset;
  readonly addresses: number[];
  readonly byteLengths: number[];
}

function chunksOf(
  datasets: readonly RowsDataset[],
  staged: StagedUnitFile,
  headerBytes: number,
): { readonly rows: number; readonly chunks: readonly WrittenChunks[] } {
  const chunks = datasets.map((dataset): WrittenChunks => ({ dataset, addresses: [], byteLengths: [] }));
  let rows = 0;
  for (const { start, description } of listStagedUnits(staged, headerBytes)) {
    const numbers = new Cursor(description());
    const unitRows = numbers.u32();
    rows += unitRows;
    let address = start;
    for (const { dataset, addresses, byteLengths } of chunks) {
      const count = productOf(gridOf([unitRows, ...dataset.rowShape], dataset.chunkLengths));
      for (let i = 0; i < count; i++) {
        const byteLength = numbers.u32();
        addresses.push(address);
        byteLengths.push(byteLength);
        address += byteLength;
      }
    }
  }
  return { rows, chunks };
}

/** Describes a unit, the chunks of some rows, dataset by dataset. Returns what follows them in the staged file. */
export function describeChunks(rows: number, chunkBytes: readonly number[]): Buffer {
  const numbers = new Uint8Array(Uint32Array.from([rows, ...chunkBytes]).buffer);
  return encodeUnitDescription(
    numbers,
    chunkBytes.reduce((sum, byteLength) => sum + byteLength, 0),
  );
}
