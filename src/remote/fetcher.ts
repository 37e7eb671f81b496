/**
 * The thread that fetches for all threads of the process. It answers their questions with blocks of the pool, fetches
 * what they will ask next, and lists directories for the thread that started it. What proves who asks stays in here.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import { encodeError, InputError, PileshufError, SystemError } from '../errors.js';
import { STREAMED } from '../io/files.js';
import { reasonOf } from '../io/io-error.js';
import { type ServiceChoice, shownAddress } from './address.js';
import { AwsSettings } from './aws-settings.js';
import { type Block, Blocks } from './blocks.js';
import type { RetryPolicy } from './failure.js';
import {
  ANSWERED,
  type Answer,
  ASKED,
  type Fetcher,
  FREE,
  type HeldBlock,
  LEFT,
  type Question,
  SEEN,
  SLOT_COUNT,
  type VersionAnswer,
} from './fetch-channel.js';
import { Http } from './http.js';
import { CONNECTIONS_OF_HOST } from './http-messages.js';
import { Hub } from './hub.js';
import { PartBuffers } from './part-buffers.js';
import type { UploadQuestion } from './part-uploads.js';
import { RangeReader, WithoutRanges } from './range-reader.js';
import { type KnownChecksum, ReadChecksum } from './read-checksum.js';
import { S3 } from './s3.js';
import { S3Uploads } from './s3-uploads.js';
import type { Ask, AskHead, ListedObject, Service } from './service.js';
import { Streams } from './streams.js';
import { type UploadRequest, Uploads } from './uploads.js';
import { Web } from './web.js';

export interface FetcherTask extends Fetcher {
  /** How many threads read at a time. */
  readonly readers: number;
  readonly retryPolicy: RetryPolicy;
  readonly service: ServiceChoice;
}

/** The questions of the thread that started it. */
export type Asked =
  | { readonly ask: 'list'; readonly address: string }
  /** The question which version is there now. It is opened next. */
  | { readonly ask: 'look'; readonly address: string }
  /** Its last bytes are read next. */
  | { readonly ask: 'end'; readonly address: string }
  | UploadRequest;

type Numbered = Asked & { readonly id: number };

export type Request =
  | Numbered
  /** The ranges that threads will read from the first byte to the last, in the order in which they begin. */
  | { readonly ranges: readonly RangeToRead[] };

export type Message = { readonly id: number; readonly answer: Answer<unknown> } | { readonly retry: string };

export interface RangeToRead extends VersionAnswer {
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

const MIB = 1024 * 1024;
/** Smaller requests cost money. */
const REQUEST_BYTES = 8 * MIB;
/** Larger ones gain little. They lose much if they leave connections without one. */
const LARGEST_REQUEST_BYTES = 16 * MIB;
/** The bytes of a request for a table: columns are read side by side, and short ones lie beside each other. */
const COLUMN_REQUEST_BYTES = MIB;
const SHORT_COLUMNS_BYTES = 512 * 1024;
/** A table with more columns than this is read without a look ahead. */
const MOST_COLUMNS = 256;
/** The bytes of a look here and there. */
const LOOK_BYTES = 64 * 1024;
const MOST_BLOCKS_IN_ANSWER = 32;
const PAUSE_MILLISECONDS = 2;
/** The least time between two lines about retries. */
const LEAST_BETWEEN_MILLISECONDS = 1000;
const NO_ROOM = new Uint8Array();

const OF_INPUTS: ReadonlySet<string> = new Set(['list', 'look', 'end', 'version', 'blocks']);

type ObjectToRead = Pick<BlocksQuestion, 'path' | 'validator' | 'inputBytes'>;
type BlocksQuestion = Question & { readonly ask: 'blocks' };

interface Ahead {
  readonly requestBytes: number;
  /** The bytes that stay free. Undefined: what was used long ago makes room. */
  readonly spareBytes: number | undefined;
  readonly last: number;
}

export function serve(task: FetcherTask, starter: MessagePort): void {
  new FetchingThread(task, starter).serve();
}

class FetchingThread {
  readonly #task: FetcherTask;
  readonly #starter: MessagePort;
  readonly #blocks: Blocks;
  readonly #pool: Uint8Array;
  readonly #web = new Web();
  readonly #s3: S3;
  readonly #hub: Hub;
  readonly #reader: RangeReader;
  readonly #uploads: Uploads;
  readonly #streams: Streams;
  readonly #ask: Ask = (path, target) => this.#reader.readText(path, target);
  /** The versions that were listed: all who open an input read the version that the job began with. */
  readonly #versions = new Map<string, Promise<VersionAnswer>>();
  /** Objects that need no look: nothing can be asked of them, and some services refuse a range of nothing. */
  readonly #listedEmpty = new Set<string>();
  #ranges: readonly RangeToRead[] = [];
  readonly #rangesOf = new Map<string, number[]>();
  /** The first of the ranges that nobody reads yet. */
  #nextRange = 0;
  /** Requests for blocks. */
  #underWay = 0;
  /** Columns that were read lately, by when. */
  readonly #columnsRead = new Map<string, number>();
  #columnReads = 0;
  /** Checksums by version and path, for objects that are read from end to end. */
  readonly #checksums = new Map<string, Promise<ReadChecksum | undefined>>();
  /** CRC-32 of what was looked at first, by version and path: what comes later is the same. */
  readonly #heads = new Map<string, number>();

