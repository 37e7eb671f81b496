/**
 * The facts that a job knows of the datasets whose rows it shuffles. Plain data: it crosses threads, and is sealed in
 * the spec.
 */
import type { RowsSpec, WrittenRowsSpec } from '../row-format.js';
import { productOf } from './chunk-box.js';
import type { Filter } from './object-messages.js';

/** A dataset that gives its part to each row, and gets it in the output. */
export interface RowsDataset {
  readonly path: string;
  readonly elementBytes: number;
  /** The type as `Datatype` says it. */
  readonly type: string;
  readonly rowShape: readonly number[];
  readonly rowBytes: number;
  /** The lengths of a chunk of the output; the first one counts rows. */
  readonly chunkLengths: readonly number[];
  readonly filters: readonly Filter[];
  /** How far it may grow; the first one counts rows, and null is no limit. A 0 there: not at all. */
  readonly mostLengths: readonly (number | null)[];
}

/** The facts that threads know of rows that they read. */
export interface Hdf5Rows extends RowsSpec {
  readonly datasets: readonly RowsDataset[];
  /** The bytes of a record: the row of each dataset, one after the other. */
  readonly rowBytes: number;
}

/** Rows that are put together at a time stay in the core's cache. */
const JOINED_BYTES = 128 * 1024;

export function joinedRowsOf(rowBytes: number): number {
  return Math.max(1, Math.floor(JOINED_BYTES / rowBytes));
}

/** The beginning of an output, without what its rows decide. */
export interface FileHead {
  /** Base64, from the superblock on. */
  readonly bytes: string;
  readonly byteLength: number;
  /** The rows of each dataset. */
  readonly rows: readonly RowsHead[];
}

/** Places in the head: of the header of an object, of its number of rows, and of the address of its index of chunks. */
export interface RowsHead {
  readonly start: number;
  readonly end: number;
  readonly countAt: number;
  readonly treeAt: number;
}

/** How rows are written. */
export interface Hdf5Output extends WrittenRowsSpec {
  /** Whole chunks of all datasets that are appended together have so many rows. */
  readonly unitRows: number;
  readonly head: FileHead;
}

/** Returns the memory of a writer: the rows that a chunk reaches over, and a chunk before and after its filters. */
export function writerBytes(datasets: readonly RowsDataset[]): number {
  return datasets.reduce(
    (sum, dataset) =>
      sum +
      dataset.rowBytes * (dataset.chunkLengths[0] ?? 1) +
      2 * productOf(dataset.chunkLengths, dataset.elementBytes),
    0,
  );
}
