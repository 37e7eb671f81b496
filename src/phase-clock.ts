/**
 * What the time of a thread goes into, while the task that it does is measured; else nothing is measured.
 *
 * Phases nest: the time of an inner one does not count for the one around it, so that all of them together are the
 * time of the task. Only what a task does one after the other is measured so; what goes on beside it, such as writes
 * that are under way on other threads, takes its time when the task waits for it.
 */

export const PHASES = [
  /** Reading inputs, and waiting for a stream. */
  'read',
  /** Decoding inputs, and expanding segments. */
  'decompress',
  /** Finding where records end. */
  'scan',
  /** Drawing keys, copying records to pile buffers. */
  'scatter',
  /** Checksums of segments and of what is written. */
  'hash',
  /** Writing segments and outputs, to disk or into the memory pool, and waiting for writes that are under way. */
  'write',
  /** Reading segments. */
  'load',
  /** Putting the records of a pile in order. */
  'sort',
  /** Copying records in their order. */
  'gather',
  /** Compressing outputs and segments. */
  'encode',
  /** Making a disk write what the page cache holds. */
  'sync',
  /** Waiting for a permit of a device. */
  'gate',
  /** Waiting for the tasks whose part of the output comes before. */
  'turn',
  /** All else. */
  'other',
] as const;

export type Phase = (typeof PHASES)[number];

/** Seconds spent in each phase. */
export type PhaseSeconds = Readonly<Record<Phase, number>>;

class PhaseClock {
  readonly #milliseconds: Record<Phase, number>;
  #phase: Phase = 'other';
  #since = performance.now();

  constructor() {
    this.#milliseconds = Object.fromEntries(PHASES.map((phase) => [phase, 0])) as Record<Phase, number>;
  }

  /** @returns the phase that ends with it. */
  enter(phase: Phase): Phase {
    const now = performance.now();
    this.#milliseconds[this.#phase] += now - this.#since;
    this.#since = now;
    const former = this.#phase;
    this.#phase = phase;
    return former;
  }

  get seconds(): PhaseSeconds {
    this.enter(this.#phase);
    const entries = PHASES.map((phase) => [phase, this.#milliseconds[phase] / 1000]);
    return Object.fromEntries(entries) as Record<Phase, number>;
  }
}

/** That of the task which this thread does. */
let clock: PhaseClock | undefined;

/** Runs `call` as a part of `phase`. */
export function inPhase<T>(phase: Phase, call: () => T): T {
  if (clock === undefined) return call();
  const former = clock.enter(phase);
  try {
    return call();
  } finally {
    clock?.enter(former);
  }
}

/** The same for what the task waits for. Never for what it goes on beside. */
export async function inPhaseAsync<T>(phase: Phase, call: () => T | Promise<T>): Promise<T> {
  if (clock === undefined) return call();
  const former = clock.enter(phase);
  try {
    return await call();
  } finally {
    clock?.enter(former);
  }
}

/** The pieces, of which each next one is waited for as a part of `phase`. */
export async function* piecesInPhase<T>(phase: Phase, pieces: AsyncIterable<T>): AsyncGenerator<T, void> {
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await inPhaseAsync(phase, () => iterator.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await iterator.return?.();
  }
}

/** Runs a task, the only one of this thread meanwhile, and measures it. */
export async function measured<T>(task: () => Promise<T>): Promise<{ value: T; seconds: PhaseSeconds }> {
  const ofTask = new PhaseClock();
  clock = ofTask;
  try {
    const value = await task();
    return { value, seconds: ofTask.seconds };
  } finally {
    clock = undefined;
  }
}
