/**
 * The channel between the threads of a job and the transfer thread (`transfer-thread.ts`). A thread that asks is blocked until
 * the answer is there. All threads share two buffers:
 *
 *     channel   whether the transfer thread has ended; the bell; the state of each block: how many copy from it, and how often its content changed;
 *            then slots, one for each request under way: its state, its length, its text (JSON)
 *     pool   the blocks: fetched bytes
 *
 * A thread writes its request into a free slot, rings, and sleeps until the slot has the answer: consecutive blocks. It
 * reads them all before it asks again, unless they were evicted.
 */
import { getEnvironmentData } from 'node:worker_threads';
import { decodeError, type EncodedError, SystemError } from '../errors.js';
import { remoteRefusedError } from './address.js';

/** Key of the buffers in the environment data of threads. */
export const TRANSFER_BUFFERS = 'pileshuf transfer buffers';

/** The buffers that threads share with the transfer thread. */
export interface TransferBuffers {
  readonly channel: SharedArrayBuffer;
  readonly pool: SharedArrayBuffer;
  readonly blockBytes: number;
}

/** Requests of threads that read inputs. The answer is an `ObjectVersion`, or blocks of which the first is leased for the caller. */
export type ReaderRequest =
  | { readonly ask: 'version'; readonly path: string }
  | {
      readonly ask: 'blocks';
      readonly path: string;
      readonly validator: string;
      readonly inputBytes: number;
      readonly position: number;
      /** Bytes wanted from there on. */
      readonly byteLength: number;
      /** The place where the caller will stop reading. Absent: it reads short pieces here and there. */
      readonly end?: number | undefined;
      /** True if it reads all bytes up to there in order. */
      readonly isSequential: boolean;
      /** Blocks that the caller has read. */
      readonly done: readonly BlockReference[];
    };

export interface ObjectVersion {
  readonly byteLength: number;
  readonly validator: string;
}

export interface BlockReference {
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
/** Counts the rings. */
const BELL_WORD = 1;
const WORDS_OF_BLOCK = 2;
/** The first of the words with the states of blocks. */
const BLOCKS_WORD = 2;

/** States of a slot. */
export const FREE = 0;
const WRITING = 1;
export const ASKED = 2;
export const TAKEN = 3;
export const ANSWERED = 4;
/** The thread that asked has left; its answer is discarded. */
export const ABANDONED = 5;

/** How often a thread that waits for an answer checks whether its job was aborted. */
const CHECK_MILLISECONDS = 50;

export class TransferChannel {
  readonly words: Int32Array;
  readonly #bytes: Buffer;
  readonly #slotsOffset: number;

  static bytesFor(blockCount: number): number {
    return 4 * (BLOCKS_WORD + WORDS_OF_BLOCK * blockCount) + SLOT_COUNT * SLOT_BYTES;
  }

  constructor({ channel }: Pick<TransferBuffers, 'channel'>) {
    this.words = new Int32Array(channel);
    this.#bytes = Buffer.from(channel);
    this.#slotsOffset = channel.byteLength - SLOT_COUNT * SLOT_BYTES;
  }

  /** Wakes the threads that wait for answers: none will come. */
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

  claimSlot(): number | undefined {
    for (let slot = 0; slot < SLOT_COUNT; slot++)
      if (Atomics.compareExchange(this.words, this.stateWord(slot), FREE, WRITING) === FREE) return slot;
    return undefined;
  }

  /** Prevents eviction of a block until `release`. @returns false if it has other content by now. */
  lease(block: number, generation: number): boolean {
    const word = wordOfBlock(block);
    for (;;) {
      const leases = Atomics.load(this.words, word);
      if (leases < 0) return false;
      if (Atomics.compareExchange(this.words, word, leases, leases + 1) !== leases) continue;
      if (Atomics.load(this.words, word + 1) === generation) return true;
      this.release(block);
      return false;
    }
  }

  release(block: number): void {
    Atomics.sub(this.words, wordOfBlock(block), 1);
  }

  generationOf(block: number): number {
    return Atomics.load(this.words, wordOfBlock(block) + 1);
  }

  /** Takes a block for other content. @returns false if a thread copies from it now. */
  invalidate(block: number): boolean {
    const word = wordOfBlock(block);
    if (Atomics.compareExchange(this.words, word, 0, -1) !== 0) return false;
    Atomics.add(this.words, word + 1, 1);
    Atomics.store(this.words, word, 0);
    return true;
  }
}

function wordOfBlock(block: number): number {
  return BLOCKS_WORD + WORDS_OF_BLOCK * block;
}

/** Views of the shared buffers, made once in each thread. */
export interface ChannelClient {
  readonly buffers: TransferBuffers;
  readonly channel: TransferChannel;
  readonly pool: Uint8Array;
}

let currentClient: ChannelClient | undefined;

export function channelClient(path: string): ChannelClient {
  const buffers = getEnvironmentData(TRANSFER_BUFFERS) as TransferBuffers | undefined;
  if (buffers === undefined) throw remoteRefusedError(path);
  if (currentClient?.buffers !== buffers)
    currentClient = { buffers: buffers, channel: new TransferChannel(buffers), pool: new Uint8Array(buffers.pool) };
  return currentClient;
}

/** @param check throws to leave: the job was aborted. */
export function ask<T>(
  { channel }: ChannelClient,
  request: { readonly ask: string; readonly path: string },
  check: () => void,
): T {
  let slot = channel.claimSlot();
  while (slot === undefined) {
    check();
    Atomics.wait(channel.words, channel.stateWord(0), Atomics.load(channel.words, channel.stateWord(0)), 1);
    slot = channel.claimSlot();
  }
  const word = channel.stateWord(slot);
  channel.write(slot, request);
  Atomics.store(channel.words, word, ASKED);
  channel.ring();
  for (;;) {
    const state = Atomics.load(channel.words, word);
    if (state === ANSWERED) break;
    Atomics.wait(channel.words, word, state, CHECK_MILLISECONDS);
    try {
      check();
      channel.throwIfEnded();
    } catch (error) {
      const former = Atomics.exchange(channel.words, word, ABANDONED);
      // An answer that came in the last moment is taken: it may hold a lease.
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