  constructor(task: FetcherTask, starter: MessagePort) {
    this.#task = task;
    this.#starter = starter;
    this.#blocks = new Blocks(task);
    this.#pool = new Uint8Array(task.pool);
    this.#hub = new Hub(this.#ask);
    let toldAt = Number.NEGATIVE_INFINITY;
    const tell = (retry: string) => {
      // Many connections fail together.
      if (performance.now() - toldAt < LEAST_BETWEEN_MILLISECONDS) return;
      toldAt = performance.now();
      this.#tell({ retry });
    };
    const settings = new AwsSettings(process.env, task.service);
    const http = new Http(task.retryPolicy, () => settings.certificates);
    this.#s3 = new S3(settings, http);
    this.#reader = new RangeReader(http, (path) => this.#serviceOf(path), task.retryPolicy, tell);
    this.#streams = new Streams(this.#reader);
    const uploads = new S3Uploads(this.#s3, http, task.retryPolicy, tell);
    this.#uploads = new Uploads(uploads, new PartBuffers(this.#blocks, task, task.readers));
  }

  serve(): void {
    process.once('exit', () => this.#blocks.channel.markEnded());
    this.#starter.on('message', (request: Request) => {
      if ('ranges' in request) this.#willRead(request.ranges);
      else void this.#answerStarter(request);
    });
    void this.#blocks.channel.answerRings(() => this.#takeQuestions());
  }

  #willRead(ranges: readonly RangeToRead[]): void {
    this.#ranges = ranges;
    this.#nextRange = 0;
    this.#rangesOf.clear();
    for (const [index, { path }] of ranges.entries()) {
      const ofPath = this.#rangesOf.get(path) ?? [];
      ofPath.push(index);
      this.#rangesOf.set(path, ofPath);
    }
  }

  async #answerStarter({ id, ...request }: Numbered): Promise<void> {
    const address = 'address' in request ? request.address : '';
    const path = shownAddress(address);
    // The address of an end is one that was looked at, as it is shown.
    if (request.ask !== 'end' && /^https?:/.test(address)) this.#web.know(address);
    try {
      let value: unknown;
      if (request.ask === 'look') {
        if (!this.#listedEmpty.delete(path)) await this.#lookAnew(path);
      } else if (request.ask === 'end') await this.#lookAtEnd(path);
      else if (request.ask === 'list') value = await this.#list(path);
      else value = await this.#uploads.answerStarter(request);
      this.#tell({ id, answer: { value } });
    } catch (error) {
      this.#tell({ id, answer: { error: encodeError(told(request, path, error)) } });
    }
  }

