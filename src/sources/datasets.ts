/** Files of datasets: their structure is read before the job, and must have the same rows in all of them. */

import { InputError } from '../errors.js';
import {
  type ChosenRows,
  chooseRows,
  differenceOf,
  requireRows,
  rowsIn,
  unitRowsOf,
} from '../formats/rows/hdf5/choose-rows.js';
import { type Dataset, readDataset, readerBytes } from '../formats/rows/hdf5/dataset.js';
import { makeHead } from '../formats/rows/hdf5/file-head.js';
import { type FoundObject, objectsIn, openPaths } from '../formats/rows/hdf5/groups.js';
import { Hdf5Bytes, type ReadBytes } from '../formats/rows/hdf5/hdf5-bytes.js';
import { inInput } from '../formats/rows/hdf5/input-error.js';
import { refuseOwnLayouts } from '../formats/rows/hdf5/own-layouts.js';
import { differenceInRest, type Fact, nameOfDataset, restOf } from '../formats/rows/hdf5/rest.js';
import type { Hdf5Output, Hdf5Rows, RowsDataset } from '../formats/rows/hdf5/rows-spec.js';
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

/** @throws InputError if a file is damaged, or differs from the first one in what rows are or mean, or beside them. */
export async function openDatasets(inputs: readonly Input[], request: RowsRequest): Promise<OpenedDatasets> {
  const { signal, writes, onWarning } = request;
  const opened: TableInput[] = [];
  const leftOut = new Set<string>();
  const withBlock: string[] = [];
  let first: FirstDatasets | undefined;
  for (const input of inputs) {
    await hearSignalsAt(opened.length, signal);
    if (!holdsRows(input)) throw new RangeError(`${input.path} holds no rows`);
    const { path } = input;
    inHdf5(input, (file) => {
      if (file.blockBytes > 0) withBlock.push(path);
      const isFirst = first === undefined;
      const comparesRest = writes && inputs.length > 1;
      const objects = isFirst || comparesRest ? objectsIn(file) : undefined;
      first ??= openFirst(file, objects ?? [], path, request);
      const datasets = datasetsIn(file, first.hdf5.datasets, path, first.path, objects);
      if (comparesRest) {
        const rest = restBeside(file, objects ?? [], datasets, first, leftOut);
        if (isFirst) first = { ...first, rest: new Map(rest) };
        else requireSameRest(path, rest, first);
      }
      opened.push({ ...input, table: measure(input, datasets, first.hdf5, path) });
    });
  }
  if (first === undefined) throw new RangeError('there is no input');
  const { hdf5, output, told } = first;
  for (const path of first.leftOut) leftOut.add(path);
  const lost = [
    [[...leftOut], 'left out, because `hdf5` does not name them'],
    [withBlock, 'the block of the user before the HDF5 data is left out'],
  ] as const;
  for (const [paths, what] of writes ? [...told, ...lost] : [])
    if (paths.length > 0) onWarning(`${nameSome(paths)}: ${what}`);
  return { inputs: opened, hdf5, output };
}

/** Facts with which the other inputs are compared. */
interface FirstDatasets extends Omit<OpenedDatasets, 'inputs'> {
  readonly path: string;
  /** Whether the caller named datasets. */
  readonly isNamed: boolean;
  readonly leftOut: ReadonlySet<string>;
  readonly told: ChosenRows['told'];
  /** Empty until it is read. */
  readonly rest: ReadonlyMap<string, Fact>;
}

function inHdf5<T>({ path, version }: FileInput, use: (file: Hdf5Bytes) => T): T {
  return withFile(openForRead(path, 'input'), (file) => {
    const read = inPages((position, byteLength) => readBytes(file, position, byteLength));
    return inInput(path, () => use(new Hdf5Bytes(read, version.byteLength)));
  });
}

/** Structures are small and lie together: a call reads many of them. */
const PAGE_BYTES = 16 * 1024;

function inPages(read: ReadBytes): ReadBytes {
  let start = 0;
  let page: Uint8Array | undefined;
  return (position, byteLength) => {
    const within = position % PAGE_BYTES;
    if (within + byteLength > PAGE_BYTES) return read(position, byteLength);
    if (page === undefined || position - within !== start) page = read(position - within, PAGE_BYTES);
    start = position - within;
    return page.slice(within, within + byteLength);
  };
}

function openFirst(
  file: Hdf5Bytes,
  objects: readonly FoundObject[],
  path: string,
  { read, writes }: RowsRequest,
): FirstDatasets {
  refuseOwnLayouts(file, objects);
  const { datasets, numbers, leftOut, told } = chooseRows(file, objects, read.datasets);
  const rowBytes = datasets.reduce((sum, dataset) => sum + dataset.rowBytes, 0);
  const isNamed = read.datasets !== undefined;
  const head = writes ? makeHead({ file, objects, datasets, rows: numbers, leftOut }) : undefined;
  const output = head && { unitRows: unitRowsOf(datasets), head };
  return { path, hdf5: { datasets, rowBytes }, output, isNamed, leftOut, told, rest: new Map() };
}

/** @param leftOut gets the paths of datasets with as many rows that are not asked for. */
function restBeside(
  file: Hdf5Bytes,
  objects: readonly FoundObject[],
  datasets: readonly Dataset[],
  first: FirstDatasets,
  leftOut: Set<string>,
) {
  const rows = new Set(datasets.map(({ address }) => address));
  const [count] = datasets.map(rowsIn);
  const leavesOut = (dataset: Dataset) => {
    const { path, address } = dataset;
    const mayBe = first.isNamed && !rows.has(address) && !first.rest.has(nameOfDataset(path));
    const isLeftOut = mayBe && rowsIn(dataset) === count;
    if (isLeftOut) leftOut.add(path);
    return isLeftOut;
  };
  return restOf({ file, objects, rows, leavesOut });
}

function requireSameRest(path: string, rest: ReturnType<typeof restOf>, first: FirstDatasets): void {
  const difference = differenceInRest(path, rest, first);
  if (difference === undefined) return;
  throw new InputError(
    'ERR_INPUT_FORMAT',
    `${difference}; the output has it once, so it must be equal in all inputs: change or remove it, or give them to different jobs`,
  );
}

/** The datasets of one file that its rows are made of. */
export function datasetsIn(
  file: Hdf5Bytes,
  expected: readonly RowsDataset[],
  path: string,
  firstPath: string,
  objects?: readonly FoundObject[],
): readonly Dataset[] {
  const objectAt = openPaths(file, objects);
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
