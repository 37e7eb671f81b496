/** The number of piles of a store, and the memory of a pile writer: buffers, a window, and room for a long record. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pass1ArenaBytesOf } from '#src/plan/arena-sizes.js';
import { pilesForBytes, pilesForFirstInputs, planWriterMemory } from '#src/plan/store-sizes.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

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

describe('planWriterMemory', () => {
  it('gives buffers of 32 to 256 KiB by default', () => {
    expect(planWriterMemory(1, undefined)).toEqual({ bufferBytes: 256 * KIB, windowBytes: MIB, arenaBytes: 64 * MIB });
    expect(planWriterMemory(256, undefined).bufferBytes).toBe(184 * KIB);
    const many = planWriterMemory(65536, undefined);
    expect(many.arenaBytes).toBeGreaterThan(65536 * 32 * KIB);
    expect(many.bufferBytes).toBeLessThanOrEqual(32 * KIB);
    expect(many.bufferBytes).toBeGreaterThanOrEqual(20 * KIB);
  });

  it('fits the given memory, with buffers of at least 4 KiB, or is refused', () => {
    const anyGiven = fc.record({
      piles: fc.integer({ min: 1, max: 65536 }),
      bytes: fc.integer({ min: 1, max: 2 ** 32 }),
    });
    fc.assert(
      fc.property(anyGiven, ({ piles, bytes }) => {
        const leastBytes = pass1ArenaBytesOf({ pileCount: piles, bufferBytes: 4 * KIB, readBytes: 64 * KIB });
        if (bytes < leastBytes) {
          expect(() => planWriterMemory(piles, bytes)).toThrow(
            `a memory budget of ${bytes} bytes is too small for ${piles} piles: expected at least ${leastBytes}`,
          );
          return;
        }
        const { bufferBytes, windowBytes, arenaBytes } = planWriterMemory(piles, bytes);
        expect(arenaBytes).toBe(bytes);
        expect(bufferBytes % (4 * KIB)).toBe(0);
        expect(bufferBytes).toBeGreaterThanOrEqual(4 * KIB);
        expect(bufferBytes).toBeLessThanOrEqual(256 * KIB);
        expect(pass1ArenaBytesOf({ pileCount: piles, bufferBytes, readBytes: windowBytes })).toBeLessThanOrEqual(bytes);
      }),
    );
  });
});
