/**
 * gzip (RFC 1952) with any number of members, and BGZF, which is gzip whose members declare their length
 * (`gzip-members.ts`). Zero bytes after the last member are padding, as for gzip itself. Anything else there is an
 * error, and so is an input that ends inside a member.
 */
import { Readable } from 'node:stream';
import { types } from 'node:util';
import { constants, createGunzip, gunzipSync, gzipSync, type Zlib } from 'node:zlib';
import { corruptInputError } from '../../errors.js';
import { freeBytes, freeLastPiece, shrinkToFit } from '../../machine/free-bytes.js';
import type { Codec, CompressedSource, DecodedHead, MemberEncoder } from '../codec.js';
import { findBgzfMember, isBgzfHeader, listGzipMembers, refuseSwallowedMember } from './gzip-members.js';
import { decodeByIgzip, suitsIgzip } from './igzip.js';

const NODE_DECODER = 'node:zlib';
/** Decoded bytes handed over at a time; 2.4 times as fast as the default of 16 KiB. */
const DECODED_PIECE_BYTES = 1024 * 1024;
/** Smaller inputs are decoded at once: for thousands of small files, a stream each costs far more. */
const SMALL_BYTES = 64 * 1024;
/** More than any head of text decodes to. A head that decodes to more is not worth its memory. */
const MOST_HEAD_BYTES = 16 * 1024 * 1024;
const MOST_DECODED_AT_ONCE_BYTES = 4 * 1024 * 1024;
/** The default of zlib is 16 KiB. */
const ENCODED_PIECE_BYTES = 128 * 1024;
/** Fixed header, empty block, checksum and length. */
const LEAST_MEMBER_BYTES = 10 + 2 + 8;

export const GZIP_LEVELS = { least: 1, usual: 6, most: 9 } as const;

export const gzip: Codec = {
  name: 'gzip',
  suffixes: ['.gz', '.gzip'],
  usualExpansion: 4,
  matches: (head) => head[0] === 0x1f && head[1] === 0x8b,
  decodeHead,
  claimedBytes,
  // A match of 258 bytes in two bits.
  mostExpansion: 1032,
  decode,
};

/** The empty member that ends each BGZF file, always these bytes. A file that was cut between members lacks it. */
const EMPTY_BLOCK = Buffer.from('1f8b08040000000000ff0600424302001b0003000000000000000000', 'hex');

export const bgzf: Codec = {
  ...gzip,
  name: 'bgzf',
  suffixes: ['.bgz', '.bgzf'],
  endMark: { bytes: EMPTY_BLOCK, name: 'the empty block that ends BGZF files' },
  matches: isBgzfHeader,
  findMember: findBgzfMember,
  listMembers: listGzipMembers,
};

/** The last trailer holds the length modulo 4 GiB. */
function claimedBytes(_first: Uint8Array, last: Uint8Array, guess: number): number | undefined {
  if (last.byteLength < 4) return undefined;
  const size = Buffer.from(last.subarray(-4)).readUInt32LE();
  return size + Math.max(0, Math.round((guess - size) / 2 ** 32)) * 2 ** 32;
}

function decodeHead(compressed: Uint8Array, mostReturnedBytes: number): DecodedHead {
  try {
    const whole = gunzipSync(compressed, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MOST_HEAD_BYTES });
    const bytes = whole.byteLength > mostReturnedBytes ? Uint8Array.from(whole.subarray(0, mostReturnedBytes)) : whole;
    return { bytes, decodedBytes: whole.byteLength };
  } catch {
    return { bytes: new Uint8Array(), decodedBytes: 0 };
  }
}

async function* decode(source: CompressedSource): AsyncGenerator<Uint8Array, void, void> {
  const held = [await source.next()];
  const [first] = held;
  if (first !== undefined) refuseSwallowedMember(first, source.start, source.path);
  const whole = { ...source, next: (room?: Uint8Array) => held.shift() ?? source.next(room) };
  const { again } = source;
  if (again !== undefined && suitsIgzip(again)) {
    yield* decodeByIgzip(whole, again, decodeByNode);
    return;
  }
  if (first !== undefined && first.byteLength <= SMALL_BYTES) {
    const second = await source.next();
    const decoded = second.byteLength === 0 ? decodeWhole(first) : undefined;
    if (decoded !== undefined) {
      source.onDecoder?.(NODE_DECODER);
      yield decoded;
      return;
    }
    held.push(second);
  }
  yield* decodeByNode(whole);
}

/** Decodes a whole member. Undefined: the content is too large, or has a defect, which `decodeByNode` then names. */
function decodeWhole(compressed: Uint8Array): Uint8Array | undefined {
  try {
    const options = { info: true, chunkSize: SMALL_BYTES, maxOutputLength: MOST_DECODED_AT_ONCE_BYTES };
    const { buffer, engine } = gunzipSync(compressed, options) as unknown as { buffer: Buffer; engine: Zlib };
    return compressed.subarray(engine.bytesWritten).every((byte) => byte === 0) ? buffer : undefined;
  } catch {
    return undefined;
  }
}

