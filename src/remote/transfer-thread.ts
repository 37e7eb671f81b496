/**
 * The transfer thread, which reads and writes on other machines for all threads of the process. It answers their requests
 * with blocks of the pool, prefetches what they will ask next, and lists directories for the thread that started it. No
 * credentials leave it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import { encodeError, InputError, PileshufError, SystemError } from '../errors.js';
import { STREAMED } from '../io/files.js';
import { reasonOf } from '../io/io-error.js';
import { type S3ServiceOptions, shownAddress } from './address.js';
import { AwsSettings } from './aws-settings.js';
import { BlockCache, type CachedBlock } from './block-cache.js';
import { HttpClient } from './http.js';
import { CONNECTIONS_OF_HOST } from './http-messages.js';
import { Hub } from './hub.js';
import { PartBuffers } from './part-buffers.js';
import type { WriterRequest } from './part-writer.js';
import { RangeReader, RangesUnsupportedError } from './range-reader.js';
import { ReadChecksum } from './read-checksum.js';
import type { RetryPolicy } from './retries.js';
import { S3 } from './s3.js';
import { S3Uploads } from './s3-uploads.js';
import { SequentialReads } from './sequential-reads.js';
import type { ListedObject, SendForHead, SendForText, Service } from './service.js';
import {
  ABANDONED,
  ANSWERED,
  type Answer,
  ASKED,
  type BlockReference,
  FREE,
  type ObjectVersion,
  type ReaderRequest,
  SLOT_COUNT,
  TAKEN,
  type TransferBuffers,
} from './transfer-channel.js';
import { type ObjectStoreRequest, Uploads } from './uploads.js';
import { Web } from './web.js';

export interface TransferThreadData extends TransferBuffers {
  /** Threads that read at the same time. */
  readonly readers: number;
  readonly retryPolicy: RetryPolicy;
  readonly service: S3ServiceOptions;
}

/** Requests of the thread that started this one. */
export type ParentRequest =
  | { readonly ask: 'list'; readonly address: string }
  /** Asks for the present version, and prefetches its first bytes: the object is opened next. */
  | { readonly ask: 'version-now'; readonly address: string }
  /** Prefetches the last bytes. */
  | { readonly ask: 'last-bytes'; readonly address: string }
  | ObjectStoreRequest;

type NumberedRequest = ParentRequest & { readonly id: number };

export type ParentMessage =
  | NumberedRequest
  /** The ranges that threads will read sequentially, in the order in which they begin. */
  | { readonly ranges: readonly PlannedRead[] };

export type ThreadMessage = { readonly id: number; readonly answer: Answer<unknown> } | { readonly retry: string };

export interface PlannedRead extends ObjectVersion {
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

const MIB = 1024 * 1024;
/** Bytes of a sequential request: smaller ones cost money. */
const REQUEST_BYTES = 8 * MIB;
/** Larger requests gain little, and lose much if they leave connections without one. */
const LARGEST_REQUEST_BYTES = 16 * MIB;
/** The bytes of a request for a table: columns are read side by side, and short ones lie beside each other. */
const COLUMN_REQUEST_BYTES = MIB;
const SHORT_COLUMNS_BYTES = 512 * 1024;
/** Columns that are prefetched together at most. */
const MOST_COLUMNS = 256;
/** Bytes of a request for a short piece, such as the beginning or the end of an object. */
const PROBE_BYTES = 64 * 1024;
const MOST_BLOCKS_IN_ANSWER = 32;
const PAUSE_MILLISECONDS = 2;
/** Least time between two messages about retries. */
const RETRY_NOTICE_MILLISECONDS = 1000;
const NO_BUFFER = new Uint8Array();

const INPUT_REQUESTS: ReadonlySet<string> = new Set(['list', 'version-now', 'last-bytes', 'version', 'blocks']);

type StatedChecksum = ReturnType<NonNullable<Service['checksumIn']>>;
type ReadObject = Pick<BlocksRequest, 'path' | 'validator' | 'inputBytes'>;
type BlocksRequest = ReaderRequest & { readonly ask: 'blocks' };

interface PrefetchLimits {
  readonly requestBytes: number;
  /** Bytes of the pool that stay free. Undefined: the blocks used longest ago make room. */
  readonly spareBytes: number | undefined;
  readonly stopAt: number;
}

export function serve(task: TransferThreadData, parent: MessagePort): void {
  new TransferThread(task, parent).serve();
}

class TransferThread {
  readonly #task: TransferThreadData;
  readonly #parent: MessagePort;
  readonly #blocks: BlockCache;
  readonly #pool: Uint8Array;
  readonly #web = new Web();
  readonly #s3: S3;
  readonly #hub: Hub;
  readonly #reader: RangeReader;
  readonly #uploads: Uploads;
  readonly #sequentialReads: SequentialReads;
  readonly #ask: SendForText = (path, makeRequest) => this.#reader.readText(path, makeRequest);
  /** Versions by path: every reader of an input gets the version that the job began with. */
  readonly #versions = new Map<string, Promise<ObjectVersion>>();
  /** Objects that were listed as empty: they have no bytes to ask for, and some services refuse an empty range. */
  readonly #listedEmpty = new Set<string>();
  #plannedReads: readonly PlannedRead[] = [];
  readonly #plannedByPath = new Map<string, number[]>();
  /** Index of the first planned read that has not begun. */
  #nextPlanned = 0;
  /** Number of requests for blocks under way. */
  #activeRequests = 0;
  /** The number of the last read of each column that was read recently. */
  readonly #recentColumns = new Map<string, number>();
  #columnReads = 0;
  /** Checksums by version and path, of objects that are read completely. */
  readonly #checksums = new Map<string, Promise<ReadChecksum | undefined>>();
  /** CRC-32 of the first bytes that were fetched, by version and path: bytes that come later must be the same. */
  readonly #headCrcs = new Map<string, number>();

