/**
 * The memory pool: every segment has a place of its own, all threads see it, and a full pool says so
 * and stays as it is.
 */
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { JobControl } from '#src/io/job-control.js';
import { reservePoolMemory, reserveSlabs } from '#src/pile-store/pool-memory.js';
import {
  CHUNK_BYTES,
  createRamPool,
  RamPool,
  type RamPoolShare,
  releaseRamPool,
  takenBytes,
} from '#src/pile-store/ram-pool.js';

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

describe('createRamPool', () => {
  it('reserves whole chunks', () => {
    expect(createRamPool(1, reserveSlabs).capacityBytes).toBe(CHUNK_BYTES);
    expect(createRamPool(CHUNK_BYTES + 1, reserveSlabs).capacityBytes).toBe(2 * CHUNK_BYTES);
  });
});

describe.each([
  ['whatever memory there is', reservePoolMemory],
  ['slabs', reserveSlabs],
])('RamPool in %s', (_, reserve) => {
  const made: RamPoolShare[] = [];
  function poolOf(byteLength: number): RamPoolShare {
    const share = createRamPool(byteLength, reserve);
    made.push(share);
    return share;
  }
  afterEach(() => {
    for (const share of made.splice(0)) releaseRamPool(share);
  });

  it('keeps every segment, of whichever thread, until the end', () => {
    const segments = fc.array(fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 300_000 })), { maxLength: 40 });
    fc.assert(
      fc.property(segments, (stores) => {
        const share = poolOf(16 * MIB);
        const threads = Array.from({ length: 4 }, () => new RamPool(share, plenty));
        const kept: { place: number; byteLength: number; value: number }[] = [];
        for (const [i, [thread, byteLength]] of stores.entries()) {
          const bytes = Buffer.concat([filled(3, 0xee), filled(byteLength, i + 1), filled(3, 0xee)]);
          const place = storeWhole(threads[thread] ?? new RamPool(share, plenty), bytes, 3, byteLength);
          if (place !== undefined) kept.push({ place, byteLength, value: i + 1 });
        }
        const reader = new RamPool(share, plenty);
        for (const { place, byteLength, value } of kept) {
          expect(load(reader, place, byteLength).every((byte) => byte === value)).toBe(true);
          expect(Math.floor(place / CHUNK_BYTES)).toBe(Math.floor((place + Math.max(0, byteLength - 1)) / CHUNK_BYTES));
        }
      }),
      { numRuns: 30 },
    );
  });

  it('uses all of its capacity when the segments fill its chunks', () => {
    const share = poolOf(4 * MIB);
    const pool = new RamPool(share, plenty);
    const places = Array.from({ length: 16 }, () => storeWhole(pool, filled(MIB / 4, 1), 0, MIB / 4));
    expect(places).toEqual(Array.from({ length: 16 }, (_, i) => (i * MIB) / 4));
    expect(storeWhole(pool, filled(1, 1), 0, 1)).toBeUndefined();
  });

  it('is full for all threads, and stays so, without counting on', () => {
    const share = poolOf(2 * MIB);
    const [a, b] = [new RamPool(share, plenty), new RamPool(share, plenty)];
    expect(storeWhole(a, filled(MIB, 1), 0, MIB)).toBe(0);
    expect(storeWhole(b, filled(10, 2), 0, 10)).toBe(MIB);
    for (let i = 0; i < 100; i++) {
      expect(storeWhole(a, filled(MIB, 1), 0, MIB)).toBeUndefined();
      expect(storeWhole(b, filled(MIB, 1), 0, MIB)).toBeUndefined();
    }
    expect(storeWhole(b, filled(10, 2), 0, 10)).toBe(MIB + 10);
    expect(takenBytes(share)).toBe(2 * MIB);
  });

  it('pays for each chunk with spare memory, and is full when there is none', () => {
    const share = poolOf(8 * MIB);
    const control = JobControl.create([], 2 * MIB + 5);
    const [a, b] = [new RamPool(share, control), new RamPool(share, control)];
    expect(storeWhole(a, filled(10, 1), 0, 10)).toBe(0);
    expect(control.spareBytes).toBe(MIB + 5);
    expect(storeWhole(b, filled(10, 1), 0, 10)).toBe(MIB);
    expect(storeWhole(a, filled(MIB, 1), 0, MIB)).toBeUndefined();
    expect(control.spareBytes).toBe(5);
    expect(takenBytes(share)).toBe(2 * MIB);
  });

  it('has a chunk of room, and then the next one', () => {
    const pool = new RamPool(poolOf(8 * MIB), plenty);
    expect(pool.roomBytes()).toBe(MIB);
    expect(() => pool.store(filled(MIB + 1, 1), 0, MIB + 1)).toThrow(RangeError);
    pool.store(filled(MIB - 1, 1), 0, MIB - 1);
    expect(pool.roomBytes()).toBe(1);
    pool.store(filled(1, 1), 0, 1);
    expect(pool.roomBytes()).toBe(MIB);
  });

  it('goes on behind 1 GiB', () => {
    const share = poolOf(1026 * MIB);
    // Each thread begins a chunk of its own, so that only a page of each is touched.
    const place = Array.from({ length: 1026 }, (_, i) => storeWhole(new RamPool(share, plenty), filled(8, i), 0, 8)).at(
      -1,
    );
    expect(place).toBe(1025 * MIB);
    expect(load(new RamPool(share, plenty), 1025 * MIB, 8)).toEqual(filled(8, 1025));
    expect(load(new RamPool(share, plenty), 1023 * MIB, 8)).toEqual(filled(8, 1023));
  });
});
