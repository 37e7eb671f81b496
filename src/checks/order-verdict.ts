import type { DescribedRecord } from '../../workers/tasks/sample-windows.js';
import { type OrderTest, testDrift, testNeighbours, WINDOW_RECORDS } from './order-tests.js';
import { drawsOf } from './permutation-test.js';
import { type Family, type RecordRows, ranksOf, rowsOf } from './record-rows.js';

/**
 * `shuffled`: nothing shows that the order is not random, and something would. `nothing-to-see`: nothing shows it, and
 * nothing would, since the records have no kinds and no numbers. `not-shuffled`: neighbours are in order, or alike.
 * `locally-shuffled`: neighbours are in random order, but parts of the data differ.
 */
export type OrderVerdict = 'shuffled' | 'nothing-to-see' | 'locally-shuffled' | 'not-shuffled';

export interface OrderReport {
  readonly verdict: OrderVerdict;
  readonly sampledRecords: number;
  readonly windows: number;
  /** The test whether windows from all over the data differ. */
  readonly drift: OrderTest;
  /** The test whether records inside windows are in order, or alike. */
  readonly neighbours: OrderTest;
  /**
   * How far records are from where their numbers would have them, as parts of the data: mean, median and standard
   * deviation, and the part of neighbours whose numbers ascend. Undefined: no numbers look like ids.
   */
  readonly travel:
    | { readonly mean: number; readonly median: number; readonly deviation: number; readonly ascending: number }
    | undefined;
  /** Means along the data, in standard errors from the mean of all: random if they stay within about 3. */
  readonly profile: readonly { readonly name: Family['name']; readonly deviations: readonly number[] }[];
}

const LEAST_WINDOWS = 2;

/** @param recordCount of all data, not of the sample. */
export function judgeOrder(sampled: readonly DescribedRecord[], recordCount: number): OrderReport {
  const windows = Math.floor(sampled.length / WINDOW_RECORDS);
  if (windows < LEAST_WINDOWS) {
    const unseen = { isSeen: false, probability: 1, families: [] };
    const common = { sampledRecords: sampled.length, windows: 0, drift: unseen, neighbours: unseen };
    return { verdict: 'nothing-to-see', ...common, travel: undefined, profile: [] };
  }
  const records = sampled.slice(0, windows * WINDOW_RECORDS);
  const rows = rowsOf(records);
  const drift = testDrift(rows);
  const neighbours = testNeighbours(rows);
  const ids = idsOf(records, recordCount);
  const wouldShow = () => ids !== undefined || rows.families.some(({ name }) => name === 'field') || hasKinds(records);
  const verdict = neighbours.isSeen
    ? 'not-shuffled'
    : drift.isSeen
      ? 'locally-shuffled'
      : wouldShow()
        ? 'shuffled'
        : 'nothing-to-see';
  return {
    verdict,
    sampledRecords: records.length,
    windows,
    drift,
    neighbours,
    travel: ids && travelOf(ids),
    profile: rows.families.map((family) => ({ name: family.name, deviations: profileOf(rows, family) })),
  };
}

/** The least part of the records that must have a number, and of the numbers that must differ. */
const LEAST_NUMBERED = 0.99;
/** Ids leave few numbers out. */
const MOST_NUMBERS_A_RECORD = 20;

/** The ranks of the numbers, if they look like ids that were given in the order of the records. */
function idsOf(records: readonly DescribedRecord[], recordCount: number): Float64Array | undefined {
  const numbers = records.map(({ number }) => number);
  const known = numbers.filter(Number.isInteger).sort((a, b) => a - b);
  const least = LEAST_NUMBERED * records.length;
  if (known.length < least || new Set(known).size < least) return undefined;
  const span = (known.at(-1) ?? 0) - (known[0] ?? 0);
  return span <= MOST_NUMBERS_A_RECORD * recordCount ? ranksOf(numbers) : undefined;
}

function travelOf(ranks: Float64Array) {
  const { length } = ranks;
  const signed = Float64Array.from(ranks, (rank, row) => (rank - row) / length);
  const distances = signed.map(Math.abs).sort();
  const middle = signed.toSorted()[length >> 1] ?? 0;
  const seconds = [...ranks.keys()].filter((row) => row % WINDOW_RECORDS !== 0);
  const ascending = seconds.filter((row) => (ranks[row] ?? 0) > (ranks[row - 1] ?? 0));
  return {
    mean: distances.reduce((sum, value) => sum + value, 0) / length,
    median: distances[length >> 1] ?? 0,
    deviation: Math.sqrt(signed.reduce((sum, value) => sum + (value - middle) ** 2, 0) / length),
    ascending: ascending.length / seconds.length,
  };
}

/** The value of each row in the direction in which the rows of a family differ most, by power iteration. */
function mainDirection({ values, columnCount, rowCount }: RecordRows, { from, to }: Family): Float64Array {
  const weights = new Float64Array(to - from).map((_, i) => 1 + i / 10);
  const projected = new Float64Array(rowCount);
  for (let round = 0; round < 20; round++) {
    const next = new Float64Array(weights.length);
    for (let row = 0; row < rowCount; row++) {
      const at = row * columnCount + from;
      let sum = 0;
      for (let i = 0; i < weights.length; i++) sum += (weights[i] ?? 0) * (values[at + i] ?? 0);
      for (let i = 0; i < weights.length; i++) next[i] = (next[i] ?? 0) + sum * (values[at + i] ?? 0);
      projected[row] = sum;
    }
    const size = Math.hypot(...next);
    if (size === 0) break;
    for (let i = 0; i < weights.length; i++) weights[i] = (next[i] ?? 0) / size;
  }
  return projected;
}

