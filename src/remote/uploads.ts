/**
 * Uploads of the fetching thread: it takes whole parts from the threads that write them, and sends them by itself. It does
 * for the main thread what needs no buffer, and sends parts that lie in local files.
 */
import { setMaxListeners } from 'node:events';
import { AbortError } from '../errors.js';
import { openForRead, readAtAsync, withFileAsync } from '../io/files.js';
import type { FilePart, ObjectStore, UploadedPart } from './object-store.js';
import type { PartBuffer, PartBuffers } from './part-buffers.js';
import type { LentBuffer, UploadQuestion } from './part-uploads.js';
import type { S3Uploads } from './s3-uploads.js';

interface OfUpload {
  readonly address: string;
  readonly uploadId: string;
}

/** The request of the thread that started it. */
export type UploadRequest =
  | {
      readonly ask: 'outputs';
      readonly call: keyof ObjectStore;
      readonly address: string;
      readonly rest: readonly unknown[];
    }
  /** Waits until what nobody waits for any more is aborted. */
  | { readonly ask: 'rest' };

/** The work that is under way for one upload. */
interface UnderWay {
  readonly stop: AbortController;
  /** The parts by number. */
  readonly parts: Map<number, Promise<UploadedPart>>;
}

interface KeptPart {
  readonly buffer: PartBuffer;
  readonly number: number;
  readonly byteLength: number;
}

/** The bytes that one writer of a part has put, and not yet heard of. */
interface Writer {
  readonly parts: Map<number, Promise<UploadedPart>>;
  failure: unknown;
}

