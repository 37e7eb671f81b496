/**
 * Outputs whose places find their records by themselves. For draws with replacement, the records come into the order of
 * their keys in memory, in a few pieces; then each place takes the record of a random rank. Numbers of a range are computed.
 */
import { type OrderedRecords, orderedSlabBytes } from '../../workers/piles/drawn-records.js';
import type { OrderPilesTask } from '../../workers/tasks/order-piles.js';
import type { DrawsResult, DrawsTask } from '../../workers/tasks/write-draws.js';
import type { Release } from '../floor/cleanup.js';
import { deriveDrawKey } from '../floor/keys.js';
import { yieldAndCheckAbort } from '../floor/pause.js';
import { openEncoder } from '../formats/encoder-table.js';
import { framingOf } from '../formats/framing-table.js';
import type { WrittenRegion } from '../job-directory/notes.js';
import { isEndless, recordsOfOutput } from '../keep/keep-spec.js';
import { type NumberOrder, orderOfNumbers, sourceAmount } from '../keep/numbers.js';
import { requireRecords } from '../keep/repeat.js';
import { tooLargeToDrawError } from '../piles/pile-set-writer.js';
import { addRecordTotals, pileTotalsOf, type RecordTotals, sumOverPiles, totalsOfRange } from '../piles/pile-totals.js';
import type { MemoryPlan } from '../plan/memory-plan.js';
import { cutAt, ONE_OUTPUT, planShardCuts, shardAt } from '../plan/shard-cuts.js';
import { type PlainEnds, storedEnds } from '../sinks/output-layout.js';
import { addRegion, type OutputTarget } from '../sinks/output-target.js';
import type { ShuffleSpec } from '../spec.js';
import type { OutputPlan, SampledWork } from './between-passes.js';
import { openSlabs } from './job-memory.js';
import { inOrder, runTasks, runVerified } from './run-tasks.js';
import { type PilesWork, pilesTask, rangesForThreads } from './shuffle-work.js';
import type { Threads } from './threads.js';

const MOST_PIECE_BYTES = 2 ** 30;
/** The least members of a task. With fewer, most records would belong to a member that several tasks make. */
const MEMBERS_OF_TASK = 2;
/** Places in a piece have 32 bits. A piece ends with a pile, so it may be larger than `MOST_PIECE_BYTES`. */
const MOST_SLAB_BYTES = 2 ** 32 - 1;

interface DrawnJob {
  readonly plan: { readonly memory: Pick<MemoryPlan, 'outputBytes' | 'memberBytes'>; readonly inline: boolean };
  readonly signal: AbortSignal | undefined;
  readonly releases: Release[];
}

/**
 * Plans an output of draws from piles in memory, or of computed numbers. Without a number of records, writing it ends with a
 * ClosedPipeError when the reader leaves.
 */
