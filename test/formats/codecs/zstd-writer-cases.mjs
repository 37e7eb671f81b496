/**
 * Requirements on every library that writes zstd, for outputs and for temp data, as functions that throw, for the
 * tests and for other versions of Node.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { decodeZstd } from '#src/formats/codecs/zstd.js';
import { wasmDecoder } from '#src/formats/codecs/zstd-decoders.js';
import { listZstdFrames } from '#src/formats/codecs/zstd-frames.js';
import {
  openZstdEncoder,
  openZstdPacker,
  openZstdPages,
  usableWriters,
  ZSTD_LEVELS,
  zstdExpander,
} from '#src/formats/codecs/zstd-writer.js';

/** @typedef {import('#src/formats/codecs/zstd-writer.js').ZstdWriter} ZstdWriter */

/** Each of libzstd's ways to find matches, and the ends of the range. */
const LEVELS = [ZSTD_LEVELS.least, 2, 3, 5, 7, 12, 15, 18, ZSTD_LEVELS.most];

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
  for await (const piece of decodeZstd(wasmDecoder, { path: 'made', start: 0, next }, memory)) {
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

/** @type {Readonly<Record<string, (writer: ZstdWriter) => Promise<void>>>} */
export const encoderCases = {
  'writes one frame of its declared length, with a checksum, at each kind of level': async (writer) => {
    for (const level of LEVELS) {
      const stored = openZstdEncoder(level, writer).encode(text);
      const frame = { storedOffset: 0, contentBytes: text.byteLength };
      assert.deepEqual(framesOf(stored), [frame], `level ${level}`);
      assert.equal((stored[4] ?? 0) & CHECKSUM_FLAG, CHECKSUM_FLAG, `level ${level}`);
      assert.ok(stored.byteLength < text.byteLength / 3, `level ${level}: ${stored.byteLength} bytes`);
      assert.ok((await decode(stored)).equals(text), `level ${level}`);
    }
  },

  'writes the bytes that WebAssembly writes, if it is the same version': async (writer) => {
    // The first Nodes with zstd have an older one, which fills tables in another way.
    if ((process.versions['zstd'] ?? '1.5.7') !== '1.5.7') return;
    const long = Buffer.from(Array.from({ length: 60_000 }, (_, i) => `${(i * 7919) % 10_007} of ${i}\n`).join(''));
    for (const bytes of [Buffer.alloc(0), text.subarray(0, 1), text, long])
      for (const level of [1, 3, 4, 5, 9]) {
        const [own, inWasm] = [writer, usableWriters().at(-1)].map((each) =>
          openZstdEncoder(level, each).encode(bytes),
        );
        assert.ok(
          Buffer.compare(own ?? assert.fail(), inWasm ?? assert.fail()) === 0,
          `${bytes.byteLength}, level ${level}`,
        );
      }
  },

  'writes any bytes, of which those of the frames before are left alone': async (writer) => {
    const { encode } = openZstdEncoder(1, writer);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 500 }), { maxLength: 5 }), async (contents) => {
        const frames = contents.map((content) => encode(content));
        assert.ok((await decode(Buffer.concat(frames))).equals(Buffer.concat(contents)));
      }),
    );
  },
};

/** @type {Readonly<Record<string, (writer: ZstdWriter) => void>>} */
export const packerCases = {
  'makes less of what repeats itself, at each kind of level, and again what it was': (writer) => {
    for (const level of LEVELS) {
      const compressed = openZstdPacker(level, writer).compress(text) ?? assert.fail(`nothing at level ${level}`);
      assert.ok(compressed.byteLength < text.byteLength / 3, `level ${level}: ${compressed.byteLength} bytes`);
      const target = Buffer.alloc(text.byteLength);
      zstdExpander.expand(compressed, target);
      assert.ok(target.equals(text), `level ${level}`);
    }
  },

  'works on any bytes, wherever they lie, and makes nothing of what does not become shorter': (writer) => {
    const packer = openZstdPacker(1, writer);
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
        zstdExpander.expand(compressed, target.subarray(1, -1));
        assert.ok(target.equals(Buffer.concat([Buffer.of(7), bytes, Buffer.of(7)])));
      }),
    );
    assert.ok(packed > 20, `${packed} packed`);
  },

  'makes again nothing of a frame of nothing': (writer) => {
    const frame = openZstdPages(ZSTD_LEVELS.usual, writer)(new Uint8Array());
    assert.ok(frame.byteLength > 0);
    zstdExpander.expand(frame, new Uint8Array());
    assert.throws(() => zstdExpander.expand(frame, new Uint8Array(1)));
    assert.throws(() => zstdExpander.expand(openZstdPages(ZSTD_LEVELS.usual, writer)(text), new Uint8Array()));
  },

  'refuses damaged bytes, or gives as many as there were, and another number never': (writer) => {
    const short = text.subarray(0, 500);
    const compressed = Buffer.from(openZstdPacker(3, writer).compress(short) ?? []);
    for (let bit = 0; bit < 8 * compressed.byteLength; bit += 3) {
      const damaged = Buffer.from(compressed);
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const target = Buffer.alloc(short.byteLength + 10, 7);
      try {
        zstdExpander.expand(damaged, target.subarray(0, -10));
      } catch (error) {
        assert.ok(error instanceof Error, `bit ${bit}: ${error}`);
      }
      assert.ok(target.subarray(-10).equals(Buffer.alloc(10, 7)), `bit ${bit}`);
    }
    const twice = Buffer.concat([compressed, compressed]);
    const target = Buffer.alloc(1_000);
    zstdExpander.expand(twice, target);
    assert.ok(target.equals(Buffer.concat([short, short])));
    for (const byteLength of [0, 499, 501]) {
      assert.throws(() => zstdExpander.expand(compressed, Buffer.alloc(byteLength)), `${byteLength} bytes`);
    }
    for (const end of [0, 1, 10, compressed.byteLength - 1]) {
      assert.throws(() => zstdExpander.expand(compressed.subarray(0, end), Buffer.alloc(500)), `the first ${end}`);
    }
  },
};
