/**
 * What is kept of sampled records, in their order, and how it becomes rows of numbers that tests can compare: lengths, kinds of
 * bytes, words, the place in alphabetical order, a number, and a field. Pure.
 */

/** Kinds of bytes: lower and upper case letters, digits, blanks and controls, other ASCII, the rest. */
export const BYTE_KINDS = 6;
/** Of the different words of a record, those with the smallest hashes: a random choice that is the same in every record. */
export const WORDS_OF_RECORD = 32;

/** Columns, an entry a record. */
export interface SampledRecords {
  readonly count: number;
  readonly byteLengths: Float64Array;
  /** `BYTE_KINDS` a record: parts of its bytes. */
  readonly byteKinds: Float32Array;
  /** `WORDS_OF_RECORD` a record: hashes of its words, ascending; 0 where it has fewer. */
  readonly words: Uint32Array;
  /** The first bytes, as latin1. */
  readonly beginnings: readonly string[];
  /** NaN: it has none. */
  readonly numbers: Float64Array;
  /** Of the value of the field, which is not 0; 0: it has none. */
  readonly fields: Uint32Array;
}

/** Columns of a matrix that belong together. */
export interface Family {
  readonly name: 'length' | 'bytes' | 'words' | 'alphabet' | 'number' | 'field';
  readonly from: number;
  readonly to: number;
}

export interface SampleMatrix {
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
/** So that one record cannot be a drift. */
const LARGEST_DEVIATION = 4;

export function matrixOf(sample: SampledRecords): SampleMatrix {
  const { count } = sample;
  const groups: [Family['name'], Float64Array[]][] = [
    ['length', [ranksOf(sample.byteLengths)]],
    [
      'bytes',
      Array.from({ length: BYTE_KINDS }, (_, kind) =>
        columnOf(count, (i) => sample.byteKinds[BYTE_KINDS * i + kind] ?? 0),
      ),
    ],
    ['words', wordColumns(sample, WORD_COLUMNS)],
    ['alphabet', [ranksOfTexts(sample.beginnings)]],
  ];
  if (sample.numbers.some((number) => !Number.isNaN(number))) groups.push(['number', [ranksOf(sample.numbers)]]);
  if (sample.fields.some((field) => field !== 0)) groups.push(['field', fieldColumns(sample)]);
  const columns = groups.flatMap(([, each]) => each);
  const values = new Float32Array(count * columns.length);
  for (const [at, column] of columns.entries()) {
    standardize(column);
    for (let row = 0; row < count; row++) values[row * columns.length + at] = column[row] ?? 0;
  }
  let from = 0;
  const families = groups.map(([name, { length }]) => {
    const family = { name, from, to: from + length };
    from += length;
    return family;
  });
  return { rowCount: count, columnCount: columns.length, values, families };
}

function columnOf(count: number, numberOf: (row: number) => number): Float64Array {
  return Float64Array.from({ length: count }, (_, row) => numberOf(row));
}

/** The ranks of numbers, the mean rank where they are equal; NaN has the mean of all ranks. */
export function ranksOf(numbers: Float64Array): Float64Array {
  const known = [...numbers.keys()].filter((row) => !Number.isNaN(numbers[row]));
  return rankedBy(numbers.length, known, (a, b) => (numbers[a] ?? 0) - (numbers[b] ?? 0));
}

function ranksOfTexts(texts: readonly string[]): Float64Array {
  const compare = (a: number, b: number) => {
    const [one = '', other = ''] = [texts[a], texts[b]];
    return one < other ? -1 : one > other ? 1 : 0;
  };
  return rankedBy(texts.length, [...texts.keys()], compare);
}

function rankedBy(count: number, rows: number[], compare: (a: number, b: number) => number): Float64Array {
  const ranks = new Float64Array(count).fill((rows.length - 1) / 2);
  rows.sort(compare);
  for (let first = 0, end = 0; first < rows.length; first = end) {
    const start = rows[first] ?? 0;
    for (end = first + 1; end < rows.length && compare(start, rows[end] ?? 0) === 0; end++);
    for (let i = first; i < end; i++) ranks[rows[i] ?? 0] = (first + end - 1) / 2;
  }
  return ranks;
}

/** Which words a record has: each adds 1 to a column, or takes 1 away, by its hash. */
function wordColumns({ count, words }: SampledRecords, columnCount: number): Float64Array[] {
  const recordsOf = new Map<number, number>();
  for (const word of words) if (word !== 0) recordsOf.set(word, (recordsOf.get(word) ?? 0) + 1);
  const columns = Array.from({ length: columnCount }, () => new Float64Array(count));
  for (let row = 0; row < count; row++) {
    for (let i = 0; i < WORDS_OF_RECORD; i++) {
      const word = words[row * WORDS_OF_RECORD + i] ?? 0;
      const records = recordsOf.get(word) ?? 0;
      if (word !== 0 && records >= RAREST_WORD && records <= COMMON_WORD * count) addHashed(columns, row, word);
    }
  }
  return columns;
}

function fieldColumns({ count, fields }: SampledRecords): Float64Array[] {
  const columns = Array.from({ length: FIELD_COLUMNS }, () => new Float64Array(count));
  for (const [row, value] of fields.entries()) {
    // Each value has a sign in every column.
    const bits = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d) >>> 0;
    for (const [i, column] of columns.entries()) column[row] = value === 0 ? 0 : (bits >>> (3 * i)) & 1 ? 1 : -1;
  }
  return columns;
}

function addHashed(columns: readonly Float64Array[], row: number, hash: number): void {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b) >>> 0;
  const column = columns[mixed % columns.length];
  if (column !== undefined) column[row] = (column[row] ?? 0) + (mixed >>> 31 === 1 ? 1 : -1);
}

/** Gives the numbers mean 0 and deviation 1. Far ones come nearer. */
function standardize(column: Float64Array): void {
  const { length } = column;
  const mean = column.reduce((sum, value) => sum + value, 0) / length;
  const deviation = Math.sqrt(column.reduce((sum, value) => sum + (value - mean) ** 2, 0) / length);
  for (let i = 0; i < length; i++) {
    const value = deviation > 1e-12 ? ((column[i] ?? 0) - mean) / deviation : 0;
    column[i] = Math.max(-LARGEST_DEVIATION, Math.min(LARGEST_DEVIATION, value));
  }
}

/** How alike two records are by their words: an estimate of shared words / all words of both (bottom-k sketches). */
export function similarity({ words }: SampledRecords, a: number, b: number): number {
  const wordsOf = (row: number) =>
    words.subarray(row * WORDS_OF_RECORD, (row + 1) * WORDS_OF_RECORD).filter((word) => word !== 0);
  const [one, other] = [wordsOf(a), wordsOf(b)];
  const both = new Set([...one, ...other]);
  if (both.size === 0) return 1;
  const smallest = [...both].sort((x, y) => x - y).slice(0, WORDS_OF_RECORD);
  const [inOne, inOther] = [new Set(one), new Set(other)];
  return smallest.filter((word) => inOne.has(word) && inOther.has(word)).length / smallest.length;
}
