/**
 * Judges the order of sampled records by the tests of order-tests.ts, and says what the tests could have seen. Pure.
 */
import { distanceParts, type SimilarityAt, similarityByDistance } from './order-curves.js';
import {
  bufferOrder,
  type FamilyTail,
  mainDirection,
  seesDrift,
  spanOf,
  testDrift,
  testNeighbours,
  WINDOW_RECORDS,
} from './order-tests.js';
import { drawsOf } from './permutation-test.js';
import { findKinds } from './record-kinds.js';
import { type Family, matrixOf, ranksOf, type SampledRecords, type SampleMatrix, similarity } from './record-sample.js';

/**
 * `shuffled`: nothing shows that the order is not random, and something would. `nothing-to-see`: nothing shows it, and
 * nothing would, since the records have no kinds and no numbers. `not-shuffled`: neighbours are in order, or alike.
 * `locally-shuffled`: neighbours are in random order, but parts of the data differ.
 */
export type OrderVerdict = 'shuffled' | 'nothing-to-see' | 'locally-shuffled' | 'not-shuffled';

/** A test of the order. */
export interface OrderTestReport {
  /** Whether the test shows that the order is not random. */
  readonly isSeen: boolean;
  /** The probability that a random order looks like this or worse, corrected for the number of statistics. */
  readonly probability: number;
  /** The same for each kind of statistics, corrected for those of its kind alone. */
  readonly families: readonly FamilyTail[];
}

export interface OrderReport {
  readonly verdict: OrderVerdict;
  readonly sampledRecords: number;
  readonly windows: number;
  /** Whether windows from all over the data differ. */
  readonly drift: OrderTestReport;
  /** Whether records inside windows are in order, or alike. */
  readonly neighbours: OrderTestReport;
  /** The mean part of words that two records share: neighbours, and records at random. */
  readonly similarity: {
    readonly ofNeighbours: number;
    readonly ofDistant: number;
    /** From neighbours to records of which one is at the beginning and one at the end. */
    readonly byDistance: readonly SimilarityAt[];
  };
  /**
   * Over about how many records, and which part of the data, records stay together. Undefined: not seen, or over all of
   * the data.
   */
  readonly span: { readonly records: number; readonly share: number; readonly by: 'numbers' | 'content' } | undefined;
  /**
   * How far records are from where their numbers would have them, as parts of the data. Undefined: they have no numbers
   * that look like ids.
   */
  readonly travel:
    | {
        readonly mean: number;
        readonly median: number;
        /** The part of neighbours whose numbers ascend: 0.5 in a random order. */
        readonly ascending: number;
        /** The part of the records whose distance lies in the first twentieth of the data, in the second, and so on. */
        readonly distances: readonly number[];
      }
    | undefined;
  /** Whether the records differ enough to show an order by kind or number. */
  readonly hasStructure: boolean;
  /** If the records had been sorted, which shuffle buffers would be seen: sizes as parts of the data. */
  readonly sensitivity: readonly { readonly bufferShare: number; readonly isSeen: boolean }[];
  readonly sensitivityOf: 'numbers' | 'words' | undefined;
  /** Means along the data, in standard errors from the mean of all: random if they stay within about 3. */
  readonly profile: readonly { readonly name: Family['name']; readonly deviations: readonly number[] }[];
}

const PROFILE_COLUMNS = 64;
const BUFFER_SHARES = [0.01, 0.1, 0.3, 0.5, 0.8];
const LEAST_WINDOWS = 2;

/** @param recordCount of all data. */
export function judgeOrder(sample: SampledRecords, recordCount: number): OrderReport {
  const windows = Math.floor(sample.count / WINDOW_RECORDS);
  const all = matrixOf(sample);
  if (windows < LEAST_WINDOWS) return tooFew(sample.count);
  const matrix = {
    ...all,
    rowCount: windows * WINDOW_RECORDS,
    values: all.values.slice(0, windows * WINDOW_RECORDS * all.columnCount),
  };
  const { distribution, ...drift } = testDrift(matrix);
  const neighbours = testNeighbours(matrix);
  const ids = idsOf(sample, matrix.rowCount, recordCount);
  const isOrdered = neighbours.isSeen || drift.isSeen;
  // What is seen, or ids, show that there is something to see.
  const kinds = isOrdered || ids !== undefined ? undefined : findKinds(sample);
  const hasField = matrix.families.some(({ name }) => name === 'field');
  const hasStructure = isOrdered || ids !== undefined || kinds !== undefined || hasField;
  const verdict = neighbours.isSeen
    ? 'not-shuffled'
    : drift.isSeen
      ? 'locally-shuffled'
      : hasStructure
        ? 'shuffled'
        : 'nothing-to-see';
  const travel = ids && travelOf(ids);
  const sorted = ids ?? kinds;
  return {
    verdict,
    sampledRecords: matrix.rowCount,
    windows,
    drift: reportOf(drift),
    neighbours: reportOf(neighbours),
    similarity: {
      ...similarities(sample, matrix.rowCount),
      byDistance: similarityByDistance(sample, matrix.rowCount, recordCount),
    },
    span: isOrdered ? findSpan(matrix, drift.families, travel, recordCount) : undefined,
    travel: travel && {
      mean: travel.mean,
      median: travel.median,
      ascending: travel.ascending,
      distances: travel.parts,
    },
    hasStructure,
    sensitivity: sorted === undefined ? [] : sensitivityOf(matrix, distribution, sorted),
    sensitivityOf: ids !== undefined ? 'numbers' : sorted === undefined ? undefined : 'words',
    profile: matrix.families.map((family) => ({ name: family.name, deviations: profileOf(matrix, family) })),
  };
}

