/**
 * Draws with replacement. The records come into the order of their keys in memory, in a few pieces. Then each place of the
 * output takes the record of a random rank.
 */
import { type OrderedRecords, orderedBytes } from '../../workers/piles/drawn-records.js';
import type { OrderPilesTask } from '../../workers/tasks/order-piles.js';
import type { DrawsResult, DrawsTask } from '../../workers/tasks/write-draws.js';
import type { Release } from '../cleanup.js';
import { hearSignals } from '../pause.js';
import { tooLargeToDraw } from '../piles/pile-set-writer.js';
import { sumTotals, type Tally, totalsOfRange } from '../piles/pile-totals.js';
import { planPileRanges } from '../plan/pile-ranges.js';
import { shardAt } from '../plan/shard-cuts.js';
import { addRegion, type OutputTarget, type WrittenRegion } from '../sinks/output-target.js';
import { openSlabs } from './job-memory.js';
import { inTurn, runTasks, runVerified } from './run-tasks.js';
import { type PilesWork, pilesTask } from './shuffle-work.js';
import type { Threads } from './threads.js';

/** Tasks for each thread, since the last tasks to end keep the other threads waiting. */
const TASKS_A_THREAD = 4;
const MOST_PIECE_BYTES = 2 ** 30;
/** Places in a piece have 32 bits. A piece ends with a pile, so it may be larger than `MOST_PIECE_BYTES`. */
const MOST_SLAB_BYTES = 2 ** 32 - 1;

/** @param releases frees the memory of the records. */
export async function orderInMemory(
  work: PilesWork,
  threads: Threads,
  isOnCallingThread: boolean,
  releases: Release[],
): Promise<OrderedRecords> {
  const { totals, bytes } = work.piles;
  const rangeBytes = Math.min(bytes / (TASKS_A_THREAD * threads.pool.threadCount), MOST_PIECE_BYTES);
  const ranges = planPileRanges(
    totals,
    rangeBytes,
    () => false,
    () => false,
  );
  const pieces = ranges.map((range) => {
    const expected = totalsOfRange(totals, range.first, range.end);
    return { range, expected, sum: sumTotals(expected) };
  });
  const slabBytes = Math.max(...pieces.map(({ sum }) => orderedBytes(sum.records, sum.bytes)));
  if (slabBytes > MOST_SLAB_BYTES) throw tooLargeToDraw();
  const memory = await openSlabs(pieces.length, slabBytes, isOnCallingThread, threads.stop, releases);
  const tasks = pieces.map(
    ({ range, expected }, slab): OrderPilesTask => ({
      ...pilesTask(work, `order-${range.first}`),
      range,
      expected,
      memory,
      slab,
    }),
  );
  await runVerified(threads, 'order-piles', tasks, work.onWarning, () => {});
  return { memory, records: pieces.map(({ sum }) => sum.records) };
}

interface DrawsWork {
  readonly job: DrawsTask['job'];
  readonly ordered: OrderedRecords;
  readonly key: bigint;
  /** Infinity: the output has no end. */
  readonly places: number;
  readonly placesOfTask: number;
  readonly target: OutputTarget;
  readonly signal: AbortSignal | undefined;
}

/** An output without end ends when its reader leaves, with a ClosedPipeError. */
export async function writeAllDraws(
  { places, placesOfTask, signal, ...work }: DrawsWork,
  threads: Threads,
): Promise<Tally & { readonly regions: readonly WrittenRegion[] }> {
  const regions: WrittenRegion[] = [];
  let bytes = 0;
  let checksum = 0n;
  const take = (result: DrawsResult) => {
    for (const region of result.regions) addRegion(regions, region);
    bytes += result.bytes;
    checksum = BigInt.asUintN(64, checksum + result.checksum);
  };
  const run = async (task: DrawsTask) => {
    // On the calling thread a task hardly ever waits, and signals would not be heard.
    await hearSignals(signal, work.target.kind === 'stream' ? 'incomplete' : 'none');
    return threads.pool.run('write-draws', task);
  };
  const takeInTurn = inTurn(take, ({ start }: DrawsTask) => start.turn);
  // Every task that is handed out must have a thread: the task whose turn it is must not wait.
  await runTasks(tasksOf(work, places, placesOfTask), run, takeInTurn, threads.pool.threadCount, threads.stop);
  return { records: places, bytes, checksum, regions };
}

function* tasksOf(
  work: Omit<DrawsWork, 'places' | 'placesOfTask' | 'signal'>,
  places: number,
  placesOfTask: number,
): Generator<DrawsTask> {
  const { target } = work;
  for (let turn = 0; turn * placesOfTask < places; turn++) {
    const first = turn * placesOfTask;
    const shard = target.kind === 'stream' ? 0 : shardAt(target.cuts, first);
    const count = Math.min(placesOfTask, places - first);
    yield { ...work, first, count, start: { shard, shardByte: 0, turn } };
  }
}
