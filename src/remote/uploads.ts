/**
 * Uploads of the transfer thread: it takes whole parts from the threads that write them, and sends them. For the thread that
 * started it, it carries out the calls of `ObjectStore`, and sends parts that lie in local files.
 */
import { setMaxListeners } from 'node:events';
import { AbortError } from '../errors.js';
import { openForRead, readAtAsync, withFileAsync } from '../io/files.js';
import type { FilePart, ObjectStore, UploadedPart } from './object-store.js';
import type { PartBuffer, PartBuffers } from './part-buffers.js';
import type { BufferLease, WriterRequest } from './part-writer.js';
import type { S3Uploads } from './s3-uploads.js';

interface UploadReference {
  readonly address: string;
  readonly uploadId: string;
}

/** A request of the thread that started the transfer thread. */
export type ObjectStoreRequest =
  | {
      readonly ask: 'object-store';
      readonly call: keyof ObjectStore;
      readonly address: string;
      readonly rest: readonly unknown[];
    }
  /** Waits until the abandoned uploads are aborted. */
  | { readonly ask: 'await-aborts' };

/** The work that is under way for one upload. */
interface ActiveUpload {
  readonly stop: AbortController;
  /** The parts by number. */
  readonly parts: Map<number, Promise<UploadedPart>>;
}

interface StashedPart {
  readonly buffer: PartBuffer;
  readonly number: number;
  readonly byteLength: number;
}

/** Parts that a writer has put and not yet waited for. */
interface WriterState {
  readonly parts: Map<number, Promise<UploadedPart>>;
  failure: unknown;
}

