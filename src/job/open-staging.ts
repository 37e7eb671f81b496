/** Opens what a job writes, works on it, and commits it. */
import { releasingAll } from '../cleanup.js';
import { keepFileFree } from '../machine/few-files.js';
import { type PileTotals, sumTotals, type Tally } from '../piles/pile-totals.js';
import { closeStream, openStream } from '../sinks/stream-output.js';
import type { OutputPlan } from '../stages/between-passes.js';
import type { FoundSplit } from '../stages/find-splits.js';
import { shufflePiles } from '../stages/shuffle-pass.js';
import type { ShuffleWork } from '../stages/shuffle-work.js';
import type { Threads } from '../stages/threads.js';
import type { JobScope } from './job.js';
import type { JobProgress, Timed } from './job-progress.js';
import type { RunningShuffle } from './pass1.js';
import { type ReportedOutput, reportOutput, summaryOf } from './split-report.js';
import {
  type FilesJob,
  FilesStaging,
  type StagedJob,
  type Staging,
  StreamStaging,
  type WrittenOutput,
} from './staging.js';

export async function openStaging(job: StagedJob, { releases }: JobScope): Promise<FilesStaging | StreamStaging> {
  const { site, disks, control } = job;
  if (isOfFiles(job)) return openFiles(job, releases);
  const own = disks.makePrivate(releases);
  const file = await openStream(site.output.path, control);
  releases.push(() => closeStream(file));
  return new StreamStaging(file, own);
}

function isOfFiles(job: StagedJob): job is FilesJob {
  return job.site.kind === 'files';
}

async function openFiles(job: FilesJob, releases: JobScope['releases']): Promise<FilesStaging> {
  const { tempChoice } = job.site;
  // The directory of the output may hold a million other files.
  if (tempChoice === 'tempDirs' || tempChoice === 'TMPDIR') job.disks.removeLeftOver();
  const staging = new FilesStaging(job);
  releases.push(() => staging.end());
  await staging.open();
  return staging;
}

/** The threads end before the fate of the files is decided, because they have files open and may still write. */
export async function workOn<T>(
  staging: Staging,
  { warn }: JobScope,
  work: (scope: JobScope) => Promise<T>,
): Promise<T> {
  const workWithSpareFile = (releases: JobScope['releases']) => {
    releases.push(keepFileFree());
    return work({ releases, warn });
  };
  const result = await releasingAll(workWithSpareFile, warn).catch(async (thrown: unknown) => {
    throw await staging.failed(thrown, warn);
  });
  // The output is in place: failing to remove a temp file must not fail the job.
  await staging.succeeded().catch(warn);
  return result;
}

export interface ShuffledOutput extends WrittenOutput {
  readonly written: Tally;
  /** What the output has of each pile. */
  readonly totals: PileTotals;
}

/** Cuts the output into shards, and writes it. */
export function shuffleTo(
  { staging, progress, profile }: Pick<RunningShuffle, 'staging' | 'progress' | 'profile'>,
  { work, cut }: OutputPlan,
  rest: Pick<ShuffleWork, 'deletesStripes' | 'samples'>,
  threads: Threads,
): Promise<Timed<ShuffledOutput>> {
  const { kept } = staging;
  profile.pass2Begins();
  return progress.during('shuffle', work.piles.bytes, async () => {
    const planned = await cut();
    // A claimed place cannot be taken back and written again, as a job needs that outlives its process.
    const inTurns = kept === undefined && planned.kind === 'placed' ? 'claimed' : 'appended';
    const layout = { ...planned, kind: work.piles.hasDuplicates === true ? inTurns : planned.kind };
    const target = await staging.begin(layout, threads.control);
    const { regions, totals } = await shufflePiles({ ...work, ...rest, target }, threads, kept);
    const written = sumTotals(totals);
    return { layout: { ...layout, recordBytes: written.bytes }, regions, written, totals };
  });
}

export interface Committed {
  readonly output: ReportedOutput;
  readonly seconds: number;
}

/** Completes, verifies and commits the output. @param found the splits, if there are any. */
export async function commitOutput(
  staging: Staging,
  output: WrittenOutput & Pick<ShuffledOutput, 'written'>,
  found: readonly FoundSplit[] | undefined,
  progress: JobProgress,
): Promise<Committed> {
  const summary = summaryOf(output.written, output.layout, found);
  const commit = () => staging.commit(output, summary, progress.control);
  const { value: shards, seconds } = await progress.during('commit', undefined, commit);
  return { output: reportOutput(summary, shards), seconds };
}
