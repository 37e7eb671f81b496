/**
 * Tests what can be seen of the order of records in a sample: windows of neighbours from places all over the data.
 * Pure.
 *
 *     drift        whether windows differ from each other, at all scales from one window to half of the data
 *     neighbours   whether the records inside windows are in random order
 */
import { identityOrder, nullDistribution, shuffleRange, testAgainst } from './permutation-test.js';
import type { Family, RecordRows } from './record-rows.js';

export const WINDOW_RECORDS = 64;

export interface OrderTest {
  /** True if the test shows that the order is not random. */
  readonly isSeen: boolean;
  /** The probability that a random order looks like this or worse, corrected for the number of statistics. */
  readonly probability: number;
  /** The same for each kind of statistics, corrected for the number of that kind alone. */
  readonly families: readonly { readonly name: Family['name']; readonly probability: number }[];
}

/** Sums of squares between blocks of 1, 2, 4, ... windows. */
export function testDrift(rows: RecordRows): OrderTest {
  const statisticsOf = (order: Uint32Array) => spreadsOf(rows, order, WINDOW_RECORDS);
  return testOrder(rows, statisticsOf, (order, draw) => shuffleRange(order, 0, order.length, draw));
}

const SMALLEST_BLOCK = 4;

/** Tests the order inside windows: products of neighbours, and sums of squares between blocks of 4 to 32 records. */
export function testNeighbours(rows: RecordRows): OrderTest {
  const centred = centredInWindows(rows);
  const scales = Math.log2(WINDOW_RECORDS / SMALLEST_BLOCK);
  const statisticsOf = (order: Uint32Array) => [
    ...productsOfNeighbours(centred, order),
    ...spreadsOf(centred, order, SMALLEST_BLOCK, scales),
  ];
  return testOrder(rows, statisticsOf, (order, draw) => {
    for (let at = 0; at < order.length; at += WINDOW_RECORDS) shuffleRange(order, at, at + WINDOW_RECORDS, draw);
  });
}

/** @param statisticsOf scale by scale, family by family. */
function testOrder(
  { rowCount, families }: RecordRows,
  statisticsOf: (order: Uint32Array) => readonly number[],
  shuffle: (order: Uint32Array, draw: () => number) => void,
): OrderTest {
  const distribution = nullDistribution(rowCount, statisticsOf, shuffle);
  const { isSeen, probability, tails } = testAgainst(distribution, statisticsOf(identityOrder(rowCount)));
  const ofFamilies = families.map(({ name }, family) => {
    const own = tails.filter((_, i) => i % families.length === family);
    return { name, probability: Math.min(1, own.length * Math.min(1, ...own)) };
  });
  return { isSeen, probability, families: ofFamilies };
}

/** The sums of squares between blocks of rows, for each family; then between blocks of twice as many rows, and so on. */
function spreadsOf(rows: RecordRows, order: Uint32Array, blockRecords: number, scales = Infinity): number[] {
  const { columnCount, families } = rows;
  const sums = blockSums(rows, order, blockRecords);
  const sizes = new Float64Array(sums.length / columnCount).fill(1);
  const statistics: number[] = [];
  for (let count = sizes.length, scale = 0; count >= 2 && scale < scales; count = Math.ceil(count / 2), scale++) {
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

function blockSums({ values, columnCount, rowCount }: RecordRows, order: Uint32Array, blockRecords: number) {
  const sums = new Float64Array((rowCount / blockRecords) * columnCount);
  for (let first = 0, block = 0; first < rowCount; first += blockRecords, block += columnCount) {
    for (let i = first; i < first + blockRecords; i++) {
      const row = (order[i] ?? 0) * columnCount;
      for (let column = 0; column < columnCount; column++) {
        sums[block + column] = (sums[block + column] ?? 0) + (values[row + column] ?? 0);
      }
    }
  }
  return sums;
}

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

function productsOfNeighbours({ values, columnCount, rowCount, families }: RecordRows, order: Uint32Array): number[] {
  const products = new Float64Array(columnCount);
  for (let i = 1; i < rowCount; i++) {
    if (i % WINDOW_RECORDS === 0) continue;
    const [one, other] = [(order[i - 1] ?? 0) * columnCount, (order[i] ?? 0) * columnCount];
    for (let column = 0; column < columnCount; column++) {
      products[column] = (products[column] ?? 0) + (values[one + column] ?? 0) * (values[other + column] ?? 0);
    }
  }
  return families.map(({ from, to }) => products.subarray(from, to).reduce((sum, value) => sum + value, 0));
}

/** Centres each column in each window: mean 0 and deviation 1, or all 0. Then only the order inside windows counts. */
function centredInWindows(rows: RecordRows): RecordRows {
  const { columnCount, rowCount } = rows;
  const values = rows.values.slice();
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
  return { ...rows, values };
}
