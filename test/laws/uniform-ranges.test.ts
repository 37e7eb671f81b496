/**
 * Every order of a range is equally likely, as far as anybody can tell: all orders of a few numbers, the places of single
 * numbers and of pairs under the network that orders long ranges, and draws with replacement. Most seeds are tried with the
 * kernel alone, in the same way in which a thread asks it; some jobs go through the whole program. chi-square.ts explains
 * the bounds.
 */
import { readFileSync } from 'node:fs';
import { describe, it } from 'vitest';
import { shuffleRange } from '#src/index.js';
import { deriveRangeKey } from '#src/keys.js';
import { networkOf } from '#src/plan/number-range.js';
import { atScale, fromCi } from '../fixtures/scale.js';
import { orderNumbers } from '../workers/kernel/kernel-numbers.js';
import { expectUniform } from './chi-square.js';
import { useFastDirectory } from './fast-directory.js';

/** The number of an arrangement of some of `count` numbers among all of them. */
function numberOf(arrangement: readonly number[], count: number): number {
  const left = Array.from({ length: count }, (_, i) => i);
  let number = 0;
  for (const each of arrangement) {
    const place = left.indexOf(each);
    if (place < 0) throw new RangeError(`${arrangement.join(' ')} is no arrangement of ${count} numbers`);
    number = number * left.length + place;
    left.splice(place, 1);
  }
  return number;
}

const add = (counts: Float64Array, cell: number) => {
  counts[cell] = (counts[cell] ?? 0) + 1;
};

/** The order of `count` numbers from 0 on, with each seed. */
function* ordersBySeed(seeds: number, count: number, isPermuted: boolean): Generator<readonly number[]> {
  const range = { low: 0n, high: BigInt(count) - 1n };
  const way = isPermuted
    ? ({ by: 'permuted', ...networkOf(BigInt(count)), isTabled: false } as const)
    : ({ by: 'sorted' } as const);
  for (let seed = 0; seed < seeds; seed++) {
    const key = deriveRangeKey(String(seed), range.low, range.high);
    yield orderNumbers(range, key, way).numbers(0n, count).map(Number);
  }
}

describe('a short range', () => {
  it('has all orders of five numbers equally often', () => {
    const counts = new Float64Array(120);
    for (const order of ordersBySeed(atScale(12_000, 24_000, 120_000), 5, false)) add(counts, numberOf(order, 5));
    expectUniform(counts, 119, 'orders of five');
  });
});

describe('a permuted range', () => {
  // Networks of 5 x 4 and of 10 x 10: far shorter than any range that is permuted, where a bias would be largest.
  it('of 20 numbers has each number at each place, and each pair at the first places, equally often', () => {
    const places = new Float64Array(20 * 20);
    const pairs = new Float64Array(20 * 19);
    for (const order of ordersBySeed(atScale(6_000, 12_000, 60_000), 20, true)) {
      for (const [place, number] of order.entries()) add(places, number * 20 + place);
      add(pairs, numberOf(order.slice(0, 2), 20));
    }
    // Rows and columns have fixed sums: (20 - 1)^2 degrees of freedom.
    expectUniform(places, 361, 'numbers against places');
    expectUniform(pairs, 379, 'pairs at the first two places');
  });

  it('of 100 numbers takes each part of the range to each part of the order, and arranges neighbours in all ways', () => {
    const parts = new Float64Array(20 * 20);
    const arrangements = new Float64Array(120);
    for (const order of ordersBySeed(atScale(3_000, 6_000, 30_000), 100, true)) {
      for (const [place, number] of order.entries()) add(parts, Math.floor(number / 5) * 20 + Math.floor(place / 5));
      const five = order.slice(47, 52);
      const ranks = five.map((each) => five.filter((other) => other < each).length);
      add(arrangements, numberOf(ranks, 5));
    }
    expectUniform(parts, 361, 'parts of the range against parts of the order');
    expectUniform(arrangements, 119, 'arrangements of five neighbours');
  });

  it('above the bound has each part of the range at any place', () => {
    const low = 1n;
    const count = 2n ** 20n + 1n;
    const range = { low, high: low + count - 1n };
    const way = { by: 'permuted', ...networkOf(count), isTabled: false } as const;
    for (const place of [0n, 123_456n, count - 1n]) {
      const parts = new Float64Array(120);
      for (let seed = 0; seed < atScale(3_000, 6_000, 30_000); seed++) {
        const order = orderNumbers(range, deriveRangeKey(String(seed), range.low, range.high), way);
        const [number = 0n] = order.numbers(place, 1);
        add(parts, Number(((number - low) * 120n) / count));
      }
      expectUniform(parts, 119, `parts of the range at place ${place}`);
    }
  });
});

describe('draws', () => {
  it('of 20 numbers have all pairs of neighbours equally often', () => {
    const range = { low: 0n, high: 19n };
    const order = orderNumbers(range, deriveRangeKey('draws', range.low, range.high), { by: 'drawn' });
    const pairs = new Float64Array(400);
    const DRAWS = 8_000;
    for (let done = 0; done < atScale(48_000, 96_000, 480_000); done += DRAWS) {
      const numbers = order.numbers(BigInt(done), DRAWS);
      for (let i = 0; i < DRAWS; i += 2) add(pairs, Number(numbers[i]) * 20 + Number(numbers[i + 1]));
    }
    expectUniform(pairs, 399, 'pairs of draws');
  });
});

describe('whole jobs', () => {
  const directory = useFastDirectory();

  async function numbersOf(options: Omit<Parameters<typeof shuffleRange>[0], 'output'>): Promise<number[]> {
    const output = directory.path('numbers');
    await shuffleRange({ ...options, output, force: true });
    const lines = readFileSync(output, 'latin1').split('\n').slice(0, -1);
    return lines.map((line) => Number(line) - Number(options.range.low));
  }

  it.runIf(fromCi)('write all orders of four numbers, and all choices of two of five, equally often', async () => {
    const orders = new Float64Array(24);
    const choices = new Float64Array(20);
    for (let seed = 0; seed < atScale(120, 120, 1_000); seed++) {
      add(orders, numberOf(await numbersOf({ range: { low: 7, high: 10 }, seed: `orders ${seed}` }), 4));
      const two = await numbersOf({ range: { low: 0, high: 4 }, headCount: 2, seed: `choices ${seed}` });
      add(choices, numberOf(two, 5));
    }
    expectUniform(orders, 23, 'orders of four');
    expectUniform(choices, 19, 'choices of two of five');
  });
});
