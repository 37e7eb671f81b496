/**
 * Lists what a job drops that keeps one of equal records. Pass 1 has stored where each record comes from. The piles are put in
 * order once more between the passes, and a line for each dropped record goes to piles of its own, by the place of the record in
 * the inputs. Before the output is written, these piles are written in their order, as a file that appears together with the
 * output. A job that can be resumed then notes the file, before it deletes the first pile. Half of the memory is for either
 * piles.
 */
import { randomBytes } from 'node:crypto';
import type { Release } from '../cleanup.js';
import { StagedOutputError } from '../errors.js';
import type { StagedList } from '../job-directory/notes.js';
import type { WrittenRegion } from '../output/output-target.js';
import type { StagedOutput } from '../output/staged-output.js';
import { layoutOfOne, threadsOfPass2 } from '../passes/between-passes.js';
import { verifyRegions } from '../passes/finished-output.js';
import { openRamPool } from '../passes/job-memory.js';
import type { ScatterOutcome } from '../passes/scatter-pass.js';
import type { ScatteredPiles } from '../passes/scattered-piles.js';
import { shufflePiles } from '../passes/shuffle-pass.js';
import type { PilesWork } from '../passes/shuffle-work.js';
import { listDropped, notedList, textsOf } from '../passes/take-distinct.js';
import type { OnProfile } from '../passes/task-pool.js';
import type { Threads } from '../passes/threads.js';
import { planMemory, type Tuning } from '../plan/memory-plan.js';
import type { JobFiles } from './job-files.js';
import { compressionOfName, ofLongLine, planLines } from './plan-lines.js';
import type { PreparedShuffle } from './prepare-shuffle.js';
import { shuffleSettings } from './task-settings.js';

export interface ListingJob {
  readonly prepared: PreparedShuffle;
  readonly site: JobFiles;
  readonly duplicates: StagedOutput;
  /** Whether the work of this attempt stays for a later attempt if the job fails. */
  readonly outlivesJob: boolean;
  /** The piles of pass 1. */
  readonly work: PilesWork;
  readonly all: ScatterOutcome;
  readonly threads: Threads;
  readonly tuning: Tuning;
  readonly onProfile: OnProfile;
  readonly releases: Release[];
}

export interface ListedDuplicates {
  /** What stays. */
  readonly distinct: ScatteredPiles;
  /** Of all lines that are not written yet. */
  readonly bytes: number;
  /**
   * Writes the file, before the output is written. Its threads take the place of those that listed.
   * @returns its threads; undefined: an earlier attempt wrote the file.
   */
  write(): Promise<Threads | undefined>;
}

/**
 * @throws VerificationError if a pile is not as it was; StagedOutputError if the file of an earlier attempt is not what it
 *   noted.
 */
export async function listDuplicates(job: ListingJob): Promise<ListedDuplicates> {
  const noted = job.site.keptDistinct && notedList(job.work.piles, job.site.keptDistinct);
  if (noted === undefined) return listAnew(job);
  await verifyStaged(job, noted.staged);
  return { distinct: noted.distinct, bytes: 0, write: async () => undefined };
}

/** @throws StagedOutputError if the staged file is not what an earlier attempt noted. */
async function verifyStaged(
  { site, duplicates, work, threads, prepared }: ListingJob,
  { byteLength, regions }: StagedList,
): Promise<void> {
  duplicates.requireStaged(regions);
  const { stagedBytes } = duplicates;
  if (stagedBytes !== byteLength)
    throw new StagedOutputError(
      `the staged file of duplicates has ${stagedBytes} bytes, expected the ${byteLength} that the unfinished job wrote`,
    );
  const stagingDirectory = site.duplicatesStaging;
  const place = { job: work.settings, stagingDirectory, headerBytes: 0, gate: prepared.outputGate };
  const groups = regions.map((region) => ({ regions: [region] }));
  await verifyRegions(place, groups, threads, work.onWarning);
}

async function listAnew(job: ListingJob): Promise<ListedDuplicates> {
  const { prepared, site, work, all, threads, tuning, releases } = job;
  const { request, inputs, plan } = prepared;
  const compression = compressionOfName(request.duplicates ?? '');
  const paths = inputs.map(({ path }) => path);
  const { names, longestLineBytes, memoryNeed, memory, sizes, keyScale } = planLines(
    plan.memoryNeed,
    paths,
    all,
    compression,
    (need) => planMemory(need, tuning),
  );
  const { pileCount, stripeCount } = memory;
  const ramPool = await openRamPool(memory.ramPoolBytes, plan.inline, threads.stop, releases);
  const layout = { pileCount, stripeCount, ...site.piles };
  const { distinct, lines } = await listDropped(work, threads, {
    lines: { ...sizes, layout, keyScale, ramPool },
    names,
    longestLineBytes,
    linesAttempt: randomBytes(4).toString('hex'),
  });
  const write = async () => {
    const { control } = prepared;
    const linePlan = { ...plan, memory, memoryNeed };
    const started = threadsOfPass2(threads, linePlan, { ramPool, startsAnew: true }, lines, job.onProfile, releases);
    const second = await started.catch((error: unknown) => {
      throw ofLongLine(error, lines.longestRecordBytes);
    });
    const storage = { layout, ramPool, tempZstdLevel: request.tempZstdLevel };
    const settings = shuffleSettings(second.threads, linePlan, second.arenaBytes, storage, {
      ...LINES_AS_THEY_COME,
      hashesOutput: job.outlivesJob,
      keyScale,
      rescatterTo: site.piles,
      isProfiled: request.isProfiled,
    });
    const attempt = randomBytes(4).toString('hex');
    const lineWork = { piles: lines, settings, attempt, onWarning: request.onWarning };
    const output = layoutOfOne(lines, compression);
    const target = job.duplicates.begin(output, []);
    const shuffleWork = { ...lineWork, target, deletesStripes: true, samples: undefined };
    const { regions } = await shufflePiles(shuffleWork, second.threads, undefined);
    await job.duplicates.complete(output, regions, control);
    job.duplicates.verify(output, regions);
    // The output takes turns of its own.
    control.restartTurns();
    await note(regions);
    return second.threads;
  };
  const note = async (regions: readonly WrittenRegion[]) => {
    const { keptDistinct } = site;
    if (keptDistinct === undefined) return;
    await job.duplicates.makeDurable([{ shard: 0 }]);
    // The directory of the file.
    await site.output.makeDurable([]);
    const byteLength = job.duplicates.stagedBytes;
    await keptDistinct.write({ piles: textsOf(distinct.totals), duplicates: { byteLength, regions } });
  };
  return { distinct, bytes: lines.bytes, write };
}

/** Lines have different keys, the places of their records, and all of them stay. */
const LINES_AS_THEY_COME = {
  framing: undefined,
  tiesByBytes: false,
  unique: false,
  uniqueBy: undefined,
  keepsPlaces: false,
} as const;
