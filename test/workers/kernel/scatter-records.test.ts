/**
 * Scatter and rescatter: kernel against twin, with buffers so small that headers and records straddle
 * flushes, with groups of records that do not fill the four lanes of the generator, and at positions
 * around 2^32.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ARENA_START, Kernel } from '#workers/kernel/kernel.js';
import { atScale } from '../../fixtures/scale.js';
import { type KernelPiles, type PileSizes, rescatterWithKernel, scatterWithKernel } from './kernel-scatter.js';
import {
  byteLengthOf,
  copiesOf,
  decodeStored,
  encodeStored,
  type KeyedRecord,
  recordKey,
  type ScatteredPile,
  scatter,
} from './kernel-twin.js';

const kernel = new Kernel();
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const byte = fc.oneof(fc.constantFrom(0x00, 0x0a, 0xff), fc.nat({ max: 255 }));
const recordOf = (maxLength: number) => fc.array(byte, { maxLength }).map((bytes) => Uint8Array.from(bytes));
const anyRecord = fc.oneof(
  { weight: 8, arbitrary: recordOf(40) },
  { weight: 1, arbitrary: recordOf(700) },
  { weight: 1, arbitrary: fc.nat({ max: 2000 }).map((length) => new Uint8Array(length).fill(0xff)) },
);
const bufferBytes = fc.oneof(fc.integer({ min: 1, max: 64 }), fc.integer({ min: 65, max: 4096 }));
const scale = fc.oneof(fc.constant(1n), fc.constantFrom(2n, 3n, 7n, 4096n, 3n ** 30n), u64);

/** Keys of records that lie one behind the other. */
function keyRecords(records: readonly Uint8Array[], basePosition: bigint, inputKey: bigint): KeyedRecord[] {
  let position = basePosition;
  return records.map((bytes) => {
    const key = recordKey(position % 2n ** 64n, inputKey);
    position += BigInt(bytes.byteLength);
    return { key, bytes };
  });
}

function expectSame(found: KernelPiles, twin: readonly ScatteredPile[], sizes: PileSizes): void {
  for (const { segments, rest } of found.piles) {
    expect(segments.every((segment) => segment.byteLength === sizes.bufferBytes)).toBe(true);
    expect(rest.byteLength).toBeLessThan(sizes.bufferBytes);
  }
  const piles = found.piles.map(({ segments, rest, ...tally }) => ({
    stored: Buffer.concat([...segments, rest]).toString('hex'),
    ...tally,
  }));
  expect(piles).toEqual(
    twin.map(({ stored, ...tally }) => ({ stored: Buffer.from(stored).toString('hex'), ...tally })),
  );
}

