/** Starts the transfer thread of the process, which reads inputs and writes outputs on other machines, and sends it requests. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setEnvironmentData, Worker } from 'node:worker_threads';
import { AbortError, decodeError, SystemError, UsageError } from '../errors.js';
import { afterLastJob } from '../floor/cleanup.js';
import { type S3ServiceOptions, shownAddress } from './address.js';
import type { ObjectStore } from './object-store.js';
import { RETRY_POLICY, type RetryPolicy } from './retries.js';
import { TRANSFER_BUFFERS, type TransferBuffers, TransferChannel } from './transfer-channel.js';
import { PART_BYTES, type PoolRequest, poolSizesFor } from './transfer-pool.js';
import type {
  ParentMessage,
  ParentRequest,
  PlannedRead,
  ThreadMessage,
  TransferThreadData,
} from './transfer-thread.js';

export interface TransferRequest extends PoolRequest {
  readonly onRetry?: ((line: string) => void) | undefined;
  readonly retryPolicy?: RetryPolicy;
  /** The S3 service to use. Absent: the one of the environment. */
  readonly service?: S3ServiceOptions | undefined;
}

const LONGEST_SHUTDOWN_MILLISECONDS = 5000;
/** The objects of the thread are few and short-lived; without a limit, V8 lets its heap grow to three times the size. */
const YOUNG_GENERATION_MIB = 4;
const SERVICE_OF_ENVIRONMENT: S3ServiceOptions = { endpoint: undefined, requesterPays: undefined };

let current: TransferClient | undefined;

/** Returns the client of the process, which all of its jobs share, and starts the thread for the first one. */
export function transferClient(request: TransferRequest): TransferClient {
  current ??= new TransferClient(request);
  const { service = SERVICE_OF_ENVIRONMENT } = request;
  if (JSON.stringify(current.service) !== JSON.stringify(service))
    throw new UsageError(
      'another job of this process asks S3 with other options, such as `endpoint`; begin this one when it has ended',
    );
  return current;
}

export interface RemoteObjectStore extends ObjectStore {
  /** Bytes of the memory budget that hold fetched blocks and parts of uploads. */
  readonly poolBytes: number;
}

/** Returns an object store whose calls the transfer thread carries out. */
export function remoteObjectStore(request: Omit<TransferRequest, 'uploads'>): RemoteObjectStore {
  const client = transferClient({ ...request, uploads: true });
  if (client.poolBytes < PART_BYTES)
    throw new UsageError(
      'another job of this process reads from other machines with too little memory for uploads; start this one after it',
      'ERR_MEMORY_BUDGET',
    );
  client.beforeShutdown.push(() => client.ask({ ask: 'await-aborts' }));
  const asking = <Call extends keyof ObjectStore>(call: Call) =>
    ((address: string, ...rest: unknown[]) =>
      client.ask({ ask: 'object-store', call, address, rest })) as ObjectStore[Call];
  return {
    poolBytes: client.poolBytes,
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

/** Returns the client of the process. Undefined: no job has started the transfer thread. */
export function currentTransferClient(): TransferClient | undefined {
  return current;
}

export class TransferClient {
  /** Bytes of the memory budget that the block pool takes. */
  readonly poolBytes: number;
  /** Requests that are awaited before the thread ends, for a few seconds at most. */
  readonly beforeShutdown: (() => Promise<unknown>)[] = [];
  readonly service: S3ServiceOptions;
  readonly #thread: Worker;
  readonly #pending = new Map<number, (message: Extract<ThreadMessage, { readonly id: number }>) => void>();
  #failure: unknown;
  #nextId = 0;

  constructor({ onRetry, retryPolicy = RETRY_POLICY, service = SERVICE_OF_ENVIRONMENT, ...request }: TransferRequest) {
    const { blockBytes, blockCount } = poolSizesFor(request);
    this.poolBytes = blockBytes * blockCount;
    this.service = service;
    const buffers: TransferBuffers = {
      channel: new SharedArrayBuffer(TransferChannel.bytesFor(blockCount)),
      pool: new SharedArrayBuffer(blockBytes * blockCount),
      blockBytes,
    };
    const workerData: TransferThreadData = { ...buffers, readers: request.workers, retryPolicy, service };
    this.#thread = new Worker(new URL('start-transfer-thread.cjs', import.meta.url), {
      workerData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    });
    this.#thread.on('message', (message: ThreadMessage) => {
      if ('retry' in message) onRetry?.(message.retry);
      else this.#pending.get(message.id)?.(message);
    });
    this.#thread.on('error', (error) => {
      this.#failure = error;
      for (const [id, settle] of this.#pending) settle({ id, answer: { value: undefined } });
    });
    this.#thread.unref();
    // Threads that start from now on find the buffers.
    setEnvironmentData(TRANSFER_BUFFERS, buffers);
    afterLastJob(async () => {
      current = undefined;
      setEnvironmentData(TRANSFER_BUFFERS, undefined);
      const last = Promise.allSettled(this.beforeShutdown.map((work) => work()));
      await Promise.race([last, sleep(LONGEST_SHUTDOWN_MILLISECONDS, undefined, { ref: false })]);
      // The last answers of a thread that ends let the process end before it.
      this.#thread.removeAllListeners('message');
      await this.#thread.terminate();
    });
  }

  /** Announces what threads will read, so that the transfer thread prefetches it. */
  announceReads(ranges: readonly PlannedRead[]): void {
    this.#thread.postMessage({ ranges } satisfies ParentMessage);
  }

  async ask<T>(request: ParentRequest): Promise<T> {
    const address = 'address' in request ? request.address : '';
    const ended = () =>
      new SystemError('ERR_WORKER', `the thread that fetches ${shownAddress(address)} has ended`, {
        cause: this.#failure,
      });
    if (this.#failure !== undefined) throw ended();
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, ({ answer }) => {
        this.#pending.delete(id);
        if (this.#pending.size === 0) this.#thread.unref();
        if (this.#failure !== undefined) reject(ended());
        else if ('error' in answer) reject(decodeError(answer.error));
        else resolve(answer.value as T);
      });
      this.#thread.ref();
      this.#thread.postMessage({ id, ...request });
    });
  }
}

/** Waits for the work or for the abort: a server may be silent for long. */
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
