/**
 * Outputs on other machines, as the threads of a job write them: part by part, by the channel of `fetch-channel.ts`. A part
 * is put together in a buffer, which is a part of the pool of the fetching thread; that thread uploads it (`uploads.ts`).
 */
import { threadId } from 'node:worker_threads';
import { type Attached, ask, attach } from './fetch-channel.js';
import type { UploadedPart } from './object-store.js';

/** The beginning of a part, or all of it. */
interface PartInRoom {
  readonly path: string;
  readonly uploadId: string;
  readonly number: number;
  readonly buffer: number;
  readonly byteLength: number;
}

/** How a thread asks about an upload. */
export type UploadQuestion =
  /** The answer is the id of an upload. */
  | { readonly ask: 'begin'; readonly path: string }
  /** The answer is a `LentBuffer`. */
  | { readonly ask: 'buffer'; readonly path: string; readonly byteLength: number }
  /** Answered before it is uploaded. */
  | (PartInRoom & { readonly ask: 'put'; readonly writer: string })
  | { readonly ask: 'drop'; readonly path: string; readonly buffer: number }
  /** Leaves a part to the next writer. The answer: whether there is a place for it. */
  | (PartInRoom & { readonly ask: 'keep' })
  /** The answer is the `LentBuffer` that was left; null: none was. */
  | { readonly ask: 'take over'; readonly path: string; readonly uploadId: string; readonly number: number }
  /** Waits for parts. The answer is their tags. */
  | { readonly ask: 'settle'; readonly path: string; readonly writer: string; readonly numbers: readonly number[] };

/** Blocks of the pool, not always side by side. */
export interface LentBuffer {
  readonly id: number;
  readonly blocks: readonly number[];
}

/** Their tags fit a slot of the channel. */
const PARTS_OF_QUESTION = 64;

const AT_ONCE = () => {};

/** Begins a multipart upload. Blocks. @returns its id, with what proves later that the object is of this upload. */
export function beginUpload(address: string, check: () => void): string {
  return ask<string>(attach(address), { ask: 'begin', path: address }, check);
}

/** The id that the service knows, as lists of uploads have it. */
export function listedUploadId(uploadId: string): string {
  return uploadId.split(' ', 1)[0] ?? uploadId;
}

let writerCount = 0;

/** Parts of one upload, as one thread writes them. Holds at most one buffer. */
export class PartUploads {
  readonly #path: string;
  readonly #uploadId: string;
  readonly #partBytes: number;
  readonly #check: () => void;
  readonly #attached: Attached;
  /** The name of this writer, which no other writer of the process has. */
  readonly #writer = `${threadId} ${writerCount++}`;
  #buffer: LentBuffer | undefined;
  #numbers: number[] = [];

  /** @param check throws to leave: the job was aborted. */
  constructor(address: string, uploadId: string, partBytes: number, check: () => void) {
    this.#path = address;
    this.#uploadId = uploadId;
    this.#partBytes = partBytes;
    this.#check = check;
    this.#attached = attach(address);
  }

  /** Writes at this offset of the part. The first write waits for a buffer. */
  write(bytes: Uint8Array, offset: number): void {
    this.#buffer ??= this.#ask<LentBuffer>(
      { ask: 'buffer', path: this.#path, byteLength: this.#partBytes },
      this.#check,
    );
    if (offset + bytes.byteLength > this.#partBytes) throw new RangeError(`a part has ${this.#partBytes} bytes`);
    const { blockBytes } = this.#attached.fetcher;
    for (let done = 0; done < bytes.byteLength; ) {
      const at = offset + done;
      const target = this.#bytesOf(this.#buffer, Math.floor(at / blockBytes)).subarray(at % blockBytes);
      const piece = bytes.subarray(done, done + target.byteLength);
      target.set(piece);
      done += piece.byteLength;
    }
  }

  /** Returns what the buffer holds, from its beginning. */
  *pieces(byteLength: number): Iterable<Uint8Array> {
    const { blockBytes } = this.#attached.fetcher;
    for (let done = 0; done < byteLength && this.#buffer !== undefined; done += blockBytes)
      yield this.#bytesOf(this.#buffer, done / blockBytes).subarray(0, byteLength - done);
  }

  /**
   * Gives the part to the fetching thread, and returns at once. The next write takes another buffer.
   * @throws if an earlier part of this writer failed for good.
   */
  put(number: number, byteLength: number): void {
    const buffer = this.#buffer;
    if (buffer === undefined) throw new RangeError(`part ${number} of ${this.#path} was not written`);
    this.#buffer = undefined;
    this.#numbers.push(number);
    const part = { uploadId: this.#uploadId, writer: this.#writer, number, buffer: buffer.id, byteLength };
    this.#ask({ ask: 'put', path: this.#path, ...part }, AT_ONCE);
  }

  /**
   * Leaves the beginning of a part to the next writer of the upload in this process, or to the end of the upload.
   * @returns false: it is still here, because others need the memory.
   */
  keep(number: number, byteLength: number): boolean {
    const buffer = this.#buffer;
    if (buffer === undefined) throw new RangeError(`part ${number} of ${this.#path} was not written`);
    const part = { path: this.#path, uploadId: this.#uploadId, number, buffer: buffer.id, byteLength };
    const isKept = this.#ask<boolean>({ ask: 'keep', ...part }, AT_ONCE);
    if (isKept) this.#buffer = undefined;
    return isKept;
  }

  /** @returns whether the last writer left the beginning of this part, which is here now. */
  takeOver(number: number): boolean {
    const question = { path: this.#path, uploadId: this.#uploadId, number };
    this.#buffer = this.#ask<LentBuffer | null>({ ask: 'take over', ...question }, AT_ONCE) ?? undefined;
    return this.#buffer !== undefined;
  }

  /** Gives the buffer back, if there is one, and uploads nothing. */
  drop(): void {
    const buffer = this.#buffer;
    this.#buffer = undefined;
    if (buffer !== undefined) this.#ask({ ask: 'drop', path: this.#path, buffer: buffer.id }, AT_ONCE);
  }

  /** Waits for all parts that were put since the last call. @throws their first failure. */
  settle(): readonly UploadedPart[] {
    const numbers = this.#numbers;
    this.#numbers = [];
    const parts: UploadedPart[] = [];
    for (let done = 0; done < numbers.length; done += PARTS_OF_QUESTION) {
      const some = numbers.slice(done, done + PARTS_OF_QUESTION);
      const question: UploadQuestion = { ask: 'settle', path: this.#path, writer: this.#writer, numbers: some };
      parts.push(...this.#ask<readonly UploadedPart[]>(question, this.#check));
    }
    return parts;
  }

  #ask<T>(question: UploadQuestion, check: () => void): T {
    return ask<T>(this.#attached, question, check);
  }

  #bytesOf({ blocks }: LentBuffer, index: number): Uint8Array {
    const block = blocks[index];
    if (block === undefined) throw new RangeError(`a buffer of ${this.#path} has ${blocks.length} blocks`);
    const { fetcher, pool } = this.#attached;
    return pool.subarray(block * fetcher.blockBytes, (block + 1) * fetcher.blockBytes);
  }
}
