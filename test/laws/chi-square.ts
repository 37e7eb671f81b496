/**
 * Pearson's statistic, and the bounds that the uniformity tests hold it to. The seeds are fixed, so a
 * test passes or fails for good; the bounds are such that a correct program with other seeds would fail
 * one of the tests less than once in a million times.
 */
import { expect } from 'vitest';

/** A chi-square distribution leaves each tail beyond these with a probability of at most 1.1e-7. */
export const CHI_SQUARE_BOUNDS = {
  3: [0.00005, 35.3],
  15: [0.88, 62.2],
  19: [1.7, 69.6],
  23: [2.8, 76.7],
  63: [20.8, 139.4],
  119: [55, 218],
  189: [104, 308],
  361: [238, 519],
  379: [253, 540],
  399: [269, 563],
} as const;

/** Sum over all cells of (observed - expected)^2 / expected, every cell being equally likely. */
export function chiSquare(counts: ArrayLike<number>): number {
  const observed = Array.from(counts);
  const expected = observed.reduce((sum, count) => sum + count, 0) / observed.length;
  return observed.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

/** Fails when the counts differ too much to come from equal chances, and also when they differ too little. */
export function expectUniform(
  counts: ArrayLike<number>,
  degreesOfFreedom: keyof typeof CHI_SQUARE_BOUNDS,
  what: string,
): void {
  const [least, most] = CHI_SQUARE_BOUNDS[degreesOfFreedom];
  const statistic = chiSquare(counts);
  expect(statistic, `chi-square of ${what}`).toBeGreaterThan(least);
  expect(statistic, `chi-square of ${what}`).toBeLessThan(most);
}
