/** What the encoders write is one frame that says its length, and the tools of others read it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodersHere, openZstdEncoder, ZSTD_LEVELS } from '#src/formats/codecs/zstd-encoder.js';
import { listZstdFrames } from '#src/formats/codecs/zstd-frames.js';
import { ZstdReader } from '#src/formats/codecs/zstd-reader.js';
import { wasmDecoder } from '#src/formats/codecs/zstd-wasm-decoder.js';
import { isOnPath, runOn } from '../../fixtures/foreign-program.js';

const decoder = await wasmDecoder();

async function decode(stored: Uint8Array): Promise<Buffer> {
  let rest = stored.slice();
  const next = () => {
    const bytes = rest;
    rest = new Uint8Array();
    return bytes;
  };
  const pieces: Buffer[] = [];
  const memory = { take: () => true, budgetFor: () => '' };
  for await (const piece of new ZstdReader(decoder).decode({ path: 'made', start: 0, next }, memory)) {
    pieces.push(Buffer.from(piece));
  }
  return Buffer.concat(pieces);
}

function framesOf(stored: Uint8Array) {
  const read = (position: number, byteLength: number) => stored.subarray(position, position + byteLength);
  return [...listZstdFrames('made', { byteLength: stored.byteLength, read })];
}

const openers = encodersHere().map((open, i) => [i, open] as const);
const text = Buffer.from(Array.from({ length: 20_000 }, (_, i) => `line ${i} of ${i % 7}\n`).join(''));

describe.each(openers)('encoder %i of this machine', (_, open) => {
  it('writes one frame of its declared length, with a checksum, at every level', async () => {
    for (let level = ZSTD_LEVELS.least; level <= ZSTD_LEVELS.most; level++) {
      const stored = open(level).compressFrame(text);
      expect(framesOf(stored)).toEqual([
        { storedOffset: 0, storedBytes: stored.byteLength, contentBytes: text.byteLength },
      ]);
      expect((stored[4] ?? 0) & 4).toBe(4);
      expect(stored.byteLength).toBeLessThan(text.byteLength / 3);
      expect((await decode(stored)).equals(text)).toBe(true);
    }
  });

  it('writes any bytes, of which those of the frames before are left alone', async () => {
    const encoder = open(1);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 500 }), { maxLength: 5 }), async (contents) => {
        const frames = contents.map((content) => encoder.compressFrame(content));
        expect((await decode(Buffer.concat(frames))).equals(Buffer.concat(contents))).toBe(true);
      }),
    );
  });

  it.skipIf(!isOnPath('zstd'))('writes what zstd reads, if it is on PATH', () => {
    const encoder = open(ZSTD_LEVELS.usual);
    const stored = Buffer.concat([text, Buffer.alloc(0), text].map((content) => encoder.compressFrame(content)));
    expect(runOn(stored, ['zstd', '-dc']).equals(Buffer.concat([text, text]))).toBe(true);
  });
});

describe('openZstdEncoder', () => {
  it.each([0, 23, -1, 2.5, Number.NaN])('refuses level %f', (level) => {
    expect(() => openZstdEncoder(level)).toThrow(`the zstd level must be a whole number from 1 to 22, not ${level}`);
  });

  it.skipIf(openers.length === 0)('opens one of those on this machine', async () => {
    expect((await decode(openZstdEncoder(22).compressFrame(text))).equals(text)).toBe(true);
  });

  it.skipIf(openers.length > 0)('says what to do where there is none', () => {
    expect(() => openZstdEncoder(3)).toThrow('nothing on this machine can write zstd: install the package zstd-napi');
  });
});