  constructor(task: TransferThreadData, starter: MessagePort) {
    this.#task = task;
    this.#parent = starter;
    this.#blocks = new BlockCache(task);
    this.#pool = new Uint8Array(task.pool);
    this.#hub = new Hub(this.#ask);
    let reportedAt = Number.NEGATIVE_INFINITY;
    const reportRetry = (retry: string) => {
      // Many connections fail together.
      if (performance.now() - reportedAt < RETRY_NOTICE_MILLISECONDS) return;
      reportedAt = performance.now();
      this.#post({ retry });
    };
    const settings = new AwsSettings(process.env, task.service);
    const http = new HttpClient(task.retryPolicy, () => settings.certificates);
    this.#s3 = new S3(settings, http);
    this.#reader = new RangeReader(http, (path) => this.#serviceOf(path), task.retryPolicy, reportRetry);
    this.#sequentialReads = new SequentialReads(this.#reader);
    const uploads = new S3Uploads(this.#s3, http, task.retryPolicy, reportRetry);
    this.#uploads = new Uploads(uploads, new PartBuffers(this.#blocks, task, task.readers));
  }

  serve(): void {
    process.once('exit', () => this.#blocks.channel.markEnded());
    this.#parent.on('message', (request: ParentMessage) => {
      if ('ranges' in request) this.#planReads(request.ranges);
      else void this.#answerParent(request);
    });
    void this.#blocks.channel.answerRings(() => this.#takeQuestions());
  }

  #planReads(ranges: readonly PlannedRead[]): void {
    this.#plannedReads = ranges;
    this.#nextPlanned = 0;
    this.#plannedByPath.clear();
    for (const [index, { path }] of ranges.entries()) {
      const ofPath = this.#plannedByPath.get(path) ?? [];
      ofPath.push(index);
      this.#plannedByPath.set(path, ofPath);
    }
  }

  async #answerParent({ id, ...request }: NumberedRequest): Promise<void> {
    const address = 'address' in request ? request.address : '';
    const path = shownAddress(address);
    // The address of `last-bytes` is one whose version was asked for, as it is shown.
    if (request.ask !== 'last-bytes' && /^https?:/.test(address)) this.#web.remember(address);
    try {
      let value: unknown;
      if (request.ask === 'version-now') {
        if (!this.#listedEmpty.delete(path)) await this.#refreshVersion(path);
      } else if (request.ask === 'last-bytes') await this.#prefetchEnd(path);
      else if (request.ask === 'list') value = await this.#list(path);
      else value = await this.#uploads.answerParent(request);
      this.#post({ id, answer: { value } });
    } catch (error) {
      this.#post({ id, answer: { error: encodeError(pileshufErrorFrom(request, path, error)) } });
    }
  }

