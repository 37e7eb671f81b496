/** How many piles a store gets. */
import { describe, expect, it } from 'vitest';
import { pilesForBytes, pilesForFirstInputs } from '#src/plan/store-sizes.js';

const GIB = 2 ** 30;

describe('pilesForBytes', () => {
  it('gives piles of 64 MiB up to 64 GiB, then both more and larger ones, up to the most there can be', () => {
    const expected = [1, 2 ** 26, 2 ** 26 + 1, 64 * GIB, 1024 * GIB, 4096 * GIB, 2 ** 60];
    expect(expected.map(pilesForBytes)).toEqual([1, 1, 2, 1024, 4096, 8192, 65536]);
  });
});

describe('pilesForFirstInputs', () => {
  it('expects four times as much, and a store that may grow from very little', () => {
    expect([0, GIB, 16 * GIB].map(pilesForFirstInputs)).toEqual([64, 64, 1024]);
    expect(pilesForFirstInputs(2 * GIB)).toBe(128);
  });
});
