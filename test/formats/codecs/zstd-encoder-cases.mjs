/**
 * What must hold of every encoder of zstd, as functions that throw when it does not, so that they can be run by the
 * tests and by another Node than that of the tests.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ZSTD_LEVELS } from '#src/formats/codecs/zstd-encoder.js';
import { listZstdFrames } from '#src/formats/codecs/zstd-frames.js';
import { decodeZstd } from '#src/formats/codecs/zstd-reader.js';
import { wasmDecoder } from '#src/formats/codecs/zstd-wasm-decoder.js';

/** @typedef {import('#src/formats/codecs/zstd-encoder.js').ZstdEncoderOpener} ZstdEncoderOpener */

/** Of the descriptor, the byte behind the magic bytes of a frame. */
const CHECKSUM_FLAG = 4;

export const text = Buffer.from(Array.from({ length: 4_000 }, (_, i) => `line ${i} of ${i % 7}\n`).join(''));

/** @param {Uint8Array} stored */
export async function decode(stored) {
  let rest = stored.slice();
  const next = () => {
    const bytes = rest;
    rest = new Uint8Array();
    return bytes;
  };
  const pieces = [];
  const memory = { reserve: () => true, budgetFor: () => '' };
  for await (const piece of decodeZstd(await wasmDecoder(), { path: 'made', start: 0, next }, memory)) {
    pieces.push(Buffer.from(piece));
  }
  return Buffer.concat(pieces);
}

/** @param {Uint8Array} stored */
function framesOf(stored) {
  /** @type {(position: number, byteLength: number) => Uint8Array} */
  const read = (position, byteLength) => stored.subarray(position, position + byteLength);
  const frames = listZstdFrames('made', { byteLength: stored.byteLength, read });
  return Array.from(frames, ({ storedOffset, contentBytes }) => ({ storedOffset, contentBytes }));
}

/** @type {Readonly<Record<string, (open: ZstdEncoderOpener) => Promise<void>>>} */
export const encoderCases = {
  'writes one frame of its declared length, with a checksum, at every level': async (open) => {
    for (let level = ZSTD_LEVELS.least; level <= ZSTD_LEVELS.most; level++) {
      const stored = open(level).compressFrame(text);
      const frame = { storedOffset: 0, contentBytes: text.byteLength };
      assert.deepEqual(framesOf(stored), [frame], `level ${level}`);
      assert.equal((stored[4] ?? 0) & CHECKSUM_FLAG, CHECKSUM_FLAG, `level ${level}`);
      assert.ok(stored.byteLength < text.byteLength / 3, `level ${level}: ${stored.byteLength} bytes`);
      assert.ok((await decode(stored)).equals(text), `level ${level}`);
    }
  },

  'writes any bytes, of which those of the frames before are left alone': async (open) => {
    const encoder = open(1);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 500 }), { maxLength: 5 }), async (contents) => {
        const frames = contents.map((content) => encoder.compressFrame(content));
        assert.ok((await decode(Buffer.concat(frames))).equals(Buffer.concat(contents)));
      }),
    );
  },
};
