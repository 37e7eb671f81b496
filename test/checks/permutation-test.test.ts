/** The parts of the tests of an order: draws, tails, and a test that is exact for any rows. */
import { describe, expect, it } from 'vitest';
import {
  drawsOf,
  identityOrder,
  nullDistribution,
  shuffleRange,
  testAgainst,
  upperGamma,
} from '#src/checks/permutation-test.js';

describe('upperGamma', () => {
  // Q(1, x) is exp(-x); the others are of tables of the chi-square distribution: Q(k / 2, x / 2).
  it.each([
    [1, 2, Math.exp(-2)],
    [1, 40, Math.exp(-40)],
    [0.5, 3.841458821 / 2, 0.05],
    [5, 23.20925116 / 2, 0.01],
    [50, 149.4492528 / 2, 0.001],
  ])('Q(%d, %d) is %d', (shape, x, expected) => {
    expect(upperGamma(shape, x) / expected).toBeCloseTo(1, 6);
  });
});

describe('a test', () => {
  const values = Float64Array.from({ length: 200 }, (_, i) => i ** 3);
  const ascents = (order: Uint32Array) => [
    order.reduce((sum, row, i) => sum + (i > 0 && (values[row] ?? 0) > (values[order[i - 1] ?? 0] ?? 0) ? 1 : 0), 0),
    // Always the same: it tells nothing.
    1,
  ];
  const shuffle = (order: Uint32Array, draw: () => number) => shuffleRange(order, 0, order.length, draw);
  const distribution = nullDistribution(200, ascents, shuffle);

  it('sees an order', () => {
    const result = testAgainst(distribution, ascents(identityOrder(200)));
    expect(result).toMatchObject({ isSeen: true });
    expect(result.probability).toBeLessThan(1e-20);
    expect(result.tails[1]).toBe(1);
  });

  it('has even probabilities in random orders, of which it sees none', () => {
    const draw = drawsOf(99);
    const order = identityOrder(200);
    const probabilities = Array.from({ length: 400 }, () => {
      shuffle(order, draw);
      const result = testAgainst(distribution, ascents(order));
      expect(result.isSeen).toBe(false);
      return result.probability;
    });
    // Those of less than the mean have 1: half of all.
    for (const part of [0.1, 0.2, 0.4]) {
      const share = probabilities.filter((probability) => probability <= part).length / 400;
      expect(Math.abs(share - part)).toBeLessThan(0.1);
    }
  });
});
