/**
 * The memory behind the pool: a file that has no name and is gone with its last descriptor, slabs where
 * there is none, and a file system that somebody else filled up.
 */
import { closeSync, fstatSync, openSync, statfsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { JobControl } from '#src/io/job-control.js';
import { openMemoryFile } from '#src/io/memory-file.js';
import {
  type PoolMemoryShare,
  releasePoolMemory,
  reservePoolMemory,
  reserveSlabs,
} from '#src/pile-store/pool-memory.js';
import { CHUNK_BYTES, createRamPool, RamPool } from '#src/pile-store/ram-pool.js';
import { reasonNotToMount, useMounts } from '../fixtures/mounts.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const MIB = 2 ** 20;
const PIBIBYTE = 2 ** 50;

const hasMemoryFiles = (() => {
  const share = reservePoolMemory(MIB);
  releasePoolMemory(share);
  return share.kind === 'file';
})();

describe('reservePoolMemory', () => {
  it.runIf(hasMemoryFiles)('gives a file without a name, which is gone when it is released', () => {
    const share = reservePoolMemory(64 * MIB);
    if (share.kind !== 'file') throw new Error('expected a file');
    expect(fstatSync(share.file.fd).nlink).toBe(0);
    const freeBytes = () => Number(statfsSync('/dev/shm', { bigint: true }).bfree) * 4096;
    const before = freeBytes();
    const pool = new RamPool({ memory: share, taken: new SharedArrayBuffer(8), capacityBytes: 64 * MIB }, plenty);
    for (let i = 0; i < 32; i++) {
      pool.roomBytes();
      pool.store(Buffer.alloc(MIB, 'x'), 0, MIB);
    }
    expect(before - freeBytes()).toBeGreaterThan(16 * MIB);
    releasePoolMemory(share);
    expect(before - freeBytes()).toBeLessThan(16 * MIB);
  });

  it('gives slabs where no file has so much room', () => {
    expect(openMemoryFile(PIBIBYTE)).toBeUndefined();
  });

  it('keeps slabs below what a typed array can span', () => {
    const share = reserveSlabs(1025 * MIB);
    expect(share.kind === 'slabs' && share.slabs.map((slab) => slab.byteLength)).toEqual([1024 * MIB, MIB]);
  });
});

const plenty = JobControl.create([], 2 ** 40);

describe.skipIf(reasonNotToMount !== undefined)(`a memory file system that fills up ${reasonNotToMount ?? ''}`, () => {
  const directory = useTestDirectory();
  const mountTmpfs = useMounts();

  it('makes the pool full, for good, and what it holds stays', () => {
    const path = `${mountTmpfs(directory.path('small'), 'size=1536k')}/file`;
    const fd = openSync(path, 'wx+');
    const memory: PoolMemoryShare = { kind: 'file', file: { fd, path, role: 'temp' } };
    const pool = new RamPool(
      createRamPool(8 * MIB, () => memory),
      plenty,
    );
    expect(pool.roomBytes()).toBe(CHUNK_BYTES);
    expect(pool.store(Buffer.alloc(MIB, 'a'), 0, MIB)).toBe(0);
    expect(pool.roomBytes()).toBe(CHUNK_BYTES);
    expect(pool.store(Buffer.alloc(MIB, 'b'), 0, MIB)).toBeUndefined();
    expect(pool.roomBytes()).toBe(0);
    const kept = Buffer.alloc(MIB);
    pool.load(0, MIB, kept, 0);
    expect(kept.equals(Buffer.alloc(MIB, 'a'))).toBe(true);
    closeSync(fd);
  });
});
