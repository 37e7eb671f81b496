/** Takes hold of the place of an output, and of the work of an earlier attempt at the same job. */
import type { Release } from '../cleanup.js';
import { requireReplaceable } from '../sinks/output-place.js';
import { type EarlierAttempt, findStart, hasBegunOutput, hasWorkOnDisk, type StartedFiles } from './earlier-attempt.js';
import { type ComparedJob, type ManifestOfShuffle, requireSameJob } from './job-description.js';
import type { OutputRequest, ResumeRequest, TalkRequest } from './request.js';
import type { JobSite, StreamSite } from './site.js';
import { warnOfOtherShards } from './split-report.js';

export interface ClaimedPlace {
  readonly site: StreamSite | StartedFiles;
  readonly earlier: EarlierAttempt | undefined;
  /** Of the job that is resumed, also if nothing is left of its work. */
  readonly manifest: ManifestOfShuffle | undefined;
}

/**
 * @param compared must be the job of the earlier attempt; undefined: no later call can resume the job.
 * @param isLook changes nothing, and locks nothing.
 */
export async function claimPlace(
  request: OutputRequest & ResumeRequest & TalkRequest,
  chosen: JobSite,
  compared: ComparedJob | undefined,
  releases: Release[],
  isLook = false,
): Promise<ClaimedPlace> {
  if (chosen.kind === 'stream') return { site: chosen, earlier: undefined, manifest: undefined };
  const start = await findStart(request, chosen, isLook);
  releases.push(() => start.directory.release());
  const found = start.kind === 'resumed' ? start : undefined;
  const manifest = found && compared && (await requireSameJob(found.manifest, compared, chosen, hasBegunOutput(found)));
  const earlier = found && manifest && hasWorkOnDisk(found) ? { ...found, manifest } : undefined;
  if (earlier?.journal === undefined) {
    const inputPaths = compared?.inputs.map((input) => input.path) ?? [];
    requireReplaceable(chosen.output, request.output ?? '', inputPaths, request.resume);
    warnOfOtherShards(request, chosen.output);
  }
  return { site: { ...chosen, start }, earlier, manifest };
}
