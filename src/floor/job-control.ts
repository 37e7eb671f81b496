/**
 * The few words of shared memory that all threads of a job use: the abort flag, the turn of an ordered output, progress
 * counters, spare memory, and for each device gate its permits and what went through it.
 *
 * A gate is a counting semaphore around one large read or write on one device. A thread holds at most one gate, and
 * only during that call. A thread that dies may not return its permit. So a waiter wakes up now and then to check the
 * abort flag, which the coordinator then raises.
 */
import { AbortError } from '../errors.js';
import { inPhase, inPhaseAsync } from './phase-clock.js';
import { RELAY_BYTES, Relay } from './relay.js';

const ABORT_WORD = 0;
const TURN_WORD = 1;
/** 64-bit counters start at this byte. */
const COUNTERS_OFFSET = 16;
const COUNTER_COUNT = 10;
/** Gates start at this 32-bit word. Each has its free permits, all its permits, and two 64-bit counters of bytes. */
const GATES_WORD = (COUNTERS_OFFSET + 8 * COUNTER_COUNT) / 4;
const WORDS_OF_GATE = 6;
const BYTES_PLACE = { read: 1, written: 2 };

/** How long a waiter sleeps before it checks the abort flag again. */
const WAIT_MILLISECONDS = 50;
/** How long a waiter that must not block its thread waits before it tries again. */
const POLL_MILLISECONDS = 1;

/**
 * The coordinator reads these while the threads work. `orderedBytes` counts what puts piles in order between the
 * passes; `decodedBytes` what the scattered bytes decoded to; `resumedBytes` and `resumedOutputBytes` what an earlier
 * attempt did of the scattered and the shuffled bytes; `rescatteredBytes` bytes on disk of piles that were scattered
 * again; `claimedBytes` bytes of the output that have their place.
 */
export type Counter =
  | 'scatteredBytes'
  | 'decodedBytes'
  | 'orderedBytes'
  | 'shuffledBytes'
  | 'rescatteredBytes'
  | 'resumedBytes'
  | 'resumedOutputBytes'
  | 'finishedSlices'
  | 'claimedBytes';
const COUNTER_INDEX: Record<Counter, number> = {
  scatteredBytes: 0,
  shuffledBytes: 1,
  rescatteredBytes: 2,
  resumedBytes: 3,
  finishedSlices: 4,
  decodedBytes: 5,
  claimedBytes: 6,
  orderedBytes: 8,
  resumedOutputBytes: 9,
};
/** The counter of the part of the memory budget that is promised to no thread. */
const SPARE_INDEX = 7;

/** The number of a gate; `UNGATED` for a device without a limit. */
export type GateNumber = number;
export const UNGATED: GateNumber = -1;

export interface GateTraffic {
  readonly bytesRead: number;
  readonly bytesWritten: number;
  readonly callsUnderWay: number;
}

export class JobControl {
  /** Other threads attach to this. */
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #counters: BigInt64Array;
  readonly relay: Relay;

  /** Attaches to the words of a job; `create` makes new ones. */
  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer;
    this.#words = new Int32Array(buffer);
    this.#counters = new BigInt64Array(buffer, COUNTERS_OFFSET);
    this.relay = new Relay((...what) => this.#waitWhile(...what), buffer, buffer.byteLength - RELAY_BYTES);
  }

  /**
   * @param permits the number of calls that may be under way at one time, for each gate.
   * @param spareBytes the part of the memory budget that any thread may take if it needs more.
   */
  static create(permits: readonly number[], spareBytes: number): JobControl {
    const words = GATES_WORD + WORDS_OF_GATE * permits.length;
    const control = new JobControl(new SharedArrayBuffer(4 * words + RELAY_BYTES));
    control.#counters[SPARE_INDEX] = BigInt(Math.floor(spareBytes));
    for (const [gate, count] of permits.entries()) control.#words.fill(count, wordOfGate(gate), wordOfGate(gate) + 2);
    return control;
  }

