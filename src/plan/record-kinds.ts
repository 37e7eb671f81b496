/**
 * Whether records are of kinds: whether their words go together more than if each word were there by itself. Only then could
 * an order by kind be seen.
 *
 * The words are columns of zeros and ones. Where there are kinds, one direction explains more of the differences between
 * records than in columns that are each put into random order, among records of about the same length. Pure.
 */
import { drawsOf } from './permutation-test.js';
import { type SampledRecords, WORDS_OF_RECORD } from './record-sample.js';

/** The rows that have a word. */
type Column = Int32Array;

const DRAWN_COLUMNS = 29;
/** Records of about the same length. */
const STRATA = 32;
/** Standard deviations beyond which words are said to go together. */
const LEAST_DISTANCE = 8;
/** Parts of the records that have a word that is looked at; rarer ones tell little. */
const RAREST = 0.005;
const MOST_COMMON = 0.5;
const LEAST_ROWS = 5;
const ROUNDS = 8;

/** @returns undefined: there are no kinds; else a number for each record, which is alike in records of one kind. */
export function findKinds(sample: SampledRecords): Float64Array | undefined {
  const { count } = sample;
  const columns = columnsOf(sample);
  const observed = mainDirectionOf(columns, count);
  const byLength = Int32Array.from(sample.byteLengths.keys()).sort(
    (a, b) => (sample.byteLengths[a] ?? 0) - (sample.byteLengths[b] ?? 0),
  );
  const draw = drawsOf(2);
  const drawn = Array.from(
    { length: DRAWN_COLUMNS },
    () => mainDirectionOf(mixedInStrata(columns, byLength, draw), count).explained,
  );
  const mean = drawn.reduce((sum, value) => sum + value, 0) / drawn.length;
  const deviation = Math.sqrt(drawn.reduce((sum, value) => sum + (value - mean) ** 2, 0) / drawn.length);
  return deviation > 0 && observed.explained - mean > LEAST_DISTANCE * deviation ? observed.direction : undefined;
}

function columnsOf({ words, count }: SampledRecords): readonly Column[] {
  const rowsOf = new Map<number, number[]>();
  for (const [i, word] of words.entries()) {
    if (word === 0) continue;
    const row = Math.floor(i / WORDS_OF_RECORD);
    const rows = rowsOf.get(word);
    if (rows === undefined) rowsOf.set(word, [row]);
    else rows.push(row);
  }
  return [...rowsOf.values()]
    .filter(({ length }) => length >= Math.max(LEAST_ROWS, RAREST * count) && length <= MOST_COMMON * count)
    .map((rows) => Int32Array.from(rows));
}

/** By power iteration. Each column counts as if its deviation were 1. */
function mainDirectionOf(columns: readonly Column[], count: number) {
  const weights = columns.map(({ length }) => 1 / Math.sqrt((length / count) * (1 - length / count)));
  let loads = columns.map((_, i) => 1 + (i % 7) / 10);
  const direction = new Float64Array(count);
  let explained = 0;
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
    explained = Math.hypot(...next);
    if (explained === 0) break;
    loads = next.map((load) => load / explained);
  }
  return { explained, direction };
}

/** As many rows of each stratum as the column has there, at random. */
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
