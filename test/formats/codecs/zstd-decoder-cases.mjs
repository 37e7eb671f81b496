/** Requirements on every decoder of zstd, as functions that throw, for the tests and for other versions of Node. */
import assert from 'node:assert/strict';
import { decodeZstd } from '#src/formats/codecs/zstd.js';
import { declared, empty, repeatedByte, severalBlocks, skippable, undeclared } from './zstd-samples.mjs';

/** @typedef {import('#src/formats/codecs/zstd-decoders.js').ZstdDecoder} ZstdDecoder */

/** Copies the bytes, because their reader frees them. */
class PiecesOf {
  path = 'in.zst';
  start = 0;
  #bytes;
  #pieceBytes;
  #position = 0;
  #pieces = 0;

  /**
   * @param {Uint8Array} bytes
   * @param {readonly number[]} pieceBytes the last one is repeated.
   */
  constructor(bytes, pieceBytes) {
    this.#bytes = bytes;
    this.#pieceBytes = pieceBytes;
  }

  next() {
    const byteLength = this.#pieceBytes[Math.min(this.#pieces, this.#pieceBytes.length - 1)] ?? 1;
    this.#pieces += 1;
    const piece = this.#bytes.slice(this.#position, this.#position + Math.max(1, byteLength));
    this.#position += piece.byteLength;
    return piece;
  }
}

const memory = { reserve: () => true, budgetFor: () => '' };

/**
 * @param {ZstdDecoder} decoder
 * @param {Uint8Array} bytes
 * @param {readonly number[]} [pieceBytes]
 */
async function decode(decoder, bytes, pieceBytes = [bytes.byteLength]) {
  const pieces = [];
  for await (const piece of decodeZstd(decoder, new PiecesOf(bytes, pieceBytes), memory)) {
    pieces.push(Buffer.from(piece));
  }
  return Buffer.concat(pieces);
}

/**
 * @param {ZstdDecoder} decoder
 * @param {Uint8Array} bytes
 * @param {readonly number[]} [pieceBytes]
 * @returns {Promise<string>} the message of the error.
 */
async function refusal(decoder, bytes, pieceBytes) {
  const outcome = await decode(decoder, bytes, pieceBytes).catch((/** @type {unknown} */ error) => error);
  if (outcome instanceof Buffer) assert.fail(`accepted, as ${outcome.byteLength} bytes`);
  assert.ok(outcome instanceof Error && 'code' in outcome, String(outcome));
  assert.equal(outcome.code, 'ERR_INPUT_CORRUPT', outcome.message);
  return outcome.message;
}

/**
 * @param {Buffer} actual
 * @param {Buffer} expected
 * @param {string} when
 */
function assertSame(actual, expected, when) {
  assert.ok(
    actual.equals(expected),
    `${actual.byteLength} bytes of ${expected.byteLength} expected, or others: ${when}`,
  );
}

const frames = [declared, skippable, undeclared, empty, severalBlocks, declared];
const stored = Buffer.concat(frames.map((frame) => (frame instanceof Uint8Array ? frame : frame.stored)));
/** `npm test` cuts the frames at every seventh byte. */
const cutStep = (process.env['PILESHUF_TEST_SCALE'] ?? 'quick') === 'quick' ? 7 : 1;
const content = Buffer.concat(frames.map((frame) => (frame instanceof Uint8Array ? Buffer.alloc(0) : frame.content)));