const PROFILE_COLUMNS = 64;

/** The mean of the records of each column, in standard errors. */
function profileOf(rows: RecordRows, family: Family): readonly number[] {
  const numbers = mainDirection(rows, family);
  const { rowCount } = rows;
  const deviation = Math.sqrt(numbers.reduce((sum, value) => sum + value * value, 0) / rowCount);
  const columns = Math.min(PROFILE_COLUMNS, Math.floor(rowCount / WINDOW_RECORDS));
  return Array.from({ length: columns }, (_, column) => {
    const from = Math.floor((column * rowCount) / columns);
    const to = Math.floor(((column + 1) * rowCount) / columns);
    const mean = numbers.subarray(from, to).reduce((sum, value) => sum + value, 0) / (to - from);
    return deviation > 0 ? (mean / deviation) * Math.sqrt(to - from) : 0;
  });
}

/** The rows that have a word. */
type Column = Int32Array;

const DRAWN_MIXTURES = 29;
/** Strata of records of about the same length. */
const STRATA = 32;
/** Standard deviations beyond which words are said to go together. */
const LEAST_DISTANCE = 8;
/** Words in fewer or in more than these parts of the records tell little. */
const RAREST = 0.005;
const MOST_COMMON = 0.5;
const LEAST_ROWS = 5;
const ROUNDS = 8;

/**
 * Tells whether records are of kinds: whether their words go together more than if each word were there by itself. Only
 * then could an order by kind be seen. Words are columns of zeros and ones. Where there are kinds, one direction
 * explains more than when each column is put into random order among records of about the same length.
 */
function hasKinds(records: readonly DescribedRecord[]): boolean {
  const count = records.length;
  const columns = columnsOf(records);
  const lengths = records.map(({ byteLength }) => byteLength);
  const byLength = Int32Array.from(lengths.keys()).sort((a, b) => (lengths[a] ?? 0) - (lengths[b] ?? 0));
  const draw = drawsOf(2);
  const drawn = Array.from({ length: DRAWN_MIXTURES }, () => explained(mixedInStrata(columns, byLength, draw), count));
  const mean = drawn.reduce((sum, value) => sum + value, 0) / drawn.length;
  const deviation = Math.sqrt(drawn.reduce((sum, value) => sum + (value - mean) ** 2, 0) / drawn.length);
  return deviation > 0 && explained(columns, count) - mean > LEAST_DISTANCE * deviation;
}

function columnsOf(records: readonly DescribedRecord[]): readonly Column[] {
  const rowsOf = new Map<number, number[]>();
  for (const [row, { words }] of records.entries()) {
    for (const word of words) {
      const rows = rowsOf.get(word);
      if (rows === undefined) rowsOf.set(word, [row]);
      else rows.push(row);
    }
  }
  const [least, most] = [Math.max(LEAST_ROWS, RAREST * records.length), MOST_COMMON * records.length];
  return [...rowsOf.values()]
    .filter(({ length }) => length >= least && length <= most)
    .map((rows) => Int32Array.from(rows));
}

/** How much the main direction explains, by power iteration. Each column counts as if its deviation were 1. */
function explained(columns: readonly Column[], count: number): number {
  const weights = columns.map(({ length }) => 1 / Math.sqrt((length / count) * (1 - length / count)));
  const direction = new Float64Array(count);
  let loads = columns.map((_, i) => 1 + (i % 7) / 10);
  let size = 0;
  for (let round = 0; round < ROUNDS; round++) {
    direction.fill(0);
    for (const [i, rows] of columns.entries()) {
      const load = (loads[i] ?? 0) * (weights[i] ?? 0);
      for (const row of rows) direction[row] = (direction[row] ?? 0) + load;
    }
    const mean = direction.reduce((sum, value) => sum + value, 0) / count;
    for (let row = 0; row < count; row++) direction[row] = (direction[row] ?? 0) - mean;
    const next = columns.map((rows, i) => {
      let sum = 0;
      for (const row of rows) sum += direction[row] ?? 0;
      return sum * (weights[i] ?? 0);
    });
    size = Math.hypot(...next);
    if (size === 0) break;
    loads = next.map((load) => load / size);
  }
  return size;
}

/** Draws random rows for each column: in each stratum as many as the column has there. */
function mixedInStrata(columns: readonly Column[], byLength: Int32Array, draw: () => number): readonly Column[] {
  const { length } = byLength;
  const edge = (stratum: number) => Math.floor((stratum * length) / STRATA);
  const stratumOf = new Int32Array(length);
  for (let stratum = 0; stratum < STRATA; stratum++)
    for (let i = edge(stratum); i < edge(stratum + 1); i++) stratumOf[byLength[i] ?? 0] = stratum;
  /** The column that took a row last. */
  const takenBy = new Int32Array(length).fill(-1);
  return columns.map((rows, column) =>
    rows.map((row) => {
      const stratum = stratumOf[row] ?? 0;
      const [from, to] = [edge(stratum), edge(stratum + 1)];
      for (;;) {
        const chosen = byLength[from + Math.floor(draw() * (to - from))] ?? 0;
        if (takenBy[chosen] === column) continue;
        takenBy[chosen] = column;
        return chosen;
      }
    }),
  );
}
