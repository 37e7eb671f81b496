/**
 * Opens HDF5 inputs before the job: requires the same datasets of rows, and equal data beside them, in all; refuses layouts
 * of other programs; makes the head of the output.
 */
import { InputError } from '../../../errors.js';
import { yieldAndCheckAbortAt } from '../../../floor/pause.js';
import { readBytes, withFile } from '../../../io/files.js';
import { openInput } from '../../../places/inputs/input-kinds.js';
import { nameSome } from '../../../values/format-numbers.js';
import type { OpenedRows, RowFacts, RowsFile, RowsRequest } from '../row-format.js';
import { openAttribute, shownValue } from './attributes.js';
import { type ChosenRows, chooseRows, datasetDifference, requireRows, rowsIn, unitRowsOf } from './choose-rows.js';
import { type Dataset, readDataset, readerBytes } from './dataset.js';
import { makeHead } from './file-head.js';
import { attributesOf, type FoundObject, linksOf, objectsIn, openPaths } from './groups.js';
import { Hdf5Bytes, Hdf5Problem, type ReadBytes, withInputErrors } from './hdf5-bytes.js';
import { type Fact, metadataDifference, metadataFacts, nameOfDataset } from './metadata.js';
import type { Hdf5Output, Hdf5Rows, RowsDataset } from './rows-spec.js';

export interface Hdf5Facts extends RowFacts {
  /** Rows from one place where it may be cut to the next. */
  readonly groupRows: number;
}

/** @throws InputError if a file is damaged, or differs from the first one in what rows are or mean, or beside them. */
export async function openDatasets(files: readonly RowsFile[], request: RowsRequest): Promise<OpenedRows> {
  const { signal, writes, onWarning } = request;
  const facts: Hdf5Facts[] = [];
  const leftOut = new Set<string>();
  const withBlock: string[] = [];
  let first: FirstDatasets | undefined;
  for (const each of files) {
    await yieldAndCheckAbortAt(facts.length, signal);
    const { path } = each;
    inHdf5(each, (file) => {
      if (file.blockBytes > 0) withBlock.push(path);
      const isFirst = first === undefined;
      const comparesRest = writes && files.length > 1;
      const objects = isFirst || comparesRest ? objectsIn(file) : undefined;
      first ??= openFirst(file, objects ?? [], path, request);
      const datasets = datasetsIn(file, first.hdf5.datasets, path, first.path, objects);
      if (comparesRest) {
        const metadata = metadataBeside(file, objects ?? [], datasets, first, leftOut);
        if (isFirst) first = { ...first, metadata: new Map(metadata) };
        else requireSameMetadata(path, metadata, first);
      }
      facts.push(measure(each, datasets, first.hdf5));
    });
  }
  if (first === undefined) throw new RangeError('there is no input');
  const { hdf5, output, notices } = first;
  for (const path of first.leftOut) leftOut.add(path);
  const lost = [
    [[...leftOut], 'left out, because `hdf5` does not name them'],
    [withBlock, 'the user block before the HDF5 data is left out'],
  ] as const;
  for (const [paths, what] of writes ? [...notices, ...lost] : [])
    if (paths.length > 0) onWarning(`${nameSome(paths)}: ${what}`);
  const complete = async () => {
    if (output === undefined) throw new RangeError('these rows are only read');
    return output;
  };
  return { facts, rows: hdf5, complete };
}

/** The options of HDF5 inputs. */
interface Hdf5Choice {
  /** The datasets that give rows, by their paths. Absent: all. */
  readonly hdf5?: readonly string[] | undefined;
}

/** Facts with which the other inputs are compared. */
interface FirstDatasets {
  readonly hdf5: Hdf5Rows;
  /** The output. Undefined: nothing is written. */
  readonly output: Hdf5Output | undefined;
  readonly path: string;
  /** True if the caller named datasets. */
  readonly isNamed: boolean;
  readonly leftOut: ReadonlySet<string>;
  readonly notices: ChosenRows['notices'];
  /** Empty until it is read. */
  readonly metadata: ReadonlyMap<string, Fact>;
}