describe('scatterRecords', () => {
  const input = fc.record({
    records: fc.array(anyRecord, { maxLength: 60 }),
    basePosition: fc.oneof(u64, fc.bigInt({ min: 2n ** 32n - 300n, max: 2n ** 32n }), fc.constant(0n)),
    inputKey: u64,
  });
  const sizes = fc.record({ pileCount: fc.integer({ min: 1, max: 9 }), bufferBytes, scale });

  it('equals the twin for any records, piles, buffers and positions', () => {
    fc.assert(
      fc.property(input, sizes, fc.integer({ min: 1, max: 9 }), ({ records, basePosition, inputKey }, of, perCall) => {
        const found = scatterWithKernel(kernel, ARENA_START, of, { records, basePosition, inputKey }, perCall);
        expectSame(found, scatter(keyRecords(records, basePosition, inputKey), of.pileCount, of.scale), of);
        expect(found.longestRecord).toBe(Math.max(0, ...records.map((record) => record.byteLength)));
      }),
      { numRuns: atScale(60, 150, 300) },
    );
  });

  const weight = fc.record({
    copies: fc.oneof(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 5, max: 300 })),
    chance: fc.oneof(fc.constant(0n), fc.constant(2n ** 64n - 1n), fc.constant(1n), u64),
  });

  it('equals the twin for any weight, in the order of position and copy', () => {
    fc.assert(
      fc.property(input, sizes, fc.integer({ min: 1, max: 60 }), weight, ({ records, ...from }, of, perCall, each) => {
        const some = records.slice(0, 9 + 200 / (each.copies + 1));
        const found = scatterWithKernel(kernel, ARENA_START, of, { records: some, ...from }, perCall, { weight: each });
        let position = from.basePosition;
        let longest = 0;
        const copies = some.flatMap((bytes) => {
          const { keys } = copiesOf(position % 2n ** 64n, from.inputKey, each);
          position += BigInt(bytes.byteLength);
          longest = Math.max(longest, bytes.byteLength);
          return keys.map((key) => ({ key, bytes }));
        });
        expectSame(found, scatter(copies, of.pileCount, of.scale), of);
        const { wasm } = kernel;
        if (each.copies === 1 && each.chance === 0n) return;
        const counted = [Number(wasm.madeRecords.value), Number(wasm.madeBytes.value), wasm.longestWeighed.value];
        expect(counted).toEqual([copies.length, byteLengthOf(copies), longest]);
      }),
      { numRuns: atScale(40, 150, 300) },
    );
  });

  it('gives records of any lengths the keys of their ordinals, over several calls, until it is told otherwise', () => {
    const positions = fc.oneof(fc.bigInt({ min: 2n ** 32n - 300n, max: 2n ** 32n }), fc.constant(0n));
    fc.assert(
      fc.property(fc.array(anyRecord, { maxLength: 300 }), positions, u64, (records, first, inputKey) => {
        const of: PileSizes = { pileCount: 3, bufferBytes: 64, scale: 1n };
        const perCall = 1 + (records.length >> 1);
        kernel.wasm.keyByOrdinal(first);
        const found = scatterWithKernel(kernel, ARENA_START, of, { records, basePosition: 7n, inputKey }, perCall);
        kernel.wasm.keyByPlace(0);
        const keyed = records.map((bytes, i) => ({ key: recordKey(first + BigInt(i), inputKey), bytes }));
        expectSame(found, scatter(keyed, of.pileCount, of.scale), of);
        const after = scatterWithKernel(kernel, ARENA_START, of, { records, basePosition: 7n, inputKey }, perCall);
        expectSame(after, scatter(keyRecords(records, 7n, inputKey), of.pileCount, of.scale), of);
      }),
      { numRuns: atScale(20, 100, 200) },
    );
  });

  it('flushes a buffer that a record fills to the byte, and starts the next one empty', () => {
    const of: PileSizes = { pileCount: 1, bufferBytes: 64, scale: 1n };
    const fits = scatterWithKernel(
      kernel,
      ARENA_START,
      of,
      { records: [new Uint8Array(51)], basePosition: 0n, inputKey: 1n },
      1,
    );
    expect(fits.piles[0]).toMatchObject({ segments: [], rest: { byteLength: 63 } });
    const fills = scatterWithKernel(
      kernel,
      ARENA_START,
      of,
      { records: [new Uint8Array(52)], basePosition: 0n, inputKey: 1n },
      1,
    );
    expect(fills.piles[0]).toMatchObject({ segments: [{ byteLength: 64 }], rest: { byteLength: 0 } });
  });

  it('takes 65536 piles and gives each its range of the keys', () => {
    const of: PileSizes = { pileCount: 65536, bufferBytes: 16, scale: 1n };
    const records = Array.from({ length: 2000 }, (_, i) => Uint8Array.of(i & 255, i >> 8));
    const found = scatterWithKernel(kernel, ARENA_START, of, { records, basePosition: 0n, inputKey: 5n }, 1000);
    const used = found.piles.flatMap(({ segments, rest }, pile) => {
      const stored = Buffer.concat([...segments, rest]);
      return stored.byteLength > 0 ? decodeStored(stored).map(({ key }) => [pile, Number(key >> 48n)]) : [];
    });
    expect(used).toHaveLength(2000);
    for (const [pile, range] of used) expect(pile).toBe(range);
  });
});

describe('rescatterStored', () => {
  const stored = fc.array(fc.record({ key: u64, bytes: anyRecord }), { maxLength: 40 });
  const sizes = fc.record({ pileCount: fc.integer({ min: 2, max: 9 }), bufferBytes, scale });

  it('equals the twin by any next part of the keys', () => {
    fc.assert(
      fc.property(stored, sizes, (records, of) => {
        const found = rescatterWithKernel(kernel, ARENA_START, of, encodeStored(records));
        expect(found.leftBytes).toBe(0);
        expectSame(found, scatter(records, of.pileCount, of.scale), of);
      }),
      { numRuns: atScale(40, 100, 200) },
    );
  });

  it('gives each pile its first and its last key, exactly', () => {
    const pileCount = fc.oneof(fc.integer({ min: 2, max: 300 }), fc.constantFrom(641, 4095, 4097, 46341));
    fc.assert(
      fc.property(pileCount, fc.nat({ max: 2 ** 31 - 1 }), (count, any) => {
        const pile = 1 + (any % (count - 1));
        const first = ((BigInt(pile) << 64n) + BigInt(count) - 1n) / BigInt(count);
        const records = [first, first - 1n].map((key) => ({ key, bytes: Uint8Array.of(1) }));
        const of: PileSizes = { pileCount: count, bufferBytes: 64, scale: 1n };
        const { piles } = rescatterWithKernel(kernel, ARENA_START, of, encodeStored(records));
        expect([piles[pile - 1]?.records, piles[pile]?.records]).toEqual([1, 1]);
      }),
      { numRuns: atScale(60, 150, 300) },
    );
  });

  it('leaves an incomplete record at the end, wherever it is cut', () => {
    const records: KeyedRecord[] = [3, 0, 20].map((length, i) => ({
      key: BigInt(i) << 62n,
      bytes: new Uint8Array(length).fill(i),
    }));
    const bytes = encodeStored(records);
    const of: PileSizes = { pileCount: 4, bufferBytes: 8, scale: 1n };
    for (let end = 0; end <= bytes.byteLength; end++) {
      const complete = decodeStored(bytes.subarray(0, end));
      const found = rescatterWithKernel(kernel, ARENA_START, of, bytes.subarray(0, end));
      expect(end - found.leftBytes).toBe(encodeStored(complete).byteLength);
      expectSame(found, scatter(complete, 4, 1n), of);
    }
  });
});
