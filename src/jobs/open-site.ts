/** The site of a job while it works: its temp disks and its open output. */
import { type Release, releasingAll } from '../cleanup.js';
import { AbortError } from '../errors.js';
import type { JobControl } from '../job-control.js';
import { keepFileFree } from '../machine/few-files.js';
import type { OutputLayout } from '../output/output-layout.js';
import { requireReplaceable } from '../output/output-place.js';
import type { OutputTarget, WrittenRegion } from '../output/output-target.js';
import type { OutputSummary } from '../output/staged-output.js';
import { StreamOutput } from '../output/stream-output.js';
import { shufflePiles } from '../passes/shuffle-pass.js';
import type { ShuffleWork } from '../passes/shuffle-work.js';
import type { Threads } from '../passes/threads.js';
import type { RescatterTarget } from '../pile-sets/pile-layout.js';
import { type PileTotals, sumTotals, type TotalsSum } from '../pile-sets/pile-totals.js';
import { findStart, type StartedFiles } from './earlier-attempt.js';
import type { JobScope } from './job.js';
import { describeWithoutInputs } from './job-description.js';
import { JobFiles, type JobFilesParts } from './job-files.js';
import type { OutputRequest, TalkRequest } from './request.js';
import type { JobSite, StreamSite } from './site.js';
import type { TempDisks } from './temp-disks.js';

export interface OpenStream {
  readonly kind: 'stream';
  readonly kept: undefined;
  readonly output: StreamOutput;
}

/** Temp data lies in private directories; the job leaves no files. */
interface JobStream extends OpenStream {
  readonly piles: RescatterTarget;
}

export type OpenSite = JobFiles | JobStream;

export async function openFiles(parts: JobFilesParts, { releases }: JobScope): Promise<JobFiles> {
  const { tempChoice } = parts.site;
  // The directory of the output may hold a million other files.
  if (tempChoice === 'tempDirs' || tempChoice === 'TMPDIR') parts.disks.removeLeftOver();
  const files = new JobFiles(parts);
  releases.push(() => files.end());
  await files.open();
  return files;
}

/** Finds the place of a job that no later call can resume: it reads a store, or makes its records. */
export async function startUnresumable(
  request: OutputRequest & TalkRequest,
  chosen: JobSite,
  { releases }: JobScope,
): Promise<StreamSite | StartedFiles> {
  if (chosen.kind === 'stream') return chosen;
  const start = await findStart({ ...request, resume: false, mayResume: false }, chosen);
  releases.push(() => start.directory.release());
  requireReplaceable(chosen.output, request.output ?? '', []);
  return { ...chosen, start };
}

/** Opens the files of a job that no later call can resume. */
export function openUnresumable(
  { spec }: OutputRequest,
  site: StartedFiles,
  parts: Pick<JobFilesParts, 'disks' | 'outputGate'>,
  scope: JobScope,
): Promise<JobFiles> {
  const neverResumed = { earlier: undefined, isResumable: false, mayResume: false, layout: undefined, keepTemp: false };
  const describe = (removesJobDirectory: boolean) => describeWithoutInputs(spec, site, removesJobDirectory);
  return openFiles({ site, directory: site.start.directory, ...parts, ...neverResumed, describe }, scope);
}

export async function openStream(
  { output }: StreamSite,
  tempDisks: TempDisks,
  control: JobControl,
  { releases }: JobScope,
): Promise<JobStream> {
  const disks = tempDisks.makePrivate(releases);
  const stream = await openOutputStream(output.path, control, releases);
  return { ...stream, piles: { disks, indexDirectory: disks[0]?.directory ?? '' } };
}

export async function openOutputStream(path: string, control: JobControl, releases: Release[]): Promise<OpenStream> {
  const output = await StreamOutput.open(path, control);
  releases.push(() => output.release());
  return { kind: 'stream', kept: undefined, output };
}

/** The threads end before the fate of the files is decided, because they have files open and may still write. */
export async function workAt<T>(
  site: JobFiles | OpenStream,
  { warn }: JobScope,
  work: (scope: JobScope) => Promise<T>,
): Promise<T> {
  const workWithSpareFile = (releases: Release[]) => {
    releases.push(keepFileFree());
    return work({ releases, warn });
  };
  const result = await releasingAll(workWithSpareFile, warn).catch(async (thrown: unknown) => {
    // A stream cannot be taken back.
    if (site.kind === 'stream')
      throw thrown instanceof AbortError ? new AbortError(thrown.cause, 'incomplete') : thrown;
    await site.failed(thrown, warn);
    throw thrown;
  });
  // The output is in place: failing to remove a temp file must not fail the job.
  if (site.kind === 'files') await site.succeeded().catch(warn);
  return result;
}

interface WrittenOutput {
  readonly layout: OutputLayout;
  readonly regions: readonly WrittenRegion[];
}

export interface ShuffledOutput extends WrittenOutput {
  readonly written: TotalsSum;
  /** What the output has of each pile. */
  readonly totals: PileTotals;
}

export async function shuffleTo(
  site: OpenSite,
  layout: OutputLayout,
  work: Omit<ShuffleWork, 'target'>,
  threads: Threads,
): Promise<ShuffledOutput> {
  const target = await beginOutput(site, layout, threads.control);
  const { regions, totals } = await shufflePiles({ ...work, target }, threads, site.kept);
  const written = sumTotals(totals);
  return { layout: { ...layout, recordBytes: written.bytes }, regions, written, totals };
}

export async function beginOutput(
  site: JobFiles | OpenStream,
  layout: OutputLayout,
  control: JobControl,
): Promise<OutputTarget> {
  if (site.kind === 'stream') return site.output.begin(layout, control);
  const finished = site.kept?.finished.ranges ?? [];
  return site.output.begin(
    layout,
    finished.flatMap((range) => range.regions),
  );
}

/** Completes, verifies and commits the output. Returns the final paths of the shards; none for one output. */
export async function commitOutput(
  site: JobFiles | OpenStream,
  { layout, regions }: WrittenOutput,
  summary: OutputSummary,
  control: JobControl,
): Promise<readonly string[]> {
  if (site.kind === 'stream') {
    await site.output.complete(layout, control);
    site.output.verify(layout, regions);
    return [];
  }
  await site.output.complete(layout, regions, control);
  site.output.verify(layout, regions);
  return site.commit(summary, control);
}
