/** Checksums of segments by the kernel: the record hash of their bytes, in one piece or several. */
import { describe, expect, it } from 'vitest';
import { ARENA_START, Kernel, KernelHasher } from '#workers/kernel/kernel.js';
import { recordHash } from './kernel-twin.js';

const kernel = new Kernel();
kernel.ensureArena(1000);
const hasher = new KernelHasher({ kernel }, 'segments');
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

  it('hashes pieces of segments and of output at one time', () => {
    const output = new KernelHasher({ kernel }, 'output');
    hasher.begin();
    output.begin();
    for (let at = 0; at < 300; at += 25) {
      hasher.add(kernel.bytes, ARENA_START + 3 + at, 25);
      output.add(kernel.bytes, ARENA_START + 3 + at, at < 100 ? 25 : 7);
    }
    const written = [0, 25, 50, 75, 100, 125, 150, 175, 200, 225, 250, 275].map((at) =>
      bytes.subarray(at, at + (at < 100 ? 25 : 7)),
    );
    expect(hasher.checksum()).toBe(recordHash(bytes));
    expect(output.checksum()).toBe(recordHash(Buffer.concat(written)));
  });

  it('refuses bytes that the kernel does not see', () => {
    expect(() => hasher.hash(bytes, 0, 10)).toThrow(RangeError);
    expect(() => hasher.add(Uint8Array.from(kernel.bytes.subarray(0, 9)), 0, 9)).toThrow(RangeError);
  });
});
