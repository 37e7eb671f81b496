/**
 * Objects of servers that give no ranges. Each is one long reply, which is read from its first byte on; for an earlier
 * byte it is asked for again.
 */
import { STREAMED } from '../io/files.js';
import { PassingFailure, type Progress } from './failure.js';
import type { VersionAnswer } from './fetch-channel.js';
import type { RangeReader } from './range-reader.js';

interface Part {
  readonly start: number;
  readonly room: Uint8Array;
  filled(): void;
}

interface OpenStream {
  readonly pieces: AsyncIterator<Uint8Array>;
  position: number;
  rest: Uint8Array;
}

const NOTHING = new Uint8Array();

export class Streams {
  readonly #reader: RangeReader;
  readonly #open = new Map<string, OpenStream>();
  /** The last reading of each object that was asked for. */
  readonly #turns = new Map<string, Promise<void>>();

  constructor(reader: RangeReader) {
    this.#reader = reader;
  }

  /** The version that is there now, and its first bytes. */
  look(path: string, mostBytes: number): Promise<{ readonly version: VersionAnswer; readonly head: Uint8Array }> {
    return this.#reader.patiently(path, async (progress) => {
      const { version, pieces } = await this.#reader.openStream(path, undefined);
      const stream = { pieces, position: 0, rest: NOTHING };
      try {
        const head = new Uint8Array(Math.min(mostBytes, version.byteLength));
        await fill(stream, 0, head, progress);
        return { version: { ...version, validator: STREAMED + version.validator }, head };
      } finally {
        await pieces.return?.();
      }
    });
  }

  /** Reads the parts one after the other, in the order in which it was called. @param next asked at each try, too. */
  read(path: string, { byteLength, validator }: VersionAnswer, next: () => Part | undefined): Promise<void> {
    const version = { byteLength, validator: validator.slice(STREAMED.length) };
    const read = () => this.#reader.patiently(path, (progress) => this.#try(path, version, next, progress));
    const turn = (this.#turns.get(path) ?? Promise.resolve()).then(read, read);
    this.#turns.set(path, turn);
    return turn;
  }

  async #try(path: string, version: VersionAnswer, next: () => Part | undefined, progress: Progress): Promise<void> {
    try {
      for (let part = next(); part !== undefined; part = next()) {
        let stream = this.#open.get(path);
        if (stream === undefined || stream.position > part.start) {
          await this.#close(path);
          const { pieces } = await this.#reader.openStream(path, version);
          stream = { pieces, position: 0, rest: NOTHING };
          this.#open.set(path, stream);
        }
        await fill(stream, part.start, part.room, progress);
        part.filled();
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

/** Fills a room with the bytes from `start` on, which the stream has not passed yet. */
async function fill(stream: OpenStream, start: number, room: Uint8Array, progress: Progress): Promise<void> {
  for (let filled = 0; filled < room.byteLength; ) {
    if (stream.rest.byteLength === 0) {
      const { done, value } = await stream.pieces.next();
      if (done === true) throw new PassingFailure('the server sent less than was asked for');
      progress.heard(value.byteLength);
      stream.rest = value;
    }
    const skipped = Math.min(stream.rest.byteLength, Math.max(0, start - stream.position));
    const taken = stream.rest.subarray(skipped, skipped + room.byteLength - filled);
    room.set(taken, filled);
    filled += taken.byteLength;
    stream.position += skipped + taken.byteLength;
    stream.rest = stream.rest.subarray(skipped + taken.byteLength);
  }
}