  /** Asks every thread to stop at its next safe point. */
  abort(): void {
    Atomics.store(this.#words, ABORT_WORD, 1);
  }

  get isAborted(): boolean {
    return Atomics.load(this.#words, ABORT_WORD) !== 0;
  }

  throwIfAborted(): void {
    if (this.isAborted) throw new AbortError();
  }

  count(counter: Counter, amount: number): void {
    Atomics.add(this.#counters, COUNTER_INDEX[counter], BigInt(amount));
  }

  counted(counter: Counter): number {
    return Number(Atomics.load(this.#counters, COUNTER_INDEX[counter]));
  }

  countMoved(gate: GateNumber, way: 'read' | 'written', byteLength: number): void {
    if (gate !== UNGATED) Atomics.add(this.#counters, counterOfGate(gate, way), BigInt(byteLength));
  }

  trafficOf(gate: GateNumber): GateTraffic {
    const bytes = (way: 'read' | 'written') => Number(Atomics.load(this.#counters, counterOfGate(gate, way)));
    const word = wordOfGate(gate);
    const permits = this.#words[word + 1] ?? 0;
    return {
      bytesRead: bytes('read'),
      bytesWritten: bytes('written'),
      callsUnderWay: permits - Atomics.load(this.#words, word),
    };
  }

  /** Sets the spare memory. Call this only while no task is running. */
  setSpare(byteLength: number): void {
    Atomics.store(this.#counters, SPARE_INDEX, BigInt(Math.floor(byteLength)));
  }

  get spareBytes(): number {
    return Number(Atomics.load(this.#counters, SPARE_INDEX));
  }

  giveSpare(byteLength: number): void {
    Atomics.add(this.#counters, SPARE_INDEX, BigInt(byteLength));
  }

  /** Takes it for good; if there is less, takes nothing and returns false. */
  takeSpare(byteLength: number): boolean {
    for (;;) {
      const spare = Atomics.load(this.#counters, SPARE_INDEX);
      const left = spare - BigInt(Math.ceil(byteLength));
      if (left < 0n) return false;
      if (Atomics.compareExchange(this.#counters, SPARE_INDEX, spare, left) === spare) return true;
    }
  }

  /** Runs `call` while holding one permit of the gate. */
  during<T>(gate: GateNumber, call: () => T): T {
    if (gate === UNGATED) return call();
    const word = wordOfGate(gate);
    inPhase('gate', () => this.#acquire(word));
    try {
      return call();
    } finally {
      this.#release(word);
    }
  }

  /**
   * `during` for a thread that may have an asynchronous call under way: the event loop runs while the thread waits for
   * a permit, so that the other call can end and return its permit.
   */
  async duringAsync<T>(gate: GateNumber, call: () => T | Promise<T>): Promise<T> {
    return await this.#whilePermitted(gate, (acquire) => inPhaseAsync('gate', acquire), call);
  }

  /** `during` for a call that the thread does not wait for: the wait is not a phase of its task. */
  async duringAlongside<T>(gate: GateNumber, call: () => Promise<T>): Promise<T> {
    return await this.#whilePermitted(gate, (acquire) => acquire(), call);
  }

  async #whilePermitted<T>(
    gate: GateNumber,
    wait: (acquire: () => Promise<void>) => Promise<void>,
    call: () => T | Promise<T>,
  ): Promise<T> {
    if (gate === UNGATED) return await call();
    const word = wordOfGate(gate);
    if (!this.#tryAcquire(word)) await wait(() => this.#acquireAsync(word));
    try {
      return await call();
    } finally {
      this.#release(word);
    }
  }

  async #acquireAsync(word: number): Promise<void> {
    do {
      this.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS));
    } while (!this.#tryAcquire(word));
  }

  #acquire(word: number): void {
    while (!this.#tryAcquire(word)) {
      this.throwIfAborted();
      Atomics.wait(this.#words, word, 0, WAIT_MILLISECONDS);
    }
  }

  #tryAcquire(word: number): boolean {
    for (;;) {
      const free = Atomics.load(this.#words, word);
      if (free <= 0) return false;
      if (Atomics.compareExchange(this.#words, word, free, free - 1) === free) return true;
    }
  }

  #release(word: number): void {
    Atomics.add(this.#words, word, 1);
    Atomics.notify(this.#words, word, 1);
  }

  /** Blocks until all turns before `turn` have been passed on. */
  waitForTurn(turn: number): void {
    this.#waitWhile(this.#words, TURN_WORD, (now) => now !== wordOfTurn(turn));
  }

  /** Blocks while a word is so. Who changes the word notifies. */
  #waitWhile(words: Int32Array, index: number, isSo: (word: number) => boolean): void {
    inPhase('turn', () => {
      for (let now = Atomics.load(words, index); isSo(now); now = Atomics.load(words, index)) {
        this.throwIfAborted();
        Atomics.wait(words, index, now, WAIT_MILLISECONDS);
      }
    });
  }

  /** Returns whether `waitForTurn` would return at once. */
  hasTurn(turn: number): boolean {
    return Atomics.load(this.#words, TURN_WORD) === wordOfTurn(turn);
  }

  passTurn(): void {
    Atomics.add(this.#words, TURN_WORD, 1);
    Atomics.notify(this.#words, TURN_WORD);
  }
}

/** Counts nothing: for what is read once more. */
export class UncountedControl extends JobControl {
  override count(): void {}
}

function wordOfGate(gate: GateNumber): number {
  return GATES_WORD + WORDS_OF_GATE * gate;
}

function counterOfGate(gate: GateNumber, way: 'read' | 'written'): number {
  return (wordOfGate(gate) - COUNTERS_OFFSET / 4) / 2 + BYTES_PLACE[way];
}

/** The word counts modulo 2^32: an endless job may take more turns. */
function wordOfTurn(turn: number): number {
  return turn | 0;
}
