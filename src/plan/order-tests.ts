/**
 * What can be seen of the order of records in a sample: windows of neighbours from places all over the data.
 *
 *     drift        whether windows differ from each other, at all scales from one window to half of the data
 *     neighbours   whether the records inside windows are in random order
 *
 * Pure.
 */
import {
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

/** The result of a test for one kind of statistics. */
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
  const { columnCount, families } = matrix;
  const sums = windowSums(matrix, order);
  const sizes = new Float64Array(sums.length / columnCount).fill(1);
  const statistics: number[] = [];
  for (let count = sizes.length; count >= 2; count = Math.ceil(count / 2)) {
    for (const { from, to } of families) {
      let statistic = 0;
      for (let block = 0; block < count; block++) {
        let squares = 0;
        for (let i = block * columnCount + from; i < block * columnCount + to; i++) squares += (sums[i] ?? 0) ** 2;
        statistic += squares / (sizes[block] ?? 1);
      }
      statistics.push(statistic);
    }
    joinPairs(sums, sizes, count, columnCount);
  }
  return statistics;
}

/** Adds up each two blocks; the last of an odd number stays alone. */
function joinPairs(sums: Float64Array, sizes: Float64Array, count: number, columnCount: number): void {
  for (let one = 0, joined = 0; one < count; one += 2, joined++) {
    const hasOther = one + 1 < count;
    sizes[joined] = (sizes[one] ?? 0) + (hasOther ? (sizes[one + 1] ?? 0) : 0);
    for (let i = 0; i < columnCount; i++) {
      const other = hasOther ? (sums[(one + 1) * columnCount + i] ?? 0) : 0;
      sums[joined * columnCount + i] = (sums[one * columnCount + i] ?? 0) + other;
    }
  }
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

const SMALLEST_BLOCK = 4;
const BLOCKS_OF_WINDOW = WINDOW_RECORDS / SMALLEST_BLOCK;
/** Blocks of 4, 8, 16 and 32 records. */
const BLOCK_SIZES = 4;

function neighboursOf(
  { values, columnCount, rowCount, families }: SampleMatrix,
  order: Uint32Array,
): readonly number[] {
  const products = new Float64Array(columnCount);
  const squares = Array.from({ length: BLOCK_SIZES }, () => new Float64Array(columnCount));
  const blocks = new Float64Array(BLOCKS_OF_WINDOW * columnCount);
  for (let first = 0; first < rowCount; first += WINDOW_RECORDS) {
    for (let block = 0; block < BLOCKS_OF_WINDOW; block++) {
      const at = first + block * SMALLEST_BLOCK;
      const [a, b, c, d] = [at, at + 1, at + 2, at + 3].map((i) => (order[i] ?? 0) * columnCount);
      addBlock(values, columnCount, [a ?? 0, b ?? 0, c ?? 0, d ?? 0], products, blocks, block * columnCount);
      // The pair that joins this block to the one before.
      if (block > 0) addProducts(values, columnCount, (order[at - 1] ?? 0) * columnCount, a ?? 0, products);
    }
    for (let size = 0, count = BLOCKS_OF_WINDOW; size < BLOCK_SIZES; size++, count /= 2) {
      const square = squares[size];
      if (square !== undefined) addSquares(blocks, columnCount, count, square);
    }
  }
  const sumOf = (columns: Float64Array, { from, to }: Family) =>
    columns.subarray(from, to).reduce((sum, value) => sum + value, 0);
  return [products, ...squares].flatMap((columns) => families.map((family) => sumOf(columns, family)));
}

/** Adds the products of the neighbours among four rows, and stores their sum. */
function addBlock(
  values: Float32Array,
  columnCount: number,
  [a, b, c, d]: readonly [number, number, number, number],
  products: Float64Array,
  blocks: Float64Array,
  block: number,
): void {
  for (let i = 0; i < columnCount; i++) {
    const first = values[a + i] ?? 0;
    const second = values[b + i] ?? 0;
    const third = values[c + i] ?? 0;
    const fourth = values[d + i] ?? 0;
    products[i] = (products[i] ?? 0) + first * second + second * third + third * fourth;
    blocks[block + i] = first + second + third + fourth;
  }
}

function addProducts(values: Float32Array, columnCount: number, a: number, b: number, products: Float64Array): void {
  for (let i = 0; i < columnCount; i++) {
    products[i] = (products[i] ?? 0) + (values[a + i] ?? 0) * (values[b + i] ?? 0);
  }
}

/** Adds the squares of `count` blocks, and joins each two of them. */
function addSquares(blocks: Float64Array, columnCount: number, count: number, squares: Float64Array): void {
  for (let pair = 0; pair < count / 2; pair++) {
    for (let i = 0; i < columnCount; i++) {
      const one = blocks[2 * pair * columnCount + i] ?? 0;
      const other = blocks[(2 * pair + 1) * columnCount + i] ?? 0;
      squares[i] = (squares[i] ?? 0) + one * one + other * other;
      blocks[pair * columnCount + i] = one + other;
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
