/**
 * Unique records: kernel against twin. Keys that follow from the content; records that are dropped because an equal one is
 * still in the buffer of its pile, or is a neighbour in the order; and what is counted of them.
 */
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { ARENA_START, Kernel } from '#workers/kernel/kernel.js';
import { KernelOrder, WHOLE_KEY_SPACE } from './kernel-order.js';
import { scatterWithKernel } from './kernel-scatter.js';
import {
  byteLengthOf,
  checksumOf,
  decodeStored,
  encodeStored,
  type KeyedRecord,
  orderDistinct,
  recordHash,
  recordKey,
} from './kernel-twin.js';

const kernel = new Kernel();
const RECENT_BYTES = 32 * 1024;
const WORK = ARENA_START + RECENT_BYTES;

/** What the kernel drops during a call. */
function droppedDuring<T>(work: () => T) {
  const before = kernel.dropped;
  const value = work();
  const after = kernel.dropped;
  return {
    value,
    records: after.records - before.records,
    bytes: after.bytes - before.bytes,
    checksum: BigInt.asUintN(64, after.checksum - before.checksum),
  };
}

/** Few letters, so that many are equal or the beginning of others; lengths around those of vectors. */
const text = fc.oneof(
  fc.array(fc.constantFrom(0x00, 0xff), { minLength: 1, maxLength: 5 }),
  fc
    .tuple(fc.integer({ min: 1, max: 70 }), fc.constantFrom(0x61, 0x80), fc.nat({ max: 70 }))
    .map(([length, code, at]) => Array.from({ length }, (_, i) => (i === at ? 0x62 : code))),
);
const bytes = text.map((codes) => Uint8Array.from(codes));

const legible = (records: readonly KeyedRecord[]) =>
  records.map(({ key, bytes: each }) => `${key.toString(16)} ${Buffer.from(each).toString('latin1')}`);

describe('a scatter by content', () => {
  afterEach(() => kernel.wasm.keyByContent(false));

  it('gives keys that follow from the content, and drops equal records that are near', () => {
    const sizes = fc.record({
      pileCount: fc.integer({ min: 1, max: 5 }),
      bufferBytes: fc.oneof(fc.integer({ min: 1, max: 90 }), fc.integer({ min: 91, max: 4000 })),
      scale: fc.constant(1n),
    });
    const records = fc.array(bytes, { maxLength: 80 });
    const contentKey = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    fc.assert(
      fc.property(records, sizes, contentKey, fc.boolean(), (given, ofSizes, inputKey, drops) => {
        kernel.ensureArena(RECENT_BYTES);
        kernel.wasm.keyByContent(true);
        const input = { records: given, basePosition: 77n, inputKey };
        const table = drops ? ARENA_START : 0;
        const dropped = droppedDuring(() => scatterWithKernel(kernel, WORK, ofSizes, input, 7, { recentTable: table }));
        const piles = dropped.value.piles.map(({ segments, rest }) => decodeStored(Buffer.concat([...segments, rest])));
        const found = piles.flat();
        for (const { key, bytes: each } of found) expect(key).toBe(recordKey(recordHash(each), inputKey));
        const all = given.map((each) => ({ key: recordKey(recordHash(each), inputKey), bytes: each }));
        expect(new Set(legible(found))).toEqual(new Set(legible(all)));
        expect(found.length + dropped.records).toBe(all.length);
        expect(byteLengthOf(found) + dropped.bytes).toBe(byteLengthOf(all));
        expect(BigInt.asUintN(64, checksumOf(found) + dropped.checksum)).toBe(checksumOf(all));
        if (!drops) expect(dropped.records).toBe(0);
        // All fit the buffers: each comes once.
        else if (ofSizes.bufferBytes > 12 * given.length + byteLengthOf(all) + 1)
          expect(found).toHaveLength(new Set(legible(all)).size);
      }),
      { numRuns: 200 },
    );
  });

  it('takes no record for another that has its key', () => {
    kernel.ensureArena(RECENT_BYTES);
    const sizes = { pileCount: 1, bufferBytes: 1000, scale: 1n };
    const records = ['aa', 'ab', 'aa'].map((each) => ({ key: 5n, bytes: Buffer.from(each) }));
    const pile = scatterWithKernel(kernel, WORK, sizes, { records: [], basePosition: 0n, inputKey: 0n }, 1, {
      recentTable: ARENA_START,
    });
    expect(pile.piles[0]?.records).toBe(0);
    const stored = encodeStored(records);
    kernel.ensureArena(WORK + 2 ** 16);
    kernel.bytes.set(stored, WORK + 2 ** 15);
    const found = droppedDuring(() => kernel.wasm.rescatterStored(WORK + 2 ** 15, WORK + 2 ** 15 + stored.byteLength));
    // The slot has the second one when the third comes.
    expect(found).toMatchObject({ records: 0 });
  });

  it('takes no bytes of another record for one that has left with its buffer', () => {
    kernel.ensureArena(WORK + 2 ** 16);
    const sizes = { pileCount: 1, bufferBytes: 40, scale: 1n };
    scatterWithKernel(kernel, WORK, sizes, { records: [], basePosition: 0n, inputKey: 0n }, 1, {
      recentTable: ARENA_START,
    });
    // The end of the long record comes to lie where the first one was, and looks like the third.
    const long = Buffer.concat([Buffer.alloc(14 + 8), Buffer.of(2, 0, 0, 0), Buffer.from('aa'), Buffer.alloc(2)]);
    const stored = encodeStored([
      { key: 5n, bytes: Buffer.from('ab') },
      { key: 6n, bytes: long },
      { key: 5n, bytes: Buffer.from('aa') },
    ]);
    const from = WORK + 2 ** 15;
    kernel.bytes.set(stored, from);
    const found = droppedDuring(() => kernel.wasm.rescatterStored(from, from + stored.byteLength));
    expect(found).toMatchObject({ records: 0, value: from + stored.byteLength });
  });
});

