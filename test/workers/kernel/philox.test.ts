/**
 * The generator: the known-answer vectors of Random123 (tests/kat_vectors, philox4x32 with 10 rounds)
 * for the kernel and for the twin, and the four-lane form against single blocks.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ARENA_START, Kernel } from '#workers/kernel/kernel.js';
import { philoxBlock, recordKey, type Words } from './kernel-twin.js';

const kernel = new Kernel();
kernel.ensureArena(1024);
const out = ARENA_START;

function kernelBlock([c0, c1, c2, c3]: Words, [k0, k1]: readonly [number, number]): Words {
  kernel.wasm.philoxBlock(c0, c1, c2, c3, k0, k1, out);
  const word = (i: number) => kernel.view.getUint32(out + 4 * i, true);
  return [word(0), word(1), word(2), word(3)];
}

function kernelKeys(base: bigint, offsets: Words, copy: number, purpose: number, inputKey: bigint): bigint[] {
  kernel.wasm.philoxKeys4(base, ...offsets, copy, purpose, inputKey, out);
  return [0, 1, 2, 3].map((i) => kernel.view.getBigUint64(out + 8 * i, true));
}

const knownAnswers: [string, Words, [number, number], Words][] = [
  ['zeros', [0, 0, 0, 0], [0, 0], [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]],
  [
    'ones',
    [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
    [0xffffffff, 0xffffffff],
    [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd],
  ],
  [
    'digits of pi',
    [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
    [0xa4093822, 0x299f31d0],
    [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
  ],
];

describe('philoxBlock', () => {
  it.each(knownAnswers)('kernel and twin give the known answer for %s', (_, counter, key, answer) => {
    expect(kernelBlock(counter, key)).toEqual(answer);
    expect(philoxBlock(counter, key)).toEqual(answer);
  });

  it('equals the twin for any counter and key', () => {
    const word = fc.nat({ max: 0xffffffff });
    fc.assert(
      fc.property(fc.tuple(word, word, word, word), fc.tuple(word, word), (counter, key) => {
        expect(kernelBlock(counter, key)).toEqual(philoxBlock(counter, key));
      }),
    );
  });
});

describe('findPosition', () => {
  it('finds the position of each key, also beyond 2^32, and no other', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(0n, 512n, 2n ** 32n - 1024n, 2n ** 52n),
        fc.constantFrom(1, 512),
        fc.integer({ min: 1, max: 30 }),
        fc.nat({ max: 40 }),
        (first, step, count, at) => {
          const position = first + BigInt(at * step);
          const found = kernel.wasm.findPosition(7n, recordKey(position, 7n), first, step, count);
          expect(found).toBe(at < count ? position : -1n);
        },
      ),
    );
    expect(kernel.wasm.findPosition(8n, recordKey(0n, 7n), 0n, 512, 100)).toBe(-1n);
  });
});

describe('philoxKeys4', () => {
  const u32 = fc.nat({ max: 0xffffffff });
  const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  const edge = 2n ** 32n;
  const base = fc.oneof(u64, fc.bigInt({ min: edge - 8n, max: edge + 8n }), fc.constantFrom(0n, 3n * edge, 2n ** 53n));
  const offset = fc.oneof(u32, fc.nat({ max: 16 }), fc.constantFrom(0xfffffff8, 0xffffffff));

  it('equals four blocks of the twin, counters (position low, position high, copy, purpose)', () => {
    fc.assert(
      fc.property(
        base,
        fc.tuple(offset, offset, offset, offset),
        u32,
        u32,
        u64,
        (start, offsets, copy, purpose, inputKey) => {
          const keys = offsets.map((o) => recordKey((start + BigInt(o)) % 2n ** 64n, inputKey, copy, purpose));
          expect(kernelKeys(start, offsets, copy, purpose, inputKey)).toEqual(keys);
        },
      ),
    );
  });

  it('carries into the high word where four neighbours lie on both sides of 2^32', () => {
    const keys = [edge - 2n, edge - 1n, edge, edge + 1n].map((position) => recordKey(position, 7n));
    expect(kernelKeys(edge - 2n, [0, 1, 2, 3], 0, 0, 7n)).toEqual(keys);
    expect(kernelKeys(0n, [0xfffffffe, 0xffffffff, 0, 1], 0, 0, 7n).slice(0, 2)).toEqual(keys.slice(0, 2));
    expect(new Set([...keys, recordKey(0n, 7n), recordKey(1n, 7n)]).size).toBe(6);
  });
});
