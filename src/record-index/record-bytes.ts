import { counted, InputError } from '../errors.js';
import type { Codec, CompressedSource, DecoderMemory } from '../formats/codec.js';
import { type OpenFile, readAt, readAtAsync } from '../io/files.js';
import type { Span } from './member-cells.js';
import { RecentlyUsed } from './recently-used.js';

export interface RecordBytes {
  /** Fills `target` with the decoded bytes from `start` on. The file must have all of them. */
  read(start: number, target: Uint8Array): Promise<void>;
}

/** A read from the page cache takes some microseconds; a device takes longer. */
const SLOW_MILLISECONDS = 0.1;
const READS_AFTER_SLOW = 16;

/**
 * Reads on this thread while the bytes are in the page cache: handing a read to another thread takes several times as
 * long as such a read. After a slow read the next ones run on other threads, any number at once; then it tries again.
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
      `${this.#file.path} was cut to ${counted(start + count, 'byte')} while it was open; make its index again when nothing writes to it`,
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
 * A thread decodes one span at a time, for all files: a span takes up to 64 MiB of memory, and one decoder may move the
 * memory in which another one returns its bytes.
 */
let lastDecoded: Promise<unknown> = Promise.resolve();

function inTurn<T>(decode: () => Promise<T>): Promise<T> {
  const done = lastDecoded.then(decode);
  lastDecoded = done.catch(() => {});
  return done;
}

const PIECE_BYTES = 256 * 1024;

/** A span needs at most 64 MiB, which every decoder may use. */
const DECODER_MEMORY: DecoderMemory = { reserve: () => true, budgetFor: String };

export class DecodedBytes implements RecordBytes {
  readonly #file: OpenFile;
  readonly #codec: Codec;
  readonly #spanAt: (position: number) => Span;
  readonly #underWay = new Map<number, Promise<Uint8Array>>();
  readonly #decoded: RecentlyUsed<number, Uint8Array>;

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