function inHdf5<T>({ path, version }: RowsFile, use: (file: Hdf5Bytes) => T): T {
  return withFile(openInput(path), (file) => {
    const read = inPages((position, byteLength) => readBytes(file, position, byteLength));
    return withInputErrors(path, () => use(new Hdf5Bytes(read, version.byteLength)));
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
  { choice, writes }: RowsRequest,
): FirstDatasets {
  const { hdf5: names }: Hdf5Choice = choice;
  refuseOwnLayouts(file, objects);
  const { datasets, numbers, leftOut, notices } = chooseRows(file, objects, names);
  const rowBytes = datasets.reduce((sum, dataset) => sum + dataset.rowBytes, 0);
  const isNamed = names !== undefined;
  const head = writes ? makeHead({ file, objects, datasets, rows: numbers, leftOut }) : undefined;
  const output = head && { format: 'HDF5', unitRows: unitRowsOf(datasets), head };
  return { path, hdf5: { format: 'HDF5', datasets, rowBytes }, output, isNamed, leftOut, notices, metadata: new Map() };
}

/** @param leftOut gets the paths of datasets with as many rows that are not asked for. */
function metadataBeside(
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
    const mayBe = first.isNamed && !rows.has(address) && !first.metadata.has(nameOfDataset(path));
    const isLeftOut = mayBe && rowsIn(dataset) === count;
    if (isLeftOut) leftOut.add(path);
    return isLeftOut;
  };
  return metadataFacts({ file, objects, rows, leavesOut });
}

function requireSameMetadata(path: string, metadata: ReturnType<typeof metadataFacts>, first: FirstDatasets): void {
  const difference = metadataDifference(path, metadata, first);
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
    const dataset = object && readDataset(file, object);
    const difference = datasetDifference(rows, dataset);
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

function measure({ path, version }: RowsFile, datasets: readonly Dataset[], { rowBytes }: Hdf5Rows): Hdf5Facts {
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
    isExact: true,
    mayBeCut: rows > groupRows,
    groupRows,
    rowBytes: allBytes,
    storedBytes: Math.min(version.byteLength, allBytes),
    readerBytes: readerBytes(datasets),
  };
}

/** A layout in which a row is more than equal places of several datasets: only its own readers can move rows. */
interface OwnLayout {
  /** Matches what an object of this layout has: lines `attribute=value` and `link/`, in the order of names. */
  readonly marks: RegExp;
  readonly what: string;
  readonly remedy: string;
}

const LAYOUTS: readonly OwnLayout[] = [
  {
    marks: /^pandas_type=/m,
    what: 'a table of pandas, whose columns lie in several datasets',
    remedy: 'write it to Parquet: `pandas.read_hdf(FILE, KEY).to_parquet(OUTPUT)`',
  },
  {
    // Tables of the C library have version 3, and no index.
    marks: /^CLASS="(?:TABLE|INDEX)"$[\s\S]*^VERSION="2\./m,
    what: 'a table of PyTables or its index, which does not fit the rows in another order',
    remedy: 'write the table to Parquet: `pandas.DataFrame(table.read()).to_parquet(OUTPUT)`',
  },
  {
    marks: /^(?:encoding-type="cs[rc]_matrix"|h5sparse_format=.*|indptr\/)$/m,
    what: 'a sparse matrix, whose rows have different lengths',
    remedy: 'write it with dense rows (`toarray()`), or to Parquet with lists of indices and values',
  },
  {
    marks: /^(?:MATLAB_class|OCTAVE_NEW_FORMAT)=/m,
    what: 'an array of MATLAB or Octave, which store columns as rows',
    remedy: 'write it transposed with h5py: `output[NAME] = array[()].T`',
  },
];

/** @throws Hdf5Problem if an object has such a layout. */
export function refuseOwnLayouts(file: Hdf5Bytes, objects: readonly FoundObject[]): void {
  for (const { path, header } of objects) {
    const attributes = attributesOf(file, header).map((message) => openAttribute(file, message));
    const has = [
      ...attributes.map(({ name, datatype, data }) => `${name}=${shownValue(file, datatype, data) ?? ''}`),
      ...linksOf(file, header).map(({ name }) => `${name}/`),
    ].sort();
    const layout = LAYOUTS.find(({ marks }) => marks.test(has.join('\n')));
    if (layout !== undefined) throw new Hdf5Problem(`${path} is ${layout.what}; ${layout.remedy}`, false);
  }
}
