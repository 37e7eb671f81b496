/**
 * The kernel's memory: growing keeps its contents, and addresses above 2^31, which reach the host as negative numbers,
 * work like all others.
 */
import { describe, expect, it, type TestContext } from 'vitest';
import { ARENA_START, Kernel, MAX_ARENA_BYTES } from '#workers/kernel/kernel.js';
import { KernelOrder, WHOLE_KEY_SPACE } from './kernel-order.js';
import { rescatterWithKernel, scatterWithKernel } from './kernel-scatter.js';
import { checksumOf, encodeStored, order, recordHash, recordKey, scatter } from './kernel-twin.js';

const GIB = 2 ** 30;

/** A kernel whose memory reaches beyond `end`; skips the test where there is no such memory. */
function kernelUpTo(end: number, context: TestContext): Kernel {
  const kernel = new Kernel();
  try {
    kernel.ensureArena(end);
  } catch {
    context.skip('no memory of this size is to be had here');
  }
  return kernel;
}

describe('Kernel', () => {
  it('keeps the contents of the arena when it grows, and never shrinks', () => {
    const kernel = new Kernel();
    kernel.ensureArena(100);
    kernel.bytes[ARENA_START + 99] = 7;
    kernel.ensureArena(10 * 65536);
    const { bytes } = kernel;
    expect(bytes.byteLength).toBeGreaterThanOrEqual(ARENA_START + 10 * 65536);
    expect(bytes[ARENA_START + 99]).toBe(7);
    kernel.ensureArena(5);
    expect(kernel.bytes).toBe(bytes);
    expect(kernel.view.byteLength).toBe(bytes.byteLength);
  });

  it('says what to do when there is no more memory', () => {
    const beyond = MAX_ARENA_BYTES + 1;
    expect(() => new Kernel().ensureArena(beyond)).toThrow(expect.objectContaining({ code: 'ERR_OUT_OF_MEMORY' }));
  });

  it('refuses a flush that nobody waits for', () => {
    expect(() => new Kernel().flush(0, 1)).toThrow('a pile buffer was flushed outside of a scatter');
  });

  it.for<[string, number]>([
    ['across 2^31', 2 * GIB - 4096],
    ['above 2^31', 2 * GIB + 4096],
    ['at the end of the memory', 4 * GIB - 4 * 65536],
  ])('works on addresses %s', ([, start], context) => {
    const kernel = kernelUpTo(start + 2 * 65536 - ARENA_START, context);
    const records = Array.from({ length: 200 }, (_, i) => new Uint8Array(i % 30).fill(i));
    let position = 0n;
    const keyed = records.map((bytes) => {
      const key = recordKey(position, 3n);
      position += BigInt(bytes.byteLength);
      return { key, bytes };
    });

    const sizes = { pileCount: 3, bufferBytes: 100, scale: 1n };
    const found = scatterWithKernel(kernel, start, sizes, { records, basePosition: 0n, inputKey: 3n }, 64);
    const again = rescatterWithKernel(kernel, start, sizes, encodeStored(keyed));
    for (const [pile, { stored }] of scatter(keyed, 3, 1n).entries()) {
      for (const { piles } of [found, again]) {
        const { segments = [], rest = new Uint8Array() } = piles[pile] ?? {};
        expect(Buffer.concat([...segments, rest]).equals(stored)).toBe(true);
      }
    }

    const stored = encodeStored(keyed);
    const pile = new KernelOrder(kernel, start, WHOLE_KEY_SPACE, stored, keyed.length, 5, 4096);
    expect(pile.walk(stored.byteLength)).toBe(stored.byteLength);
    const ordered = order(keyed);
    expect(pile.order().map(({ key }) => key)).toEqual(ordered.map(({ key }) => key));
    const { next, gathered } = pile.gather(0, keyed.length, 4096, 2n ** 62n);
    expect(next).toBe(keyed.length);
    expect(Buffer.from(gathered).equals(Buffer.concat(ordered.map(({ bytes }) => bytes)))).toBe(true);
    expect(pile.checksum()).toBe(checksumOf(keyed));

    kernel.bytes.set([1, 10, 2, 10], start);
    expect(BigInt.asUintN(64, kernel.wasm.recordHash(start, 4))).toBe(recordHash(Uint8Array.of(1, 10, 2, 10)));
    expect(kernel.wasm.scanDelimiter(start, start + 4, start, 10, start + 128, 9)).toBe(2);
    expect(kernel.view.getUint32(start + 128 + 12, true)).toBe(start + 4);
  });
});