  #tell(message: Message): void {
    this.#starter.postMessage(message);
  }

  #serviceOf(path: string): Service {
    if (path.startsWith('s3:')) return this.#s3;
    return path.startsWith('hf:') ? this.#hub : this.#web;
  }

  #takeQuestions(): void {
    const { channel } = this.#blocks;
    for (let slot = 0; slot < SLOT_COUNT; slot++) {
      const word = channel.stateWord(slot);
      if (Atomics.compareExchange(channel.words, word, ASKED, SEEN) === ASKED)
        void this.#answer(slot, channel.read(slot) as Question | UploadQuestion);
    }
  }

  async #answer(slot: number, question: Question | UploadQuestion): Promise<void> {
    const { channel } = this.#blocks;
    const answer = await this.#answerTo(question).then(
      (value) => ({ value }),
      (error: unknown) => ({ error: { ...encodeError(told(question, question.path, error)), stack: '' } }),
    );
    const word = channel.stateWord(slot);
    channel.write(slot, answer);
    if (Atomics.compareExchange(channel.words, word, SEEN, ANSWERED) === LEFT) {
      if ('value' in answer) this.#takeBack(question, answer.value);
      Atomics.store(channel.words, word, FREE);
    }
    Atomics.notify(channel.words, word);
  }

  #answerTo(question: Question | UploadQuestion): Promise<unknown> {
    if (question.ask === 'version') return this.#version(question.path);
    return question.ask === 'blocks' ? this.#leased(question) : this.#uploads.answer(question);
  }

  /** Whoever asked was gone when the answer came. */
  #takeBack(question: Question | UploadQuestion, value: unknown): void {
    if (question.ask !== 'version' && question.ask !== 'blocks') this.#uploads.takeBack(question, value);
    else if (Array.isArray(value) && value[0]) this.#blocks.channel.giveBack(value[0].block);
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

  #version(path: string): Promise<VersionAnswer> {
    return this.#versions.get(path) ?? this.#lookAnew(path);
  }

  #lookAnew(path: string): Promise<VersionAnswer> {
    const version = this.#look(path);
    this.#versions.set(path, version);
    version.catch(() => this.#versions.delete(path));
    return version;
  }

  /** Whoever asks for a version reads the first bytes next. */
  async #look(path: string): Promise<VersionAnswer> {
    const { blockBytes } = this.#task;
    const end = Math.min(LOOK_BYTES, blockBytes);
    let block: Block | undefined;
    let known: KnownChecksum | undefined;
    const range = () => ({ path, version: undefined, start: 0, end });
    const version = await this.#reader
      .read(path, range, ({ byteLength, validator }, _, headers) => {
        block?.failed(undefined);
        block = undefined;
        known = byteLength <= end ? this.#serviceOf(path).checksumIn?.(headers, byteLength) : undefined;
        if (byteLength > 0 && this.#blocks.find(path, validator, 0) === undefined)
          block = this.#blocks.take(path, validator, 0, Math.min(end, byteLength), false);
        // Without a free block, they come once more when they are asked for.
        const room = block === undefined ? new Uint8Array(end) : this.#roomOf(block);
        let filled = 0;
        return {
          room: () => room.subarray(filled),
          filled: (count) => {
            filled += count;
          },
        };
      })
      .catch((error: unknown) => {
        block?.failed(error);
        if (error instanceof WithoutRanges) return this.#lookAtStream(path, end);
        throw error;
      });
    if (block !== undefined) {
      block.arrived();
      if (this.#serviceOf(path).checksumOf !== undefined)
        this.#heads.set(`${block.validator} ${path}`, this.#headCrc(block));
      // It makes room for what is read: there may be more inputs than blocks.
      block.isDone = true;
    }
    if (version === undefined) throw new RangeError(`nobody looked at ${path}`);
    const name = `${version.validator} ${path}`;
    if (known !== undefined && !this.#checksums.has(name))
      this.#checksums.set(name, Promise.resolve(new ReadChecksum(known, version.byteLength)));
    return version;
  }

  async #lookAtEnd(path: string): Promise<void> {
    const { byteLength, validator } = await this.#version(path);
    const position = Math.max(0, byteLength - LOOK_BYTES);
    const wanted = { path, validator, inputBytes: byteLength, position, byteLength: byteLength - position };
    const block = await this.#fetchFrom({ ask: 'blocks', ...wanted, isSequential: false, done: [] });
    await block.coming;
    block.isDone = true;
  }

  async #lookAtStream(path: string, end: number): Promise<VersionAnswer> {
    const { version, head } = await this.#streams.look(path, end);
    const block = this.#blocks.take(path, version.validator, 0, head.byteLength, false);
    if (block !== undefined) {
      this.#roomOf(block).set(head);
      block.arrived();
      block.isDone = true;
    }
    return version;
  }

  /** Blocks from the asked position on; the first one is leased. */
  async #leased(question: BlocksQuestion): Promise<HeldBlock[]> {
    const { path, validator, position, isSequential } = question;
    this.#blocks.finished(question.done);
    // A reader that has many blocks would keep them for long.
    const mostBlocks = isSequential ? this.#requestBytes / this.#task.blockBytes : MOST_BLOCKS_IN_ANSWER;
    for (;;) {
      const first = this.#blocks.find(path, validator, position) ?? (await this.#fetchFrom(question));
      if (isSequential) this.#readAhead(question, first.end);
      else if (question.end !== undefined) this.#readColumnAhead(question, first.end);
      if (!first.isThere) await first.coming;
      const checksum = isSequential ? await this.#checksumFor(question) : undefined;
      if (!this.#blocks.channel.lease(first.block, first.generation)) continue;
      const answer: Block[] = [];
      for (
        let block: Block | undefined = first;
        block?.isThere === true && answer.length < mostBlocks;
        block = this.#blocks.find(path, validator, block.end)
      )
        answer.push(block);
      this.#blocks.given(answer, isSequential);
      try {
        const head = first.start === 0 ? this.#heads.get(`${validator} ${path}`) : undefined;
        if (head !== undefined && head !== this.#headCrc(first)) throw wrongBytes(path);
        if (checksum !== undefined) this.#count(question, checksum, answer);
      } catch (error) {
        this.#blocks.channel.giveBack(first.block);
        throw error;
      }
      return answer.map(({ block, generation, start, byteLength }) => ({ block, generation, start, byteLength }));
    }
  }

  /** Returns the checksum of what is read. Undefined: the service says none, or nothing of the object is compared. */
  #checksumFor({ path, validator, inputBytes }: ObjectToRead): Promise<ReadChecksum | undefined> | undefined {
    const service = this.#serviceOf(path);
    if (service.checksumOf === undefined || inputBytes === 0) return undefined;
    const name = `${validator} ${path}`;
    const known = this.#checksums.get(name);
    if (known !== undefined) return known;
    const version = { byteLength: inputBytes, validator };
    const ask: AskHead = (target) => this.#reader.readHead(path, target);
    const fresh = service
      .checksumOf(path, version, ask)
      .then((checksum) => checksum && new ReadChecksum(checksum, inputBytes));
    this.#checksums.set(name, fresh);
    fresh.catch(() => this.#checksums.delete(name));
    return fresh;
  }

  /** Counts blocks when they are given to a reader of all bytes. @throws if the object is not what the service has. */
  #count({ path }: ObjectToRead, checksum: ReadChecksum, blocks: readonly Block[]): void {
    for (const block of blocks) {
      if (block.isCounted) continue;
      block.isCounted = true;
      if (checksum.add(block.start, this.#roomOf(block)) === false) throw wrongBytes(path);
    }
  }

  #headCrc(block: Block): number {
    return crc32(this.#roomOf(block).subarray(0, LOOK_BYTES));
  }

  /** Returns where a request begins, so that bytes before the first record are compared, too. */
  #fromHead({ path, validator }: ObjectToRead, position: number): number {
    return position < LOOK_BYTES && this.#heads.has(`${validator} ${path}`) ? 0 : position;
  }

  async #fetchFrom(question: BlocksQuestion): Promise<Block> {
    const { path, validator } = question;
    const position = question.isSequential ? this.#fromHead(question, question.position) : question.position;
    const end = this.#endOfRequest(question);
    for (;;) {
      const found = this.#blocks.find(path, validator, position);
      if (found !== undefined) return found;
      const first = this.#blocks.take(
        path,
        validator,
        position,
        Math.min(position + this.#task.blockBytes, end),
        false,
      );
      if (first === undefined) await sleep(PAUSE_MILLISECONDS);
      else {
        this.#fetch(question, [first, ...this.#roomFor(question, first.end, end)]);
        return first;
      }
    }
  }

  /** Returns as much as there is room for beside what may still be read. */
  #roomFor({ path, validator }: ObjectToRead, start: number, end: number, isAhead = true): Block[] {
    const blocks: Block[] = [];
    for (let at = start; at < end && this.#blocks.find(path, validator, at) === undefined; ) {
      const block = this.#blocks.take(path, validator, at, Math.min(at + this.#task.blockBytes, end), isAhead);
      if (block === undefined) break;
      blocks.push(block);
      at = block.end;
    }
    return blocks;
  }

  #readAhead(question: BlocksQuestion, from: number): void {
    const { path, position, inputBytes, end = 0 } = question;
    const { blockBytes, readers } = this.#task;
    const requestBytes = this.#requestBytes;
    // Each reader has a request that it reads from.
    const requestsAtOnce = Math.min(CONNECTIONS_OF_HOST, (this.#blocks.count * blockBytes) / requestBytes - readers);
    const aheadBytes = requestBytes * Math.max(1, Math.floor(requestsAtOnce / readers));
    const last = Math.min(end, inputBytes);
    const sizes = { requestBytes, spareBytes: 0 };
    this.#fetchAhead(question, from, last, { ...sizes, last: Math.min(last, from + aheadBytes) });
    for (const index of this.#rangesOf.get(path) ?? []) {
      const { start, end: rangeEnd } = this.#ranges[index] ?? { start: 0, end: 0 };
      if (position >= start && position < rangeEnd) this.#nextRange = Math.max(this.#nextRange, index + 1);
    }
    for (let index = this.#nextRange; index < this.#ranges.length; index++) {
      const range = this.#ranges[index];
      if (range === undefined) break;
      const object = { path: range.path, validator: range.validator, inputBytes: range.byteLength };
      const { start, end: last } = range;
      if (!this.#fetchAhead(object, start, last, { requestBytes, spareBytes: readers * requestBytes, last })) break;
    }
  }

  /** Columns that are read side by side share half of the pool. Nobody says when a block is done: the oldest go. */
  #readColumnAhead(question: BlocksQuestion, from: number): void {
    const { path, inputBytes, end = 0 } = question;
    const name = `${path} ${end}`;
    this.#columnsRead.delete(name);
    this.#columnsRead.set(name, ++this.#columnReads);
    for (const [column, readAt] of this.#columnsRead) {
      if (readAt > this.#columnReads - MOST_COLUMNS) break;
      this.#columnsRead.delete(column);
    }
    const aheadBytes = this.#pool.byteLength / 2 / this.#columnsRead.size;
    const last = Math.min(end, inputBytes);
    if (aheadBytes >= COLUMN_REQUEST_BYTES)
      this.#fetchAhead(question, from, last, {
        requestBytes: COLUMN_REQUEST_BYTES,
        spareBytes: undefined,
        last: Math.min(last, from + aheadBytes),
      });
  }

  /**
   * Begins requests for what is not there, up to the first that would begin at `last`.
   * @returns whether all have begun.
   */
  #fetchAhead(object: ObjectToRead, from: number, end: number, { requestBytes, spareBytes, last }: Ahead): boolean {
    // Columns are not all of an object.
    if (spareBytes !== undefined) void this.#checksumFor(object);
    for (let at = spareBytes !== undefined && from < last ? this.#fromHead(object, from) : from; at < last; ) {
      const there = this.#blocks.find(object.path, object.validator, at);
      if (there !== undefined) {
        at = there.end;
        continue;
      }
      // Only whole requests: a short one costs as much. And what somebody waits for gets a connection soon.
      const wanted = Math.min(at + requestBytes, end);
      if (this.#underWay >= CONNECTIONS_OF_HOST) return false;
      const neededBytes = spareBytes === undefined ? 0 : wanted - at + spareBytes;
      if (this.#blocks.freeCount * this.#task.blockBytes < neededBytes) return false;
      const blocks = this.#roomFor(object, at, wanted, spareBytes !== undefined);
      if (blocks.length === 0) return false;
      this.#fetch(object, blocks);
      at = blocks.at(-1)?.end ?? last;
    }
    return true;
  }

  /** The bytes of a request of sequential readers: each has one that it reads, and one that comes. */
  get #requestBytes(): number {
    const { blockBytes, readers } = this.#task;
    const share = (count: number, most: number) => Math.min(most, Math.floor(this.#blocks.count / count) * blockBytes);
    const ofAllConnections = share(CONNECTIONS_OF_HOST + 2 * readers, LARGEST_REQUEST_BYTES);
    return Math.max(blockBytes, share(2 * readers + 1, REQUEST_BYTES), ofAllConnections);
  }

  #endOfRequest({ position, byteLength, end, isSequential, inputBytes }: BlocksQuestion): number {
    const wanted = position + byteLength;
    if (end === undefined) return Math.min(inputBytes, Math.max(wanted, position + LOOK_BYTES));
    if (isSequential) return Math.min(inputBytes, Math.max(wanted, Math.min(end, position + this.#requestBytes)));
    const chunkEnd = Math.min(end, position + COLUMN_REQUEST_BYTES);
    return Math.min(inputBytes, Math.max(wanted, chunkEnd, position + SHORT_COLUMNS_BYTES));
  }

  #roomOf({ block, byteLength }: Block): Uint8Array {
    const start = block * this.#task.blockBytes;
    return this.#pool.subarray(start, start + byteLength);
  }

  #fetch({ path, validator, inputBytes }: ObjectToRead, blocks: readonly Block[]): void {
    const version = { byteLength: inputBytes, validator };
    const missing = () => blocks.filter(({ isThere }) => !isThere);
    const range = () => {
      const [first] = missing();
      return first && { path, version, start: first.start, end: blocks.at(-1)?.end ?? first.end };
    };
    const next = () => {
      const [first] = missing();
      return first && { start: first.start, room: this.#roomOf(first), filled: () => first.arrived() };
    };
    const readRange = () =>
      this.#reader.read(path, range, (_, isSized) => {
        const left = missing();
        let filled = 0;
        return {
          room: () => (left[0] === undefined ? NO_ROOM : this.#roomOf(left[0]).subarray(filled)),
          filled: (count) => {
            const [block] = left;
            filled += count;
            if (block === undefined || filled < block.byteLength) return;
            if (isSized) block.arrived();
            left.shift();
            filled = 0;
          },
        };
      });
    const fetched: Promise<unknown> = validator.startsWith(STREAMED)
      ? this.#streams.read(path, version, next)
      : readRange();
    this.#underWay += 1;
    fetched
      .finally(() => {
        this.#underWay -= 1;
      })
      .then(
        () => {
          for (const block of missing()) block.arrived();
        },
        (error: unknown) => {
          for (const block of missing()) block.failed(error);
        },
      );
  }
}

function wrongBytes(path: string): InputError {
  return new InputError(
    'ERR_INPUT_CHANGED',
    `${path}: the bytes that arrived do not have the checksum that the service states; start again, and if it happens again, check the network and the memory of this machine`,
  );
}

/** Makes one line of what is not an error of pileshuf: it comes from the network, or is a bug. */
function told({ ask }: Asked | Question | UploadQuestion, path: string, error: unknown): PileshufError {
  if (error instanceof PileshufError) return error;
  const problem = `${path}: ${reasonOf(error)}`;
  return OF_INPUTS.has(ask)
    ? new InputError('ERR_INPUT_UNREADABLE', `cannot read ${problem}`, { cause: error })
    : new SystemError('ERR_IO', `cannot write the output ${problem}`, { cause: error });
}
