/**
 * The memory pool: every segment has its own place, all threads see it, and a full pool reports this and stays
 * unchanged.
 */

import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { Release } from '#src/cleanup.js';
import { JobControl } from '#src/job-control.js';
import { keepRamPool } from '#src/passes/job-memory.js';
import { CHUNK_BYTES, ownRamPool, RamPool, type RamPoolHandle, takenBytes } from '#src/pile-sets/ram-pool.js';
import { atScale, fromCi } from '../fixtures/scale.js';

const MIB = 1024 * 1024;
const plenty = JobControl.create([], 2 ** 40);

/** Stores all of the bytes in one piece; undefined when there is no room for that. */
function storeWhole(pool: RamPool, bytes: Uint8Array, offset: number, byteLength: number): number | undefined {
  return byteLength <= pool.roomBytes() ? pool.store(bytes, offset, byteLength) : undefined;
}

function filled(byteLength: number, value: number): Uint8Array {
  return new Uint8Array(byteLength).fill(value);
}

function load(pool: RamPool, place: number, byteLength: number): Uint8Array {
  const target = filled(byteLength + 2, 0xee);
  pool.load(place, byteLength, target, 1);
  expect([target[0], target.at(-1)]).toEqual([0xee, 0xee]);
  return target.subarray(1, -1);
}

describe('ownRamPool', () => {
  it('has whole chunks', () => {
    expect(ownRamPool(1).capacityBytes).toBe(CHUNK_BYTES);
    expect(ownRamPool(CHUNK_BYTES + 1).capacityBytes).toBe(2 * CHUNK_BYTES);
  });
});

describe.each([
  [
    'memory that a thread keeps',
    (byteLength: number, releases: Release[]) => keepRamPool(byteLength, { fail: expect.unreachable }, releases),
  ],
  ['memory of one thread', async (byteLength: number) => ownRamPool(byteLength)],
])('RamPool in %s', (_, poolOfBytes) => {
  const releases: Release[] = [];
  afterEach(async () => {
    for (const release of releases.splice(0)) await release();
  });
  const poolOf = (byteLength: number): Promise<RamPoolHandle> => poolOfBytes(byteLength, releases);

  it('keeps every segment, of whichever thread, until the end', async () => {
    const segments = fc.array(fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 300_000 })), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(segments, async (stores) => {
        const handle = await poolOf(16 * MIB);
        const open = () => RamPool.open(handle, plenty);
        const threads = [await open(), await open(), await open(), await open()];
        const kept: { place: number; byteLength: number; value: number }[] = [];
        for (const [i, [thread, byteLength]] of stores.entries()) {
          const bytes = Buffer.concat([filled(3, 0xee), filled(byteLength, i + 1), filled(3, 0xee)]);
          const place = storeWhole(threads[thread] ?? (await open()), bytes, 3, byteLength);
          if (place !== undefined) kept.push({ place, byteLength, value: i + 1 });
        }
        const reader = await RamPool.open(handle, plenty);
        for (const { place, byteLength, value } of kept) {
          expect(load(reader, place, byteLength).every((byte) => byte === value)).toBe(true);
          expect(Math.floor(place / CHUNK_BYTES)).toBe(Math.floor((place + Math.max(0, byteLength - 1)) / CHUNK_BYTES));
        }
      }),
      { numRuns: atScale(8, 30) },
    );
  });

  it('uses all of its capacity when the segments fill its chunks', async () => {
    const handle = await poolOf(4 * MIB);
    const pool = await RamPool.open(handle, plenty);
    const places = Array.from({ length: 16 }, () => storeWhole(pool, filled(MIB / 4, 1), 0, MIB / 4));
    expect(places).toEqual(Array.from({ length: 16 }, (_, i) => (i * MIB) / 4));
    expect(storeWhole(pool, filled(1, 1), 0, 1)).toBeUndefined();
  });

  it('is full for all threads, and stays so, without counting on', async () => {
    const handle = await poolOf(2 * MIB);
    const [a, b] = [await RamPool.open(handle, plenty), await RamPool.open(handle, plenty)];
    expect(storeWhole(a, filled(MIB, 1), 0, MIB)).toBe(0);
    expect(storeWhole(b, filled(10, 2), 0, 10)).toBe(MIB);
    for (let i = 0; i < 100; i++) {
      expect(storeWhole(a, filled(MIB, 1), 0, MIB)).toBeUndefined();
      expect(storeWhole(b, filled(MIB, 1), 0, MIB)).toBeUndefined();
    }
    expect(storeWhole(b, filled(10, 2), 0, 10)).toBe(MIB + 16);
    expect(takenBytes(handle)).toBe(2 * MIB);
  });

  it('pays for each chunk with spare memory, and is full when there is none', async () => {
    const handle = await poolOf(8 * MIB);
    const control = JobControl.create([], 2 * MIB + 5);
    const [a, b] = [await RamPool.open(handle, control), await RamPool.open(handle, control)];
    expect(storeWhole(a, filled(10, 1), 0, 10)).toBe(0);
    expect(control.spareBytes).toBe(MIB + 5);
    expect(storeWhole(b, filled(10, 1), 0, 10)).toBe(MIB);
    expect(storeWhole(a, filled(MIB, 1), 0, MIB)).toBeUndefined();
    expect(control.spareBytes).toBe(5);
    expect(takenBytes(handle)).toBe(2 * MIB);
  });

  it('has a chunk of room, and then the next one', async () => {
    const pool = await RamPool.open(await poolOf(8 * MIB), plenty);
    expect(pool.roomBytes()).toBe(MIB);
    expect(() => pool.store(filled(MIB + 1, 1), 0, MIB + 1)).toThrow(RangeError);
    pool.store(filled(MIB - 11, 1), 0, MIB - 11);
    expect(pool.roomBytes()).toBe(8);
    pool.store(filled(8, 1), 0, 8);
    expect(pool.roomBytes()).toBe(MIB);
  });

  it.runIf(fromCi)('continues behind 1 GiB', async () => {
    const handle = await poolOf(1026 * MIB);
    // Each view begins a chunk of its own, so that only a page of each is touched.
    let place: number | undefined;
    for (let i = 0; i < 1026; i++) place = storeWhole(await RamPool.open(handle, plenty), filled(8, i), 0, 8);
    expect(place).toBe(1025 * MIB);
    expect(load(await RamPool.open(handle, plenty), 1025 * MIB, 8)).toEqual(filled(8, 1025));
    expect(load(await RamPool.open(handle, plenty), 1023 * MIB, 8)).toEqual(filled(8, 1023));
  });
});