export class Uploads {
  readonly #s3: S3Uploads;
  readonly #buffers: PartBuffers;
  readonly #active = new Map<string, ActiveUpload>();
  readonly #writers = new Map<string, WriterState>();
  readonly #abandoned = new Set<Promise<void>>();
  readonly #store: ObjectStore = {
    begin: (address) => this.#s3.begin(address),
    head: (address, sent) => this.#s3.head(address, sent),
    list: (address) => this.#s3.list(address),
    putFile: (address, uploadId, part) => this.#putFile({ address, uploadId }, part),
    parts: (address, uploadId) => this.#s3.parts(address, uploadId),
    complete: async (address, uploadId, parts, onlyIfAbsent) => {
      await this.#s3.complete(address, uploadId, parts, onlyIfAbsent);
      this.#active.delete(uploadId);
    },
    abort: (address, uploadId) => this.#abort(address, uploadId),
    putText: (address, text, onlyIfAbsent) => this.#s3.putText(address, text, onlyIfAbsent),
    remove: (address) => this.#s3.remove(address),
    uploads: (address) => this.#s3.uploads(address),
  };
  /** The unfinished part of each upload, for the next writer. */
  readonly #stashed = new Map<string, StashedPart>();

  constructor(s3: S3Uploads, buffers: PartBuffers) {
    this.#s3 = s3;
    this.#buffers = buffers;
  }

  async answer(request: WriterRequest): Promise<string | boolean | BufferLease | readonly UploadedPart[] | null> {
    switch (request.ask) {
      case 'begin':
        return this.#s3.begin(request.path);
      case 'buffer': {
        const { id, blocks } = await this.#buffers.allocate(request.byteLength);
        return { id, blocks };
      }
      case 'put':
        this.#put(request);
        return null;
      case 'discard':
        this.#buffers.find(request.buffer).release();
        return null;
      case 'stash':
        return this.#stash(request);
      case 'resume': {
        const stashed = this.#takeStashed(request.uploadId, request.number);
        return stashed === undefined ? null : { id: stashed.buffer.id, blocks: stashed.buffer.blocks };
      }
      case 'await-parts':
        return this.#waitForParts(request.writer, request.numbers);
    }
  }

  /** Releases what an answer holds whose thread has left. */
  reclaim({ path }: WriterRequest, value: unknown): void {
    if (typeof value === 'string') {
      const aborted = this.#abort(path, value).catch(() => {});
      this.#abandoned.add(aborted);
      void aborted.then(() => this.#abandoned.delete(aborted));
    } else if (isBufferLease(value)) this.#buffers.find(value.id).release();
  }

  answerParent(request: ObjectStoreRequest): Promise<unknown> {
    if (request.ask === 'await-aborts') return Promise.all(this.#abandoned);
    const answer: (address: string, ...rest: never[]) => Promise<unknown> = this.#store[request.call];
    return answer(request.address, ...(request.rest as never[]));
  }

  #put(request: WriterRequest & { readonly ask: 'put' }): void {
    const { path, uploadId, number, byteLength } = request;
    const buffer = this.#buffers.find(request.buffer);
    const writer = this.#writers.get(request.writer) ?? { parts: new Map(), failure: undefined };
    this.#writers.set(request.writer, writer);
    if (writer.failure !== undefined) {
      buffer.release();
      throw writer.failure;
    }
    const part = this.#send({ address: path, uploadId }, number, buffer, byteLength);
    writer.parts.set(number, part);
    part.catch((error: unknown) => {
      writer.failure ??= error;
    });
  }

  #stash({ uploadId, number, buffer, byteLength }: WriterRequest & { readonly ask: 'stash' }): boolean {
    if (!this.#buffers.canStash(this.#stashed.size + 1)) return false;
    this.#stashed.set(uploadId, { buffer: this.#buffers.find(buffer), number, byteLength });
    return true;
  }

  #takeStashed(uploadId: string, number: number): StashedPart | undefined {
    const stashed = this.#stashed.get(uploadId);
    if (stashed?.number !== number) return undefined;
    this.#stashed.delete(uploadId);
    return stashed;
  }

  async #waitForParts(name: string, numbers: readonly number[]): Promise<readonly UploadedPart[]> {
    const writer = this.#writers.get(name);
    const parts = await Promise.all(numbers.map((number) => writer?.parts.get(number)));
    for (const number of numbers) writer?.parts.delete(number);
    if (writer?.parts.size === 0) this.#writers.delete(name);
    return parts.filter((part) => part !== undefined);
  }

  async #putFile(upload: UploadReference, { number, path, start, byteLength }: FilePart): Promise<UploadedPart> {
    // The stashed bytes of the part may never have been in the file.
    const stashed = this.#takeStashed(upload.uploadId, number);
    const buffer = stashed?.buffer ?? (await this.#buffers.allocate(byteLength));
    try {
      await withFileAsync(openForRead(path, 'output'), async (file) => {
        let end = 0;
        for (const piece of buffer.pieces(byteLength)) {
          const at = Math.min(end + piece.byteLength, Math.max(end, stashed?.byteLength ?? 0));
          end += piece.byteLength;
          const rest = piece.subarray(piece.byteLength - (end - at));
          const count = await readAtAsync(file, rest, 0, rest.byteLength, start + at);
          if (count < rest.byteLength) throw new RangeError(`${path} has no bytes at ${start + at + count}`);
        }
      });
    } catch (error) {
      buffer.release();
      throw error;
    }
    return this.#send(upload, number, buffer, byteLength);
  }

  /** Sends a part, and releases the buffer. */
  #send(
    { address, uploadId }: UploadReference,
    number: number,
    buffer: PartBuffer,
    byteLength: number,
  ): Promise<UploadedPart> {
    buffer.shrink(byteLength);
    const { parts, stop } = this.#activeUpload(uploadId);
    const former = parts.get(number);
    const send = async () => {
      // The part that was put last counts, for the service and here.
      await former?.catch(() => {});
      return this.#s3.put(address, uploadId, number, () => buffer.pieces(byteLength), stop.signal);
    };
    const sent = send().finally(() => {
      buffer.release();
      if (parts.get(number) === sent) parts.delete(number);
    });
    parts.set(number, sent);
    return sent;
  }

  async #abort(address: string, uploadId: string): Promise<void> {
    const { parts, stop } = this.#activeUpload(uploadId);
    const hadParts = parts.size > 0;
    stop.abort(new AbortError());
    this.#stashed.get(uploadId)?.buffer.release();
    this.#stashed.delete(uploadId);
    await Promise.allSettled(parts.values());
    await this.#s3.abort(address, uploadId, hadParts);
  }

  #activeUpload(uploadId: string): ActiveUpload {
    const known = this.#active.get(uploadId);
    if (known !== undefined) return known;
    const fresh = { stop: new AbortController(), parts: new Map() };
    // As many as there are parts.
    setMaxListeners(0, fresh.stop.signal);
    this.#active.set(uploadId, fresh);
    return fresh;
  }
}

function isBufferLease(value: unknown): value is BufferLease {
  return typeof value === 'object' && value !== null && 'blocks' in value;
}
