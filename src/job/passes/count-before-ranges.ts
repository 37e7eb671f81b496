/**
 * For framings that must count before they can begin in the middle of an input: how often their byte occurs before
 * each range of it.
 */
import type { CountTask } from '../../../workers/count-byte.js';
import { readerStart } from '../../formats/framing.js';
import { framingOf } from '../../formats/framing-table.js';
import { UNGATED } from '../../io/job-control.js';
import type { SplitPart } from '../../plan/splits.js';
import type { JobInput } from '../prepare/job-inputs.js';
import type { JobContext } from './job-context.js';
import { runTasks } from './run-tasks.js';

/** Gives the count before the place where the reader of a part begins. */
export type CountBefore = (part: SplitPart) => number;

/** Reads the inputs that were cut, all but their last ranges, once more. */
export async function countBeforeRanges(job: JobContext): Promise<CountBefore> {
  const framing = job.share.framing === undefined ? undefined : framingOf(job.share.framing);
  const cut = framing?.cut;
  if (framing === undefined || cut?.kind !== 'after-counting') return () => 0;
  const startsOfInput = new Map<number, number[]>();
  for (const { inputOrdinal, start } of job.plan.splits.flat()) {
    if (start > headerBytesOf(job.inputs[inputOrdinal]))
      startsOfInput.set(inputOrdinal, [...(startsOfInput.get(inputOrdinal) ?? []), start]);
  }
  const counts = new Map<number, Map<number, number>>();
  const tasks: { ordinal: number; start: number; task: CountTask }[] = [];
  for (const [ordinal, starts] of startsOfInput) {
    const input = job.inputs[ordinal];
    if (input?.kind !== 'file') continue;
    counts.set(ordinal, new Map());
    const headerBytes = headerBytesOf(input);
    let before = headerBytes;
    for (const start of starts.sort((a, b) => a - b)) {
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

function headerBytesOf(input: JobInput | undefined): number {
  return input?.kind === 'file' ? input.header.byteLength : 0;
}
