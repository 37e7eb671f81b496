/** How the main thread reaches other machines: it starts the fetching thread, which reads inputs and makes outputs, and asks it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setEnvironmentData, Worker } from 'node:worker_threads';
import { AbortError, decodeError, SystemError, UsageError } from '../errors.js';
import { afterLastJob } from '../floor/cleanup.js';
import { type ServiceChoice, shownAddress } from './address.js';
import { RETRY_POLICY, type RetryPolicy } from './failure.js';
import { FETCHER, FetchChannel, type Fetcher } from './fetch-channel.js';
import type { Asked, FetcherTask, Message, RangeToRead, Request } from './fetcher.js';
import type { ObjectStore } from './object-store.js';
import { PART_BYTES, type PoolRequest, poolSizesFor } from './transfer-pool.js';

export interface RemoteRequest extends PoolRequest {
  readonly onRetry?: ((line: string) => void) | undefined;
  readonly retryPolicy?: RetryPolicy;
  /** The service that is asked. Absent: as the environment says. */
  readonly service?: ServiceChoice | undefined;
}

const LONGEST_END_MILLISECONDS = 5000;
/** Its objects are few and short-lived; without a limit, V8 lets this heap grow to three times the size. */
const YOUNG_GENERATION_MIB = 4;
const BY_ENVIRONMENT: ServiceChoice = { endpoint: undefined, requesterPays: undefined };

let current: RemoteInputs | undefined;

/** One for all jobs of the process that run at the same time. */
export function remoteInputs(request: RemoteRequest): RemoteInputs {
  current ??= new RemoteInputs(request);
  const { service = BY_ENVIRONMENT } = request;
  if (JSON.stringify(current.service) !== JSON.stringify(service))
    throw new UsageError(
      'another job of this process asks S3 with other options, such as `endpoint`; begin this one when it has ended',
    );
  return current;
}

export interface RemoteOutputs extends ObjectStore {
  /** The part of the memory budget that holds bytes that were fetched, and those that are uploaded. */
  readonly poolBytes: number;
}

/** Fetches by the one thread that serves all jobs of the process. */
export function remoteOutputs(request: Omit<RemoteRequest, 'uploads'>): RemoteOutputs {
  const thread = remoteInputs({ ...request, uploads: true });
  if (thread.poolBytes < PART_BYTES)
    throw new UsageError(
      'another job of this process reads from other machines with too little memory for uploads; start this one after it',
      'ERR_MEMORY_BUDGET',
    );
  thread.beforeEnd.push(() => thread.ask({ ask: 'rest' }));
  const asking = <Call extends keyof ObjectStore>(call: Call) =>
    ((address: string, ...rest: unknown[]) => thread.ask({ ask: 'outputs', call, address, rest })) as ObjectStore[Call];
  return {
    poolBytes: thread.poolBytes,
    begin: asking('begin'),
    head: asking('head'),
    list: asking('list'),
    putFile: asking('putFile'),
    parts: asking('parts'),
    complete: asking('complete'),
    abort: asking('abort'),
    putText: asking('putText'),
    remove: asking('remove'),
    uploads: asking('uploads'),
  };
}

/** Returns the fetcher of the process. Undefined: no job of the process has begun to fetch. */
export function currentFetcher(): RemoteInputs | undefined {
  return current;
}

export class RemoteInputs {
  /** The part of the memory budget that holds fetched bytes. */
  readonly poolBytes: number;
  /** The work of the thread before it ends, if that does not take long. */
  readonly beforeEnd: (() => Promise<unknown>)[] = [];
  readonly service: ServiceChoice;
  readonly #thread: Worker;
  readonly #waiting = new Map<number, (message: Extract<Message, { readonly id: number }>) => void>();
  #failure: unknown;
  #nextId = 0;

  constructor({ onRetry, retryPolicy = RETRY_POLICY, service = BY_ENVIRONMENT, ...request }: RemoteRequest) {
    const { blockBytes, blockCount } = poolSizesFor(request);
    this.poolBytes = blockBytes * blockCount;
    this.service = service;
    const fetcher: Fetcher = {
      channel: new SharedArrayBuffer(FetchChannel.bytesFor(blockCount)),
      pool: new SharedArrayBuffer(blockBytes * blockCount),
      blockBytes,
    };
    const workerData: FetcherTask = { ...fetcher, readers: request.workers, retryPolicy, service };
    this.#thread = new Worker(new URL('fetch-thread.cjs', import.meta.url), {
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
    afterLastJob(async () => {
      current = undefined;
      setEnvironmentData(FETCHER, undefined);
      const last = Promise.allSettled(this.beforeEnd.map((work) => work()));
      await Promise.race([last, sleep(LONGEST_END_MILLISECONDS, undefined, { ref: false })]);
      // The last answers of a thread that ends let the process end before it.
      this.#thread.removeAllListeners('message');
      await this.#thread.terminate();
    });
  }

  /** Tells what threads will read, so that it comes before they ask. */
  willRead(ranges: readonly RangeToRead[]): void {
    this.#thread.postMessage({ ranges } satisfies Request);
  }

  async ask<T>(request: Asked): Promise<T> {
    const address = 'address' in request ? request.address : '';
    const ended = () =>
      new SystemError('ERR_WORKER', `the thread that fetches ${shownAddress(address)} has ended`, {
        cause: this.#failure,
      });
    if (this.#failure !== undefined) throw ended();
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ answer }) => {
        this.#waiting.delete(id);
        if (this.#waiting.size === 0) this.#thread.unref();
        if (this.#failure !== undefined) reject(ended());
        else if ('error' in answer) reject(decodeError(answer.error));
        else resolve(answer.value as T);
      });
      this.#thread.ref();
      this.#thread.postMessage({ id, ...request });
    });
  }
}

/** A server may be silent for long. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
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
