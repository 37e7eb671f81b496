/** Checksums of segments by the kernel: the record hash of their bytes, in one piece or several. */
import { describe, expect, it } from 'vitest';
import { ARENA_START, Kernel } from '#workers/kernel/kernel.js';
import { KernelHasher } from '#workers/kernel-hasher.js';
import { recordHash } from './kernel/kernel-twin.js';

const kernel = new Kernel();
kernel.ensureArena(1000);
const hasher = new KernelHasher(kernel, 'segments');
const bytes = Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 77) % 251));
kernel.bytes.set(bytes, ARENA_START + 3);

describe('KernelHasher', () => {
  it('hashes bytes of the linear memory, by any view of it', () => {
    expect(hasher.hash(kernel.bytes, ARENA_START + 3, 300)).toBe(recordHash(bytes));
    expect(hasher.hash(kernel.bytes.subarray(ARENA_START), 4, 50)).toBe(recordHash(bytes.subarray(1, 51)));
  });

  it('hashes pieces, and whole segments meanwhile', () => {
    hasher.begin();
    hasher.add(kernel.bytes, ARENA_START + 3, 101);
    expect(hasher.hash(kernel.bytes, ARENA_START + 9, 7)).toBe(recordHash(bytes.subarray(6, 13)));
    hasher.add(kernel.bytes, ARENA_START + 104, 199);
    expect(hasher.checksum()).toBe(recordHash(bytes));
  });

  it('refuses bytes that the kernel does not see', () => {
    expect(() => hasher.hash(bytes, 0, 10)).toThrow(RangeError);
    expect(() => hasher.add(Uint8Array.from(kernel.bytes.subarray(0, 9)), 0, 9)).toThrow(RangeError);
  });
});
