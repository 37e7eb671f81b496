/**
 * Gather and measure: kernel against twin with every capacity, end and limit, the checksum of the copies, and no byte
 * written behind the output buffer except the slack of short copies.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ARENA_START, Kernel } from '#workers/kernel/kernel.js';
import { KernelOrder, WHOLE_KEY_SPACE } from './kernel-order.js';
import {
  byteLengthOf,
  checksumOf,
  encodeStored,
  gather,
  type KeyedRecord,
  measureUnits,
  order,
} from './kernel-twin.js';

const kernel = new Kernel();
const NO_LIMIT = 2n ** 63n - 1n;
const OUT_BYTES = 8192;

/** Records of the given lengths, in any order of keys, loaded and ordered. */
function loadPile(lengths: readonly number[]): { pile: KernelOrder; ordered: KeyedRecord[] } {
  const records = lengths.map((length, i) => ({
    key: (BigInt(i) * 0x9e3779b97f4a7c15n) % 2n ** 64n,
    bytes: new Uint8Array(length).fill(i + 1),
  }));
  const stored = encodeStored(records);
  const pile = new KernelOrder(kernel, ARENA_START, WHOLE_KEY_SPACE, stored, records.length, 3, OUT_BYTES);
  expect(pile.walk(stored.byteLength)).toBe(stored.byteLength);
  pile.order();
  return { pile, ordered: order(records) };
}

function expectGathered(
  { pile, ordered }: ReturnType<typeof loadPile>,
  index: number,
  endIndex: number,
  capacity: number,
  startLimit: bigint,
): void {
  const taken = gather(ordered, index, endIndex, capacity, startLimit);
  const before = pile.checksum();
  const { next, gathered, inBounds } = pile.gather(index, endIndex, capacity, startLimit);
  expect({ next, inBounds }).toEqual({ next: index + taken.length, inBounds: true });
  expect(Buffer.from(gathered).equals(Buffer.concat(taken.map(({ bytes }) => bytes)))).toBe(true);
  expect(BigInt.asUintN(64, pile.checksum() - before)).toBe(checksumOf(taken));
}

const lengths = [5, 0, 1, 33, 16, 0, 7, 15, 17, 2, 31];

describe('gather', () => {
  it('takes what fits, at every capacity and from every index', () => {
    const loaded = loadPile(lengths);
    const total = byteLengthOf(loaded.ordered);
    for (let index = 0; index <= lengths.length; index++) {
      for (let capacity = 0; capacity <= total + 1; capacity++) {
        expectGathered(loaded, index, lengths.length, capacity, NO_LIMIT);
      }
    }
  });

  it('ends at every end index and before every start limit', () => {
    const loaded = loadPile(lengths);
    const total = byteLengthOf(loaded.ordered);
    for (let endIndex = 0; endIndex <= lengths.length; endIndex++) {
      for (let limit = 0; limit <= total + 1; limit++) {
        expectGathered(loaded, 0, endIndex, OUT_BYTES, BigInt(limit));
        expectGathered(loaded, Math.min(3, endIndex), endIndex, 40, BigInt(limit));
      }
    }
  });

  it('equals the twin for records of any length, also above what short copies are made for', () => {
    const length = fc.oneof(fc.nat({ max: 40 }), fc.integer({ min: 490, max: 540 }), fc.nat({ max: 3000 }));
    const call = fc.record({
      index: fc.nat({ max: 40 }),
      endIndex: fc.nat({ max: 40 }),
      capacity: fc.nat({ max: OUT_BYTES }),
      startLimit: fc.oneof(fc.constant(NO_LIMIT), fc.bigInt({ min: 0n, max: 9000n })),
    });
    fc.assert(
      fc.property(fc.array(length, { maxLength: 40 }), fc.array(call, { maxLength: 5 }), (ofLengths, calls) => {
        const loaded = loadPile(ofLengths);
        for (const { index, endIndex, capacity, startLimit } of calls) {
          const from = Math.min(index, ofLengths.length);
          expectGathered(loaded, from, Math.max(from, Math.min(endIndex, ofLengths.length)), capacity, startLimit);
        }
      }),
    );
  });
});

describe('hashInPlace', () => {
  it('adds a record too long to be gathered to the checksum', () => {
    const { pile, ordered } = loadPile(lengths);
    pile.gather(0, 4, OUT_BYTES, NO_LIMIT);
    expect(pile.checksum(4)).toBe(checksumOf(ordered.slice(0, 5)));
  });
});

describe('measureUnits', () => {
  it.each([0, 1, lengths.length - 1])('equals the twin at every rank and byte, from record %d on', (index) => {
    const { pile, ordered } = loadPile(lengths);
    for (const byRank of [true, false]) {
      for (let limit = 0; limit <= (byRank ? lengths.length : byteLengthOf(ordered)) + 1; limit++)
        expect(pile.measureUnits(index, limit, byRank ? 'rank' : 'byte')).toEqual(
          measureUnits(ordered, index, limit, byRank),
        );
    }
  });

  it('stops before the first record of a key or a greater one', () => {
    const { pile, ordered } = loadPile(lengths);
    for (const key of ordered.flatMap((record) => [record.key, record.key + 1n])) {
      const before = ordered.filter((record) => record.key < key);
      const byteLength = BigInt(byteLengthOf(before));
      expect(pile.measureUnits(0, key, 'key')).toEqual({ next: before.length, byteLength });
    }
  });
});
