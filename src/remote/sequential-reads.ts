/**
 * Reads objects of servers that give no ranges. Each object is one long reply, which is read from its first byte on; for
 * an earlier byte it is requested again.
 */
import { STREAMED } from '../io/files.js';
import type { RangeReader } from './range-reader.js';
import { type StallWatch, TransientError } from './retries.js';
import type { ObjectVersion } from './transfer-channel.js';

interface ReadTarget {
  readonly start: number;
  readonly buffer: Uint8Array;
  markFilled(): void;
}

interface OpenReply {
  readonly pieces: AsyncIterator<Uint8Array>;
  position: number;
  rest: Uint8Array;
}

const NO_BYTES = new Uint8Array();

export class SequentialReads {
  readonly #reader: RangeReader;
  readonly #open = new Map<string, OpenReply>();
  /** The last read of each object that was asked for: the next one waits for it. */
  readonly #lastReads = new Map<string, Promise<void>>();

  constructor(reader: RangeReader) {
    this.#reader = reader;
  }

  /** Returns the present version and its first bytes. */
  readHead(path: string, mostBytes: number): Promise<{ readonly version: ObjectVersion; readonly head: Uint8Array }> {
    return this.#reader.withRetries(path, async (progress) => {
      const { version, pieces } = await this.#reader.openWhole(path, undefined);
      const stream = { pieces, position: 0, rest: NO_BYTES };
      try {
        const head = new Uint8Array(Math.min(mostBytes, version.byteLength));
        await fill(stream, 0, head, progress);
        return { version: { ...version, validator: STREAMED + version.validator }, head };
      } finally {
        await pieces.return?.();
      }
    });
  }

  /** Fills the targets in order, after earlier calls. @param next returns the first target that is not filled yet. */
  read(path: string, { byteLength, validator }: ObjectVersion, next: () => ReadTarget | undefined): Promise<void> {
    const version = { byteLength, validator: validator.slice(STREAMED.length) };
    const read = () => this.#reader.withRetries(path, (progress) => this.#try(path, version, next, progress));
    const turn = (this.#lastReads.get(path) ?? Promise.resolve()).then(read, read);
    this.#lastReads.set(path, turn);
    return turn;
  }

  async #try(
    path: string,
    version: ObjectVersion,
    next: () => ReadTarget | undefined,
    progress: StallWatch,
  ): Promise<void> {
    try {
      for (let part = next(); part !== undefined; part = next()) {
        let stream = this.#open.get(path);
        if (stream === undefined || stream.position > part.start) {
          await this.#close(path);
          const { pieces } = await this.#reader.openWhole(path, version);
          stream = { pieces, position: 0, rest: NO_BYTES };
          this.#open.set(path, stream);
        }
        await fill(stream, part.start, part.buffer, progress);
        part.markFilled();
        progress.advanced();
        if (stream.position === version.byteLength) await this.#close(path);
      }
    } catch (error) {
      await this.#close(path).catch(() => {});
      throw error;
    }
  }

  async #close(path: string): Promise<void> {
    const stream = this.#open.get(path);
    this.#open.delete(path);
    await stream?.pieces.return?.();
  }
}

/** Fills a buffer with the bytes from `start` on, which the reply has not passed yet. */
async function fill(stream: OpenReply, start: number, buffer: Uint8Array, progress: StallWatch): Promise<void> {
  for (let filled = 0; filled < buffer.byteLength; ) {
    if (stream.rest.byteLength === 0) {
      const { done, value } = await stream.pieces.next();
      if (done === true) throw new TransientError('the server sent less than was asked for');
      progress.received(value.byteLength);
      stream.rest = value;
    }
    const skipped = Math.min(stream.rest.byteLength, Math.max(0, start - stream.position));
    const taken = stream.rest.subarray(skipped, skipped + buffer.byteLength - filled);
    buffer.set(taken, filled);
    filled += taken.byteLength;
    stream.position += skipped + taken.byteLength;
    stream.rest = stream.rest.subarray(skipped + taken.byteLength);
  }
}
