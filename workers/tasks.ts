/**
 * All tasks of worker threads, by name. Threads dispatch by this table, and the pool takes its types from it. A job small
 * enough for the calling thread imports it there, and forgets its state when it ends.
 */
import { threadId } from 'node:worker_threads';
import { type EncodedError, encodeError } from '../src/errors.js';
import { measured, type PhaseSeconds } from '../src/floor/phase-clock.js';
import { takeWrittenRecords, type WrittenRecord } from './piles/written-ranks.js';
import { type TakenRecord, takeSample } from './read/record-sample.js';
import { readBack } from './tasks/checksum-output.js';
import { countByte } from './tasks/count-byte.js';
import { countRecords } from './tasks/count-records.js';
import type { DigestTask } from './tasks/digest-file.js';
import type { FindRecordsTask } from './tasks/find-records.js';
import { loadPortion } from './tasks/load-portion.js';
import { measureDistinct, measurePile } from './tasks/measure-range.js';
import { noteRecords } from './tasks/note-records.js';
import { orderPiles } from './tasks/order-piles.js';
import type { WindowTask } from './tasks/sample-windows.js';
import { scatterPiles } from './tasks/scatter-piles.js';
import { scatterSlice } from './tasks/scatter-slice.js';
import type { TallyTask } from './tasks/tally-records.js';
import { verifyPiles } from './tasks/verify-piles.js';
import { writeDraws } from './tasks/write-draws.js';
import { writeRange } from './tasks/write-range.js';

export { forgetJob } from './thread-state.js';

const TASKS = {
  count: countByte,
  'count-records': countRecords,
  // Loaded when they are called: most shuffles do not need them.
  digest: async (task: DigestTask) => (await import('./tasks/digest-file.js')).digestFile(task),
  'find-records': async (task: FindRecordsTask) => (await import('./tasks/find-records.js')).findRecords(task),
  load: loadPortion,
  measure: measurePile,
  'measure-distinct': measureDistinct,
  note: noteRecords,
  'order-piles': orderPiles,
  'read-back': readBack,
  'sample-windows': async (task: WindowTask) => (await import('./tasks/sample-windows.js')).sampleWindows(task),
  scatter: scatterSlice,
  'scatter-piles': scatterPiles,
  'tally-records': async (task: TallyTask) => (await import('./tasks/tally-records.js')).tallyRecords(task),
  verify: verifyPiles,
  write: writeRange,
  'write-draws': writeDraws,
};

export type TaskName = keyof typeof TASKS;
export type TaskOf<Name extends TaskName> = Parameters<(typeof TASKS)[Name]>[0];
export type ResultOf<Name extends TaskName> = Awaited<ReturnType<(typeof TASKS)[Name]>>;

export interface TaskProfile {
  readonly kind: TaskName;
  /** 0 is the calling thread. */
  readonly thread: number;
  /** Milliseconds since 1970. */
  readonly beganMilliseconds: number;
  readonly seconds: PhaseSeconds;
  /** The records for a report that shows single ones; undefined: the task has noted nothing. */
  readonly taken: readonly TakenRecord[] | undefined;
  readonly written: readonly WrittenRecord[] | undefined;
}

/** Errors cross threads as plain data. */
export type Outcome<Result> =
  | { readonly result: Result; readonly profile: TaskProfile | undefined }
  | { readonly error: EncodedError };

export async function runTask<Name extends TaskName>(kind: Name, task: TaskOf<Name>): Promise<Outcome<ResultOf<Name>>> {
  const perform = TASKS[kind] as (task: TaskOf<Name>) => Promise<ResultOf<Name>>;
  try {
    if (task.job.isProfiled !== true) return { result: await perform(task), profile: undefined };
    const beganMilliseconds = performance.timeOrigin + performance.now();
    const { value, seconds } = await measured(() => perform(task));
    const notes = { taken: takeSample(), written: takeWrittenRecords() };
    return { result: value, profile: { kind, thread: threadId, beganMilliseconds, seconds, ...notes } };
  } catch (error) {
    return { error: encodeError(error) };
  }
}
