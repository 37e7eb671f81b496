/**
 * Finds what a reader that starts in the middle of an input must know of the bytes before: how often the byte occurs
 * that its framing counts, and the ordinal of its first record if the keys come from ordinals.
 *
 * That ordinal follows from the place where records have one size, and from the count of a byte where a record ends
 * after every so many of it. Otherwise the records before it are counted, read as pass 1 reads them. The last part of
 * an input is never counted, so an input of one part is not read before pass 1.
 */

import type { ReadSettings } from '../../workers/settings.js';
import type { CountByteTask } from '../../workers/tasks/count-byte.js';
import type { CountedRecords } from '../../workers/tasks/count-records.js';
import { UNGATED } from '../floor/job-control.js';
import type { KeyRule } from '../floor/keys.js';
import type { List } from '../floor/paged-list.js';
import { type Framing, readerStart } from '../formats/framing.js';
import { framingOf } from '../formats/framing-table.js';
import type { Slice, SlicePart } from '../plan/slices.js';
import { headerBytesOf, isPlain } from '../sources/input.js';
import { inputPart, type ReadableInputs } from '../sources/input-part.js';
import { runTasks, tasksAtOnce } from './run-tasks.js';
import type { Threads } from './threads.js';

export interface SlicedInputs extends ReadableInputs {
  readonly slices: List<Slice>;
  readonly settings: ReadSettings;
  /** The source of keys. Absent: `position`. */
  readonly keys?: KeyRule;
}

/** The count before the position where the reader of a part starts. */
export type CountBefore = (part: SlicePart) => number;

/**
 * Counts the byte that a framing needs, or that ends records if the keys come from ordinals, up to the start of the
 * last range that the job still has to read.
 * @param isDone whether an earlier attempt at the job has scattered the slice.
 */
