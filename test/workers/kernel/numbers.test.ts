/** Numbers of a range at the places of an order: the kernel against its twin, and each number once. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JobControl } from '#src/floor/job-control.js';
import { type NumberOrder, orderOfNumbers } from '#src/keep/numbers.js';
import { Arena } from '#workers/arena.js';
import { ARENA_START } from '#workers/kernel/kernel.js';
import { ComputedNumbers } from '#workers/piles/drawn-records.js';
import { atScale } from '../../fixtures/scale.js';
import { drawnOffset, permutedOffset, recordHash } from './kernel-twin.js';

const END = 2n ** 64n;
const BUFFER_BYTES = 2 ** 20;
const arena = new Arena(JobControl.create([], 0));
arena.allow(BUFFER_BYTES);
arena.reserve(ARENA_START + BUFFER_BYTES);

const ordered = (count: bigint, key: bigint, isRepeated: boolean, low = 0n, end = 10): NumberOrder => ({
  ...orderOfNumbers({ low, high: low + count - 1n }, isRepeated, '', end),
  key,
});

/** Up to so many places. */
function linesAt(order: NumberOrder, first: number, places: number): { lines: string[]; checksum: bigint } {
  const numbers = new ComputedNumbers(arena, order);
  expect(numbers.copy(first, first + places, ARENA_START, BUFFER_BYTES)).toBe(first + places);
  const bytes = arena.kernel.bytes.subarray(ARENA_START, ARENA_START + numbers.copiedBytes);
  const lines = Buffer.from(bytes).toString('latin1').split(String.fromCharCode(order.end));
  expect(lines.pop()).toBe('');
  return { lines, checksum: BigInt.asUintN(64, numbers.checksum) };
}

const key64 = fc.bigInt({ min: 0n, max: END - 1n });
/** Of all sizes alike, and the edges. */
const count64 = fc.oneof(
  fc.integer({ min: 0, max: 64 }).map((bits) => 2n ** BigInt(bits)),
  fc.integer({ min: 1, max: 63 }).chain((bits) => fc.bigInt({ min: 1n, max: 2n ** BigInt(bits) })),
  fc.constantFrom(END - 1n, END - 2n ** 32n, 2n ** 32n + 1n, 65_535n * 65_535n + 2n, 2n ** 62n + 1n),
);

describe('numbers of a range', () => {
  it.each([false, true])('follow docs/ORDER.md, with replacement: %s', (isRepeated) => {
    const cases = fc.tuple(
      count64,
      key64,
      fc.nat({ max: 2 ** 53 - 20 }),
      fc.integer({ min: 1, max: 13 }),
      fc.constantFrom(0, 10),
    );
    const offsetAt = isRepeated ? drawnOffset : permutedOffset;
    const check = fc.property(cases, ([count, key, place, most, end]) => {
      const start = isRepeated || BigInt(place) < count ? place : Number(BigInt(place) % count);
      const places = isRepeated || count - BigInt(start) > most ? most : Number(count - BigInt(start));
      const low = END - count;
      const expected = Array.from({ length: places }, (_, i) => String(low + offsetAt(count, key, BigInt(start + i))));
      const { lines, checksum } = linesAt(ordered(count, key, isRepeated, low, end), start, places);
      expect(lines).toEqual(expected);
      const hashes = expected.map((line) => recordHash(Buffer.from(line + String.fromCharCode(end))));
      expect(checksum).toBe(
        BigInt.asUintN(
          64,
          hashes.reduce((sum, hash) => sum + hash, 0n),
        ),
      );
    });
    fc.assert(check, { numRuns: atScale(100, 500, 1000) });
  });

  it('come once each, in every short range', () => {
    for (let count = 1; count <= atScale(150, 700); count++) {
      const { lines } = linesAt(ordered(BigInt(count), BigInt(count * 7919), false), 0, count);
      expect(new Set(lines).size, `${count} numbers`).toBe(count);
    }
  });

  it('come once each in a long range', () => {
    const count = 1025 * 1025 + 1;
    const seen = new Uint8Array(count);
    for (let first = 0; first < count; first += 40_000) {
      const order = ordered(BigInt(count), 5n, false);
      for (const line of linesAt(order, first, Math.min(40_000, count - first)).lines) seen[Number(line)] = 1;
    }
    expect(seen.includes(0)).toBe(false);
  });

  it.each([false, true])('have all lengths, with replacement: %s', (isRepeated) => {
    for (let digits = 1; digits <= 20; digits++) {
      for (const number of [10n ** BigInt(digits - 1), 10n ** BigInt(digits) - 1n].filter((each) => each < END))
        expect(linesAt(ordered(1n, 3n, isRepeated, number), 0, 1).lines).toEqual([String(number)]);
    }
  });
});