export function planDraws(
  { read: { framing }, keep, cut, write: { compression }, key: { seed } }: ShuffleSpec,
  ends: PlainEnds,
  work: SampledWork,
  threads: Threads,
  { plan, signal, releases }: DrawnJob,
): OutputPlan {
  const { records, bytes } = sourceAmount(keep, work.piles);
  const places = recordsOfOutput(keep, records);
  if (keep.repeat) requireRecords(records, places);
  const meanRecordBytes = bytes / Math.max(1, records);
  const nothing = { bytes: 0, longestRecordBytes: 0, bytesAround: 0 };
  const cuts = planShardCuts(cut.shards ?? ONE_OUTPUT, { records: places, ...nothing });
  if (!('by' in cuts)) throw new RangeError('draws are not cut by bytes');
  const encoder = compression === undefined ? undefined : openEncoder(compression);
  const layout = {
    cuts,
    ends: storedEnds(ends, encoder),
    // A header that tells how many bytes follow is that of records of one length.
    recordBytes: places === Number.POSITIVE_INFINITY ? 0 : Math.round(places * meanRecordBytes),
    compression,
    kind: 'appended' as const,
  };
  const [end = 0] = (framing && framingOf(framing).delimiter) ?? [];
  const { outputBytes, memberBytes } = plan.memory;
  const cutOutput = async () => {
    const source =
      keep.range === undefined
        ? await orderInMemory(work, threads, plan.inline, releases)
        : orderOfNumbers(keep.range, keep.repeat, seed, end);
    const write = async (target: OutputTarget) => {
      const job = {
        ...work.settings,
        jobName: threads.jobName,
        control: threads.control.buffer,
        outputBytes,
        memberBytes,
      };
      const bytesOfTask =
        compression === undefined ? outputBytes : Math.max(outputBytes, MEMBERS_OF_TASK * memberBytes);
      const placesOfTask = Math.max(1, Math.floor(bytesOfTask / Math.max(1, meanRecordBytes)));
      const draws = { job, source, key: deriveDrawKey(seed), places, placesOfTask, target, signal };
      const { regions, ...written } = await writeAllDraws(draws, threads);
      return { regions, totals: pileTotalsOf([written]) };
    };
    return { layout, write };
  };
  const toWrite = recordsOfOutput(keep, bytes, meanRecordBytes);
  return { work, splits: undefined, bytes: isEndless(keep) ? undefined : Math.round(toWrite), cut: cutOutput };
}

/** @param releases frees the memory of the records. */
async function orderInMemory(
  work: PilesWork,
  threads: Threads,
  isOnCallingThread: boolean,
  releases: Release[],
): Promise<OrderedRecords> {
  const { totals } = work.piles;
  const pieces = rangesForThreads(totals, threads, MOST_PIECE_BYTES).map((range) => {
    const expected = totalsOfRange(totals, range.first, range.end);
    return { range, expected, sum: sumOverPiles(expected) };
  });
  const slabBytes = Math.max(...pieces.map(({ sum }) => orderedSlabBytes(sum.records, sum.bytes)));
  if (slabBytes > MOST_SLAB_BYTES) throw tooLargeToDrawError();
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
  readonly source: OrderedRecords | NumberOrder;
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
): Promise<RecordTotals & { readonly regions: readonly WrittenRegion[] }> {
  const regions: WrittenRegion[] = [];
  let written: RecordTotals = { records: places, bytes: 0, checksum: 0n };
  const take = ({ regions: more, bytes, checksum }: DrawsResult) => {
    for (const region of more) addRegion(regions, region);
    written = addRecordTotals(written, { records: 0, bytes, checksum });
  };
  const run = async (task: DrawsTask) => {
    // On the calling thread a task hardly ever waits, and signals would not be heard.
    await yieldAndCheckAbort(signal, work.target.kind === 'stream' ? 'incomplete' : 'none');
    return threads.pool.run('write-draws', task);
  };
  const takeInTurn = inOrder(take, ({ start }: DrawsTask) => start.turn);
  // Every task that is handed out must have a thread: the task whose turn it is must not wait.
  await runTasks(tasksOf(work, places, placesOfTask), run, takeInTurn, threads.pool.threadCount, threads.stop);
  return { ...written, regions };
}

function* tasksOf(
  work: Omit<DrawsWork, 'places' | 'placesOfTask' | 'signal'>,
  places: number,
  placesOfTask: number,
): Generator<DrawsTask> {
  const { target } = work;
  for (let turn = 0; turn * placesOfTask < places; turn++) {
    const first = turn * placesOfTask;
    const count = Math.min(placesOfTask, places - first);
    const shard = shardAt(target.cuts, first);
    const lastShard = shardAt(target.cuts, first + count);
    const start = { shard, shardByte: turn === 0 ? 0 : undefined, turn, isLast: first + count === places };
    yield { ...work, first, count, start, lastCut: lastShard > shard ? cutAt(target.cuts, lastShard) : undefined };
  }
}
