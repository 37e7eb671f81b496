/**
 * For framings that must count before they can begin in the middle of an input: how often their byte occurs before
 * each range of it.
 */
import type { CountTask } from '../../workers/tasks/count-byte.js';
import type { ReadShare } from '../../workers/tasks/job-share.js';
import { readerStart } from '../formats/framing.js';
import { framingOf } from '../formats/record-format.js';
import type { JobInput } from '../inputs/list-inputs.js';
import { UNGATED } from '../job-control.js';
import type { SlicePart } from '../plan/slices.js';
import type { JobContext } from './job-context.js';
import { runTasks } from './run-tasks.js';

/** What is needed of a job. */
export interface CountingJob extends Pick<JobContext, 'inputs' | 'inputGates' | 'pool' | 'stop'> {
  readonly share: ReadShare;
  readonly plan: Pick<JobContext['plan'], 'slices'>;
}

/** Gives the count before the place where the reader of a part begins. */
export type CountBefore = (part: SlicePart) => number;

/**
 * Reads the inputs that were cut, up to the last range that is still to be read, once more.
 * @param isScattered whether an earlier run of the job has the slice.
 */
export async function countBeforeRanges(
  job: CountingJob,
  isScattered: (slice: number) => boolean,
): Promise<CountBefore> {
  const framing = job.share.framing === undefined ? undefined : framingOf(job.share.framing);
  const cut = framing?.cut;
  if (framing === undefined || cut?.kind !== 'after-counting') return () => 0;
  const startsOfInput = startsToCountTo(job, isScattered);
  const counts = new Map<number, Map<number, number>>();
  const tasks: { ordinal: number; start: number; task: CountTask }[] = [];
  for (const [ordinal, starts] of startsOfInput) {
    const input = job.inputs[ordinal];
    if (input?.kind !== 'file') continue;
    counts.set(ordinal, new Map());
    const headerBytes = headerBytesOf(input);
    let before = headerBytes;
    for (const start of starts) {
      const end = readerStart(framing, start, headerBytes);
      const { path, version } = input;
      const gate = job.inputGates[ordinal] ?? UNGATED;
      tasks.push({ ordinal, start, task: { job: job.share, path, version, gate, byte: cut.byte, start: before, end } });
      before = end;
    }
  }
  const take = (count: number, { ordinal, start }: { ordinal: number; start: number }) => {
    counts.get(ordinal)?.set(start, count);
  };
  await runTasks(tasks, ({ task }) => job.pool.count(task), take, 2 * job.pool.threadCount, job.stop);
  for (const [ordinal, starts] of startsOfInput) {
    let total = 0;
    const ofInput = counts.get(ordinal);
    for (const start of starts) {
      total += ofInput?.get(start) ?? 0;
      ofInput?.set(start, total);
    }
  }
  return ({ inputOrdinal, start }) => counts.get(inputOrdinal)?.get(start) ?? 0;
}

/** Of each input the places where ranges begin, in order. */
function startsToCountTo(
  { inputs, plan }: CountingJob,
  isScattered: (slice: number) => boolean,
): ReadonlyMap<number, readonly number[]> {
  const startsOfInput = new Map<number, number[]>();
  // From the last one on: those before one that is needed are counted by several threads.
  for (const [slice, parts] of [...plan.slices.entries()].reverse()) {
    for (const { inputOrdinal, start } of parts) {
      if (start <= headerBytesOf(inputs[inputOrdinal])) continue;
      const starts = startsOfInput.get(inputOrdinal);
      if (starts !== undefined) starts.push(start);
      else if (!isScattered(slice)) startsOfInput.set(inputOrdinal, [start]);
    }
  }
  for (const starts of startsOfInput.values()) starts.reverse();
  return startsOfInput;
}

function headerBytesOf(input: JobInput | undefined): number {
  return input?.kind === 'file' ? input.header.byteLength : 0;
}
