/** Described records as rows of numbers that tests can compare. Pure. */
import { BYTE_KINDS, type DescribedRecord } from '../../workers/tasks/sample-windows.js';

/** Columns that belong together. */
export interface Family {
  readonly name: 'length' | 'bytes' | 'words' | 'alphabet' | 'number' | 'field';
  readonly from: number;
  readonly to: number;
}

export interface RecordRows {
  readonly rowCount: number;
  readonly columnCount: number;
  /** Row by row. Each column has mean 0 and deviation 1, or is 0. */
  readonly values: Float32Array;
  readonly families: readonly Family[];
}

const WORD_COLUMNS = 16;
const FIELD_COLUMNS = 8;
/** A word in more of the records tells nothing of their kind. */
const COMMON_WORD = 0.5;
const RAREST_WORD = 3;
/** The largest deviation that counts, so that one record cannot be a drift. */
const LARGEST_DEVIATION = 4;

export function rowsOf(records: readonly DescribedRecord[]): RecordRows {
  const rowCount = records.length;
  const numbers = records.map(({ number }) => number);
  const groups: [Family['name'], Float64Array[]][] = [
    ['length', [ranksOf(records.map(({ byteLength }) => byteLength))]],
    [
      'bytes',
      Array.from({ length: BYTE_KINDS }, (_, kind) =>
        Float64Array.from(records, ({ byteKinds }) => byteKinds[kind] ?? 0),
      ),
    ],
    ['words', wordColumns(records)],
    ['alphabet', [ranksOf(records.map(({ beginning }) => beginning))]],
  ];
  if (numbers.some((number) => !Number.isNaN(number))) groups.push(['number', [ranksOf(numbers)]]);
  if (records.some(({ field }) => field !== 0)) groups.push(['field', fieldColumns(records)]);
  const columns = groups.flatMap(([, each]) => each);
  const values = new Float32Array(rowCount * columns.length);
  for (const [at, column] of columns.entries()) {
    standardize(column);
    for (let row = 0; row < rowCount; row++) values[row * columns.length + at] = column[row] ?? 0;
  }
  let from = 0;
  const families = groups.map(([name, { length }]) => {
    const family = { name, from, to: from + length };
    from += length;
    return family;
  });
  return { rowCount, columnCount: columns.length, values, families };
}

/** The ranks of values, the mean rank where they are equal; NaN has the mean of all ranks. */
export function ranksOf(values: readonly (number | string)[]): Float64Array {
  const valueAt = (row: number) => values[row] ?? 0;
  const rows = [...values.keys()].filter((row) => !Number.isNaN(values[row]));
  rows.sort((a, b) => (valueAt(a) < valueAt(b) ? -1 : valueAt(a) > valueAt(b) ? 1 : 0));
  const ranks = new Float64Array(values.length).fill((rows.length - 1) / 2);
  for (let first = 0, end = 0; first < rows.length; first = end) {
    const value = valueAt(rows[first] ?? 0);
    for (end = first + 1; end < rows.length && valueAt(rows[end] ?? 0) === value; end++);
    for (let i = first; i < end; i++) ranks[rows[i] ?? 0] = (first + end - 1) / 2;
  }
  return ranks;
}

/** Makes columns of the words of records: each adds 1 to a column, or takes 1 away, by its hash. */
function wordColumns(records: readonly DescribedRecord[]): Float64Array[] {
  const recordsOf = new Map<number, number>();
  for (const { words } of records) for (const word of words) recordsOf.set(word, (recordsOf.get(word) ?? 0) + 1);
  const columns = Array.from({ length: WORD_COLUMNS }, () => new Float64Array(records.length));
  for (const [row, { words }] of records.entries()) {
    for (const word of words) {
      const count = recordsOf.get(word) ?? 0;
      if (count < RAREST_WORD || count > COMMON_WORD * records.length) continue;
      const mixed = Math.imul(word ^ (word >>> 16), 0x45d9f3b) >>> 0;
      const column = columns[mixed % WORD_COLUMNS];
      if (column !== undefined) column[row] = (column[row] ?? 0) + (mixed >>> 31 === 1 ? 1 : -1);
    }
  }
  return columns;
}

/** Each value has a sign in every column. */
function fieldColumns(records: readonly DescribedRecord[]): Float64Array[] {
  const bits = records.map(({ field }) => Math.imul(field ^ (field >>> 15), 0x2c1b3c6d) >>> 0);
  return Array.from({ length: FIELD_COLUMNS }, (_, i) =>
    Float64Array.from(records, ({ field }, row) => (field === 0 ? 0 : ((bits[row] ?? 0) >>> (3 * i)) & 1 ? 1 : -1)),
  );
}

function standardize(column: Float64Array): void {
  const { length } = column;
  const mean = column.reduce((sum, value) => sum + value, 0) / length;
  const deviation = Math.sqrt(column.reduce((sum, value) => sum + (value - mean) ** 2, 0) / length);
  for (let i = 0; i < length; i++) {
    const value = deviation > 1e-12 ? ((column[i] ?? 0) - mean) / deviation : 0;
    column[i] = Math.max(-LARGEST_DEVIATION, Math.min(LARGEST_DEVIATION, value));
  }
}
