/**
 * Shared memory in which each task of an ordered, compressed output hands on to the next one where its part starts in its shard,
 * and the records of the member that is open between them.
 *
 * A task tells the start as soon as it knows it, before it writes. The open records follow once its own are verified, in
 * turns of their own, which are faster than those of writing: nobody compresses while others wait. A task that is tried
 * again finds both as before, until it has handed on its own.
 */

/** A member of a compressed output ends with the record that reaches the next multiple of so many bytes in its shard. */
export const MEMBER_BYTES = 4 * 2 ** 20;

/** More than the tasks that are under way at a time. */
const SLOTS = 2048;
/** The turns whose starts are told, less those told before for the same slots; then the turn of the open records, and their bytes. */
const WORDS = SLOTS + 2;
const TURN_WORD = SLOTS;
const LENGTH_WORD = SLOTS + 1;

export const RELAY_BYTES = 8 * SLOTS + 4 * WORDS + MEMBER_BYTES;

/** Blocks while a word is so. */
type WaitWhile = (words: Int32Array, index: number, isSo: (word: number) => boolean) => void;

export class Relay {
  readonly #waitWhile: WaitWhile;
  readonly #starts: Float64Array;
  readonly #words: Int32Array;
  readonly #records: Uint8Array;

  /** @param buffer has `RELAY_BYTES` from `offset` on, a multiple of 8; they are zero before the first turn. */
  constructor(waitWhile: WaitWhile, buffer: SharedArrayBuffer, offset: number) {
    this.#waitWhile = waitWhile;
    this.#starts = new Float64Array(buffer, offset, SLOTS);
    this.#words = new Int32Array(buffer, offset + 8 * SLOTS, WORDS);
    this.#records = new Uint8Array(buffer, offset + 8 * SLOTS + 4 * WORDS, MEMBER_BYTES);
  }

  tellStart(turn: number, shardByte: number): void {
    this.#starts[turn % SLOTS] = shardByte;
    Atomics.store(this.#words, turn % SLOTS, tagOf(turn));
    Atomics.notify(this.#words, turn % SLOTS);
  }

  /** Waits until the start is told. */
  startOf(turn: number): number {
    this.#waitWhile(this.#words, turn % SLOTS, (tag) => tag !== tagOf(turn));
    return this.#starts[turn % SLOTS] ?? 0;
  }

  /** Returns whether `openRecords` would return at once. */
  has(turn: number): boolean {
    return Atomics.load(this.#words, TURN_WORD) === (turn | 0);
  }

  /** Waits for the open records before the part of a task. They stay until `handOn`. */
  openRecords(turn: number): Uint8Array {
    this.#waitWhile(this.#words, TURN_WORD, (now) => now !== (turn | 0));
    return this.#records.subarray(0, this.#words[LENGTH_WORD]);
  }

  /** Hands on the open records after the part of the task whose turn it is. @param kept how many of those before it stay. */
  handOn(turn: number, kept: number, records: Uint8Array): void {
    this.#records.set(records, kept);
    this.#words[LENGTH_WORD] = kept + records.byteLength;
    Atomics.store(this.#words, TURN_WORD, (turn + 1) | 0);
    Atomics.notify(this.#words, TURN_WORD);
  }
}

/** Words are zero before the first turn, and count modulo 2^32. */
function tagOf(turn: number): number {
  return (turn + 1) | 0;
}
