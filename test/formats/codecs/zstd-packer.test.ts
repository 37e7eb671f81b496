/** Bytes that were compressed are again what they were, or the place that they come from is found damaged. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ZSTD_LEVELS } from '#src/formats/codecs/zstd-encoder.js';
import { openZstdPacker, packersHere, zstdExpander } from '#src/formats/codecs/zstd-packer.js';

const kinds = packersHere().map((kind, i) => [i, kind] as const);
const text = Buffer.from(Array.from({ length: 9_000 }, (_, i) => `line ${i} of ${i % 7}\n`).join(''));

describe.each(kinds)('packer %i of this machine', (_, kind) => {
  it('makes less of what repeats itself, at every level, and again what it was', () => {
    for (let level = ZSTD_LEVELS.least; level <= ZSTD_LEVELS.most; level++) {
      const compressed = kind.open(level).compress(text) ?? expect.fail(`nothing at level ${level}`);
      expect(compressed.byteLength).toBeLessThan(text.byteLength / 3);
      const target = Buffer.alloc(text.byteLength);
      kind.expand(compressed, target);
      expect(target.equals(text)).toBe(true);
    }
  });

  it('works on any bytes, wherever they lie, and makes nothing of what does not become shorter', () => {
    const packer = kind.open(1);
    const parts = fc.array(fc.tuple(fc.uint8Array({ maxLength: 60 }), fc.nat({ max: 40 })), { maxLength: 6 });
    let packed = 0;
    fc.assert(
      fc.property(parts, fc.nat({ max: 9 }), (repeated, offset) => {
        const bytes = Buffer.concat(repeated.flatMap(([part, times]) => Array<Uint8Array>(times).fill(part)));
        const memory = Buffer.concat([Buffer.alloc(offset, 1), bytes, Buffer.alloc(3, 1)]);
        const compressed = packer.compress(memory.subarray(offset, offset + bytes.byteLength));
        if (compressed === undefined) return;
        packed += 1;
        expect(compressed.byteLength).toBeLessThan(bytes.byteLength);
        const target = Buffer.alloc(bytes.byteLength + 2, 7);
        kind.expand(compressed, target.subarray(1, -1));
        expect(target.equals(Buffer.concat([Buffer.of(7), bytes, Buffer.of(7)]))).toBe(true);
      }),
    );
    expect(packed).toBeGreaterThan(20);
  });

  it('refuses damaged bytes, or gives as many as there were, and another number never', () => {
    const packer = kind.open(3);
    const short = text.subarray(0, 500);
    const compressed = Buffer.from(packer.compress(short) ?? []);
    for (let bit = 0; bit < 8 * compressed.byteLength; bit++) {
      const damaged = Buffer.from(compressed);
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const target = Buffer.alloc(short.byteLength + 10, 7);
      try {
        kind.expand(damaged, target.subarray(0, -10));
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
      expect(target.subarray(-10).equals(Buffer.alloc(10, 7))).toBe(true);
    }
    for (const byteLength of [0, 499, 501]) {
      expect(() => kind.expand(compressed, Buffer.alloc(byteLength))).toThrow();
    }
    for (const end of [0, 1, 10, compressed.byteLength - 1]) {
      expect(() => kind.expand(compressed.subarray(0, end), Buffer.alloc(500))).toThrow();
    }
  });
});

describe('openZstdPacker', () => {
  it.each([0, 23, 1.5])('refuses level %f', (level) => {
    expect(() => openZstdPacker(level)).toThrow(`the zstd level must be a whole number from 1 to 22, not ${level}`);
  });

  it.skipIf(kinds.length === 0)('opens one of those on this machine, and the expander knows what it wrote', () => {
    const target = Buffer.alloc(text.byteLength);
    zstdExpander.expand(openZstdPacker(5).compress(text) ?? expect.fail(), target);
    expect(target.equals(text)).toBe(true);
  });

  it.skipIf(kinds.length > 0)('says what to do where there is none', () => {
    const message = 'nothing on this machine can write zstd: install the package zstd-napi';
    expect(() => openZstdPacker(3)).toThrow(message);
    expect(() => zstdExpander.expand(text, text)).toThrow(message);
  });
});
