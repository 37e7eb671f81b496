/**
 * The time that a task spends in each phase; only tasks inside `measured` are measured. The time of an inner phase does
 * not count for the outer one, so the phases add up to the time of the task. Work on other threads, such as writes
 * under way, counts only while the task waits for it.
 */

export const PHASES = [
  'read', // reading inputs, and waiting for a stream
  'decompress', // decompressing inputs, pages of tables, and segments
  'decode', // checking pages of tables, and finding their values
  'transpose', // joining columns into rows, and splitting rows into columns
  'scan', // finding where records end
  'scatter', // drawing keys, copying records to pile buffers
  'hash', // checksums of segments and outputs
  'write', // writing segments and outputs, to disk or into the memory pool, and waiting for writes under way
  'load', // reading segments, and pages that waited on disk
  'sort', // sorting the records of a pile
  'gather', // copying records in the new order
  'encode', // making pages of tables
  'compress', // compressing outputs, pages of tables, and segments
  'sync', // making a disk write what the page cache holds
  'gate', // waiting for a permit of a device
  'turn', // waiting for tasks whose part of the output comes first
  'other', // everything else
] as const;

export type Phase = (typeof PHASES)[number];

export type PhaseSeconds = Readonly<Record<Phase, number>>;

class PhaseClock {
  readonly #milliseconds: Record<Phase, number>;
  #phase: Phase = 'other';
  #since = performance.now();

  constructor() {
    this.#milliseconds = Object.fromEntries(PHASES.map((phase) => [phase, 0])) as Record<Phase, number>;
  }

  /** @returns the phase that ends here. */
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

/** The clock of the task that this thread works on. */
let clock: PhaseClock | undefined;

export function inPhase<T>(phase: Phase, call: () => T): T {
  if (clock === undefined) return call();
  const former = clock.enter(phase);
  try {
    return call();
  } finally {
    clock?.enter(former);
  }
}

/** Measures a call that the task waits for, never one beside the task. */
export async function inPhaseAsync<T>(phase: Phase, call: () => T | Promise<T>): Promise<T> {
  if (clock === undefined) return call();
  const former = clock.enter(phase);
  try {
    return await call();
  } finally {
    clock?.enter(former);
  }
}

/** Passes pieces on, and counts the wait for each of them for `phase`. */
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

/** Does a task, and measures its phases. The thread must have no other task at the same time. */
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
