/**
 * What can be seen of the order of records in a sample: windows of neighbours from places all over the data.
 *
 *     drift        whether windows differ from each other, at all scales from one window to half of the data
 *     neighbours   whether the records inside windows are in random order
 *     structure    whether records are of kinds at all, so that an order by kind could be seen
 *
 * Pure.
 */
import {
  drawsOf,
  identityOrder,
  type NullDistribution,
  nullDistribution,
  shuffleRange,
  type TestResult,
  testAgainst,
} from './permutation-test.js';
import type { Family, SampleMatrix } from './record-sample.js';

/** Neighbours of one window. */
export const WINDOW_RECORDS = 64;

/** A test, and the family of columns and the scale that show most. */
export interface OrderTest extends TestResult {
  readonly families: readonly FamilyTail[];
}

export interface FamilyTail {
  readonly name: Family['name'];
  /** Of the statistics of the family, corrected for their number. */
  readonly probability: number;
}

export interface DriftTest extends OrderTest {
  readonly distribution: NullDistribution;
}

/** Sums of squares between blocks of 1, 2, 4, ... windows. */
export function testDrift(matrix: SampleMatrix): DriftTest {
  const shuffle = (order: Uint32Array, draw: () => number) => shuffleRange(order, 0, order.length, draw);
  const distribution = nullDistribution(matrix.rowCount, (order) => driftOf(matrix, order), shuffle);
  const result = testAgainst(distribution, driftOf(matrix, identityOrder(matrix.rowCount)));
  return { ...result, families: familyTails(matrix, result), distribution };
}

/** The same test for these records in another order: the random orders are the same. */
export function seesDrift(matrix: SampleMatrix, distribution: NullDistribution, order: Uint32Array): boolean {
  return testAgainst(distribution, driftOf(matrix, order)).isSeen;
}

/** Of each scale, for each family. */
function driftOf(matrix: SampleMatrix, order: Uint32Array): readonly number[] {
  const { columnCount } = matrix;
  let sums = windowSums(matrix, order);
  let blocks = sums.length / columnCount;
  let windows: number[] = Array.from({ length: blocks }, () => 1);
  const statistics: number[] = [];
  while (blocks >= 2) {
    for (const { from, to } of matrix.families) {
      let statistic = 0;
      for (let block = 0; block < blocks; block++) {
        let squares = 0;
        for (let column = from; column < to; column++) squares += (sums[block * columnCount + column] ?? 0) ** 2;
        statistic += squares / (windows[block] ?? 1);
      }
      statistics.push(statistic);
    }
    const halved = Math.ceil(blocks / 2);
    const merged = new Float64Array(halved * columnCount);
    for (let i = 0; i < sums.length; i++) {
      const block = Math.floor(i / columnCount);
      const at = (block >> 1) * columnCount + (i % columnCount);
      merged[at] = (merged[at] ?? 0) + (sums[i] ?? 0);
    }
    windows = Array.from({ length: halved }, (_, i) => (windows[2 * i] ?? 0) + (windows[2 * i + 1] ?? 0));
    sums = merged;
    blocks = halved;
  }
  return statistics;
}

export function windowSums({ values, columnCount, rowCount }: SampleMatrix, order: Uint32Array): Float64Array {
  const windowCount = Math.floor(rowCount / WINDOW_RECORDS);
  const sums = new Float64Array(windowCount * columnCount);
  for (let i = 0; i < windowCount * WINDOW_RECORDS; i++) {
    const row = (order[i] ?? 0) * columnCount;
    const window = Math.floor(i / WINDOW_RECORDS) * columnCount;
    for (let column = 0; column < columnCount; column++) {
      sums[window + column] = (sums[window + column] ?? 0) + (values[row + column] ?? 0);
    }
  }
  return sums;
}

/** Inside windows: products of neighbours, and sums of squares between blocks of 4, 8, 16 and 32 records. */
export function testNeighbours(matrix: SampleMatrix): OrderTest {
  const centred = centredInWindows(matrix);
  const shuffle = (order: Uint32Array, draw: () => number) => {
    for (let at = 0; at < order.length; at += WINDOW_RECORDS) shuffleRange(order, at, at + WINDOW_RECORDS, draw);
  };
  const distribution = nullDistribution(centred.rowCount, (order) => neighboursOf(centred, order), shuffle);
  const result = testAgainst(distribution, neighboursOf(centred, identityOrder(centred.rowCount)));
  return { ...result, families: familyTails(matrix, result) };
}

const LEAST_BLOCK = 4;

