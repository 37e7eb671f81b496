/**
 * Decodes gzip with the program igzip (https://github.com/intel/isa-l) where it is on PATH, in a third of the time of
 * `node:zlib`. The result is still that of `node:zlib`, and nothing depends on what igzip thinks of a file: it accepts
 * bytes after the last member, for one, and its versions differ. What it decoded must agree with the lengths and
 * checksums in the file (`GzipCheck`). Otherwise `node:zlib` decodes the file again from its beginning, without the
 * bytes that were handed over already, and has the last word.
 */
import { crc32 } from 'node:zlib';
import { SystemError } from '../../errors.js';
import { ChildProgram, isProgram } from '../../machine/child-program.js';
import { freeBytes } from '../../machine/free-bytes.js';
import type { CompressedSource, RereadableBytes } from '../codec.js';
import { FLAGS_AT, headerEnd, MAGIC } from './gzip-members.js';
import { runThrough } from './programs.js';

export const IGZIP = 'igzip';
/** Starting a program for a smaller input takes longer than it saves. */
const LEAST_BYTES = 1024 * 1024;

type Decode = (source: CompressedSource) => AsyncGenerator<Uint8Array, void, void>;

export function suitsIgzip({ byteLength }: RereadableBytes): boolean {
  return byteLength >= LEAST_BYTES && isProgram(IGZIP);
}

/** @param decodeByNode has the last word where igzip fails or the check refuses. */
export async function* decodeByIgzip(
  source: CompressedSource,
  again: RereadableBytes,
  decodeByNode: Decode,
): AsyncGenerator<Uint8Array, void, void> {
  const child = await startIgzip();
  if (child === undefined) {
    yield* decodeByNode(source);
    return;
  }
  source.onDecoder?.(IGZIP);
  const check = new GzipCheck();
  try {
    const { end, hasReadAll } = yield* runThrough(child, scannedAhead(source, check), {
      // The check uses the buffer of the pieces again.
      onFed: () => {},
      onMade: (piece) => check.decoded(piece),
    });
    if (end.exitCode === 0 && (await hasReadAll()) && check.isWhole()) {
      check.free();
      return;
    }
  } finally {
    await child.stop();
  }
  source.throwIfAborted?.();
  yield* behindHandedOver(decodeByNode(again.open()), check.unconfirmed, source.path);
}

/**
 * Starts igzip. Undefined: this machine cannot start it now, for example because it runs as many processes as it may.
 */
async function startIgzip(): Promise<ChildProgram | undefined> {
  try {
    return await ChildProgram.start([IGZIP, '-dc']);
  } catch {
    return undefined;
  }
}

/** Shows `check` each piece and the next one before igzip gets the piece: see `GzipCheck.stored`. */
function scannedAhead(source: CompressedSource, check: GzipCheck): CompressedSource {
  const scanNext = async () => {
    const bytes = await source.next(check.room());
    check.stored(bytes);
    return bytes;
  };
  let ahead: Uint8Array | undefined;
  return {
    ...source,
    next: async () => {
      const bytes = ahead ?? (await scanNext());
      ahead = bytes.byteLength === 0 ? bytes : await scanNext();
      return bytes;
    },
  };
}

/**
 * Decodes with `node:zlib` what comes after the bytes that igzip gave. The unconfirmed ones of these must be the same.
 */
async function* behindHandedOver(
  pieces: AsyncGenerator<Uint8Array, void, void>,
  { start, byteLength, crc }: Unconfirmed,
  path: string,
): AsyncGenerator<Uint8Array, void, void> {
  const end = start + byteLength;
  let position = 0;
  let ownCrc = 0;
  for await (const piece of pieces) {
    const from = Math.min(Math.max(0, start - position), piece.byteLength);
    const to = Math.min(Math.max(0, end - position), piece.byteLength);
    ownCrc = crc32(piece.subarray(from, to), ownCrc);
    position += piece.byteLength;
    // Where they differ, `node:zlib` may still find the file damaged, which explains it.
    if (to < piece.byteLength && ownCrc === crc) yield piece.subarray(to);
  }
  if (position >= end && ownCrc === crc) return;
  throw new SystemError(
    'ERR_IO',
    `${path}: igzip and node:zlib decoded it to different bytes; decode it without igzip (\`igzip\`), and check the memory of this machine`,
  );
}

