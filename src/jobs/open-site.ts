/**
 * The site of a job while the job works: its temp disks and its open output.
 */
import { releasingAll } from '../cleanup.js';
import { AbortError } from '../errors.js';
import type { JobControl } from '../job-control.js';
import type { OutputLayout } from '../output/output-layout.js';
import type { OutputTarget, WrittenRegion } from '../output/output-target.js';
import type { OutputSummary } from '../output/staged-output.js';
import { StreamOutput } from '../output/stream-output.js';
import type { RescatterTarget } from '../pile-sets/pile-layout.js';
import type { JobScope } from './job.js';
import { JobFiles, type JobFilesParts } from './job-files.js';
import type { StreamSite } from './site.js';
import type { TempDisks } from './temp-disks.js';

/** The site of a job that writes a stream. Temp data is in private directories; the job leaves no files. */
export interface JobStream {
  readonly kind: 'stream';
  readonly piles: RescatterTarget;
  readonly output: StreamOutput;
}

export type OpenSite = JobFiles | JobStream;

export async function openFiles(parts: JobFilesParts, { releases }: JobScope): Promise<JobFiles> {
  const files = new JobFiles(parts);
  releases.push(() => files.end());
  await files.open();
  return files;
}

export async function openStream(
  { output }: StreamSite,
  tempDisks: TempDisks,
  control: JobControl,
  { releases }: JobScope,
): Promise<JobStream> {
  const disks = tempDisks.makePrivate(releases);
  const stream = await StreamOutput.open(output.path, control);
  releases.push(() => stream.release());
  return { kind: 'stream', piles: { disks, indexDirectory: disks[0]?.directory ?? '' }, output: stream };
}

/**
 * Does the work of a job at its site. The threads of the work end before the fate of the files is decided, because they
 * have files open and may still write.
 */
export async function workAt<T>(site: OpenSite, { warn }: JobScope, work: (scope: JobScope) => Promise<T>): Promise<T> {
  const result = await releasingAll((releases) => work({ releases, warn }), warn).catch(async (thrown: unknown) => {
    // A stream cannot be taken back.
    if (site.kind === 'stream')
      throw thrown instanceof AbortError ? new AbortError(thrown.cause, 'incomplete') : thrown;
    await site.failed(thrown);
    throw thrown;
  });
  // The output is in place: failing to remove a temp file must not fail the job.
  if (site.kind === 'files') await site.succeeded().catch(warn);
  return result;
}

/** Makes the output ready for records. @returns the target of the tasks of the shuffle pass. */
export async function beginOutput(site: OpenSite, layout: OutputLayout, control: JobControl): Promise<OutputTarget> {
  if (site.kind === 'stream') return site.output.begin(layout, control);
  const finished = site.keptRanges?.finished.ranges ?? [];
  return site.output.begin(
    layout,
    finished.flatMap((range) => range.regions),
  );
}

/**
 * Writes headers and trailers, verifies the output, and makes it durable and visible.
 * @returns the final paths of the shards; none for one output.
 */
export async function commitOutput(
  site: OpenSite,
  layout: OutputLayout,
  regions: readonly WrittenRegion[],
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
