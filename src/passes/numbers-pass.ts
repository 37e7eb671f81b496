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
  /** How many places of the order to write. */
  readonly places: bigint;
  /** How many a task writes. */
  readonly placesOfTask: number;
  /** What all numbers together must be; undefined: only the order tells. */
  readonly expected: NumberTotals | undefined;
}

export interface NumberTotals {
  readonly bytes: bigint;
  /** Of the numbers, modulo 2^64. */
  readonly sum: bigint;
}

export interface WrittenNumbers {
  readonly regions: readonly WrittenRegion[];
  readonly bytes: number;
  /** The multiset checksum of the numbers as records. */
  readonly checksum: bigint;
}

/** @throws VerificationError if the numbers are not those of the range, as far as that can be known. */
export async function writeAllNumbers(work: NumbersWork, threads: Threads): Promise<WrittenNumbers> {
  const regions: WrittenRegion[] = [];
  let bytes = 0;
  let sum = 0n;
  let checksum = 0n;
  const take = (result: NumbersResult) => {
    for (const region of result.regions) addRegion(regions, region);
    bytes += result.bytes;
    sum = BigInt.asUintN(64, sum + result.sum);
    checksum = BigInt.asUintN(64, checksum + result.checksum);
  };
  const write = (task: NumbersTask) => threads.pool.run('write-numbers', task);
  const takeInTurn = inTurn(take, ({ start }: NumbersTask) => start.turn);
  // Every task that is handed out must have a thread: the task whose turn it is must not wait.
  await runTasks(tasksOf(work), write, takeInTurn, threads.pool.threadCount, threads.stop);
  requireTotals({ bytes: BigInt(bytes), sum }, work.expected);
  return { regions, bytes, checksum };
}

function* tasksOf({ settings, target, places, placesOfTask }: NumbersWork): Generator<NumbersTask> {
  const step = BigInt(placesOfTask);
  let turn = 0;
  for (let first = 0n; first < places; first += step) {
    const left = places - first;
    const shard = target.kind === 'stream' ? 0 : shardAt(target.cuts, Number(first));
    const count = left < step ? Number(left) : placesOfTask;
    yield { job: settings, first, count, target, start: { shard, shardByte: 0, turn } };
    turn += 1;
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
