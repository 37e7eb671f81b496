/** Which jobs leave their records where they are read, and the memory that this takes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  blocksAtOnce,
  type HoldNeed,
  heldPass2Bytes,
  heldPass2Layout,
  OWN_BYTES,
  planHold,
} from '#src/plan/hold-plan.js';
import { planMemory } from '#src/plan/memory-plan.js';
import { usualNeed } from './memory-needs.js';

const MIB = 2 ** 20;
const GIB = 2 ** 30;

const usual: HoldNeed = {
  budgetBytes: 12 * GIB,
  workers: 2,
  recordBytes: 1e9,
  meanRecordBytes: 105,
  exact: true,
  outputWaits: false,
  isKnown: true,
};

const anyNeed: fc.Arbitrary<HoldNeed> = fc.record({
  budgetBytes: fc.double({ min: 4 * MIB, max: 2 ** 44, noNaN: true }).map(Math.floor),
  workers: fc.integer({ min: 1, max: 128 }),
  recordBytes: fc.oneof(fc.integer({ min: 1, max: 1e7 }), fc.integer({ min: 1e7, max: 1e12 })),
  meanRecordBytes: fc.double({ min: 1, max: 1e7, noNaN: true }),
  exact: fc.boolean(),
  outputWaits: fc.boolean(),
  isKnown: fc.boolean(),
});

describe('planHold', () => {
  it('holds what fits four fifths of the budget, and half of it when nobody knows the size', () => {
    expect(planHold(usual)).toBeDefined();
    expect(planHold({ ...usual, budgetBytes: 1.7 * GIB })).toBeDefined();
    expect(planHold({ ...usual, budgetBytes: 1.2 * GIB })).toBeUndefined();
    expect(planHold({ ...usual, budgetBytes: 2 * GIB })?.memoryBytes).toBe(Math.floor(1.6 * GIB));
    expect(planHold({ ...usual, budgetBytes: 1.7 * GIB, exact: false })).toBeUndefined();
    expect(planHold({ ...usual, budgetBytes: 3 * GIB, exact: false })?.memoryBytes).toBe(1.5 * GIB);
    expect(planHold({ ...usual, recordBytes: 3e9 })).toBeDefined();
    expect(planHold({ ...usual, recordBytes: 4e9 })).toBeUndefined();
  });

  it('holds no stream, whose size nobody knows, unless a test says so', () => {
    const stream = { ...usual, exact: false, isKnown: false };
    expect(planHold(stream)).toBeUndefined();
    expect(planHold(stream, { hold: true })?.memoryBytes).toBe(4 * GIB - 65536);
  });

  it('moves the records of a compressed output, which takes memory to wait in', () => {
    expect(planHold({ ...usual, outputWaits: true })).toBeUndefined();
  });

  it('moves records that are shorter than an entry', () => {
    expect(planHold({ ...usual, meanRecordBytes: 15 })).toBeUndefined();
    expect(planHold({ ...usual, meanRecordBytes: 16 })).toBeDefined();
  });

  it('has piles for the cache, and blocks of which few are empty', () => {
    expect(planHold(usual)).toMatchObject({ pileCount: 582, blockBytes: 2048, sliceBytes: 62_500_000 });
    expect(planHold({ ...usual, meanRecordBytes: 2500 })).toMatchObject({ pileCount: 477, blockBytes: 256 });
    expect(planHold({ ...usual, recordBytes: 100_000 })).toMatchObject({ pileCount: 1, blockBytes: 1024 });
  });

  it('leaves each thread 4 MiB beside it', () => {
    const need = { ...usual, budgetBytes: 60 * MIB, recordBytes: 2 * MIB, workers: 4 };
    expect(planHold(need)?.memoryBytes).toBe(44 * MIB);
  });

  it('counts all that both passes take', () => {
    const { ownEnd = 0, fixedBytes, expectedBytes, regionBytes } = planHold({ ...usual, budgetBytes: 1.7 * GIB }) ?? {};
    const records = 1e9 / 105;
    const pass2Bytes = heldPass2Bytes(2, 4 * MIB, 1.2 * (records / 582) + 64);
    expect(ownEnd).toBe(65_536 + 2 * OWN_BYTES);
    expect(fixedBytes).toBe(Math.ceil(ownEnd + pass2Bytes));
    expect(regionBytes).toBe(4 * MIB);
    // 21 slices, and blocks of 2 KiB: two lots for each thread.
    const entriesBytes = records * 16 * 1.1 * (9 / 8);
    const pass1Bytes = 1e9 + entriesBytes + 21 * 582 * 32 + 2 * (2 * 4 * MIB + 2 * 591 * 2048);
    expect(expectedBytes).toBe(Math.ceil(ownEnd + pass1Bytes + pass2Bytes));
  });

  it('leaves room for both passes, and for a scatter beside them', () => {
    fc.assert(
      fc.property(anyNeed, (need) => {
        const plan = planHold(need);
        if (plan === undefined) return;
        const { memoryBytes, ownEnd, pass1End, pileCount, blockBytes, regionBytes, outputBytes } = plan;
        for (const size of Object.values(plan)) expect(Number.isSafeInteger(size)).toBe(true);
        expect(memoryBytes).toBeLessThanOrEqual(Math.min(4 * GIB - 65536, need.budgetBytes * (need.exact ? 0.8 : 0.5)));
        expect(need.budgetBytes - memoryBytes).toBeGreaterThanOrEqual(need.workers * 4 * MIB);
        expect(ownEnd).toBe(65536 + need.workers * OWN_BYTES);
        if (need.isKnown) {
          const entriesBytes = (16 * need.recordBytes) / need.meanRecordBytes;
          expect(pass1End - ownEnd).toBeGreaterThanOrEqual(need.recordBytes + entriesBytes);
        }
        const pileRecords = Math.ceil(need.isKnown ? need.recordBytes / need.meanRecordBytes / pileCount : 1);
        expect(memoryBytes - pass1End).toBeGreaterThanOrEqual(heldPass2Bytes(need.workers, outputBytes, pileRecords));
        expect(blocksAtOnce(pileCount, blockBytes)).toBeLessThanOrEqual(1024);
        expect(Math.log2(blockBytes) % 1).toBe(0);
        expect(regionBytes).toBeGreaterThanOrEqual(64 * 1024);
      }),
    );
  });
});

describe('the part of a thread in pass 2', () => {
  it('has four buffers with slack, ranges for one or two entries each, and room for one entry more', () => {
    expect(heldPass2Layout(4096, 100)).toEqual({
      bufferOffsets: [0, 8192, 16_384, 24_576],
      bits: 6,
      countsOffset: 32_768,
      sortedOffset: 32_768 + 4 * 64,
      byteLength: 32_768 + 4 * 64 + 16 * 101,
    });
    expect(heldPass2Layout(4096 - 64, 1)).toMatchObject({ bufferOffsets: [0, 4096, 8192, 12_288], bits: 1 });
    // Each part begins on a page.
    expect(heldPass2Bytes(3, 4096, 100)).toBe(3 * (32_768 + 4 * 64 + 16 * 101 + 4096));
  });
});

it.each([1, 41, 4096, 5000, 2 ** 20])('keeps room for pass 2 with output buffers of %i bytes', (outputBytes) => {
  const plan = planHold({ ...usual, recordBytes: 0 }, { hold: true, outputBytes });
  if (plan === undefined) expect.fail('records do not stay');
  const room = plan.memoryBytes - plan.pass1End;
  expect(room).toBeGreaterThanOrEqual(heldPass2Bytes(usual.workers, plan.outputBytes, 64));
});

describe('planMemory with records that stay', () => {
  const need = {
    ...usualNeed,
    mayHold: true,
    recordBytes: 1e9,
    mostRecordBytes: 1e9,
    meanRecordBytes: 105,
    budgetBytes: 12 * GIB,
  };

  it('plans piles in the rest of the memory, for records that do not fit after all', () => {
    const plan = planMemory(need);
    const { expectedBytes = 0, fixedBytes = 0, memoryBytes = 0 } = plan.hold ?? {};
    expect(expectedBytes - fixedBytes).toBeGreaterThan(1e9);
    expect(memoryBytes).toBeGreaterThan(2e9);
    expect(plan).toMatchObject({ ramPoolBytes: 0, maySpill: false });
    expect(plan.pass1SpareBytes + plan.workers * plan.pass1ArenaBytes).toBe(12 * GIB - fixedBytes);
    expect(planMemory({ ...need, exact: false })).toMatchObject({ hold: { pileCount: 582 }, maySpill: true });
  });

  it('does so only if nobody asks for other piles', () => {
    expect(planMemory({ ...need, mayHold: false }).hold).toBeUndefined();
    expect(planMemory(need, { keepInRam: true }).hold).toBeUndefined();
    expect(planMemory(need, { pileCount: 7 }).hold).toBeUndefined();
    expect(planMemory(need, { hold: false }).hold).toBeUndefined();
    expect(planMemory(need, { pileCount: 7, hold: true }).hold).toMatchObject({ pileCount: 7 });
  });
});