export async function countByteBeforeParts(
  work: SlicedInputs,
  threads: Threads,
  isDone: (slice: number) => boolean,
): Promise<CountBefore> {
  const { inputs, gates, settings } = work;
  const framing = settings.read.framing && framingOf(settings.read.framing);
  const byte = framing && byteToCount(framing, needsOrdinals(work));
  if (framing === undefined || byte === undefined) return () => 0;
  const startsOfInput = startsToCountTo(work, isDone);
  const counts = new Map<number, Map<number, number>>();
  const tasks: { ordinal: number; start: number; task: CountByteTask }[] = [];
  for (const [ordinal, starts] of startsOfInput) {
    const input = inputs.at(ordinal);
    if (!isPlain(input)) continue;
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

/** Returns whether keys come from the ordinals of records, or values lie beside them. */
function needsOrdinals({ keys, companions }: SlicedInputs): boolean {
  return keys === 'ordinal' || companions !== undefined;
}

/** Returns the byte to count. Undefined: no byte need be counted. */
function byteToCount({ cut, recordEnd }: Framing, isOrdinalNeeded: boolean): number | undefined {
  return cut?.countedByte ?? (isOrdinalNeeded ? recordEnd?.byte : undefined);
}

function startsToCountTo(
  { inputs, slices }: SlicedInputs,
  isDone: (slice: number) => boolean,
): ReadonlyMap<number, readonly number[]> {
  const startsOfInput = new Map<number, number[]>();
  // Starts at the last slice, and takes all starts before a needed one, so that several threads share the counting.
  for (let slice = slices.length - 1; slice >= 0; slice--) {
    for (const { inputOrdinal, start } of slices.at(slice) ?? []) {
      if (start <= headerBytesOf(inputs.at(inputOrdinal))) continue;
      const starts = startsOfInput.get(inputOrdinal);
      if (starts !== undefined) starts.push(start);
      else if (!isDone(slice)) startsOfInput.set(inputOrdinal, [start]);
    }
  }
  for (const starts of startsOfInput.values()) starts.reverse();
  return startsOfInput;
}

/** The facts about earlier bytes that the reader of a part needs. */
export interface StartState {
  /** See `Cut`. */
  readonly count: number;
  /** The number of records that begin before the part; undefined unless ordinals are needed. */
  readonly records: number | undefined;
}

export type StartStateOf = (part: SlicePart) => StartState;

export async function findStartStates(
  work: SlicedInputs,
  threads: Threads,
  isDone: (slice: number) => boolean,
): Promise<StartStateOf> {
  const countBefore = await countByteBeforeParts(work, threads, isDone);
  if (!needsOrdinals(work)) return (part) => ({ count: countBefore(part), records: undefined });
  const framing = work.settings.read.framing && framingOf(work.settings.read.framing);
  const isFirst = ({ inputOrdinal, start }: SlicePart) => start <= headerBytesOf(work.inputs.at(inputOrdinal));
  const knownOrdinal = (part: SlicePart): number | undefined => {
    // Without a framing there are only streams, and each is one part.
    if (framing === undefined || isFirst(part)) return 0;
    return recordsBefore(framing, part, headerBytesOf(work.inputs.at(part.inputOrdinal)), countBefore);
  };
  const counted = await countRecords(work, threads, isDone, countBefore, knownOrdinal);
  return (part) => ({ count: countBefore(part), records: knownOrdinal(part) ?? counted(part) });
}

/** How many records begin before a part that is not the first of its input; undefined: they must be counted. */
function recordsBefore(
  { recordBytes, recordEnd }: Framing,
  part: SlicePart,
  headerBytes: number,
  countBefore: CountBefore,
): number | undefined {
  if (recordBytes !== undefined) return (part.start - headerBytes) / recordBytes;
  if (recordEnd === undefined || part.members !== undefined) return undefined;
  // The byte right before the part is not counted: a record of this part begins after it.
  return Math.floor(countBefore(part) / recordEnd.every) + 1;
}

/** Counts the records before the parts for which `derived` knows no number. */
async function countRecords(
  work: SlicedInputs,
  threads: Threads,
  isDone: (slice: number) => boolean,
  countBefore: CountBefore,
  knownOrdinal: (part: SlicePart) => number | undefined,
): Promise<CountBefore> {
  const parts = partsToCount(work, isDone, knownOrdinal);
  const countOf = new Map<SlicePart, number>();
  const count = (part: SlicePart): Promise<CountedRecords> => {
    const parts = [inputPart(work, part, 0n, countBefore(part))];
    return threads.pool.run('count-records', { job: work.settings, parts, isPreparation: true });
  };
  const take = ({ records }: CountedRecords, part: SlicePart) => countOf.set(part, records);
  await runTasks(parts, count, take, tasksAtOnce(threads), threads.stop);
  const before = new Map<number, Map<number, number>>();
  const soFar = new Map<number, number>();
  for (const part of parts) {
    const { inputOrdinal, end = Number.POSITIVE_INFINITY } = part;
    const total = (soFar.get(inputOrdinal) ?? 0) + (countOf.get(part) ?? 0);
    soFar.set(inputOrdinal, total);
    const ofInput = before.get(inputOrdinal) ?? new Map<number, number>();
    before.set(inputOrdinal, ofInput.set(end, total));
  }
  return ({ inputOrdinal, start }) => before.get(inputOrdinal)?.get(start) ?? 0;
}

/** All parts of an input before the last one that the job has to read and whose ordinals nobody knows, in order. */
function partsToCount(
  { slices }: SlicedInputs,
  isDone: (slice: number) => boolean,
  knownOrdinal: (part: SlicePart) => number | undefined,
): readonly SlicePart[] {
  const isNeeded = new Set<number>();
  const parts: SlicePart[] = [];
  for (let slice = slices.length - 1; slice >= 0; slice--) {
    for (const part of slices.at(slice) ?? []) {
      if (isNeeded.has(part.inputOrdinal)) parts.push(part);
      else if (!isDone(slice) && knownOrdinal(part) === undefined) isNeeded.add(part.inputOrdinal);
    }
  }
  return parts.reverse();
}