const TRAILER_BYTES = 8;
const MOST_HEADER_BYTES = 4096;
/** A checksum of the header, and the flags that no version of gzip has defined. */
const REFUSED_FLAGS = 0xe2;
const EMPTY_CONTENT = Buffer.from([3, 0]);
const EMPTY_BLOCK_BYTES = 5;
const LENGTH_MODULUS = 2 ** 32;
/**
 * Chooses among the places where a member may end: the first few are considered, and one more for each
 * `STORED_BYTES_PER_PLACE` stored bytes: one false place is found in 128 MiB of compressed bytes.
 */
const FIRST_PLACES = 3;
const STORED_BYTES_PER_PLACE = 2 ** 21;
/** More than a program and the pipe to it hold: of more bytes after the last member, the program leaves some unread. */
const RECENT_BYTES = 4 * 2 ** 20;
const PIECE_BYTES = 256 * 1024;

/** The trailer of a member, or 8 bytes that may be one. */
interface Trailer {
  readonly storedEnd: number;
  readonly crc: number;
  readonly decodedBytes: number;
}

interface Place extends Trailer {
  /** The end of its member, if that is empty. */
  readonly emptyEnd: number | undefined;
}

export interface Unconfirmed {
  readonly start: number;
  readonly byteLength: number;
  readonly crc: number;
}

/**
 * Checks what another decoder made of a gzip file, and needs nothing of that decoder but the decoded bytes: every
 * member must have decoded to the length and the CRC-32 that its trailer declares, and the members must fill the file.
 *
 * Only decoding shows where a member ends. So the check looks for headers in the stored bytes. Each may be the end of
 * the current member, and the 8 bytes before it would be the trailer. It is the end if, after as many decoded bytes as
 * the trailer says, they have its CRC-32: other bytes pass with a probability of 2^-64.
 *
 * It also refuses what is valid but rare: zeros after the last member, headers with a checksum, members that begin with
 * an empty block. `node:zlib` decides about every file that is refused here.
 */
export class GzipCheck {
  #storedBytes = 0;
  readonly #recent = new RecentBytes(RECENT_BYTES, PIECE_BYTES, MOST_HEADER_BYTES + TRAILER_BYTES);
  /** The last stored bytes, at least as many as a trailer has. Zeros precede the first byte. */
  #rest: Buffer = Buffer.alloc(TRAILER_BYTES);
  /** Headers after that of the current member, in order. */
  #places: Place[] = [];
  #member: Place | undefined;
  #memberStart = 0;
  #memberBytes = 0;
  #crc = 0;

  /** Returns the room into which the next stored bytes may be read. They stay valid until 4 MiB more are noted. */
  room(): Uint8Array {
    return this.#recent.room();
  }

  /**
   * Notes the next stored bytes; none at their end. The trailer of a member and the next header must come here before
   * the last decoded byte of the member comes to `decoded`.
   * @param piece lies at the start of `room()`, or anywhere else.
   */
  stored(piece: Uint8Array): void {
    let at = 0;
    do {
      const room = this.#recent.room();
      const part = piece.subarray(at, at + room.byteLength);
      if (part.buffer !== room.buffer) room.set(part);
      this.#scan(part.byteLength);
      at += part.byteLength;
    } while (at < piece.byteLength);
  }