describe('orderDistinct', () => {
  const key = fc.oneof(fc.constantFrom(0n, 1n, 2n ** 40n, 2n ** 64n - 1n), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }));
  const records = fc.array(fc.record({ key, bytes }), { maxLength: 120 });
  const bits = fc.integer({ min: 1, max: 9 });

  it('keeps one of equal records, counts the others, and compaction leaves what stays', () => {
    fc.assert(
      fc.property(records, bits, (given, ofBits) => {
        const stored = encodeStored(given);
        const pile = new KernelOrder(kernel, ARENA_START, WHOLE_KEY_SPACE, stored, given.length, ofBits);
        expect(pile.walk(stored.byteLength)).toBe(stored.byteLength);
        const { value, ...dropped } = droppedDuring(() => pile.orderDistinct());
        const expected = orderDistinct(given);
        expect(legible(value)).toEqual(legible(expected.kept));
        expect(dropped).toEqual({
          records: expected.dropped.length,
          bytes: byteLengthOf(expected.dropped),
          checksum: checksumOf(expected.dropped),
        });
        const compacted = decodeStored(pile.compact());
        expect(legible(compacted).sort()).toEqual(legible(expected.kept).sort());
      }),
      { numRuns: 300 },
    );
  });

  it('takes as long for many records in one range as for few', () => {
    // Two records in turn, in one range of the counting step: a plain insertion sort would move each past half of the others.
    const given = Array.from({ length: 200_000 }, (_, i) => ({ key: i % 2 === 0 ? 2n : 1n, bytes: Buffer.of(i % 2) }));
    const stored = encodeStored(given);
    const pile = new KernelOrder(kernel, ARENA_START, WHOLE_KEY_SPACE, stored, given.length, 1);
    pile.walk(stored.byteLength);
    expect(legible(pile.orderDistinct())).toEqual(['1 \x01', '2 \0']);
  });
});
