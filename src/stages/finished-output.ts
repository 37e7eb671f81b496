/**
 * Verifies the output that an earlier attempt at the job finished, before the job relies on it. The job cannot make it
 * again, because its piles may be deleted.
 */
import type { ReadBackTask, StagedRange } from '../../workers/tasks/checksum-output.js';
import { StagedOutputError } from '../errors.js';
import type { FinishedRange, WrittenRegion } from '../job-directory/notes.js';
import type { PileTotals } from '../piles/pile-totals.js';
import { recordBytesOf, stagedPath } from '../sinks/output-target.js';
import { retryOnce, runTasks, tasksAtOnce } from './run-tasks.js';
import type { ShuffleWork } from './shuffle-work.js';
import type { Threads } from './threads.js';

interface FinishedWork extends Omit<ShuffleWork, 'piles'> {
  readonly totals: PileTotals;
}

/** Reads the finished output back and compares its checksums with the records of finished ranges. */
export async function verifyFinishedRanges(
  { totals, target, settings, samples, onWarning }: FinishedWork,
  ranges: readonly FinishedRange[],
  threads: Threads,
): Promise<void> {
  if (target.kind === 'stream' || ranges.length === 0) return;
  const { stagingDirectory, headerBytes, gate } = target;
  const isCompressed = target.kind === 'appended' && target.compression !== undefined;
  const isWhole = target.units === undefined && !isCompressed;
  for (const range of ranges) requireFits(range, isWhole ? totals : undefined, stagingDirectory);
  if (samples !== undefined) requireEnds(ranges, stagingDirectory);
  if (target.kind === 'appended')
    requireFromTheBeginning(ranges, totals, stagingDirectory, isCompressed ? settings.memberBytes - 1 : 0);
  // What is sent cannot be read back: the place has compared it.
  if (target.transfers !== undefined) return;
  const readBack = async (regions: readonly WrittenRegion[]) => {
    const staged = rangesOf(regions, headerBytes, (shard) => stagedPath(stagingDirectory, shard));
    const changed = await findChanged({ job: settings, gate, ranges: staged }, threads);
    if (changed === undefined) return;
    throw new StagedOutputError(
      `bytes ${changed.start} to ${changed.end} of the staged output ${changed.path} are not what the unfinished job wrote there`,
    );
  };
  await runTasks(
    ranges.filter(({ regions }) => regions.length > 0),
    ({ regions }) => retryOnce(() => readBack(regions), onWarning),
    () => {},
    tasksAtOnce(threads),
    threads.stop,
  );
}

/** Returns where regions lie in their files, but for those of tasks that ended no member. */
export function rangesOf(
  regions: readonly WrittenRegion[],
  headerBytes: number,
  pathOf: (shard: number) => string,
): StagedRange[] {
  const written = regions.filter(({ start, end }) => end > start);
  return written.map(({ shard, start, end, checksum }) => {
    return { path: pathOf(shard), start: headerBytes + start, end: headerBytes + end, checksum };
  });
}

/** Reads ranges back, and returns the first that is not as it was written. */
export async function findChanged(
  task: ReadBackTask,
  { pool }: Pick<Threads, 'pool'>,
): Promise<StagedRange | undefined> {
  const found = await pool.run('read-back', task);
  return task.ranges.find(({ checksum }, i) => found[i] !== checksum);
}

/**
 * The starts of shards follow from these regions: they must be in order, and all but the first must start a shard.
 * @param totals undefined: the range has the units that begin in it, or the members that end in it, whose records may belong
 *   to other piles.
 */
function requireFits(
  { first, end, regions }: FinishedRange,
  totals: PileTotals | undefined,
  stagingDirectory: string,
): void {
  const bytes = recordBytesOf(regions);
  const expectedBytes = totals?.recordBytes.subarray(first, end).reduce((sum, more) => sum + more, 0) ?? bytes;
  const areInOrder = regions.every(({ shard, start }, i) => {
    const before = regions[i - 1];
    return before === undefined || (start === 0 && shard > before.shard);
  });
  if (bytes === expectedBytes && areInOrder) return;
  throw new StagedOutputError(
    `the records of the unfinished job put ${bytes} bytes of piles ${first} to ${end} in ${stagingDirectory}, expected ${expectedBytes} bytes in order`,
  );
}

/** Neighbours of these ranges must not have the keys of their first and last samples. */
function requireEnds(ranges: readonly FinishedRange[], stagingDirectory: string): void {
  const without = ranges.find(({ regions, ends }) => regions.length > 0 && ends === undefined);
  if (without === undefined) return;
  throw new StagedOutputError(
    `the records of the unfinished job tell no keys of the samples of piles ${without.first} to ${without.end} in ${stagingDirectory}`,
  );
}

/**
 * The job appends to the finished output, so this must hold every pile and every byte from the start.
 * @param mostOpenBytes of records at the end that wait for the rest of their member.
 */
function requireFromTheBeginning(
  ranges: readonly FinishedRange[],
  totals: PileTotals,
  stagingDirectory: string,
  mostOpenBytes: number,
): void {
  let pile = 0;
  let last = { shard: 0, end: 0 };
  let bytesOfPiles = 0;
  let written = 0;
  const otherwise = (what: string) =>
    new StagedOutputError(
      `the records of the unfinished job put ${what} in ${stagingDirectory} after output that is missing`,
    );
  for (const { first, end, regions } of ranges.toSorted((a, b) => a.first - b.first)) {
    if (regions.length === 0) continue;
    if (totals.recordBytes.subarray(pile, first).some((bytes) => bytes > 0)) throw otherwise(`pile ${first}`);
    bytesOfPiles += totals.recordBytes.subarray(pile, end).reduce((sum, bytes) => sum + bytes, 0);
    pile = end;
    written += recordBytesOf(regions);
    const leastBytes = bytesOfPiles - mostOpenBytes;
    if (written < leastBytes) {
      throw new StagedOutputError(
        `the records of the unfinished job put ${written} bytes of the piles up to ${end} in ${stagingDirectory}, expected at least ${leastBytes}`,
      );
    }
    for (const { shard, start, end: regionEnd } of regions) {
      const expectedStart = shard === last.shard ? last.end : 0;
      if (shard < last.shard || start !== expectedStart) throw otherwise(`byte ${start} of shard ${shard}`);
      last = { shard, end: regionEnd };
    }
  }
}
