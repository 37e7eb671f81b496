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

export function chunkBytesOf({
  chunkLengths,
  elementBytes,
}: Pick<RowsDataset, 'chunkLengths' | 'elementBytes'>): number {
  return chunkLengths.reduce((product, length) => product * length, elementBytes);
}

/** The rows that a chunk reaches over, and a chunk before and behind its filters. */
export function writerBytes(datasets: readonly RowsDataset[]): number {
  return datasets.reduce(
    (sum, dataset) => sum + dataset.rowBytes * (dataset.chunkLengths[0] ?? 1) + 2 * chunkBytesOf(dataset),
    0,
  );
}