export class Uploads {
  readonly #s3: S3Uploads;
  readonly #buffers: PartBuffers;
  readonly #underWay = new Map<string, UnderWay>();
  readonly #writers = new Map<string, Writer>();
  readonly #left = new Set<Promise<void>>();
  readonly #store: ObjectStore = {
    begin: (address) => this.#s3.begin(address),
    head: (address, sent) => this.#s3.head(address, sent),
    list: (address) => this.#s3.list(address),
    putFile: (address, uploadId, part) => this.#putFile({ address, uploadId }, part),
    parts: (address, uploadId) => this.#s3.parts(address, uploadId),
    complete: async (address, uploadId, parts, onlyIfAbsent) => {
      await this.#s3.complete(address, uploadId, parts, onlyIfAbsent);
      this.#underWay.delete(uploadId);
    },
    abort: (address, uploadId) => this.#abort(address, uploadId),
    putText: (address, text, onlyIfAbsent) => this.#s3.putText(address, text, onlyIfAbsent),
    remove: (address) => this.#s3.remove(address),
    uploads: (address) => this.#s3.uploads(address),
  };
  /** The beginning of a part by its upload, for whoever writes the rest. */
  readonly #kept = new Map<string, KeptPart>();

  constructor(s3: S3Uploads, buffers: PartBuffers) {
    this.#s3 = s3;
    this.#buffers = buffers;
  }

  async answer(question: UploadQuestion): Promise<string | boolean | LentBuffer | readonly UploadedPart[] | null> {
    switch (question.ask) {
      case 'begin':
        return this.#s3.begin(question.path);
      case 'buffer': {
        const { id, blocks } = await this.#buffers.take(question.byteLength);
        return { id, blocks };
      }
      case 'put':
        this.#put(question);
        return null;
      case 'drop':
        this.#buffers.find(question.buffer).giveBack();
        return null;
      case 'keep':
        return this.#keep(question);
      case 'take over': {
        const kept = this.#takeKept(question.uploadId, question.number);
        return kept === undefined ? null : { id: kept.buffer.id, blocks: kept.buffer.blocks };
      }
      case 'settle':
        return this.#settle(question.writer, question.numbers);
    }
  }

  /** Whoever asked was gone when the answer came. */
  takeBack({ path }: UploadQuestion, value: unknown): void {
    if (typeof value === 'string') {
      const aborted = this.#abort(path, value).catch(() => {});
      this.#left.add(aborted);
      void aborted.then(() => this.#left.delete(aborted));
    } else if (isLentBuffer(value)) this.#buffers.find(value.id).giveBack();
  }

  answerStarter(request: UploadRequest): Promise<unknown> {
    if (request.ask === 'rest') return Promise.all(this.#left);
    const answer: (address: string, ...rest: never[]) => Promise<unknown> = this.#store[request.call];
    return answer(request.address, ...(request.rest as never[]));
  }

  #put(question: UploadQuestion & { readonly ask: 'put' }): void {
    const { path, uploadId, number, byteLength } = question;
    const buffer = this.#buffers.find(question.buffer);
    const writer = this.#writers.get(question.writer) ?? { parts: new Map(), failure: undefined };
    this.#writers.set(question.writer, writer);
    if (writer.failure !== undefined) {
      buffer.giveBack();
      throw writer.failure;
    }
    const part = this.#send({ address: path, uploadId }, number, buffer, byteLength);
    writer.parts.set(number, part);
    part.catch((error: unknown) => {
      writer.failure ??= error;
    });
  }

  #keep({ uploadId, number, buffer, byteLength }: UploadQuestion & { readonly ask: 'keep' }): boolean {
    if (!this.#buffers.canKeep(this.#kept.size + 1)) return false;
    this.#kept.set(uploadId, { buffer: this.#buffers.find(buffer), number, byteLength });
    return true;
  }

  #takeKept(uploadId: string, number: number): KeptPart | undefined {
    const kept = this.#kept.get(uploadId);
    if (kept?.number !== number) return undefined;
    this.#kept.delete(uploadId);
    return kept;
  }

  async #settle(name: string, numbers: readonly number[]): Promise<readonly UploadedPart[]> {
    const writer = this.#writers.get(name);
    const parts = await Promise.all(numbers.map((number) => writer?.parts.get(number)));
    for (const number of numbers) writer?.parts.delete(number);
    if (writer?.parts.size === 0) this.#writers.delete(name);
    return parts.filter((part) => part !== undefined);
  }

  async #putFile(upload: OfUpload, { number, path, start, byteLength }: FilePart): Promise<UploadedPart> {
    // Its beginning may never have been in the file.
    const kept = this.#takeKept(upload.uploadId, number);
    const buffer = kept?.buffer ?? (await this.#buffers.take(byteLength));
    try {
      await withFileAsync(openForRead(path, 'output'), async (file) => {
        let end = 0;
        for (const piece of buffer.pieces(byteLength)) {
          const at = Math.min(end + piece.byteLength, Math.max(end, kept?.byteLength ?? 0));
          end += piece.byteLength;
          const rest = piece.subarray(piece.byteLength - (end - at));
          const count = await readAtAsync(file, rest, 0, rest.byteLength, start + at);
          if (count < rest.byteLength) throw new RangeError(`${path} has no bytes at ${start + at + count}`);
        }
      });
    } catch (error) {
      buffer.giveBack();
      throw error;
    }
    return this.#send(upload, number, buffer, byteLength);
  }

  /** Gives the buffer back in the end. */
  #send(
    { address, uploadId }: OfUpload,
    number: number,
    buffer: PartBuffer,
    byteLength: number,
  ): Promise<UploadedPart> {
    const { parts, stop } = this.#of(uploadId);
    const former = parts.get(number);
    const send = async () => {
      // The one that came last counts, for the service and for us.
      await former?.catch(() => {});
      return this.#s3.put(address, uploadId, number, () => buffer.pieces(byteLength), stop.signal);
    };
    const sent = send().finally(() => {
      buffer.giveBack();
      if (parts.get(number) === sent) parts.delete(number);
    });
    parts.set(number, sent);
    return sent;
  }

  async #abort(address: string, uploadId: string): Promise<void> {
    const { parts, stop } = this.#of(uploadId);
    const hadParts = parts.size > 0;
    stop.abort(new AbortError());
    this.#kept.get(uploadId)?.buffer.giveBack();
    this.#kept.delete(uploadId);
    await Promise.allSettled(parts.values());
    await this.#s3.abort(address, uploadId, hadParts);
  }

  #of(uploadId: string): UnderWay {
    const known = this.#underWay.get(uploadId);
    if (known !== undefined) return known;
    const fresh = { stop: new AbortController(), parts: new Map() };
    // As many as there are parts.
    setMaxListeners(0, fresh.stop.signal);
    this.#underWay.set(uploadId, fresh);
    return fresh;
  }
}

function isLentBuffer(value: unknown): value is LentBuffer {
  return typeof value === 'object' && value !== null && 'blocks' in value;
}
