/** How many piles a store gets. */
import { describe, expect, it } from 'vitest';
import { pilesForBytes } from '#src/plan/store-piles.js';

const GIB = 2 ** 30;

describe('pilesForBytes', () => {
  it('gives piles of 16 MiB up to 16 GiB, then both more and larger ones, up to the most there can be', () => {
    const expected = [1, 2 ** 24, 2 ** 24 + 1, 16 * GIB, 256 * GIB, 1024 * GIB, 2 ** 60];
    expect(expected.map(pilesForBytes)).toEqual([1, 1, 2, 1024, 4096, 8192, 65536]);
  });
});
