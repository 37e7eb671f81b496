/** Opens inputs that hold rows: what reads them is loaded only then. */

import type { Hdf5Output, Hdf5Rows } from '../formats/rows/hdf5/rows-spec.js';
import type { TableSpec } from '../formats/rows/parquet/table-spec.js';
import { holdsRows, type Input, type RowsRequest } from './source.js';

export interface OpenedRows {
  readonly inputs: readonly Input[];
  /** Of Parquet files. */
  readonly table?: TableSpec | undefined;
  /** Of HDF5 files. */
  readonly hdf5?: Hdf5Rows | undefined;
  readonly output?: Hdf5Output | undefined;
}

/** @param inputs of rows of one format, all of them. */
export async function openRows(inputs: readonly Input[], request: RowsRequest): Promise<OpenedRows> {
  if (inputs.find(holdsRows)?.table.format === 'HDF5') {
    const { openDatasets } = await import('./datasets.js');
    return openDatasets(inputs, request);
  }
  const { openTables } = await import('./tables.js');
  return openTables(inputs, request);
}