/** @type {Readonly<Record<string, (decoder: ZstdDecoder) => Promise<void>>>} */
export const decoderCases = {
  'decodes each of two frames in one buffer': async (decoder) => {
    const bytes = Buffer.concat([declared.stored, undeclared.stored]);
    assertSame(await decode(decoder, bytes), Buffer.concat([declared.content, undeclared.content]), 'at once');
  },

  'decodes what follows a skippable frame, and nothing of the frame itself': async (decoder) => {
    assertSame(await decode(decoder, Buffer.concat([skippable, declared.stored])), declared.content, 'first');
    assertSame(await decode(decoder, Buffer.concat([declared.stored, skippable])), declared.content, 'last');
    assertSame(await decode(decoder, Buffer.concat([skippable, skippable])), Buffer.alloc(0), 'alone');
    assertSame(await decode(decoder, skippable, [1]), Buffer.alloc(0), 'byte by byte');
  },

  'decodes empty frames': async (decoder) => {
    assertSame(await decode(decoder, empty.stored), empty.content, 'one');
    const bytes = Buffer.concat([empty.stored, empty.stored, declared.stored, empty.stored]);
    assertSame(await decode(decoder, bytes), declared.content, 'around another');
  },

  'decodes frames that are cut anywhere': async (decoder) => {
    for (let end = 1; end < stored.byteLength; end += cutStep) {
      assertSame(await decode(decoder, stored, [end, stored.byteLength]), content, `cut at ${end}`);
    }
    for (const pieceBytes of [1, 2, 3, 7, 100]) {
      assertSame(await decode(decoder, stored, [pieceBytes]), content, `pieces of ${pieceBytes}`);
    }
  },

  'says of a file that ends anywhere but between frames that it is truncated, and where': async (decoder) => {
    const edges = new Map([[0, 0]]);
    let edge = 0;
    let decodedBytes = 0;
    for (const frame of frames) {
      edge += frame instanceof Uint8Array ? frame.byteLength : frame.stored.byteLength;
      decodedBytes += frame instanceof Uint8Array ? 0 : frame.content.byteLength;
      edges.set(edge, decodedBytes);
    }
    for (let end = 0; end <= stored.byteLength; end++) {
      if (end % cutStep !== 0 && !edges.has(end)) continue;
      const truncated = stored.subarray(0, end);
      const wholeBytes = edges.get(end);
      for (const pieceBytes of [[end], [61]]) {
        if (wholeBytes !== undefined) {
          assertSame(await decode(decoder, truncated, pieceBytes), content.subarray(0, wholeBytes), `${end} bytes`);
          continue;
        }
        assert.equal(
          await refusal(decoder, truncated, pieceBytes),
          `in.zst: the zstd data ends at byte ${end} (compressed) inside a frame: the file is truncated; copy or make it again`,
        );
      }
    }
  },

  'refuses a frame whose checksum is wrong': async (decoder) => {
    for (let back = 1; back <= 4; back++) {
      for (const behind of [new Uint8Array(), undeclared.stored]) {
        const damaged = Buffer.concat([undeclared.stored, declared.stored, behind]);
        const at = undeclared.stored.byteLength + declared.stored.byteLength - back;
        damaged[at] = (damaged[at] ?? 0) ^ 1;
        const message = await refusal(decoder, damaged);
        assert.match(
          message,
          /^in\.zst: the zstd data is corrupt between byte \d+ and byte 126 \(compressed\): .*`zstd -t`$/,
        );
      }
    }
  },

  'never gives other bytes for a frame with one bit wrong': async (decoder) => {
    for (const sample of [declared, severalBlocks]) {
      for (let bit = 0; bit < 8 * sample.stored.byteLength; bit += 3) {
        const damaged = Buffer.from(sample.stored);
        damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const outcome = await decode(decoder, damaged, [50]).catch((/** @type {unknown} */ error) => error);
        if (outcome instanceof Buffer) {
          // Without a checksum flag, or with a larger window, the data is still whole: its checksum is not asked for.
          assertSame(outcome, sample.content, `bit ${bit}`);
        } else {
          assert.ok(outcome instanceof Error && 'kind' in outcome, `bit ${bit}: ${outcome}`);
        }
      }
    }
  },

  'refuses a frame that holds less or more than it says': async (decoder) => {
    for (const difference of [-1, 1]) {
      const damaged = Buffer.from(declared.stored);
      damaged[5] = (damaged[5] ?? 0) + difference;
      await refusal(decoder, Buffer.concat([damaged, undeclared.stored]));
    }
  },

  'refuses bytes behind the last frame that begin no other': async (decoder) => {
    const at = declared.stored.byteLength;
    for (const behind of [Buffer.from('garbage'), Buffer.alloc(600), Buffer.of(0x1f, 0x8b, 8, 0)]) {
      for (const pieceBytes of [[10_000], [at, 1], [3]]) {
        assert.equal(
          await refusal(decoder, Buffer.concat([declared.stored, behind]), pieceBytes),
          `in.zst: byte ${at} (compressed) lies after the last zstd frame and begins no other; expected the end of the file`,
        );
      }
    }
  },

  'hands over much that comes from little in pieces of a megabyte at most': async (decoder) => {
    const source = new PiecesOf(Buffer.concat([repeatedByte(41), declared.stored]), [100]);
    let decodedBytes = 0;
    for await (const piece of decodeZstd(decoder, source, memory)) {
      assert.ok(piece.byteLength > 0 && piece.byteLength <= 2 ** 20, `a piece of ${piece.byteLength} bytes`);
      decodedBytes += piece.byteLength;
      // As one that takes its time.
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    assert.equal(decodedBytes, 41 * 128 * 1024 + declared.content.byteLength);
  },

  'decodes the next input after one that was left or refused, and two at the same time': async (decoder) => {
    for await (const _ of decodeZstd(decoder, new PiecesOf(repeatedByte(41), [100]), memory)) break;
    await refusal(decoder, severalBlocks.stored.subarray(0, 150));
    const damaged = Buffer.from(severalBlocks.stored);
    damaged[100] = (damaged[100] ?? 0) ^ 1;
    await refusal(decoder, damaged);
    const [one, other] = await Promise.all([decode(decoder, stored, [5]), decode(decoder, stored, [11])]);
    assertSame(one, content, 'one');
    assertSame(other, content, 'other');
  },
};
