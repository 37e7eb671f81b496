/** What the thread that lists the inputs of a job does about those on other machines: starts the fetching thread, and asks it. */
import { isDeepStrictEqual } from 'node:util';
import { setEnvironmentData, Worker } from 'node:worker_threads';
import { AbortError, decodeError, SystemError, UsageError } from '../errors.js';
import { Desk, FETCHER, type Fetcher, fetcherEndsBy, isRemote } from '../io/remote-objects.js';
import { shippedFile } from '../io/shipped-file.js';
import { requireAddress, type S3Choice, shownAddress } from './address.js';
import { PATIENCE, type Patience } from './failure.js';
import type { FetcherTask, Message, RangeToRead, Request } from './fetcher.js';
import { requireHubAddress } from './hub-address.js';
import type { ListedObject } from './service.js';

export interface RemoteRequest {
  readonly memoryBytes: number;
  readonly workers: number;
  readonly onRetry?: ((line: string) => void) | undefined;
  readonly patience?: Patience;
  /** Absent: as the environment says. */
  readonly s3?: S3Choice | undefined;
}

const LOOKS_AT_ONCE = 12;
/** Its objects are few and short-lived; without a limit, V8 lets this heap grow to three times the size. */
const YOUNG_GENERATION_MIB = 4;
const MIB = 1024 * 1024;
const SHARE_OF_MEMORY = 1 / 8;
const MOST_POOL_BYTES = 160 * MIB;
const LARGEST_BLOCK_BYTES = MIB;
const SMALLEST_BLOCK_BYTES = 64 * 1024;
/** Of one reader: what it reads, and what comes. */
const FEWEST_BLOCKS = 32;

/** The part of the memory budget that holds fetched bytes. */
export function poolBytesOf(memoryBytes: number): number {
  const { blockBytes, blockCount } = sizesFor(memoryBytes);
  return blockBytes * blockCount;
}

function sizesFor(memoryBytes: number): { readonly blockBytes: number; readonly blockCount: number } {
  const poolBytes = Math.min(MOST_POOL_BYTES, memoryBytes * SHARE_OF_MEMORY);
  const wanted = 2 ** Math.floor(Math.log2(poolBytes / FEWEST_BLOCKS));
  const blockBytes = Math.max(SMALLEST_BLOCK_BYTES, Math.min(LARGEST_BLOCK_BYTES, wanted));
  return { blockBytes, blockCount: Math.max(4, Math.floor(poolBytes / blockBytes)) };
}

const BY_ENVIRONMENT: S3Choice = { endpoint: undefined, requesterPays: undefined };

let current: RemoteInputs | undefined;

/** One for all jobs of the process that run at the same time. */
export function remoteInputs(request: RemoteRequest): RemoteInputs {
  current ??= new RemoteInputs(request);
  const { s3 = BY_ENVIRONMENT } = request;
  if (!isDeepStrictEqual(current.s3, s3))
    throw new UsageError(
      'another job of this process reads from S3 with another `endpoint` or `requesterPays`; begin this one when it has ended',
    );
  return current;
}

/** Tells what threads will read, so that it comes before they ask. Nothing is remote: nothing happens. */
export function willRead(ranges: readonly RangeToRead[]): void {
  current?.willRead(ranges);
}

/** @returns waits for the last bytes of the next of these inputs, of which some may be files. */
export function endsOf(paths: readonly string[]): (path: string, signal: AbortSignal | undefined) => Promise<void> {
  const wait = current?.lookAhead(paths.filter(isRemote), 'end');
  return async (path, signal) => {
    if (isRemote(path)) await wait?.(signal);
  };
}

export class RemoteInputs {
  /** The part of the memory budget that holds fetched bytes. */
  readonly poolBytes: number;
  readonly s3: S3Choice;
  readonly #thread: Worker;
  readonly #waiting = new Map<number, (message: Extract<Message, { readonly id: number }>) => void>();
  #failure: unknown;
  #nextId = 0;

  constructor({ memoryBytes, workers, onRetry, patience = PATIENCE, s3 = BY_ENVIRONMENT }: RemoteRequest) {
    const { blockBytes, blockCount } = sizesFor(memoryBytes);
    this.poolBytes = blockBytes * blockCount;
    this.s3 = s3;
    const fetcher: Fetcher = {
      desk: new SharedArrayBuffer(Desk.bytesFor(blockCount)),
      pool: new SharedArrayBuffer(blockBytes * blockCount),
      blockBytes,
    };
    const workerData: FetcherTask = { ...fetcher, readers: workers, patience, s3 };
    this.#thread = new Worker(shippedFile('fetch-thread.cjs', import.meta.url), {
      workerData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    });
    this.#thread.on('message', (message: Message) => {
      if ('retry' in message) onRetry?.(message.retry);
      else this.#waiting.get(message.id)?.(message);
    });
    this.#thread.on('error', (error) => {
      this.#failure = error;
      for (const [id, settle] of this.#waiting) settle({ id, answer: { value: undefined } });
    });
    this.#thread.unref();
    // Threads that start from now on find it.
    setEnvironmentData(FETCHER, fetcher);
    fetcherEndsBy(async () => {
      current = undefined;
      setEnvironmentData(FETCHER, undefined);
      await this.#thread.terminate();
    });
  }

  /** All objects below an address that ends with a slash. */
  async list(address: string, signal: AbortSignal | undefined): Promise<readonly ListedObject[]> {
    return (await unlessAborted(this.#ask({ ask: 'list', address }), signal)) ?? [];
  }

  /**
   * Lets the first or the last bytes of inputs come, several at a time, while the event loop runs.
   * @returns waits for those of the next input.
   */
  lookAhead(
    addresses: readonly string[],
    ask: 'look' | 'end' = 'look',
  ): (signal: AbortSignal | undefined) => Promise<void> {
    for (const address of addresses) requireAddress(address);
    const looks: Promise<unknown>[] = [];
    let next = 0;
    return async (signal) => {
      for (const address of addresses.slice(looks.length, next + LOOKS_AT_ONCE)) {
        const look = this.#ask({ ask, address });
        // It is told when it is the turn of the input.
        look.catch(() => {});
        looks.push(look);
      }
      await unlessAborted(looks[next++], signal);
    };
  }

  willRead(ranges: readonly RangeToRead[]): void {
    this.#thread.postMessage({ ranges } satisfies Request);
  }

  #ask(request: {
    readonly ask: 'list' | 'look' | 'end';
    readonly address: string;
  }): Promise<readonly ListedObject[] | undefined> {
    requireAddress(request.address);
    if (request.address.startsWith('hf:')) requireHubAddress(request.address);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ answer }) => {
        this.#waiting.delete(id);
        if (this.#waiting.size === 0) this.#thread.unref();
        if (this.#failure !== undefined)
          reject(
            new SystemError('ERR_WORKER', `the thread that fetches ${shownAddress(request.address)} has ended`, {
              cause: this.#failure,
            }),
          );
        else if ('error' in answer) reject(decodeError(answer.error));
        else resolve(answer.value);
      });
      this.#thread.ref();
      this.#thread.postMessage({ id, ...request });
    });
  }
}

/** A server may be silent for long. */
async function unlessAborted<T>(work: Promise<T> | undefined, signal: AbortSignal | undefined): Promise<T | undefined> {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new AbortError(signal?.reason));
  });
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}
