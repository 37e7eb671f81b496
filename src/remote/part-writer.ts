/**
 * Writes multipart uploads from any thread, through the channel of `transfer-channel.ts`. A part is assembled in a buffer of
 * the pool; the transfer thread uploads it (`uploads.ts`).
 */
import { threadId } from 'node:worker_threads';
import { copySharedBytes } from '../io/shared-bytes.js';
import type { UploadedPart } from './object-store.js';
import { ask, type ChannelClient, channelClient } from './transfer-channel.js';

/** The first bytes of a part, or all of them, in a buffer. */
interface BufferedPart {
  readonly path: string;
  readonly uploadId: string;
  readonly number: number;
  readonly buffer: number;
  readonly byteLength: number;
}

/** Requests of threads that write uploads. */
export type WriterRequest =
  /** The answer is the id of an upload. */
  | { readonly ask: 'begin'; readonly path: string }
  /** The answer is a `BufferLease`. */
  | { readonly ask: 'buffer'; readonly path: string; readonly byteLength: number }
  /** Uploads the part. Answered before it is sent. */
  | (BufferedPart & { readonly ask: 'put'; readonly writer: string })
  | { readonly ask: 'discard'; readonly path: string; readonly buffer: number }
  /** Stashes an unfinished part for the next writer. The answer: whether there is memory for it. */
  | (BufferedPart & { readonly ask: 'stash' })
  /** The answer is the `BufferLease` of the stashed part, or null. */
  | { readonly ask: 'resume'; readonly path: string; readonly uploadId: string; readonly number: number }
  /** Waits for parts. The answer is their tags. */
  | {
      readonly ask: 'await-parts';
      readonly path: string;
      readonly writer: string;
      readonly numbers: readonly number[];
    };

/** A buffer for a part: blocks of the pool, not always side by side. */
export interface BufferLease {
  readonly id: number;
  readonly blocks: readonly number[];
}

/** The tags of so many parts fit a slot of the channel. */
const PARTS_OF_REQUEST = 64;

const NO_CHECK = () => {};

/** Begins a multipart upload. Blocks. @returns its id, with a token that the object will carry. */
export function beginUpload(address: string, check: () => void): string {
  return ask<string>(channelClient(address), { ask: 'begin', path: address }, check);
}

/** Returns the id by which the service knows the upload. */
export function serviceUploadId(uploadId: string): string {
  return uploadId.split(' ', 1)[0] ?? uploadId;
}

let writerCount = 0;

/** Writes parts of one upload. Holds at most one buffer. */
export class PartWriter {
  readonly #path: string;
  readonly #uploadId: string;
  readonly #partBytes: number;
  readonly #check: () => void;
  readonly #client: ChannelClient;
  /** Name of this writer, unique in the process. */
  readonly #writer = `${threadId} ${writerCount++}`;
  #buffer: BufferLease | undefined;
  #numbers: number[] = [];

  /** @param check throws to leave: the job was aborted. */
  constructor(address: string, uploadId: string, partBytes: number, check: () => void) {
    this.#path = address;
    this.#uploadId = uploadId;
    this.#partBytes = partBytes;
    this.#check = check;
    this.#client = channelClient(address);
  }

  /** Writes at an offset of the part. The first write waits for a buffer. */
  write(bytes: Uint8Array, offset: number): void {
    this.#buffer ??= this.#ask<BufferLease>(
      { ask: 'buffer', path: this.#path, byteLength: this.#partBytes },
      this.#check,
    );
    if (offset + bytes.byteLength > this.#partBytes) throw new RangeError(`a part has ${this.#partBytes} bytes`);
    const { blockBytes } = this.#client.buffers;
    for (let done = 0; done < bytes.byteLength; ) {
      const at = offset + done;
      const buffer = this.#bytesOf(this.#buffer, Math.floor(at / blockBytes)).subarray(at % blockBytes);
      const piece = bytes.subarray(done, done + buffer.byteLength);
      copySharedBytes(piece, buffer, 0);
      done += piece.byteLength;
    }
  }

  /** Returns the first bytes of the buffer. */
  *pieces(byteLength: number): Iterable<Uint8Array> {
    const { blockBytes } = this.#client.buffers;
    for (let done = 0; done < byteLength && this.#buffer !== undefined; done += blockBytes)
      yield this.#bytesOf(this.#buffer, done / blockBytes).subarray(0, byteLength - done);
  }

  /**
   * Hands the part to the transfer thread, and returns at once. The next write takes another buffer.
   * @throws if an earlier part of this writer failed for good.
   */
  put(number: number, byteLength: number): void {
    const buffer = this.#buffer;
    if (buffer === undefined) throw new RangeError(`part ${number} of ${this.#path} was not written`);
    this.#buffer = undefined;
    this.#numbers.push(number);
    const part = { uploadId: this.#uploadId, writer: this.#writer, number, buffer: buffer.id, byteLength };
    this.#ask({ ask: 'put', path: this.#path, ...part }, NO_CHECK);
  }

  /**
   * Stashes an unfinished part for the next writer of the upload in this process, or for the end of the upload.
   * @returns false if other writers need the memory: then this writer still has it.
   */
  stash(number: number, byteLength: number): boolean {
    const buffer = this.#buffer;
    if (buffer === undefined) throw new RangeError(`part ${number} of ${this.#path} was not written`);
    const part = { path: this.#path, uploadId: this.#uploadId, number, buffer: buffer.id, byteLength };
    const isStashed = this.#ask<boolean>({ ask: 'stash', ...part }, NO_CHECK);
    if (isStashed) this.#buffer = undefined;
    return isStashed;
  }

  /** Takes the part that the last writer stashed. @returns false if it stashed none. */
  resume(number: number): boolean {
    const request = { path: this.#path, uploadId: this.#uploadId, number };
    this.#buffer = this.#ask<BufferLease | null>({ ask: 'resume', ...request }, NO_CHECK) ?? undefined;
    return this.#buffer !== undefined;
  }

  /** Discards the part, if there is one, and uploads nothing. */
  discard(): void {
    const buffer = this.#buffer;
    this.#buffer = undefined;
    if (buffer !== undefined) this.#ask({ ask: 'discard', path: this.#path, buffer: buffer.id }, NO_CHECK);
  }

  /** Waits for the uploads of all parts that were put since the last call. @throws their first failure. */
  waitForParts(): readonly UploadedPart[] {
    const numbers = this.#numbers;
    this.#numbers = [];
    const parts: UploadedPart[] = [];
    for (let done = 0; done < numbers.length; done += PARTS_OF_REQUEST) {
      const some = numbers.slice(done, done + PARTS_OF_REQUEST);
      const request: WriterRequest = { ask: 'await-parts', path: this.#path, writer: this.#writer, numbers: some };
      parts.push(...this.#ask<readonly UploadedPart[]>(request, this.#check));
    }
    return parts;
  }

  #ask<T>(request: WriterRequest, check: () => void): T {
    return ask<T>(this.#client, request, check);
  }

  #bytesOf({ blocks }: BufferLease, index: number): Uint8Array {
    const block = blocks[index];
    if (block === undefined) throw new RangeError(`a buffer of ${this.#path} has ${blocks.length} blocks`);
    const { buffers, pool } = this.#client;
    return pool.subarray(block * buffers.blockBytes, (block + 1) * buffers.blockBytes);
  }
}
