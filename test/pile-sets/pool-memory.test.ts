/**
 * The memory behind the pool: slabs that a thread keeps and hands to other threads on request, slabs that a single
 * thread makes for itself when it needs them, and copies between shared memory and memory of one thread.
 */
import { execFileSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { Release } from '#src/cleanup.js';
import { copySharedBytes } from '#src/io/shared-bytes.js';
import { JobControl } from '#src/job-control.js';
import { keepRamPool } from '#src/passes/job-memory.js';
import { JobStop } from '#src/passes/threads.js';
import { CHUNK_BYTES, ownRamPool, RamPool } from '#src/pile-sets/ram-pool.js';

const MIB = 2 ** 20;
const keeperModule = new URL('../../dist/src/passes/job-memory.js', import.meta.url).href;
const TEBIBYTE = 2 ** 40;
const plenty = JobControl.create([], TEBIBYTE);
const stop = new JobStop(plenty, undefined);

const releases: Release[] = [];
afterEach(async () => {
  for (const release of releases.splice(0)) await release();
});

const poolModule = new URL('../../dist/src/pile-sets/ram-pool.js', import.meta.url).href;
const controlModule = new URL('../../dist/src/job-control.js', import.meta.url).href;

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

describe('keepRamPool', () => {
  it('gives memory that all threads share', async () => {
    const handle = await keepRamPool(3 * MIB, stop, releases);
    const pool = await RamPool.open(handle, plenty);
    pool.roomBytes();
    expect(pool.store(Buffer.from('..shared..'), 2, 6)).toBe(0);
    expect(Buffer.from(await loadOnOtherThread(handle, 0, 6)).toString()).toBe('shared');
  });

  it('reserves whole chunks, in slabs below what a typed array can span', async () => {
    const handle = await keepRamPool(1024 * MIB + 1, stop, releases);
    expect(handle.capacityBytes).toBe(1024 * MIB + CHUNK_BYTES);
    // Each view begins a chunk of its own, so that only a page of each is touched.
    let place = 0;
    for (let i = 0; i < 1025; i++) {
      const pool = await RamPool.open(i % 512 === 0 ? handle : { ...handle }, plenty);
      pool.roomBytes();
      place = pool.store(new Uint8Array(8).fill(i), 0, 8);
    }
    expect(place).toBe(1024 * MIB);
    expect(await loadOnOtherThread(handle, place, 8)).toEqual(new Uint8Array(8).fill(1024));
  });

  it('gives less if the system has less', () => {
    const code = `
      const { keepRamPool } = await import(${JSON.stringify(keeperModule)});
      const releases = [];
      const { capacityBytes } = await keepRamPool(2 ** 36, { fail: () => {} }, releases);
      for (const release of releases) await release();
      process.stdout.write(String(capacityBytes));
    `;
    const argv = ['-c', 'ulimit -v 16777216 && exec "$@"', '', process.execPath, '--input-type=module', '-e', code];
    const capacityBytes = Number(execFileSync('bash', argv, { encoding: 'utf8' }));
    expect(capacityBytes).toBeGreaterThan(0);
    expect(capacityBytes).toBeLessThan(2 ** 34);
  });
});

describe('ownRamPool', () => {
  it('makes a slab when something is stored there', async () => {
    const handle = ownRamPool(TEBIBYTE);
    const { memory } = handle;
    if (memory.kind !== 'own') throw new Error('expected memory of one thread');
    const pool = await RamPool.open(handle, plenty);
    pool.roomBytes();
    expect(memory.slabs).toHaveLength(0);
    pool.store(Buffer.alloc(CHUNK_BYTES, 'a'), 0, CHUNK_BYTES);
    expect(memory.slabs.map((slab) => slab.byteLength)).toEqual([CHUNK_BYTES]);
  });
});

const ROOM = 300_000;
const GUARD = 0xee;

const own = new Uint8Array(ROOM);
const shared = new Uint8Array(new SharedArrayBuffer(ROOM));
const pattern = Uint8Array.from({ length: ROOM }, (_, i) => (i * 31 + (i >> 8)) & 0xff);

const anyLength = fc.oneof(
  fc.nat({ max: 40 }),
  fc.integer({ min: 65_530, max: 65_545 }),
  fc.integer({ min: 131_060, max: 131_080 }),
  fc.nat({ max: 200_000 }),
);
const anyPlace = fc.nat({ max: 40 });

/** All bytes arrive at their place, whatever the alignment of both ends, and no other byte changes. */
describe('copySharedBytes', () => {
  it.each([
    ['from shared memory', shared, own],
    ['to shared memory', own, shared],
    ['between memory of one thread', pattern.slice(), own],
  ])('copies %s', (_, from, to) => {
    fc.assert(
      fc.property(anyPlace, anyPlace, anyPlace, anyLength, (start, viewStart, offset, byteLength) => {
        from.set(pattern);
        to.fill(GUARD);
        copySharedBytes(from.subarray(start, start + byteLength), to.subarray(viewStart), offset);
        const at = viewStart + offset;
        expect(Buffer.compare(to.slice(at, at + byteLength), pattern.subarray(start, start + byteLength))).toBe(0);
        expect(to.slice(0, at).every((byte) => byte === GUARD)).toBe(true);
        expect(to.slice(at + byteLength, at + byteLength + 100).every((byte) => byte === GUARD)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
