/**
 * The formats of rows, by the names that messages have: how a file is known, which options are theirs, and what loads the
 * rest of them. To add a format: an entry.
 */
import { findStart, HDF5_SIGNATURE } from './hdf5/find-start.js';
import { finderOfDataset } from './hdf5/row-value.js';
import { finderOfLeaf } from './parquet/leaf-value.js';
import type { RowFacts, RowFormat, RowValueFinder, RowValueSpec } from './row-format.js';

export interface KnownRowFormat {
  /** Bytes at the beginning of a file, as latin1. */
  readonly magics: readonly string[];
  /** The magic bytes may begin a text. */
  readonly needsNul?: true;
  /** Finds where data begin that have other bytes before them. */
  readonly findStart?: typeof findStart;
  /** The endings of names, without dots. Outputs get the first one. */
  readonly endings: readonly [string, ...string[]];
  /** Its own options, with what each does. */
  readonly options: Readonly<Record<string, string>>;
  /** Returns what finds a value that `RowFormat.seek` gives. Absent: it gives none. */
  finderOf?(value: RowValueSpec): RowValueFinder;
  readonly load: () => Promise<RowFormat>;
}

/** A program may add its own. */
export const rowFormats: Record<string, KnownRowFormat> = {
  Parquet: {
    magics: ['PAR1', 'PARE'],
    needsNul: true,
    endings: ['parquet', 'pq'],
    options: {
      columns: 'chooses columns',
      hive: 'adds columns to rows',
      parquetCodec: 'compresses pages',
      rowGroupBytes: 'limits row groups',
      rowGroupRows: 'limits row groups',
    },
    finderOf: finderOfLeaf,
    load: async () => (await import('./parquet/parquet-format.js')).PARQUET,
  },
  HDF5: {
    magics: [HDF5_SIGNATURE],
    findStart,
    endings: ['h5', 'hdf5'],
    options: { hdf5: 'names datasets' },
    finderOf: finderOfDataset,
    load: async () => (await import('./hdf5/hdf5-format.js')).HDF5,
  },
};

function known(name: string): KnownRowFormat {
  const format = rowFormats[name];
  if (format === undefined) throw new RangeError(`there is no format of rows ${name}`);
  return format;
}

export function loadRowFormat({ format }: { readonly format: string }): Promise<RowFormat> {
  return known(format).load();
}

/** @throws RangeError for a format whose rows have no values. */
export function finderOfRows(value: RowValueSpec): RowValueFinder {
  const find = known(value.format).finderOf?.(value);
  if (find !== undefined) return find;
  throw new RangeError(`rows of ${value.format} have no values`);
}

/** Returns the ending of outputs of rows. */
export function extensionOfRows(format: string): string {
  return `.${known(format).endings[0]}`;
}

/** The facts of rows before they are read. */
export function unreadRows(format: string): RowFacts {
  const none = { rows: 0, rowBytes: 0, unsureBytes: 0, storedBytes: 0, readerBytes: 0 };
  return { format, ...none, isExact: false, mayBeCut: false };
}
