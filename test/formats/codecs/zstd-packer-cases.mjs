/**
 * What must hold of everything that packs temp data with zstd, as functions that throw when it does not, so that they
 * can be run by the tests and by another Node than that of the tests.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ZSTD_LEVELS } from '#src/formats/codecs/zstd-encoder.js';

/** @typedef {import('#src/formats/codecs/zstd-packer.js').ZstdPackerKind} ZstdPackerKind */

export const text = Buffer.from(Array.from({ length: 2_000 }, (_, i) => `line ${i} of ${i % 7}\n`).join(''));

/** @type {Readonly<Record<string, (kind: ZstdPackerKind) => void>>} */
export const packerCases = {
  'makes less of what repeats itself, at every level, and again what it was': (kind) => {
    for (let level = ZSTD_LEVELS.least; level <= ZSTD_LEVELS.most; level++) {
      const compressed = kind.open(level).compress(text) ?? assert.fail(`nothing at level ${level}`);
      assert.ok(compressed.byteLength < text.byteLength / 3, `level ${level}: ${compressed.byteLength} bytes`);
      const target = Buffer.alloc(text.byteLength);
      kind.expand(compressed, target);
      assert.ok(target.equals(text), `level ${level}`);
    }
  },

  'works on any bytes, wherever they lie, and makes nothing of what does not become shorter': (kind) => {
    const packer = kind.open(1);
    const parts = fc.array(fc.tuple(fc.uint8Array({ maxLength: 60 }), fc.nat({ max: 40 })), { maxLength: 6 });
    let packed = 0;
    fc.assert(
      fc.property(parts, fc.nat({ max: 9 }), (repeated, offset) => {
        const bytes = Buffer.concat(repeated.flatMap(([part, times]) => Array.from({ length: times }, () => part)));
        const memory = Buffer.concat([Buffer.alloc(offset, 1), bytes, Buffer.alloc(3, 1)]);
        const compressed = packer.compress(memory.subarray(offset, offset + bytes.byteLength));
        if (compressed === undefined) return;
        packed += 1;
        assert.ok(compressed.byteLength < bytes.byteLength);
        const target = Buffer.alloc(bytes.byteLength + 2, 7);
        kind.expand(compressed, target.subarray(1, -1));
        assert.ok(target.equals(Buffer.concat([Buffer.of(7), bytes, Buffer.of(7)])));
      }),
    );
    assert.ok(packed > 20, `${packed} packed`);
  },

  'refuses damaged bytes, or gives as many as there were, and another number never': (kind) => {
    const short = text.subarray(0, 500);
    const compressed = Buffer.from(kind.open(3).compress(short) ?? []);
    for (let bit = 0; bit < 8 * compressed.byteLength; bit++) {
      const damaged = Buffer.from(compressed);
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const target = Buffer.alloc(short.byteLength + 10, 7);
      try {
        kind.expand(damaged, target.subarray(0, -10));
      } catch (error) {
        assert.ok(error instanceof Error, `bit ${bit}: ${error}`);
      }
      assert.ok(target.subarray(-10).equals(Buffer.alloc(10, 7)), `bit ${bit}`);
    }
    for (const byteLength of [0, 499, 501]) {
      assert.throws(() => kind.expand(compressed, Buffer.alloc(byteLength)), `${byteLength} bytes`);
    }
    for (const end of [0, 1, 10, compressed.byteLength - 1]) {
      assert.throws(() => kind.expand(compressed.subarray(0, end), Buffer.alloc(500)), `the first ${end}`);
    }
  },
};