  /** 0 at the end. */
  #scan(byteLength: number): void {
    this.#storedBytes += byteLength;
    const bytes = this.#recent.add(byteLength, this.#rest.byteLength);
    const start = this.#storedBytes - bytes.byteLength;
    const isEnd = byteLength === 0;
    // The last bytes may be the beginning of a header.
    let restAt = bytes.byteLength - TRAILER_BYTES - (isEnd ? 0 : Math.min(MAGIC.byteLength - 1, byteLength));
    for (let at = bytes.indexOf(MAGIC, TRAILER_BYTES); at >= 0; at = bytes.indexOf(MAGIC, at + 1)) {
      const contentAt = contentStart(bytes, at);
      if (contentAt === 'unknown' && !isEnd) {
        restAt = at - TRAILER_BYTES;
        break;
      }
      if (typeof contentAt === 'number') this.#addPlace(bytes, start, at, contentAt);
    }
    this.#rest = bytes.subarray(Math.max(0, restAt));
  }

  #addPlace(bytes: Buffer, start: number, at: number, contentAt: number): void {
    const isEmpty = EMPTY_CONTENT.equals(bytes.subarray(contentAt, contentAt + EMPTY_CONTENT.byteLength));
    if (!isEmpty && beginsEmpty(bytes, contentAt)) return;
    const emptyEnd = isEmpty ? start + contentAt + EMPTY_CONTENT.byteLength + TRAILER_BYTES : undefined;
    const place = { ...trailerBefore(bytes, at, start), emptyEnd };
    if (place.storedEnd === 0) this.#member = place;
    else this.#places.push(place);
  }

  decoded(piece: Uint8Array): void {
    for (let at = 0; at < piece.byteLength; ) {
      this.#endMembers();
      const count = Math.min(piece.byteLength - at, this.#bytesToNextPlace());
      this.#crc = crc32(piece.subarray(at, at + count), this.#crc);
      this.#memberBytes += count;
      at += count;
    }
  }

  /** Call it after the last stored and decoded bytes. */
  isWhole(): boolean {
    this.#endMembers();
    const start = this.#storedBytes - this.#rest.byteLength;
    const trailer = trailerBefore(this.#rest, this.#rest.byteLength, start);
    return this.#member !== undefined && this.#isEndOf(this.#member, trailer) && !this.#mayEndEarlier(this.#member);
  }

  /**
   * Returns whether the last trailer also occurs earlier: the member may end there, and its own end be repeated after
   * it.
   */
  #mayEndEarlier({ storedEnd: memberAt, emptyEnd }: Place): boolean {
    if (emptyEnd !== undefined) return false;
    const bytes = this.#recent.all();
    const start = this.#storedBytes - bytes.byteLength;
    const trailer = bytes.subarray(-TRAILER_BYTES);
    return bytes.indexOf(trailer, Math.max(0, memberAt - start)) < bytes.byteLength - TRAILER_BYTES;
  }

  free(): void {
    this.#recent.free();
  }

  get unconfirmed(): Unconfirmed {
    return { start: this.#memberStart, byteLength: this.#memberBytes, crc: this.#crc };
  }

  /** Ends the current member, and empty ones after it, if they end here. */
  #endMembers(): void {
    for (;;) {
      const member = this.#member;
      if (member === undefined) return;
      const index = this.#placesToConsider(member).findIndex((place) => this.#isEndOf(member, place));
      if (index < 0) return;
      this.#member = this.#places[index];
      this.#places = this.#places.slice(index + 1);
      this.#memberStart += this.#memberBytes;
      this.#memberBytes = 0;
      this.#crc = 0;
    }
  }

  #isEndOf({ emptyEnd }: Place, { storedEnd, crc, decodedBytes }: Trailer): boolean {
    if (decodedBytes !== this.#memberBytes % LENGTH_MODULUS || crc !== this.#crc) return false;
    // Any 8 zeros would be the trailer of an empty member.
    return this.#memberBytes === 0 ? storedEnd === emptyEnd : emptyEnd === undefined;
  }

  #bytesToNextPlace(): number {
    const member = this.#member;
    if (member === undefined) return Number.POSITIVE_INFINITY;
    const behind = this.#memberBytes % LENGTH_MODULUS;
    return this.#placesToConsider(member).reduce((least, { decodedBytes }) => {
      const count = decodedBytes - behind;
      return Math.min(least, count > 0 ? count : count + LENGTH_MODULUS);
    }, Number.POSITIVE_INFINITY);
  }

  #placesToConsider({ storedEnd: start }: Place): readonly Place[] {
    const end = this.#places.findIndex(
      ({ storedEnd }, index) => index >= FIRST_PLACES + (storedEnd - start) / STORED_BYTES_PER_PLACE,
    );
    return end < 0 ? this.#places : this.#places.slice(0, end);
  }
}