function tooFew(sampledRecords: number): OrderReport {
  const unseen = { isSeen: false, probability: 1, families: [] };
  return {
    verdict: 'nothing-to-see',
    sampledRecords,
    windows: 0,
    drift: unseen,
    neighbours: unseen,
    similarity: { ofNeighbours: 0, ofDistant: 0, byDistance: [] },
    span: undefined,
    travel: undefined,
    hasStructure: false,
    sensitivity: [],
    sensitivityOf: undefined,
    profile: [],
  };
}

function reportOf({ isSeen, probability, families }: OrderTestReport): OrderTestReport {
  return { isSeen, probability, families };
}

/** Parts of records that must have a number, and of numbers that must differ. */
const LEAST_NUMBERED = 0.99;
/** Ids leave few numbers out. */
const MOST_NUMBERS_A_RECORD = 20;

/** The ranks of the numbers, if they look like ids that were given in the order of the records. */
function idsOf({ numbers }: SampledRecords, rowCount: number, recordCount: number): Float64Array | undefined {
  const own = numbers.subarray(0, rowCount);
  const known = [...own].filter((number) => Number.isInteger(number));
  if (known.length < LEAST_NUMBERED * rowCount || new Set(known).size < LEAST_NUMBERED * rowCount) return undefined;
  const least = known.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const most = known.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  return most - least <= MOST_NUMBERS_A_RECORD * recordCount ? ranksOf(own) : undefined;
}

function travelOf(ranks: Float64Array) {
  const { length } = ranks;
  const signed = Float64Array.from(ranks, (rank, row) => (rank - row) / length);
  const distances = signed.map(Math.abs).sort();
  const middle = signed.slice().sort()[length >> 1] ?? 0;
  let [ascending, pairs] = [0, 0];
  for (let row = 1; row < length; row++) {
    if (row % WINDOW_RECORDS === 0) continue;
    pairs += 1;
    if ((ranks[row] ?? 0) > (ranks[row - 1] ?? 0)) ascending += 1;
  }
  return {
    mean: distances.reduce((sum, value) => sum + value, 0) / length,
    median: distances[length >> 1] ?? 0,
    ascending: ascending / pairs,
    parts: distanceParts(distances),
    deviation: Math.sqrt(signed.reduce((sum, value) => sum + (value - middle) ** 2, 0) / length),
  };
}

/** Of a uniform permutation, less a little. */
const RANDOM_DEVIATION = 0.35;

function findSpan(
  matrix: SampleMatrix,
  families: readonly FamilyTail[],
  travel: ReturnType<typeof travelOf> | undefined,
  recordCount: number,
): OrderReport['span'] {
  if (travel !== undefined && travel.deviation < RANDOM_DEVIATION) {
    const share = travel.deviation;
    // Records that did not move are in their order over all of the data.
    return travel.ascending > 0.9 ? undefined : { records: Math.round(share * recordCount), share, by: 'numbers' };
  }
  const [strongest] = families.toSorted((a, b) => a.probability - b.probability);
  const family = matrix.families.find(({ name }) => name === strongest?.name);
  const share = family && spanOf(matrix, family);
  return share === undefined ? undefined : { records: Math.round(share * recordCount), share, by: 'content' };
}

function similarities(sample: SampledRecords, rowCount: number): Omit<OrderReport['similarity'], 'byDistance'> {
  const draw = drawsOf(3);
  const step = Math.max(1, Math.floor(rowCount / 1000));
  let [ofNeighbours, ofDistant, pairs] = [0, 0, 0];
  for (let row = 0; row + 1 < rowCount; row += step) {
    if (row % WINDOW_RECORDS === WINDOW_RECORDS - 1) continue;
    ofNeighbours += similarity(sample, row, row + 1);
    const other = Math.floor(draw() * (rowCount - 1));
    ofDistant += similarity(sample, row, other >= row ? other + 1 : other);
    pairs += 1;
  }
  return { ofNeighbours: ofNeighbours / pairs, ofDistant: ofDistant / pairs };
}

function sensitivityOf(
  matrix: SampleMatrix,
  distribution: Parameters<typeof seesDrift>[1],
  keys: Float64Array,
): OrderReport['sensitivity'] {
  const sorted = Uint32Array.from(keys.subarray(0, matrix.rowCount).keys());
  sorted.sort((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0));
  return BUFFER_SHARES.map((bufferShare) => {
    const order = bufferOrder(sorted, Math.max(1, Math.round(bufferShare * matrix.rowCount)), drawsOf(4));
    return { bufferShare, isSeen: seesDrift(matrix, distribution, order) };
  });
}

/** In standard errors of the mean of the records of a column. */
function profileOf(matrix: SampleMatrix, family: Family): readonly number[] {
  const { columnCount, rowCount, values } = matrix;
  const main = family.to - family.from === 1 ? undefined : mainDirection(matrix, family);
  const numbers =
    main ?? Float64Array.from({ length: rowCount }, (_, row) => values[row * columnCount + family.from] ?? 0);
  const deviation = Math.sqrt(numbers.reduce((sum, value) => sum + value * value, 0) / rowCount);
  const columns = Math.min(PROFILE_COLUMNS, Math.floor(rowCount / WINDOW_RECORDS));
  return Array.from({ length: columns }, (_, column) => {
    const from = Math.floor((column * rowCount) / columns);
    const to = Math.floor(((column + 1) * rowCount) / columns);
    const mean = numbers.subarray(from, to).reduce((sum, value) => sum + value, 0) / (to - from);
    return deviation > 0 ? (mean / deviation) * Math.sqrt(to - from) : 0;
  });
}
