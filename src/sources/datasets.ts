/** Files of datasets: their structure is read before the job, and must have the same rows in all of them. */

import { InputError } from '../errors.js';
import { chooseRows, differenceOf, requireRows, unitRowsOf } from '../formats/hdf5/choose-rows.js';
import { type Dataset, readDataset, readerBytes } from '../formats/hdf5/dataset.js';
import { makeHead } from '../formats/hdf5/file-head.js';
import { objectsIn, openPaths } from '../formats/hdf5/groups.js';
import { Hdf5Bytes } from '../formats/hdf5/hdf5-bytes.js';
import { inInput } from '../formats/hdf5/input-error.js';
import type { Hdf5Output, Hdf5Rows, RowsDataset } from '../formats/hdf5/rows-spec.js';
import { openForRead, readBytes, withFile } from '../io/files.js';
import { hearSignalsAt } from '../pause.js';
import { nameSome } from '../quantity.js';
import { type FileInput, holdsRows, type Input, type InputTable, type RowsRequest, type TableInput } from './source.js';

interface OpenedDatasets {
  readonly inputs: readonly Input[];
  readonly hdf5: Hdf5Rows;
  /** Undefined: nothing is written. */
  readonly output: Hdf5Output | undefined;
}

/** @throws InputError if a file is damaged, or has other rows than the first one. */
export async function openDatasets(inputs: readonly Input[], request: RowsRequest): Promise<OpenedDatasets> {
  const { signal } = request;
  const opened: TableInput[] = [];
  let first: (Omit<OpenedDatasets, 'inputs'> & { readonly path: string }) | undefined;
  for (const input of inputs) {
    await hearSignalsAt(opened.length, signal);
    if (!holdsRows(input)) throw new RangeError(`${input.path} holds no rows`);
    const { path } = input;
    inHdf5(input, (file) => {
      first ??= { path, ...openFirst(file, path, request) };
      const datasets = datasetsIn(file, first.hdf5.datasets, path, first.path);
      opened.push({ ...input, table: measure(input, datasets, first.hdf5, path) });
    });
  }
  if (first === undefined) throw new RangeError('there is no input');
  return { inputs: opened, ...first };
}

function inHdf5<T>({ path, version }: FileInput, use: (file: Hdf5Bytes) => T): T {
  return withFile(openForRead(path, 'input'), (file) => {
    const read = (position: number, byteLength: number) => readBytes(file, position, byteLength);
    return inInput(path, () => use(new Hdf5Bytes(read, version.byteLength)));
  });
}

function openFirst(
  file: Hdf5Bytes,
  path: string,
  { read, writes, onWarning }: RowsRequest,
): Omit<OpenedDatasets, 'inputs'> {
  const objects = objectsIn(file);
  const { datasets, addresses, leftOut, told } = chooseRows(file, objects, read.datasets);
  const rowBytes = datasets.reduce((sum, dataset) => sum + dataset.rowBytes, 0);
  const hdf5 = { datasets, rowBytes };
  if (!writes) return { hdf5, output: undefined };
  const head = makeHead({ file, objects, datasets, addresses, leftOut: new Set(leftOut) });
  for (const [paths, what] of told) if (paths.length > 0) onWarning(`${path}: ${nameSome(paths)}: ${what}`);
  return { hdf5, output: { unitRows: unitRowsOf(datasets), head } };
}

/** The datasets of one file that its rows are made of. */
export function datasetsIn(
  file: Hdf5Bytes,
  expected: readonly RowsDataset[],
  path: string,
  firstPath: string,
): readonly Dataset[] {
  const objectAt = openPaths(file);
  const datasets = expected.map((rows) => {
    const object = objectAt(rows.path);
    const dataset = object?.kind === 'dataset' ? readDataset(file, object) : undefined;
    const difference = differenceOf(rows, dataset);
    if (difference !== undefined || dataset === undefined)
      throw new InputError(
        'ERR_INPUT_FORMAT',
        `${path} ${difference}, unlike ${firstPath}; give them to different jobs`,
      );
    requireRows(dataset);
    return dataset;
  });
  const rowsIn = ({ shape }: Dataset) => shape.lengths[0] ?? 0;
  const [first] = datasets;
  const other = datasets.find((dataset) => first !== undefined && rowsIn(dataset) !== rowsIn(first));
  if (first !== undefined && other !== undefined)
    throw new InputError(
      'ERR_INPUT_FORMAT',
      `${path}: ${first.path} has ${rowsIn(first)} rows, and ${other.path} has ${rowsIn(other)}; expected as many`,
    );
  return datasets;
}

function measure(
  { version }: FileInput,
  datasets: readonly Dataset[],
  { rowBytes }: Hdf5Rows,
  path: string,
): InputTable {
  const rows = datasets[0]?.shape.lengths[0] ?? 0;
  if (!Number.isSafeInteger(rows * rowBytes))
    throw new InputError(
      'ERR_INPUT_CORRUPT',
      `${path}: it has ${rows} rows of ${rowBytes} bytes, more than a file can hold`,
    );
  const allBytes = rows * rowBytes;
  // Slices begin at chunks of the dataset with the largest rows.
  const [widest] = datasets.toSorted((a, b) => b.rowBytes - a.rowBytes);
  const groupRows = widest?.blockRows ?? 1;
  return {
    format: 'HDF5',
    rows,
    unsureBytes: 0,
    hasPageIndex: false,
    codec: undefined,
    rowGroups: Math.ceil(rows / groupRows),
    groupRows,
    rowBytes: allBytes,
    storedBytes: Math.min(version.byteLength, allBytes),
    pageBytes: readerBytes(datasets),
  };
}