function trailerBefore(bytes: Buffer, at: number, start: number): Trailer {
  return {
    storedEnd: start + at,
    crc: bytes.readUInt32LE(at - TRAILER_BYTES),
    decodedBytes: bytes.readUInt32LE(at - 4),
  };
}

/** Returns where the content begins. Undefined: the header is refused. Unknown: its content begins beyond `bytes`. */
function contentStart(bytes: Buffer, at: number): number | 'unknown' | undefined {
  if (((bytes[at + FLAGS_AT] ?? 0) & REFUSED_FLAGS) !== 0) return undefined;
  const start = headerEnd(bytes, at);
  if (start !== undefined && start + EMPTY_BLOCK_BYTES <= bytes.byteLength) return start;
  return bytes.byteLength - at > MOST_HEADER_BYTES ? undefined : 'unknown';
}

/**
 * Returns whether the first block is empty. Then the member may be, too, and only decoding shows where it ends: the
 * trailer of the next one could pass for its own.
 */
function beginsEmpty(bytes: Buffer, at: number): boolean {
  const [first = 0, second = 0, third = 0] = bytes.subarray(at, at + EMPTY_BLOCK_BYTES);
  const kind = (first >> 1) & 3;
  // A stored block of length 0, or fixed codes, where 7 zero bits end the block.
  return kind === 0 ? second === 0 && third === 0 : kind === 1 && first >> 3 === 0 && (second & 3) === 0;
}

/** The last bytes of an input, in one buffer used over and over. The reader of the input reads straight to `room`. */
export class RecentBytes {
  readonly #bytes: Buffer;
  readonly #mostPieceBytes: number;
  readonly #mostRestBytes: number;
  #end: number;
  /** The end of the bytes of the last round, which the next bytes overwrite from `#end` on. */
  #olderEnd = 0;

  /** @param mostRestBytes so many of the bytes before a piece lie in front of it. Zeros precede the first byte. */
  constructor(byteLength: number, mostPieceBytes: number, mostRestBytes: number) {
    this.#bytes = Buffer.alloc(mostRestBytes + byteLength + 2 * mostPieceBytes);
    this.#mostPieceBytes = mostPieceBytes;
    this.#mostRestBytes = mostRestBytes;
    this.#end = mostRestBytes;
  }

  /** Bytes stay there until as many are added as it holds. */
  room(): Uint8Array {
    if (this.#end + this.#mostPieceBytes > this.#bytes.byteLength) this.#startAgain();
    return this.#bytes.subarray(this.#end, this.#end + this.#mostPieceBytes);
  }

  #startAgain(): void {
    this.#bytes.copy(this.#bytes, 0, this.#end - this.#mostRestBytes, this.#end);
    this.#olderEnd = this.#end;
    this.#end = this.#mostRestBytes;
  }

  /** Adds the first bytes of `room`, and returns them after the `restBytes` before them. */
  add(byteLength: number, restBytes: number): Buffer {
    const start = this.#end - restBytes;
    this.#end += byteLength;
    return this.#bytes.subarray(start, this.#end);
  }

  /** All bytes that it must hold, and perhaps more. */
  all(): Buffer {
    // `room` may hold bytes that were not added.
    const older = this.#bytes.subarray(Math.min(this.#end + this.#mostPieceBytes, this.#olderEnd), this.#olderEnd);
    return Buffer.concat([older, this.#bytes.subarray(this.#mostRestBytes, this.#end)]);
  }

  /** No other call may follow. */
  free(): void {
    freeBytes(this.#bytes);
  }
}
