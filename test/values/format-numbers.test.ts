/** Numbers as people read them. */
import { describe, expect, it } from 'vitest';
import {
  formatBudget,
  formatBytes,
  formatCount,
  formatExactBytes,
  formatPlural,
  formatSeconds,
  formatWholeSeconds,
} from '#src/values/format-numbers.js';

describe('quantities', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.00 kB'],
    [9994, '9.99 kB'],
    [9995, '10.0 kB'],
    [99_949, '99.9 kB'],
    [99_950, '100 kB'],
    [999_499, '999 kB'],
    [999_500, '1.00 MB'],
    [1_320_000_000_000, '1.32 TB'],
    [9_007_199_254_740_991, '9.01 PB'],
  ])('formatBytes(%d) is %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it.each([
    [0.042, '0.04 s'],
    [0.994, '0.99 s'],
    [0.996, '1.0 s'],
    [9.94, '9.9 s'],
    [9.96, '10 s'],
    [59.6, '1 min 00 s'],
    [125, '2 min 05 s'],
    [3599.6, '1 h 00 min'],
    [11_220, '3 h 07 min'],
    [90_000, '25 h 00 min'],
  ])('formatSeconds(%d) is %s', (seconds, text) => {
    expect(formatSeconds(seconds)).toBe(text);
  });

  it('formats whole seconds, counts and budgets', () => {
    expect([0, 7, 59, 60].map(formatWholeSeconds)).toEqual(['0 s', '7 s', '59 s', '1 min 00 s']);
    expect([0, 999, 1000, 19_047_619].map(formatCount)).toEqual(['0', '999', '1,000', '19,047,619']);
    expect(formatCount(1234.6)).toBe('1,235');
    expect([1, 2].map((count) => formatPlural(count, 'pile'))).toEqual(['1 pile', '2 piles']);
    expect(formatExactBytes(1_204_000_000)).toBe('1.20 GB (1,204,000,000 bytes)');
    expect([2 ** 32, 3 * 2 ** 27].map(formatBudget)).toEqual(['4G', '384M']);
  });
});
