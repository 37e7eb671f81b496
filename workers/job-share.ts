/**
 * What every task of a job is told, as plain data and shared memory, and what a thread makes of it
 * once: its control words, its view of the memory pool, its arena.
 */
import type { FramingSpec } from '../src/formats/framing.js';
import { JobControl } from '../src/io/job-control.js';
import { RamPool, type RamPoolShare } from '../src/pile-store/ram-pool.js';
import type { StoreLayout } from '../src/pile-store/store-layout.js';
import { Arena } from './arena.js';

export interface JobShare {
  readonly control: SharedArrayBuffer;
  readonly layout: StoreLayout;
  readonly ramPool: RamPoolShare | undefined;
  readonly framing: FramingSpec;
  readonly bufferBytes: number;
  readonly readBytes: number;
  readonly outputBytes: number;
  /** What a thread's arena may grow to without asking for spare memory. */
  readonly arenaBytes: number;
  readonly maxRecordBytes: number;
}

export interface ThreadState {
  readonly control: JobControl;
  readonly ramPool: RamPool | undefined;
  readonly arena: Arena;
}

const threadStates = new WeakMap<SharedArrayBuffer, ThreadState>();

/** The state that this thread keeps from task to task of one job. */
export function threadStateOf(job: JobShare): ThreadState {
  let state = threadStates.get(job.control);
  if (state === undefined) {
    const control = new JobControl(job.control);
    state = {
      control,
      ramPool: job.ramPool === undefined ? undefined : new RamPool(job.ramPool),
      arena: new Arena(control, job.arenaBytes),
    };
    threadStates.set(job.control, state);
  }
  return state;
}
