/** What the main thread does about outputs on other machines, by the fetching thread. */
import type { UploadedPart } from '../io/remote-uploads.js';
import { type RemoteInputs, type RemoteRequest, remoteInputs } from './remote-inputs.js';
import type { ListedObject } from './service.js';
import type { FilePart, FoundObject, FoundPart, OpenUpload } from './uploads.js';

/** One for all jobs of the process that run at the same time. */
export function remoteOutputs(request: Omit<RemoteRequest, 'uploads'>): RemoteOutputs {
  return new RemoteOutputs(remoteInputs({ ...request, uploads: true }));
}

/** Failures are of the kind of those of local outputs. */
export class RemoteOutputs {
  readonly #thread: RemoteInputs;

  constructor(thread: RemoteInputs) {
    this.#thread = thread;
  }

  get poolBytes(): number {
    return this.#thread.poolBytes;
  }

  /** Begins a multipart upload. @returns its id, with what proves later that the object is of this upload. */
  begin(_address: string, _signal?: AbortSignal): Promise<string> {
    throw new Error('not built');
  }

  /** Undefined: there is none. */
  head(_address: string, _signal?: AbortSignal): Promise<FoundObject | undefined> {
    throw new Error('not built');
  }

  /** All objects below an address that ends with a slash. */
  list(address: string, signal?: AbortSignal): Promise<readonly ListedObject[]> {
    return this.#thread.list(address, signal);
  }

  /** Uploads a part of a local file, by a room of the pool. */
  putFile(_address: string, _uploadId: string, _part: FilePart, _signal?: AbortSignal): Promise<UploadedPart> {
    throw new Error('not built');
  }

  /** The parts that the service has. Undefined: it knows no such upload. */
  parts(_address: string, _uploadId: string, _signal?: AbortSignal): Promise<readonly FoundPart[] | undefined> {
    throw new Error('not built');
  }

  /**
   * Makes the object. Again, it finds that it is made.
   * @throws UsageError ERR_OUTPUT_EXISTS if it may not replace an object, and there is one.
   */
  complete(
    _address: string,
    _uploadId: string,
    _parts: readonly UploadedPart[],
    _onlyIfAbsent: boolean,
    _signal?: AbortSignal,
  ): Promise<void> {
    throw new Error('not built');
  }

  /** Stops parts under way first. It is no failure if the service knows no such upload. */
  abort(_address: string, _uploadId: string, _signal?: AbortSignal): Promise<void> {
    throw new Error('not built');
  }

  /** @throws UsageError ERR_OUTPUT_EXISTS if it may not replace an object, and there is one. */
  putText(_address: string, _text: string, _onlyIfAbsent: boolean, _signal?: AbortSignal): Promise<void> {
    throw new Error('not built');
  }

  /** It is no failure if there is none. */
  remove(_address: string, _signal?: AbortSignal): Promise<void> {
    throw new Error('not built');
  }

  /** The unfinished uploads whose addresses begin with this one. */
  uploads(_address: string, _signal?: AbortSignal): Promise<readonly OpenUpload[]> {
    throw new Error('not built');
  }
}
