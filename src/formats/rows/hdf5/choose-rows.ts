/** Chooses the datasets that give rows, and how their rows are written. */
import { UsageError } from '../../../errors.js';
import { formatPlural, nameSome } from '../../../values/format-numbers.js';
import { type Dataset, readDataset } from './dataset.js';
import { lostFilters, requireKnownFilters } from './filters/chunk-filters.js';
import { type FoundObject, openPaths } from './groups.js';
import { type Hdf5Bytes, Hdf5Problem } from './hdf5-bytes.js';
import type { RowsDataset } from './rows-spec.js';

export interface ChosenRows {
  readonly datasets: readonly RowsDataset[];
  /** Their numbers, by where they lie in the first input. */
  readonly numbers: ReadonlyMap<number, number>;
  /** Datasets with as many rows that were not asked for. */
  readonly leftOut: ReadonlySet<string>;
  /** Datasets of which the user should hear, and what. */
  readonly notices: readonly (readonly [paths: readonly string[], what: string])[];
}

/** @param names undefined: all datasets but those without dimensions, which must have the same number of rows. */
export function chooseRows(
  file: Hdf5Bytes,
  objects: readonly FoundObject[],
  names: readonly string[] | undefined,
): ChosenRows {
  const all = objects.flatMap((object) => readDataset(file, object) ?? []);
  const withRows = all.filter((dataset) => rowsIn(dataset) !== undefined);
  if (names === undefined) requireOneLength(withRows);
  const objectAt = openPaths(file, objects);
  const named = names?.map((name) => {
    const found = objectAt(name);
    const dataset = all.find(({ address }) => address === found?.address);
    if (dataset === undefined) throw noDatasetError(name, all);
    return { ...dataset, path: pathOf(name) };
  });
  const chosen = (named ?? withRows).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const [first] = chosen;
  if (first === undefined) throw new Hdf5Problem('it has no dataset with rows', false);
  const rows = rowsIn(named?.[0] ?? first) ?? 0;
  for (const dataset of chosen) {
    if (rowsIn(dataset) !== rows)
      throw new Hdf5Problem(
        `${dataset.path} has ${rowsIn(dataset) ?? 'no'} rows, and ${first.path} has ${rows}; name datasets of one length`,
        false,
      );
    requireRows(dataset);
  }
  const numbers = new Map(chosen.map(({ address }, i) => [address, i]));
  if (numbers.size < chosen.length) throw new UsageError('`hdf5` names a dataset twice; name it once');
  const others = withRows.filter(({ address }) => !numbers.has(address));
  const leftOut = new Set(pathsOf(others.filter((dataset) => rowsIn(dataset) === rows)));
  const lengths = chunkRowsOf(chosen, rows);
  const changed = chosen.filter(({ chunkLengths }, i) => chunkLengths !== undefined && chunkLengths[0] !== lengths[i]);
  const unpacked = chosen.flatMap(({ path, filters }) => lostFilters(filters).map((name) => `${path} (${name})`));
  return {
    numbers,
    datasets: chosen.map((dataset, i) => rowsDataset(dataset, lengths[i] ?? 1)),
    leftOut,
    notices: [
      [pathsOf(others).filter((path) => !leftOut.has(path)), 'copied as they are, because `hdf5` does not name them'],
      [pathsOf(changed), 'written in chunks of other lengths, so that chunks of all datasets can end together'],
      [unpacked, 'written without these filters, which pileshuf only reads'],
    ],
  };
}

/** Returns the number of rows. Undefined: it has no dimension. */
export function rowsIn({ shape }: Dataset): number | undefined {
  return shape.lengths[0];
}

function pathsOf(datasets: readonly Dataset[]): readonly string[] {
  return datasets.map(({ path }) => path);
}

function requireOneLength(datasets: readonly Dataset[]): void {
  const paths = new Map<number, string[]>();
  for (const dataset of datasets) {
    const rows = rowsIn(dataset) ?? 0;
    const same = paths.get(rows);
    if (same === undefined) paths.set(rows, [dataset.path]);
    else same.push(dataset.path);
  }
  if (paths.size <= 1) return;
  const lengths = [...paths]
    .sort(([a], [b]) => b - a)
    .map(([rows, of]) => `${formatPlural(rows, 'row')} (${nameSome(of)})`);
  throw new Hdf5Problem(
    `its datasets have ${nameSome(lengths, 5)}; expected as many in each: name those whose rows belong together with \`hdf5\`, or remove the others`,
    false,
  );
}

function pathOf(name: string): string {
  return `/${name.split('/').filter(Boolean).join('/')}`;
}

