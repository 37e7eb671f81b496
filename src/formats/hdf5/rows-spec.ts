/** What a job knows of the datasets whose rows it shuffles. Plain data: it crosses threads, and is sealed in the spec. */
import type { Filter } from './messages.js';
import type { Template } from './template.js';

/** A dataset that gives its part to each row, and gets it in the output. */
export interface RowsDataset {
  readonly path: string;
  readonly elementBytes: number;
  /** What `Datatype` says of the type. */
  readonly type: string;
  readonly rowShape: readonly number[];
  readonly rowBytes: number;
  /** Of a chunk of the output; the first one counts rows. */
  readonly chunkLengths: readonly number[];
  readonly filters: readonly Filter[];
  /** How far it may grow; the first one counts rows, and null is no limit. A 0 there: not at all. */
  readonly mostLengths: readonly (number | null)[];
}

/** What threads know of rows that they read. */
export interface Hdf5Rows {
  readonly datasets: readonly RowsDataset[];
  /** Of a record: the row of each dataset, one after the other. */
  readonly rowBytes: number;
}

/** How rows are written. */
export interface Hdf5Output {
  /** Whole chunks of all datasets that are appended together have so many rows. */
  readonly unitRows: number;
  readonly template: Template;
}

/** Chunks in each further dimension. */
export function gridOf({ rowShape, chunkLengths }: Pick<RowsDataset, 'rowShape' | 'chunkLengths'>): readonly number[] {
  return rowShape.map((length, i) => Math.ceil(length / (chunkLengths[i + 1] ?? 1)));
}

/** Bytes of a block of rows that a chunk reaches over, once to gather rows, and once more to make chunks of them. */
export function writerBytes(datasets: readonly RowsDataset[]): number {
  return datasets.reduce((sum, { rowBytes, chunkLengths }) => sum + 3 * rowBytes * (chunkLengths[0] ?? 1), 0);
}
