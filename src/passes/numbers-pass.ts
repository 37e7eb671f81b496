/**
 * Writes the numbers of a range in their order: one task a stretch of places. The tasks take turns, because the place of a
 * number in the output depends on the digits of those before it. Memory does not grow with the numbers.
 */
import type { NumberSettings } from '../../workers/settings.js';
import type { NumbersResult, NumbersTask } from '../../workers/tasks/write-numbers.js';
import { VerificationError } from '../errors.js';
import type { OutputTarget, WrittenRegion } from '../output/output-target.js';
import { shardAt } from '../plan/shard-cuts.js';
import { inTurn, runTasks } from './run-tasks.js';
import type { Threads } from './threads.js';

export interface NumbersWork {
  readonly settings: NumberSettings;
  readonly target: OutputTarget;
  /** The stretches of the order to write, one behind the other. */
  readonly parts: readonly NumbersPart[];
  /** How many a task writes. */
  readonly placesOfTask: number;
  /** What all numbers together must be; undefined: only the order tells. */
  readonly expected: NumberTotals | undefined;
}

/** Places [first, end) of the order, which are totalled apart: a split, or all that is written. */
export interface NumbersPart {
  readonly first: bigint;
  readonly end: bigint;
}

export interface NumberTotals {
  readonly bytes: bigint;
  /** Of the numbers, modulo 2^64. */
  readonly sum: bigint;
}

export interface WrittenNumbers extends WrittenPart {
  readonly regions: readonly WrittenRegion[];
  /** Of each part. */
  readonly parts: readonly WrittenPart[];
}

export interface WrittenPart {
  readonly bytes: number;
  /** The multiset checksum of the numbers as records. */
  readonly checksum: bigint;
}

/** A task, and the number of the part that it writes to. */
interface TaskOfPart {
  readonly part: number;
  readonly task: NumbersTask;
}

/** @throws VerificationError if the numbers are not those of the range, as far as that can be known. */
export async function writeAllNumbers(work: NumbersWork, threads: Threads): Promise<WrittenNumbers> {
  const regions: WrittenRegion[] = [];
  const parts = work.parts.map(() => NOTHING);
  let all = NOTHING;
  let sum = 0n;
  const take = (result: NumbersResult, { part }: TaskOfPart) => {
    for (const region of result.regions) addRegion(regions, region);
    all = sumOf(all, result);
    parts[part] = sumOf(parts[part] ?? NOTHING, result);
    sum = BigInt.asUintN(64, sum + result.sum);
  };
  const write = ({ task }: TaskOfPart) => threads.pool.run('write-numbers', task);
  const takeInTurn = inTurn(take, ({ task }: TaskOfPart) => task.start.turn);
  // Every task that is handed out must have a thread: the task whose turn it is must not wait.
  await runTasks(tasksOf(work), write, takeInTurn, threads.pool.threadCount, threads.stop);
  requireTotals({ bytes: BigInt(all.bytes), sum }, work.expected);
  return { regions, parts, ...all };
}

const NOTHING: WrittenPart = { bytes: 0, checksum: 0n };

function sumOf(before: WrittenPart, { bytes, checksum }: WrittenPart): WrittenPart {
  return { bytes: before.bytes + bytes, checksum: BigInt.asUintN(64, before.checksum + checksum) };
}

function* tasksOf({ settings, target, parts, placesOfTask }: NumbersWork): Generator<TaskOfPart> {
  const step = BigInt(placesOfTask);
  let turn = 0;
  for (const [part, { first: firstOfPart, end }] of parts.entries()) {
    for (let first = firstOfPart; first < end; first += step) {
      const left = end - first;
      const shard = target.kind === 'stream' ? 0 : shardAt(target.cuts, Number(first));
      const count = left < step ? Number(left) : placesOfTask;
      yield { part, task: { job: settings, first, count, target, start: { shard, shardByte: 0, turn } } };
      turn += 1;
    }
  }
}

/** The regions of a shard come one behind the other: they become one. */
function addRegion(regions: WrittenRegion[], region: WrittenRegion): void {
  const before = regions.at(-1);
  if (before?.shard !== region.shard || before.end !== region.start) {
    regions.push(region);
    return;
  }
  const recordBytes = before.recordBytes + region.recordBytes;
  regions[regions.length - 1] = { ...before, end: region.end, recordBytes };
}

function requireTotals(written: NumberTotals, expected: NumberTotals | undefined): void {
  if (expected === undefined || (written.bytes === expected.bytes && written.sum === expected.sum)) return;
  throw new VerificationError(
    `the written numbers have ${written.bytes} bytes and the sum ${written.sum} modulo 2^64, expected ${expected.bytes} and ${expected.sum}; check the memory of this machine`,
  );
}