function noDatasetError(name: string, all: readonly Dataset[]): UsageError {
  const known =
    nameSome(
      all.map(({ path }) => path),
      8,
    ) || 'none';
  return new UsageError(`\`hdf5\` names ${pathOf(name)}, and the first input has no such dataset; it has ${known}`);
}

const MOST_ROW_BYTES = 2 ** 30;

export function requireRows(dataset: Dataset): void {
  const { path, type, shape, filters, rowBytes } = dataset;
  const other = 'name the other datasets with `hdf5`, or convert it';
  if (shape.isNull || shape.lengths.length === 0) throw new Hdf5Problem(`${path} has no rows; ${other}`, false);
  if (type.pointers.length > 0)
    throw new Hdf5Problem(
      `${path} has ${type.pointers.some(({ to }) => typeof to === 'object') ? 'values of variable length' : 'references'}, which do not move with a row; ${other}`,
      false,
    );
  if (rowBytes < 1 || rowBytes > MOST_ROW_BYTES)
    throw new Hdf5Problem(`a row of ${path} has ${rowBytes} bytes, expected 1 to ${MOST_ROW_BYTES}; ${other}`, false);
  requireKnownFilters(filters);
}

function rowsDataset(dataset: Dataset, chunkRows: number): RowsDataset {
  const { path, type, filters, shape, rowShape, rowBytes, chunkLengths = shape.lengths } = dataset;
  const [rows = 0] = shape.lengths;
  const [most = null, ...mostOfRow] = shape.mostLengths;
  return {
    path,
    elementBytes: type.byteLength,
    type: type.text,
    rowShape,
    rowBytes,
    chunkLengths: [chunkRows, ...chunkLengths.slice(1)],
    filters,
    mostLengths: [most === rows ? 0 : most, ...mostOfRow],
  };
}

/** Rows of a unit, with their bytes, are at most so many; and about so many if chunks are small. */
const MOST_UNIT_BYTES = 2 ** 28;
const USUAL_UNIT_BYTES = 2 ** 23;
const USUAL_CHUNK_BYTES = 2 ** 20;

/**
 * Returns the chunk rows of the input, if they have a common multiple of a good size; else, and of rows without chunks,
 * multiples of others.
 */
function chunkRowsOf(chosen: readonly Dataset[], rowCount: number): readonly number[] {
  const rowBytes = chosen.reduce((sum, dataset) => sum + dataset.rowBytes, 0);
  const isChunked = ({ chunkLengths }: Dataset) => chunkLengths !== undefined;
  const byNeed = (a: Dataset, b: Dataset) => Number(isChunked(b)) - Number(isChunked(a)) || b.rowBytes - a.rowBytes;
  const found = new Map<Dataset, number>();
  let [main, common] = [0, 1];
  for (const dataset of chosen.toSorted(byNeed)) {
    const own = dataset.blockRows;
    const multiple = commonMultiple(common, own);
    // A small file does not get a chunk that is mostly empty.
    const isGood = (rows: number) =>
      rows <= rowCount && rows * rowBytes <= USUAL_UNIT_BYTES && rows * dataset.rowBytes <= USUAL_CHUNK_BYTES;
    let rows = main;
    if (main === 0) {
      rows = isChunked(dataset) ? own : Math.min(own, Math.max(1, rowCount));
      [main, common] = [rows, rows];
    } else if (isChunked(dataset) && multiple * rowBytes <= MOST_UNIT_BYTES) [rows, common] = [own, multiple];
    else while (isGood(2 * rows)) rows *= 2;
    found.set(dataset, rows);
  }
  return chosen.map((dataset) => found.get(dataset) ?? 1);
}

function commonMultiple(a: number, b: number): number {
  let [one, other] = [a, b];
  while (other > 0) [one, other] = [other, one % other];
  return (a / one) * b;
}

/** Returns the rows of a unit: whole chunks of all datasets, and several if they are small. */
export function unitRowsOf(datasets: readonly RowsDataset[]): number {
  const rowBytes = datasets.reduce((sum, dataset) => sum + dataset.rowBytes, 0);
  const common = datasets.map(({ chunkLengths }) => chunkLengths[0] ?? 1).reduce(commonMultiple, 1);
  return common * Math.max(1, Math.floor(USUAL_UNIT_BYTES / (common * rowBytes)));
}

/** @returns how the dataset of another input differs; undefined: it has the same rows. */
export function datasetDifference(expected: RowsDataset, dataset: Dataset | undefined): string | undefined {
  if (dataset === undefined) return `has no dataset ${expected.path}`;
  const shape = dataset.rowShape;
  if (dataset.type.text !== expected.type) return `has another type of elements in ${expected.path}`;
  if (shape.join() === expected.rowShape.join()) return undefined;
  return `has rows of shape (${shape}) in ${expected.path}, expected (${expected.rowShape})`;
}
