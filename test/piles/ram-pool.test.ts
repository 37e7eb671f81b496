/**
 * The memory pool: every segment has its own place, all threads see it, and a full pool reports this and stays
 * unchanged.
 */
import { execFileSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { Release } from '#src/floor/cleanup.js';
import { JobControl } from '#src/floor/job-control.js';
import { CHUNK_BYTES, ownRamPool, RamPool, type RamPoolHandle, takenBytes } from '#src/piles/ram-pool.js';
import { startPoolOwner } from '#src/stages/job-memory.js';
import { atScale, fromCi } from '../fixtures/scale.js';

const MIB = 1024 * 1024;
const plenty = JobControl.create([], 2 ** 40);
const stop = { fail: expect.unreachable };

const releases: Release[] = [];
afterEach(async () => {
  for (const release of releases.splice(0)) await release();
});

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

const poolModule = new URL('../../dist/src/piles/ram-pool.js', import.meta.url).href;
const jobMemoryModule = new URL('../../dist/src/stages/job-memory.js', import.meta.url).href;
const controlModule = new URL('../../dist/src/floor/job-control.js', import.meta.url).href;

/** What another thread finds at `place`. */
function loadOnOtherThread(handle: unknown, place: number, byteLength: number): Promise<Uint8Array> {
  const code = `
    import { parentPort, workerData } from 'node:worker_threads';
    const { RamPool } = await import(${JSON.stringify(poolModule)});
    const { JobControl } = await import(${JSON.stringify(controlModule)});
    const pool = await RamPool.open(workerData.handle, JobControl.create([], 0));
    const target = new Uint8Array(workerData.byteLength);
    pool.load(workerData.place, workerData.byteLength, target, 0);
    parentPort.postMessage(target);
  `;
  return new Promise((resolve, reject) => {
    const url = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
    const thread = new Worker(url, { workerData: { handle, place, byteLength } });
    thread.once('message', resolve).once('error', reject);
  });
}

describe('startPoolOwner', () => {
  it('gives memory that all threads share', async () => {
    const handle = await startPoolOwner(3 * MIB, stop, releases);
    const pool = await RamPool.open(handle, plenty);
    pool.roomBytes();
    expect(pool.store(Buffer.from('..shared..'), 2, 6)).toBe(0);
    expect(Buffer.from(await loadOnOtherThread(handle, 0, 6)).toString()).toBe('shared');
  });

  /** Opens a pool where the process has this many addresses. */
  function poolWithin(
    addressGibibytes: number,
    wantedBytes: number,
    shape = {},
  ): Pick<RamPoolHandle, 'capacityBytes' | 'linear'> {
    const code = `
      const { startPoolOwner } = await import(${JSON.stringify(jobMemoryModule)});
      const releases = [];
      const pool = await startPoolOwner(${wantedBytes}, { fail: () => {} }, releases, ${JSON.stringify(shape)});
      for (const release of releases) await release();
      process.stdout.write(JSON.stringify(pool));
    `;
    const limit = `ulimit -v ${addressGibibytes * 2 ** 20} && exec "$@"`;
    const argv = ['-c', limit, '', process.execPath, '--input-type=module', '-e', code];
    return JSON.parse(execFileSync('bash', argv, { encoding: 'utf8' }));
  }

  it('gives less if the system has less', () => {
    const { capacityBytes } = poolWithin(16, 2 ** 36);
    expect(capacityBytes).toBeGreaterThan(0);
    expect(capacityBytes).toBeLessThan(2 ** 34);
  });

  it('gives a linear memory only if threads that leave it find addresses', () => {
    const layout = { arenaBytes: MIB, partCount: 2, bufferStrideBytes: 4096 };
    const poolOfTwo = (addressGibibytes: number) =>
      poolWithin(addressGibibytes, MIB, { linear: { layout, capacityBytes: MIB } });
    expect([poolOfTwo(30).linear, poolOfTwo(44).linear]).toEqual([undefined, layout]);
  });
});

describe('ownRamPool', () => {
  it('has whole chunks', () => {
    expect(ownRamPool(1).capacityBytes).toBe(CHUNK_BYTES);
    expect(ownRamPool(CHUNK_BYTES + 1).capacityBytes).toBe(2 * CHUNK_BYTES);
  });

  it('makes a slab when something is stored there', async () => {
    const handle = ownRamPool(2 ** 40);
    const { memory } = handle;
    if (memory.kind !== 'own') throw new Error('expected memory of one thread');
    const pool = await RamPool.open(handle, plenty);
    pool.roomBytes();
    expect(memory.slabs).toHaveLength(0);
    pool.store(Buffer.alloc(CHUNK_BYTES, 'a'), 0, CHUNK_BYTES);
    expect(memory.slabs.map((slab) => slab.byteLength)).toEqual([CHUNK_BYTES]);
  });
});

describe.each([
  ['memory that a thread keeps', (byteLength: number) => startPoolOwner(byteLength, stop, releases)],
  ['memory of one thread', async (byteLength: number) => ownRamPool(byteLength)],
])('RamPool in %s', (_, poolOfBytes) => {
  const poolOf = (byteLength: number): Promise<RamPoolHandle> => poolOfBytes(byteLength);

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
      { numRuns: atScale(8, 15, 30) },
    );
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
    expect(storeWhole(b, filled(10, 2), 0, 10)).toBe(MIB + 10);
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
    expect(pool.roomBytes()).toBe(11);
    pool.store(filled(11, 1), 0, 11);
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