async function* decodeByNode(source: CompressedSource): AsyncGenerator<Uint8Array, void, void> {
  source.onDecoder?.(NODE_DECODER);
  const gunzip = createGunzip({ chunkSize: DECODED_PIECE_BYTES });
  // zlib stops at a zero byte after a member and ignores the rest. What it got and did not consume is checked
  // afterwards.
  const given: { start: number; bytes: Uint8Array }[] = [];
  let givenEnd = source.start;
  const consumedEnd = () => source.start + gunzip.bytesWritten;
  let nextPiece: Promise<Uint8Array> | undefined;

  async function* giveAll(): AsyncGenerator<Uint8Array> {
    for (;;) {
      nextPiece = Promise.resolve(source.next());
      const bytes = await nextPiece;
      nextPiece = undefined;
      if (bytes.byteLength === 0) return;
      // zlib still points to the piece that it has just finished: only earlier ones can be freed.
      while (given[0] !== undefined && given[0].start + given[0].bytes.byteLength < consumedEnd()) {
        freeBytes(given[0].bytes);
        given.shift();
      }
      given.push({ start: givenEnd, bytes });
      givenEnd += bytes.byteLength;
      yield bytes;
    }
  }

  const compressed = Readable.from(giveAll(), { highWaterMark: 1 });
  compressed.on('error', (error) => gunzip.destroy(error));
  compressed.pipe(gunzip);
  try {
    for await (const piece of gunzip) {
      yield piece;
      freeLastPiece(piece);
    }
  } catch (error) {
    const consumed = consumedEnd();
    const last = given.find(({ start, bytes }) => start + bytes.byteLength > consumed);
    throw asInputError(error, source.path, consumed, last ? last.start + last.bytes.byteLength : givenEnd);
  } finally {
    compressed.destroy();
    gunzip.destroy();
  }

  const consumed = consumedEnd();
  for (const { start, bytes } of given) {
    requireZeros(bytes.subarray(Math.max(0, consumed - start)), Math.max(start, consumed), source.path);
  }
  // A read may have been under way when zlib stopped.
  for (let start = givenEnd; ; ) {
    const bytes = await (nextPiece ?? source.next());
    nextPiece = undefined;
    if (bytes.byteLength === 0) return;
    requireZeros(bytes, start, source.path);
    start += bytes.byteLength;
  }
}

/** gzip ignores what follows, and warns of it. */
const WITHOUT_JUNK = 'if what follows is junk, `gzip -dc FILE | gzip` writes the data without it';
/** The words of zlib for a member after the first that lacks the magic bytes. */
const NO_MEMBER = 'incorrect header check';

function requireZeros(bytes: Uint8Array, start: number, path: string): void {
  const index = bytes.findIndex((byte) => byte !== 0);
  if (index < 0) return;
  throw corruptInputError(
    path,
    `byte ${start + index} (compressed) lies after the last gzip member and is neither a new member nor zero padding; expected the end of the file; ${WITHOUT_JUNK}`,
  );
}

/** zlib reports how much it has consumed only after each piece: the defect lies in [consumed, end). */
function asInputError(error: unknown, path: string, consumed: number, end: number): unknown {
  if (!types.isNativeError(error) || !('code' in error)) return error;
  const { code } = error;
  if (code === 'Z_BUF_ERROR') {
    return corruptInputError(
      path,
      `the gzip data ends at byte ${consumed} (compressed) inside a member: the file is truncated; copy or make it again`,
      { cause: error },
    );
  }
  if (code === 'Z_DATA_ERROR' || code === 'Z_NEED_DICT') {
    return corruptInputError(
      path,
      `the gzip data is corrupt between byte ${consumed} and byte ${end} (compressed): ${error.message}${error.message === NO_MEMBER ? ` after a whole member; ${WITHOUT_JUNK}` : ''}; check it with \`gzip -t\``,
      { cause: error },
    );
  }
  return error;
}

export function openGzipEncoder(level: number): MemberEncoder {
  const compress = (bytes: Uint8Array, as: number) => gzipSync(bytes, { level: as, chunkSize: ENCODED_PIECE_BYTES });
  return {
    // zlib puts a short member in a buffer of a whole piece.
    encode: (bytes) => shrinkToFit(compress(bytes, level)),
    store: (bytes) => compress(bytes, 0),
  };
}

/** Returns the content length of a member of less than 4 GiB; undefined: it is not a member. */
export function gzipContentBytes(member: Uint8Array): number | undefined {
  if (member.byteLength < LEAST_MEMBER_BYTES || member[0] !== 0x1f || member[1] !== 0x8b) return undefined;
  return new DataView(member.buffer, member.byteOffset, member.byteLength).getUint32(member.byteLength - 4, true);
}
