/**
 * Inputs that lie on other machines, as the threads of a job read them: by position, and blocked until the bytes are
 * there. One thread of the process fetches (`fetcher.ts`). It shares two buffers with all others:
 *
 *     channel   whether the fetcher has ended; the bell; the state of each block: how many copy from it, and how often its content changed;
 *            then slots, one for each question under way: its state, its length, its text (JSON)
 *     pool   the blocks: fetched bytes
 *
 * A thread writes its question into a free slot, rings, and sleeps until the slot has the answer: blocks that follow each
 * other. It reads them all before it asks again, as long as they have the same bytes.
 */
import { getEnvironmentData } from 'node:worker_threads';
import { decodeError, type EncodedError, SystemError } from '../errors.js';
import { notFetched } from './address.js';

/** Threads find the fetcher of their process by this name in their environment data. */
export const FETCHER = 'pileshuf fetcher';

/** The fetcher as it stands in the environment of threads. */
export interface Fetcher {
  readonly channel: SharedArrayBuffer;
  readonly pool: SharedArrayBuffer;
  readonly blockBytes: number;
}

/** How a thread asks for an input; the answer is a `VersionAnswer`, or blocks of which the first is leased for the caller. */
export type Question =
  | { readonly ask: 'version'; readonly path: string }
  | {
      readonly ask: 'blocks';
      readonly path: string;
      readonly validator: string;
      readonly inputBytes: number;
      readonly position: number;
      /** Bytes wanted from there on. */
      readonly byteLength: number;
      /** The place where the caller will stop reading. Absent: it looks here and there. */
      readonly end?: number | undefined;
      /** True if it reads all up to there, one byte after the other. */
      readonly isSequential: boolean;
      /** Blocks that the caller has read. */
      readonly done: readonly HeldBlock[];
    };

export interface VersionAnswer {
  readonly byteLength: number;
  readonly validator: string;
}

export interface HeldBlock {
  readonly block: number;
  readonly generation: number;
  /** The place in the input of its first byte. */
  readonly start: number;
  readonly byteLength: number;
}

export type Answer<T> = { readonly value: T } | { readonly error: EncodedError };

export const SLOT_COUNT = 256;
const SLOT_BYTES = 16 * 1024;
const TEXT_BYTES = SLOT_BYTES - 8;
const ENDED_WORD = 0;
/** How often it rang. */
const BELL_WORD = 1;
const WORDS_OF_BLOCK = 2;
/** The first of the words that have the states of blocks. */
const BLOCKS_WORD = 2;

/** States of a slot. */
export const FREE = 0;
const WRITING = 1;
export const ASKED = 2;
export const SEEN = 3;
export const ANSWERED = 4;
/** The answer if whoever asked is gone. */
export const LEFT = 5;

/** How often a thread that waits for an answer looks whether its job goes on. */
const LOOK_MILLISECONDS = 50;

export class FetchChannel {
  readonly words: Int32Array;
  readonly #bytes: Buffer;
  readonly #slotsOffset: number;

  static bytesFor(blockCount: number): number {
    return 4 * (BLOCKS_WORD + WORDS_OF_BLOCK * blockCount) + SLOT_COUNT * SLOT_BYTES;
  }

  constructor({ channel }: Pick<Fetcher, 'channel'>) {
    this.words = new Int32Array(channel);
    this.#bytes = Buffer.from(channel);
    this.#slotsOffset = channel.byteLength - SLOT_COUNT * SLOT_BYTES;
  }

  /** Tells those who wait for answers that do not come. */
  markEnded(): void {
    Atomics.store(this.words, ENDED_WORD, 1);
  }

  throwIfEnded(): void {
    if (Atomics.load(this.words, ENDED_WORD) !== 0)
      throw new SystemError('ERR_WORKER', 'the thread that fetches inputs has ended; start again');
  }

  ring(): void {
    Atomics.add(this.words, BELL_WORD, 1);
    Atomics.notify(this.words, BELL_WORD);
  }

  /** @param answer called now, and whenever it rang, without blocking this thread. */
  async answerRings(answer: () => void): Promise<never> {
    for (;;) {
      const rings = Atomics.load(this.words, BELL_WORD);
      answer();
      await Atomics.waitAsync(this.words, BELL_WORD, rings).value;
    }
  }