function neighboursOf(
  { values, columnCount, rowCount, families }: SampleMatrix,
  order: Uint32Array,
): readonly number[] {
  const products = new Float64Array(columnCount);
  const levels = [4, 8, 16, 32];
  const squares = levels.map(() => new Float64Array(columnCount));
  const blocks = levels.map(() => new Float64Array(columnCount));
  for (let i = 0; i < rowCount; i++) {
    const row = (order[i] ?? 0) * columnCount;
    const before = i % WINDOW_RECORDS === 0 ? -1 : (order[i - 1] ?? 0) * columnCount;
    for (let column = 0; column < columnCount; column++) {
      const value = values[row + column] ?? 0;
      if (before >= 0) products[column] = (products[column] ?? 0) + value * (values[before + column] ?? 0);
      const smallest = blocks[0];
      if (smallest !== undefined) smallest[column] = (smallest[column] ?? 0) + value;
    }
    if ((i + 1) % LEAST_BLOCK === 0) closeBlocks(i + 1, levels, blocks, squares);
  }
  const sumOf = (columns: Float64Array, { from, to }: Family) =>
    columns.subarray(from, to).reduce((sum, value) => sum + value, 0);
  return [products, ...squares].flatMap((columns) => families.map((family) => sumOf(columns, family)));
}

/** Adds the squares of the blocks that end here, and the blocks to those that they are halves of. */
function closeBlocks(
  end: number,
  levels: readonly number[],
  blocks: readonly Float64Array[],
  squares: readonly Float64Array[],
): void {
  for (const [level, records] of levels.entries()) {
    if (end % records !== 0) return;
    const [block, square, larger] = [blocks[level], squares[level], blocks[level + 1]];
    if (block === undefined || square === undefined) return;
    for (let column = 0; column < block.length; column++) {
      const sum = block[column] ?? 0;
      square[column] = (square[column] ?? 0) + sum * sum;
      if (larger !== undefined) larger[column] = (larger[column] ?? 0) + sum;
      block[column] = 0;
    }
  }
}

/** In each window each column has mean 0 and deviation 1, or is 0: only the order inside windows counts. */
function centredInWindows(matrix: SampleMatrix): SampleMatrix {
  const { columnCount } = matrix;
  const rowCount = Math.floor(matrix.rowCount / WINDOW_RECORDS) * WINDOW_RECORDS;
  const values = matrix.values.slice(0, rowCount * columnCount);
  for (let first = 0; first < rowCount; first += WINDOW_RECORDS) {
    for (let column = 0; column < columnCount; column++) {
      let [sum, squares] = [0, 0];
      for (let row = first; row < first + WINDOW_RECORDS; row++) {
        const value = values[row * columnCount + column] ?? 0;
        sum += value;
        squares += value * value;
      }
      const mean = sum / WINDOW_RECORDS;
      const deviation = Math.sqrt(Math.max(0, squares / WINDOW_RECORDS - mean * mean));
      for (let row = first; row < first + WINDOW_RECORDS; row++) {
        const at = row * columnCount + column;
        values[at] = deviation > 1e-6 ? ((values[at] ?? 0) - mean) / deviation : 0;
      }
    }
  }
  return { ...matrix, rowCount, values };
}

/** Statistics lie scale by scale, family by family. */
function familyTails({ families }: SampleMatrix, { tails }: TestResult): readonly FamilyTail[] {
  return families.map(({ name }, family) => {
    const own = tails.filter((_, i) => i % families.length === family);
    return { name, probability: Math.min(1, own.length * Math.min(1, ...own)) };
  });
}

/** Rows that are enough to see kinds of records. */
const STRUCTURE_ROWS = 4096;
const STRUCTURE_ORDERS = 49;
const STRUCTURE_STRATA = 32;
/** Standard deviations beyond which words are said to go together. */
const LEAST_STRUCTURE = 8;

/**
 * Whether the words of records go together more than if each were there by itself: then there are kinds of records. The
 * columns are put into random orders, each by itself, among records of about the same number of words.
 * @param wordCounts of each row.
 */
export function hasKinds({ values, columnCount, rowCount, families }: SampleMatrix, wordCounts: Float64Array): boolean {
  const words = families.find(({ name }) => name === 'words');
  if (words === undefined) return false;
  const step = Math.max(1, Math.floor(rowCount / STRUCTURE_ROWS));
  const rows = Array.from({ length: Math.floor(rowCount / step) }, (_, i) => i * step);
  rows.sort((a, b) => (wordCounts[a] ?? 0) - (wordCounts[b] ?? 0));
  const columns = Array.from({ length: words.to - words.from }, (_, i) =>
    Float64Array.from(rows, (row) => values[row * columnCount + words.from + i] ?? 0),
  );
  const draw = drawsOf(2);
  const observed = jointVariance(columns);
  const drawn = Array.from({ length: STRUCTURE_ORDERS }, () => {
    for (const column of columns) shuffleInStrata(column, draw);
    return jointVariance(columns);
  });
  const mean = drawn.reduce((sum, value) => sum + value, 0) / drawn.length;
  const deviation = Math.sqrt(drawn.reduce((sum, value) => sum + (value - mean) ** 2, 0) / drawn.length);
  return deviation > 0 && (observed - mean) / deviation > LEAST_STRUCTURE;
}

