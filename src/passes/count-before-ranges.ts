/**
 * Counts, for framings that need it to start in the middle of an input, how often their byte occurs before each range of
 * the input. Where keys come from ordinals, it counts the byte behind which records end, too.
 */
import type { ReadSettings } from '../../workers/settings.js';
import type { CountTask } from '../../workers/tasks/count-byte.js';
import { type Framing, readerStart } from '../formats/framing.js';
import { framingOf } from '../formats/framing-table.js';
import type { ReadableInputs } from '../inputs/input-part.js';
import type { Input } from '../inputs/list-inputs.js';
import { UNGATED } from '../job-control.js';
import type { KeyRule } from '../keys.js';
import type { Slice, SlicePart } from '../plan/slices.js';
import { runTasks, tasksAtOnce } from './run-tasks.js';
import type { Threads } from './threads.js';

/** The inputs, and how they are cut. */
export interface CutInputs extends ReadableInputs {
  readonly slices: readonly Slice[];
  readonly settings: ReadSettings;
  /** Absent: `position`. */
  readonly keys?: KeyRule;
}

/** The count before the position where the reader of a part starts. */
export type CountBefore = (part: SlicePart) => number;

/**
 * Reads each cut input up to the start of the last range that the job still has to read.
 * @param isDone whether an earlier attempt at the job has scattered the slice.
 */
export async function countBeforeRanges(
  work: CutInputs,
  threads: Threads,
  isDone: (slice: number) => boolean,
): Promise<CountBefore> {
  const { inputs, gates, settings } = work;
  const framing = settings.framing === undefined ? undefined : framingOf(settings.framing);
  const byte = framing && byteToCount(framing, work.keys);
  if (framing === undefined || byte === undefined) return () => 0;
  const startsOfInput = startsToCountTo(work, isDone);
  const counts = new Map<number, Map<number, number>>();
  const tasks: { ordinal: number; start: number; task: CountTask }[] = [];
  for (const [ordinal, starts] of startsOfInput) {
    const input = inputs[ordinal];
    if (input?.kind !== 'file' || input.codec !== undefined) continue;
    counts.set(ordinal, new Map());
    const headerBytes = headerBytesOf(input);
    let before = headerBytes;
    for (const start of starts) {
      const end = readerStart(framing, start, headerBytes);
      const { path, version } = input;
      const gate = gates[ordinal] ?? UNGATED;
      tasks.push({ ordinal, start, task: { job: settings, path, version, gate, byte, start: before, end } });
      before = end;
    }
  }
  const take = (count: number, { ordinal, start }: { ordinal: number; start: number }) => {
    counts.get(ordinal)?.set(start, count);
  };
  await runTasks(tasks, ({ task }) => threads.pool.run('count', task), take, tasksAtOnce(threads), threads.stop);
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

/** Undefined: no byte need be counted. */
function byteToCount({ cut, recordEnd }: Framing, keys: KeyRule | undefined): number | undefined {
  if (cut.kind === 'after-counting') return cut.byte;
  return keys === 'ordinal' && cut.kind === 'anywhere' ? recordEnd?.byte : undefined;
}

/** The positions in each input where ranges start, in order. */
function startsToCountTo(
  { inputs, slices }: CutInputs,
  isDone: (slice: number) => boolean,
): ReadonlyMap<number, readonly number[]> {
  const startsOfInput = new Map<number, number[]>();
  // Starts at the last slice: all starts before a needed one are kept, so several threads share the counting.
  for (const [slice, parts] of [...slices.entries()].reverse()) {
    for (const { inputOrdinal, start } of parts) {
      if (start <= headerBytesOf(inputs[inputOrdinal])) continue;
      const starts = startsOfInput.get(inputOrdinal);
      if (starts !== undefined) starts.push(start);
      else if (!isDone(slice)) startsOfInput.set(inputOrdinal, [start]);
    }
  }
  for (const starts of startsOfInput.values()) starts.reverse();
  return startsOfInput;
}

export function headerBytesOf(input: Input | undefined): number {
  return input?.kind === 'file' ? input.header.byteLength : 0;
}
