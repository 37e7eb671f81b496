/**
 * The bytes of a file that is read here and there, decoded: of a plain file as they are, of a compressed one by decoding
 * the members that hold them.
 */
import { InputError } from '../errors.js';
import type { Codec, CompressedSource, DecoderMemory } from '../formats/codec.js';
import { type OpenFile, readAt, readAtAsync } from '../io/files.js';
import type { Span } from './member-cells.js';
import { RecentlyUsed } from './recently-used.js';

export interface RecordBytes {
  /** Puts decoded bytes [start, start + target.byteLength), all of which the file must have, into `target`. */
  read(start: number, target: Uint8Array): Promise<void>;
}

/** Bytes that are in the page cache are there in some microseconds; a device takes longer. */
const SLOW_MILLISECONDS = 0.1;
/** How many reads are made on other threads after one that was slow. */
const READS_AFTER_SLOW = 16;

/**
 * Reads of bytes in the page cache are made at once, since to hand one to another thread takes several times as long as
 * such a read. As soon as one turns out to be slow, those that follow go on beside this thread, as many at a time as are
 * asked for, and now and then it is tried again.
 */
export class PlainBytes implements RecordBytes {
  readonly #file: OpenFile;
  #readsAside = 0;

  constructor(file: OpenFile) {
    this.#file = file;
  }

  async read(start: number, target: Uint8Array): Promise<void> {
    const { byteLength } = target;
    const count = this.#readsAside > 0 ? await this.#readAside(start, target) : this.#readAtOnce(start, target);
    if (count === byteLength) return;
    throw new InputError(
      'ERR_INPUT_CHANGED',
      `${this.#file.path} ends at byte ${start + count}, earlier than when it was opened; make its index again when nothing writes to it`,
    );
  }

  #readAtOnce(start: number, target: Uint8Array): number {
    const began = performance.now();
    const count = readAt(this.#file, target, 0, target.byteLength, start);
    if (performance.now() - began > SLOW_MILLISECONDS) this.#readsAside = READS_AFTER_SLOW;
    return count;
  }

  #readAside(start: number, target: Uint8Array): Promise<number> {
    this.#readsAside -= 1;
    return readAtAsync(this.#file, target, 0, target.byteLength, start);
  }
}

/**
 * Spans are decoded one at a time in a thread, whatever file they are of: each takes as much memory as it holds, 64 MiB
 * at most, and what one decoder hands over lies in memory that another may move.
 */
let lastDecoded: Promise<unknown> = Promise.resolve();

function inTurn<T>(decode: () => Promise<T>): Promise<T> {
  const done = lastDecoded.then(decode);
  lastDecoded = done.catch(() => {});
  return done;
}

/** Read at a time. */
const PIECE_BYTES = 256 * 1024;

/** Of a span no more than 64 MiB is asked for, and every decoder has that. */
const DECODER_MEMORY: DecoderMemory = { reserve: () => true, budgetFor: String };

export class DecodedBytes implements RecordBytes {
  readonly #file: OpenFile;
  readonly #codec: Codec;
  readonly #spanAt: (position: number) => Span;
  /** By where they begin; those under way among them. */
  readonly #underWay = new Map<number, Promise<Uint8Array>>();
  readonly #decoded: RecentlyUsed<number, Uint8Array>;

  /** @param keptBytes of decoded spans that were used last. */
  constructor(file: OpenFile, codec: Codec, spanAt: (position: number) => Span, keptBytes: number) {
    this.#file = file;
    this.#codec = codec;
    this.#spanAt = spanAt;
    this.#decoded = new RecentlyUsed(keptBytes, (bytes) => bytes.byteLength);
  }

  async read(start: number, target: Uint8Array): Promise<void> {
    for (let done = 0; done < target.byteLength; ) {
      const position = start + done;
      const span = this.#spanAt(position);
      const decoded = await this.#decodedSpan(span);
      const piece = decoded.subarray(
        position - span.decodedStart,
        position - span.decodedStart + target.byteLength - done,
      );
      target.set(piece, done);
      done += piece.byteLength;
    }
  }

  #decodedSpan(span: Span): Promise<Uint8Array> | Uint8Array {
    const key = span.decodedStart;
    const kept = this.#decoded.get(key);
    if (kept !== undefined) return kept;
    let decoding = this.#underWay.get(key);
    if (decoding === undefined) {
      decoding = inTurn(() => this.#decode(span)).finally(() => this.#underWay.delete(key));
      this.#underWay.set(key, decoding);
    }
    return decoding;
  }

  async #decode(span: Span): Promise<Uint8Array> {
    const bytes = new Uint8Array(span.decodedBytes);
    let decodedBytes = 0;
    for await (const piece of this.#codec.decode(this.#sourceOf(span), DECODER_MEMORY)) {
      if (decodedBytes + piece.byteLength > bytes.byteLength) throw otherLength(this.#file.path, span, 'more');
      bytes.set(piece, decodedBytes);
      decodedBytes += piece.byteLength;
    }
    if (decodedBytes < bytes.byteLength) throw otherLength(this.#file.path, span, decodedBytes);
    this.#decoded.keep(span.decodedStart, bytes);
    return bytes;
  }

  #sourceOf({ storedStart, storedBytes }: Span): CompressedSource {
    let position = storedStart;
    return {
      path: this.#file.path,
      start: storedStart,
      next: async () => {
        const bytes = new Uint8Array(Math.min(PIECE_BYTES, storedStart + storedBytes - position));
        const count = await readAtAsync(this.#file, bytes, 0, bytes.byteLength, position);
        position += count;
        return bytes.subarray(0, count);
      },
    };
  }
}

function otherLength(path: string, span: Span, decodedBytes: number | 'more'): InputError {
  const { storedStart, storedBytes } = span;
  return new InputError(
    'ERR_INPUT_CORRUPT',
    `${path}: its bytes ${storedStart} to ${storedStart + storedBytes} (compressed) decode to ${decodedBytes} bytes, expected ${span.decodedBytes}; make the file or its index again`,
  );
}
