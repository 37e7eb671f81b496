/** What the main thread does about outputs on other machines, by the fetching thread. Failures are as those of local outputs. */
import { UsageError } from '../errors.js';
import { PART_BYTES, type UploadedPart } from './part-uploads.js';
import { type RemoteInputs, type RemoteRequest, remoteInputs, unlessAborted } from './remote-inputs.js';
import type { FoundObject, FoundPart, OpenUpload } from './s3-uploads.js';
import type { ListedObject } from './service.js';
import type { FilePart, UploadRequest } from './uploads.js';

/** By the thread that fetches for all jobs of the process that run at the same time. */
export function remoteOutputs(request: Omit<RemoteRequest, 'uploads'>): RemoteOutputs {
  const thread = remoteInputs({ ...request, uploads: true });
  if (thread.poolBytes < PART_BYTES)
    throw new UsageError(
      'another job of this process reads from other machines with too little memory for uploads; start this one after it',
      'ERR_MEMORY_BUDGET',
    );
  return new RemoteOutputs(thread);
}

export class RemoteOutputs {
  readonly #thread: RemoteInputs;
  /** Uploads that began when nobody waited for them any more. */
  readonly #left = new Set<Promise<void>>();

  constructor(thread: RemoteInputs) {
    this.#thread = thread;
    thread.beforeEnd.push(() => Promise.all([...this.#left, this.#ask({ ask: 'rest' })]));
  }

  /** The part of the memory budget that holds bytes that were fetched, and those that are uploaded. */
  get poolBytes(): number {
    return this.#thread.poolBytes;
  }

  /** Begins a multipart upload. @returns its id, with what proves later that the object is of this upload. */
  async begin(address: string, signal?: AbortSignal): Promise<string> {
    const begun = this.#thread.ask<string>({ ask: 'begin', address });
    try {
      return await unlessAborted(begun, signal);
    } catch (error) {
      const aborted = begun.then((uploadId) => this.abort(address, uploadId)).catch(() => {});
      this.#left.add(aborted);
      throw error;
    }
  }

  /**
   * Undefined if there is no object.
   * @param sent the parts of which it was made.
   * @throws VerificationError if the service says a checksum that is not theirs.
   */
  head(address: string, sent?: readonly UploadedPart[]): Promise<FoundObject | undefined> {
    return this.#ask({ ask: 'head', address, sent });
  }

  /** All objects whose addresses begin with this one. */
  list(address: string, signal?: AbortSignal): Promise<readonly ListedObject[]> {
    return this.#ask({ ask: 'names', address }, signal);
  }

  /** Uploads a part of a local file, by a room of the pool. */
  putFile(address: string, uploadId: string, part: FilePart, signal?: AbortSignal): Promise<UploadedPart> {
    return this.#ask({ ask: 'put file', address, uploadId, part }, signal);
  }

  /** The parts that the service has. Undefined: it knows no such upload. */
  parts(address: string, uploadId: string, signal?: AbortSignal): Promise<readonly FoundPart[] | undefined> {
    return this.#ask({ ask: 'parts', address, uploadId }, signal);
  }

  /**
   * Makes the object; of no parts, an empty one. Again, it finds that it is made.
   * @throws UsageError ERR_OUTPUT_EXISTS if it may not replace an object, and there is one.
   */
  complete(
    address: string,
    uploadId: string,
    parts: readonly UploadedPart[],
    onlyIfAbsent: boolean,
    signal?: AbortSignal,
  ): Promise<void> {
    return this.#ask({ ask: 'complete', address, uploadId, parts, onlyIfAbsent }, signal);
  }

  /** Stops parts under way first. It is no failure if the service knows no such upload. */
  abort(address: string, uploadId: string, signal?: AbortSignal): Promise<void> {
    return this.#ask({ ask: 'abort', address, uploadId }, signal);
  }

  /** @throws UsageError ERR_OUTPUT_EXISTS if it may not replace an object, and there is one. */
  putText(address: string, text: string, onlyIfAbsent: boolean, signal?: AbortSignal): Promise<void> {
    return this.#ask({ ask: 'put text', address, text, onlyIfAbsent }, signal);
  }

  /** It is no failure if there is none. */
  remove(address: string, signal?: AbortSignal): Promise<void> {
    return this.#ask({ ask: 'remove', address }, signal);
  }

  /** The unfinished uploads whose addresses begin with this one. */
  uploads(address: string, signal?: AbortSignal): Promise<readonly OpenUpload[]> {
    return this.#ask({ ask: 'uploads', address }, signal);
  }

  #ask<T>(request: UploadRequest, signal?: AbortSignal): Promise<T> {
    return unlessAborted(this.#thread.ask<T>(request), signal);
  }
}