  stateWord(slot: number): number {
    return (this.#slotsOffset + slot * SLOT_BYTES) / 4;
  }

  read(slot: number): unknown {
    const offset = this.#slotsOffset + slot * SLOT_BYTES;
    const byteLength = this.words[offset / 4 + 1] ?? 0;
    return JSON.parse(this.#bytes.toString('utf8', offset + 8, offset + 8 + byteLength));
  }

  write(slot: number, value: unknown): void {
    const offset = this.#slotsOffset + slot * SLOT_BYTES;
    const text = Buffer.from(JSON.stringify(value));
    if (text.byteLength > TEXT_BYTES) throw new RangeError(`a slot has no room for ${text.byteLength} bytes`);
    this.#bytes.set(text, offset + 8);
    this.words[offset / 4 + 1] = text.byteLength;
  }

  takeSlot(): number | undefined {
    for (let slot = 0; slot < SLOT_COUNT; slot++)
      if (Atomics.compareExchange(this.words, this.stateWord(slot), FREE, WRITING) === FREE) return slot;
    return undefined;
  }

  /** Keeps the content of a block from being replaced until `giveBack`; false: it was replaced. */
  lease(block: number, generation: number): boolean {
    const word = wordOf(block);
    for (;;) {
      const leases = Atomics.load(this.words, word);
      if (leases < 0) return false;
      if (Atomics.compareExchange(this.words, word, leases, leases + 1) !== leases) continue;
      if (Atomics.load(this.words, word + 1) === generation) return true;
      this.giveBack(block);
      return false;
    }
  }

  giveBack(block: number): void {
    Atomics.sub(this.words, wordOf(block), 1);
  }

  generationOf(block: number): number {
    return Atomics.load(this.words, wordOf(block) + 1);
  }

  /** Takes a block for other content; false: somebody copies from it now. */
  replace(block: number): boolean {
    const word = wordOf(block);
    if (Atomics.compareExchange(this.words, word, 0, -1) !== 0) return false;
    Atomics.add(this.words, word + 1, 1);
    Atomics.store(this.words, word, 0);
    return true;
  }
}

function wordOf(block: number): number {
  return BLOCKS_WORD + WORDS_OF_BLOCK * block;
}

/** The state that a thread makes of the fetcher once. */
export interface Attached {
  readonly fetcher: Fetcher;
  readonly channel: FetchChannel;
  readonly pool: Uint8Array;
}

let attached: Attached | undefined;

export function attach(path: string): Attached {
  const fetcher = getEnvironmentData(FETCHER) as Fetcher | undefined;
  if (fetcher === undefined) throw notFetched(path);
  if (attached?.fetcher !== fetcher)
    attached = { fetcher, channel: new FetchChannel(fetcher), pool: new Uint8Array(fetcher.pool) };
  return attached;
}

/** @param check throws to leave: the job was aborted. */
export function ask<T>(
  { channel }: Attached,
  question: { readonly ask: string; readonly path: string },
  check: () => void,
): T {
  let slot = channel.takeSlot();
  while (slot === undefined) {
    check();
    Atomics.wait(channel.words, channel.stateWord(0), Atomics.load(channel.words, channel.stateWord(0)), 1);
    slot = channel.takeSlot();
  }
  const word = channel.stateWord(slot);
  channel.write(slot, question);
  Atomics.store(channel.words, word, ASKED);
  channel.ring();
  for (;;) {
    const state = Atomics.load(channel.words, word);
    if (state === ANSWERED) break;
    Atomics.wait(channel.words, word, state, LOOK_MILLISECONDS);
    try {
      check();
      channel.throwIfEnded();
    } catch (error) {
      const former = Atomics.exchange(channel.words, word, LEFT);
      // What came in the last moment is taken: it may have to be given back.
      if (former === ANSWERED) break;
      if (former === ASKED) Atomics.store(channel.words, word, FREE);
      throw error;
    }
  }
  const answer = channel.read(slot) as Answer<T>;
  Atomics.store(channel.words, word, FREE);
  if ('error' in answer) throw decodeError(answer.error);
  return answer.value;
}