function shuffleInStrata(column: Float64Array, draw: () => number): void {
  for (let stratum = 0; stratum < STRUCTURE_STRATA; stratum++) {
    const from = Math.floor((stratum * column.length) / STRUCTURE_STRATA);
    const to = Math.floor(((stratum + 1) * column.length) / STRUCTURE_STRATA);
    for (let i = to - 1; i > from; i--) {
      const j = from + Math.floor(draw() * (i - from + 1));
      const kept = column[i] ?? 0;
      column[i] = column[j] ?? 0;
      column[j] = kept;
    }
  }
}

/** The sum of the squares of all correlations of two columns, but for a factor. */
function jointVariance(columns: readonly Float64Array[]): number {
  let sum = 0;
  for (const [i, one] of columns.entries()) {
    for (const other of columns.slice(i + 1)) {
      let product = 0;
      for (let row = 0; row < one.length; row++) product += (one[row] ?? 0) * (other[row] ?? 0);
      sum += product * product;
    }
  }
  return sum;
}

/**
 * The direction in which the rows of a family differ most, by power iteration.
 * @returns the value of each row in it.
 */
export function mainDirection({ values, columnCount, rowCount }: SampleMatrix, { from, to }: Family): Float64Array {
  const weights = new Float64Array(to - from).map((_, i) => 1 + i / 10);
  const projected = new Float64Array(rowCount);
  for (let round = 0; round < 20; round++) {
    for (let row = 0; row < rowCount; row++) {
      let sum = 0;
      for (let i = 0; i < weights.length; i++) sum += (weights[i] ?? 0) * (values[row * columnCount + from + i] ?? 0);
      projected[row] = sum;
    }
    const next = weights.map((_, i) =>
      projected.reduce((sum, value, row) => sum + value * (values[row * columnCount + from + i] ?? 0), 0),
    );
    const size = Math.hypot(...next);
    if (size === 0) break;
    for (let i = 0; i < weights.length; i++) weights[i] = (next[i] ?? 0) / size;
  }
  return projected;
}

/**
 * How far from each other records still are alike, as a part of the data: where the likeness of windows is half of that
 * inside a window, times two. Of blocks in random order it is the size of a block.
 * @returns undefined: it never falls so far.
 */
export function spanOf(matrix: SampleMatrix, { from, to }: Family): number | undefined {
  const { columnCount, values } = matrix;
  const sums = windowSums(matrix, identityOrder(matrix.rowCount));
  const windowCount = sums.length / columnCount;
  const product = (a: number, b: number) => {
    let sum = 0;
    for (let column = from; column < to; column++)
      sum += (sums[a * columnCount + column] ?? 0) * (sums[b * columnCount + column] ?? 0);
    return sum / WINDOW_RECORDS ** 2;
  };
  let inside = 0;
  for (let window = 0; window < windowCount; window++) {
    let squares = 0;
    for (
      let i = window * WINDOW_RECORDS * columnCount;
      i < (window + 1) * WINDOW_RECORDS * columnCount;
      i += columnCount
    )
      for (let column = from; column < to; column++) squares += (values[i + column] ?? 0) ** 2;
    inside += (product(window, window) * WINDOW_RECORDS ** 2 - squares) / (WINDOW_RECORDS * (WINDOW_RECORDS - 1));
  }
  inside /= windowCount;
  let former = inside;
  for (let apart = 1; apart <= windowCount / 2; apart++) {
    let likeness = 0;
    for (let window = 0; window + apart < windowCount; window++) likeness += product(window, window + apart);
    likeness /= windowCount - apart;
    if (likeness < inside / 2) {
      const half = apart - 1 + (former - inside / 2) / (former - likeness);
      return (2 * half) / windowCount;
    }
    former = likeness;
  }
  return undefined;
}

/** The order that a shuffle buffer makes: each place gets a random record of those that are in the buffer. */
export function bufferOrder(sorted: Uint32Array, bufferRecords: number, draw: () => number): Uint32Array {
  const order = new Uint32Array(sorted.length);
  const buffer: number[] = [];
  let written = 0;
  const writeOne = () => {
    const chosen = Math.floor(draw() * buffer.length);
    const last = buffer.pop() ?? 0;
    order[written] = chosen < buffer.length ? (buffer[chosen] ?? 0) : last;
    if (chosen < buffer.length) buffer[chosen] = last;
    written += 1;
  };
  for (const row of sorted) {
    buffer.push(row);
    if (buffer.length >= bufferRecords) writeOne();
  }
  while (buffer.length > 0) writeOne();
  return order;
}