  #post(message: ThreadMessage): void {
    this.#parent.postMessage(message);
  }

  #serviceOf(path: string): Service {
    if (path.startsWith('s3:')) return this.#s3;
    return path.startsWith('hf:') ? this.#hub : this.#web;
  }

  #takeQuestions(): void {
    const { channel } = this.#blocks;
    for (let slot = 0; slot < SLOT_COUNT; slot++) {
      const word = channel.stateWord(slot);
      if (Atomics.compareExchange(channel.words, word, ASKED, TAKEN) === ASKED)
        void this.#answer(slot, channel.read(slot) as ReaderRequest | WriterRequest);
    }
  }

  async #answer(slot: number, request: ReaderRequest | WriterRequest): Promise<void> {
    const { channel } = this.#blocks;
    const answer = await this.#answerTo(request).then(
      (value) => ({ value }),
      (error: unknown) => ({ error: { ...encodeError(pileshufErrorFrom(request, request.path, error)), stack: '' } }),
    );
    const word = channel.stateWord(slot);
    channel.write(slot, answer);
    if (Atomics.compareExchange(channel.words, word, TAKEN, ANSWERED) === ABANDONED) {
      if ('value' in answer) this.#reclaim(request, answer.value);
      Atomics.store(channel.words, word, FREE);
    }
    Atomics.notify(channel.words, word);
  }

  #answerTo(request: ReaderRequest | WriterRequest): Promise<unknown> {
    if (request.ask === 'version') return this.#version(request.path);
    return request.ask === 'blocks' ? this.#leaseBlocks(request) : this.#uploads.answer(request);
  }

  /** Releases what an answer holds whose thread has left. */
  #reclaim(request: ReaderRequest | WriterRequest, value: unknown): void {
    if (request.ask !== 'version' && request.ask !== 'blocks') this.#uploads.reclaim(request, value);
    else if (Array.isArray(value) && value[0]) this.#blocks.channel.release(value[0].block);
  }

  async #list(path: string): Promise<readonly ListedObject[]> {
    const listed = await this.#serviceOf(path).list(path, this.#ask);
    for (const { place, ...version } of listed) {
      if (version.byteLength > 0) continue;
      this.#versions.set(path + place, Promise.resolve(version));
      this.#listedEmpty.add(path + place);
    }
    return listed;
  }

  #version(path: string): Promise<ObjectVersion> {
    return this.#versions.get(path) ?? this.#refreshVersion(path);
  }

  #refreshVersion(path: string): Promise<ObjectVersion> {
    const version = this.#fetchVersion(path);
    this.#versions.set(path, version);
    version.catch(() => this.#versions.delete(path));
    return version;
  }

  /** Fetches the present version and the first bytes, which its readers need next. */
  async #fetchVersion(path: string): Promise<ObjectVersion> {
    const { blockBytes } = this.#task;
    const end = Math.min(PROBE_BYTES, blockBytes);
    let block: CachedBlock | undefined;
    let known: StatedChecksum;
    const range = () => ({ path, version: undefined, start: 0, end });
    const version = await this.#reader
      .read(path, range, ({ byteLength, validator }, _, headers) => {
        block?.fail(undefined);
        block = undefined;
        known = byteLength <= end ? this.#serviceOf(path).checksumIn?.(headers, byteLength) : undefined;
        if (byteLength > 0 && this.#blocks.find(path, validator, 0) === undefined)
          block = this.#blocks.allocate(path, validator, 0, Math.min(end, byteLength), false);
        // Without a free block, the bytes are fetched again when a reader asks for them.
        const buffer = block === undefined ? new Uint8Array(end) : this.#bytesOf(block);
        let filled = 0;
        return {
          nextBuffer: () => buffer.subarray(filled),
          markFilled: (count) => {
            filled += count;
          },
        };
      })
      .catch((error: unknown) => {
        block?.fail(error);
        if (error instanceof RangesUnsupportedError) return this.#fetchStreamVersion(path, end);
        throw error;
      });
    if (block !== undefined) {
      block.markReady();
      if (this.#serviceOf(path).checksumOf !== undefined)
        this.#headCrcs.set(`${block.validator} ${path}`, this.#headCrc(block));
      // The block is evicted for what is read: there may be more inputs than blocks.
      block.isReleased = true;
    }
    if (version === undefined) throw new RangeError(`no version of ${path}`);
    this.#noteChecksum(path, version, known);
    return version;
  }

  async #prefetchEnd(path: string): Promise<void> {
    const { byteLength, validator } = await this.#version(path);
    const position = Math.max(0, byteLength - PROBE_BYTES);
    const wanted = { path, validator, inputBytes: byteLength, position, byteLength: byteLength - position };
    const block = await this.#fetchBlock({ ask: 'blocks', ...wanted, isSequential: false, done: [] });
    await block.ready;
    block.isReleased = true;
  }

  async #fetchStreamVersion(path: string, end: number): Promise<ObjectVersion> {
    const { version, head } = await this.#sequentialReads.readHead(path, end);
    const block = this.#blocks.allocate(path, version.validator, 0, head.byteLength, false);
    if (block !== undefined) {
      this.#bytesOf(block).set(head);
      block.markReady();
      block.isReleased = true;
    }
    return version;
  }

  /** Returns blocks from the asked position on; the first one is leased. */
  async #leaseBlocks(request: BlocksRequest): Promise<BlockReference[]> {
    const { path, validator, position, isSequential } = request;
    this.#blocks.release(request.done);
    // A reader that has many blocks would hold them for long.
    const mostBlocks = isSequential ? this.#requestBytes / this.#task.blockBytes : MOST_BLOCKS_IN_ANSWER;
    for (;;) {
      const first = this.#blocks.find(path, validator, position) ?? (await this.#fetchBlock(request));
      if (isSequential) this.#prefetch(request, first.end);
      else if (request.end !== undefined) this.#prefetchColumn(request, first.end);
      if (!first.isReady) await first.ready;
      const checksum = isSequential ? await this.#checksumFor(request) : undefined;
      if (!this.#blocks.channel.lease(first.block, first.generation)) continue;
      const answer: CachedBlock[] = [];
      for (
        let block: CachedBlock | undefined = first;
        block?.isReady === true && answer.length < mostBlocks;
        block = this.#blocks.find(path, validator, block.end)
      )
        answer.push(block);
      this.#blocks.markUsed(answer, isSequential);
      try {
        const head = first.start === 0 ? this.#headCrcs.get(`${validator} ${path}`) : undefined;
        if (head !== undefined && head !== this.#headCrc(first)) throw checksumMismatchError(path);
        if (checksum !== undefined) this.#addToChecksum(request, checksum, answer);
      } catch (error) {
        this.#blocks.channel.release(first.block);
        throw error;
      }
      return answer.map(({ block, generation, start, byteLength }) => ({ block, generation, start, byteLength }));
    }
  }

  /** Returns the checksum that the service has of the object. Undefined: it has none that can be compared. */
  #checksumFor({ path, validator, inputBytes }: ReadObject): Promise<ReadChecksum | undefined> | undefined {
    const service = this.#serviceOf(path);
    if (service.checksumOf === undefined || inputBytes === 0) return undefined;
    const name = `${validator} ${path}`;
    const known = this.#checksums.get(name);
    if (known !== undefined) return known;
    const version = { byteLength: inputBytes, validator };
    const ask: SendForHead = (makeRequest) => this.#reader.readHead(path, makeRequest);
    const fresh = service
      .checksumOf(path, version, ask)
      .then((checksum) => checksum && new ReadChecksum(checksum, inputBytes));
    this.#checksums.set(name, fresh);
    fresh.catch(() => this.#checksums.delete(name));
    return fresh;
  }

  /** Notes the checksum that a reply states, before anybody asks for it. */
  #noteChecksum(path: string, { byteLength, validator }: ObjectVersion, stated: StatedChecksum): void {
    const name = `${validator} ${path}`;
    if (stated === undefined || this.#checksums.has(name)) return;
    this.#checksums.set(name, Promise.resolve(stated === 'none' ? undefined : new ReadChecksum(stated, byteLength)));
  }

  /** Adds the blocks that a sequential reader gets. @throws InputError if the object has another checksum. */
  #addToChecksum({ path }: ReadObject, checksum: ReadChecksum, blocks: readonly CachedBlock[]): void {
    for (const block of blocks) {
      if (block.isInChecksum) continue;
      block.isInChecksum = true;
      if (checksum.add(block.start, this.#bytesOf(block)) === false) throw checksumMismatchError(path);
    }
  }

  #headCrc(block: CachedBlock): number {
    return crc32(this.#bytesOf(block).subarray(0, PROBE_BYTES));
  }

  /** Returns where a request begins: at the first byte if it is near, so that it is compared, too. */
  #withHead({ path, validator }: ReadObject, position: number): number {
    return position < PROBE_BYTES && this.#headCrcs.has(`${validator} ${path}`) ? 0 : position;
  }

  async #fetchBlock(request: BlocksRequest): Promise<CachedBlock> {
    const { path, validator } = request;
    const position = request.isSequential ? this.#withHead(request, request.position) : request.position;
    const end = this.#endOfRequest(request);
    for (;;) {
      const found = this.#blocks.find(path, validator, position);
      if (found !== undefined) return found;
      const first = this.#blocks.allocate(
        path,
        validator,
        position,
        Math.min(position + this.#task.blockBytes, end),
        false,
      );
      if (first === undefined) await sleep(PAUSE_MILLISECONDS);
      else {
        this.#fetch(request, [first, ...this.#allocateBlocks(request, first.end, end)]);
        return first;
      }
    }
  }

  /** Allocates blocks for the range, up to the first that is there already or that finds no free block. */
  #allocateBlocks({ path, validator }: ReadObject, start: number, end: number, isPrefetch = true): CachedBlock[] {
    const blocks: CachedBlock[] = [];
    for (let at = start; at < end && this.#blocks.find(path, validator, at) === undefined; ) {
      const block = this.#blocks.allocate(path, validator, at, Math.min(at + this.#task.blockBytes, end), isPrefetch);
      if (block === undefined) break;
      blocks.push(block);
      at = block.end;
    }
    return blocks;
  }

  #prefetch(request: BlocksRequest, from: number): void {
    const { path, position, inputBytes, end = 0 } = request;
    const { blockBytes, readers } = this.#task;
    const requestBytes = this.#requestBytes;
    // One request of each reader is the one that it reads from.
    const requestsAtOnce = Math.min(CONNECTIONS_OF_HOST, (this.#blocks.count * blockBytes) / requestBytes - readers);
    const prefetchBytes = requestBytes * Math.max(1, Math.floor(requestsAtOnce / readers));
    const last = Math.min(end, inputBytes);
    const sizes = { requestBytes, spareBytes: 0 };
    this.#prefetchRange(request, from, last, { ...sizes, stopAt: Math.min(last, from + prefetchBytes) });
    for (const index of this.#plannedByPath.get(path) ?? []) {
      const { start, end: rangeEnd } = this.#plannedReads[index] ?? { start: 0, end: 0 };
      if (position >= start && position < rangeEnd) this.#nextPlanned = Math.max(this.#nextPlanned, index + 1);
    }
    for (let index = this.#nextPlanned; index < this.#plannedReads.length; index++) {
      const range = this.#plannedReads[index];
      if (range === undefined) break;
      const object = { path: range.path, validator: range.validator, inputBytes: range.byteLength };
      const { start, end: last } = range;
      if (!this.#prefetchRange(object, start, last, { requestBytes, spareBytes: readers * requestBytes, stopAt: last }))
        break;
    }
  }

  /** Prefetches a column. Columns share half of the pool, and the blocks used longest ago are evicted. */
  #prefetchColumn(request: BlocksRequest, from: number): void {
    const { path, inputBytes, end = 0 } = request;
    const name = `${path} ${end}`;
    this.#recentColumns.delete(name);
    this.#recentColumns.set(name, ++this.#columnReads);
    for (const [column, readAt] of this.#recentColumns) {
      if (readAt > this.#columnReads - MOST_COLUMNS) break;
      this.#recentColumns.delete(column);
    }
    const prefetchBytes = this.#pool.byteLength / 2 / this.#recentColumns.size;
    const last = Math.min(end, inputBytes);
    if (prefetchBytes >= COLUMN_REQUEST_BYTES)
      this.#prefetchRange(request, from, last, {
        requestBytes: COLUMN_REQUEST_BYTES,
        spareBytes: undefined,
        stopAt: Math.min(last, from + prefetchBytes),
      });
  }

  /**
   * Begins requests for what is not in the pool, up to the first that would begin at `stopAt`.
   * @returns whether all have begun.
   */
  #prefetchRange(
    object: ReadObject,
    from: number,
    end: number,
    { requestBytes, spareBytes, stopAt: last }: PrefetchLimits,
  ): boolean {
    // Columns are only a part of an object, and have no checksum. A reply with the whole object states its checksum.
    const isWhole = from === 0 && object.inputBytes <= requestBytes;
    if (spareBytes !== undefined && from < last && !isWhole) void this.#checksumFor(object);
    for (let at = spareBytes !== undefined && from < last ? this.#withHead(object, from) : from; at < last; ) {
      const there = this.#blocks.find(object.path, object.validator, at);
      if (there !== undefined) {
        at = there.end;
        continue;
      }
      // Only whole requests, since a short one costs as much; and one that a reader waits for must get a connection soon.
      const wanted = Math.min(at + requestBytes, end);
      if (this.#activeRequests >= CONNECTIONS_OF_HOST) return false;
      const neededBytes = spareBytes === undefined ? 0 : wanted - at + spareBytes;
      if (this.#blocks.freeCount * this.#task.blockBytes < neededBytes) return false;
      const blocks = this.#allocateBlocks(object, at, wanted, spareBytes !== undefined);
      if (blocks.length === 0) return false;
      this.#fetch(object, blocks);
      at = blocks.at(-1)?.end ?? last;
    }
    return true;
  }

  /** The bytes of a sequential request: each reader has one that it reads, and one under way. */
  get #requestBytes(): number {
    const { blockBytes, readers } = this.#task;
    const share = (count: number, most: number) => Math.min(most, Math.floor(this.#blocks.count / count) * blockBytes);
    const ofAllConnections = share(CONNECTIONS_OF_HOST + 2 * readers, LARGEST_REQUEST_BYTES);
    return Math.max(blockBytes, share(2 * readers + 1, REQUEST_BYTES), ofAllConnections);
  }

  #endOfRequest({ position, byteLength, end, isSequential, inputBytes }: BlocksRequest): number {
    const wanted = position + byteLength;
    if (end === undefined) return Math.min(inputBytes, Math.max(wanted, position + PROBE_BYTES));
    if (isSequential) return Math.min(inputBytes, Math.max(wanted, Math.min(end, position + this.#requestBytes)));
    const chunkEnd = Math.min(end, position + COLUMN_REQUEST_BYTES);
    return Math.min(inputBytes, Math.max(wanted, chunkEnd, position + SHORT_COLUMNS_BYTES));
  }

  #bytesOf({ block, byteLength }: CachedBlock): Uint8Array {
    const start = block * this.#task.blockBytes;
    return this.#pool.subarray(start, start + byteLength);
  }

  #fetch({ path, validator, inputBytes }: ReadObject, blocks: readonly CachedBlock[]): void {
    const version = { byteLength: inputBytes, validator };
    const missing = () => blocks.filter(({ isReady: isThere }) => !isThere);
    const range = () => {
      const [first] = missing();
      return first && { path, version, start: first.start, end: blocks.at(-1)?.end ?? first.end };
    };
    const next = () => {
      const [first] = missing();
      return first && { start: first.start, buffer: this.#bytesOf(first), markFilled: () => first.markReady() };
    };
    const readRange = () =>
      this.#reader.read(path, range, (_, isSized, headers) => {
        const left = missing();
        if (left[0]?.start === 0 && blocks.at(-1)?.end === inputBytes)
          this.#noteChecksum(path, version, this.#serviceOf(path).checksumIn?.(headers, inputBytes));
        let filled = 0;
        return {
          nextBuffer: () => (left[0] === undefined ? NO_BUFFER : this.#bytesOf(left[0]).subarray(filled)),
          markFilled: (count) => {
            const [block] = left;
            filled += count;
            if (block === undefined || filled < block.byteLength) return;
            if (isSized) block.markReady();
            left.shift();
            filled = 0;
          },
        };
      });
    const fetched: Promise<unknown> = validator.startsWith(STREAMED)
      ? this.#sequentialReads.read(path, version, next)
      : readRange();
    this.#activeRequests += 1;
    fetched
      .finally(() => {
        this.#activeRequests -= 1;
      })
      .then(
        () => {
          for (const block of missing()) block.markReady();
        },
        (error: unknown) => {
          for (const block of missing()) block.fail(error);
        },
      );
  }
}

function checksumMismatchError(path: string): InputError {
  return new InputError(
    'ERR_INPUT_CHANGED',
    `${path}: the bytes that arrived do not have the checksum that the service states; start again, and if it happens again, check the network and the memory of this machine`,
  );
}

/** Wraps what is not an error of pileshuf: it comes from the network, or is a bug. */
function pileshufErrorFrom(
  { ask }: ParentRequest | ReaderRequest | WriterRequest,
  path: string,
  error: unknown,
): PileshufError {
  if (error instanceof PileshufError) return error;
  const problem = `${path}: ${reasonOf(error)}`;
  return INPUT_REQUESTS.has(ask)
    ? new InputError('ERR_INPUT_UNREADABLE', `cannot read ${problem}`, { cause: error })
    : new SystemError('ERR_IO', `cannot write the output ${problem}`, { cause: error });
}
