/**
 * Start reading here: a whole shuffle on one page.
 *
 *     plan      inputs -> slices, piles, memory and disk budget             prepare-shuffle.ts, ../plan/
 *     scatter   pass 1: one task a slice -> its pile set                    ../stages/scatter-slices.ts
 *     between   fit the threads to the longest record                       ../stages/task-settings.ts
 *               head, splits, cuts                                          ../stages/between-passes.ts
 *     shuffle   pass 2: one task a range of piles -> its part of the output   ../stages/shuffle-ranges.ts
 *     merge     pile j = its segments over all pile sets; no bytes move     ../piles/merged-pile.ts
 *     order     each task puts its piles in order, by key                   ../../workers/piles/pile-orderer.ts
 *     verify    the output holds every byte                                 staging.ts, ../sinks/
 *     commit    make it durable, then visible                               staging.ts, ../sinks/
 *
 * `../stages/chain.ts` has the passes of every kind of job; `local-executor.ts` does them on the threads of this process.
 *
 * Every step is verified before anything is deleted or becomes visible. A resumed job takes the same steps:
 * earlier-attempt.ts finds the work of an earlier attempt, and the passes skip it. `shuffle-store.ts` takes the piles of a
 * store instead of scattering; `append.ts` stops after the scatter pass; `shuffle-together.ts` does one such shuffle for each
 * member.
 */
import { randomBytes } from 'node:crypto';
import { AbortError, addCleanupErrors } from '../errors.js';
import type { ShuffleReport } from '../options/reports.js';
import type { ShuffleOptions } from '../options/shuffle-options.js';
import type { Tuning } from '../plan/memory-plan.js';
import { decideOutput } from '../stages/chain.js';
import type { InputCounts } from '../stages/coverage-check.js';
import { reportOfFinished } from './finished-job.js';
import { type JobScope, runJob } from './job.js';
import { ProfileLog } from './job-profile.js';
import { JobProgress, phasesOfShuffle } from './job-progress.js';
import { chainOf, localExecutor, type RunningShuffle, shuffleLocally } from './local-executor.js';
import { type PreparedShuffle, prepareShuffle } from './prepare-shuffle.js';
import { finishMoves, peakMemoryBytes, reportShuffle, type UntimedReport } from './shuffle-report.js';
import { commitOutput, FilesStaging, openStaging, runStaged } from './staging.js';

/**
 * Puts the records of all inputs into one uniformly random order.
 *
 * @param tuning sizes for tests; they do not change the output.
 * @throws PileshufError: one of its subclasses, with a stable `code` and a message of one line. If its `unfinishedJob` is
 *   set, the same call with `resume` continues the job.
 */
export function shuffle(options: ShuffleOptions, tuning: Partial<Tuning> = {}): Promise<ShuffleReport> {
  return shuffleCounted(options, tuning, undefined);
}

type OnCounts = (counts: InputCounts) => Promise<void>;

/**
 * Shuffles as `shuffle` does, for one of several jobs whose inputs belong together.
 *
 * @param onCounts called between the passes with what was counted of each input, if the keys come from ordinals. If it
 *   throws, the job fails. Not called if an earlier attempt had written all of the output. Undefined: the job stands alone.
 */
export async function shuffleCounted(
  options: ShuffleOptions,
  tuning: Partial<Tuning>,
  onCounts: OnCounts | undefined,
): Promise<ShuffleReport> {
  const profile = new ProfileLog();
  const job = async (scope: JobScope) => {
    const prepared = await prepareShuffle(options, tuning, scope);
    const { request, control, deviceGates, earlier } = prepared;
    const progress = new JobProgress(control, request, deviceGates, phasesOfShuffle(prepared), scope.releases);
    const staging = await openStaging(prepared, scope);
    const journal = earlier?.journal;
    const work = ({ releases }: JobScope) =>
      journal !== undefined && staging instanceof FilesStaging
        ? finishMoves(prepared, staging, journal, progress)
        : runPasses(
            { prepared, staging, progress, profile, attempt: randomBytes(4).toString('hex'), releases },
            onCounts ?? (async () => {}),
          );
    const report = await runStaged(staging, scope, work).catch((error: unknown) => {
      throw journal === undefined ? tellOfDiscarded(progress.stop.reason ?? error, prepared) : error;
    });
    if (onCounts === undefined) await staging.noteFinished(report);
    return report;
  };
  const { value, seconds } = await runJob(options, (scope) => job(scope).catch(reportOfFinished<UntimedReport>));
  const report = { ...value, peakMemoryBytes: peakMemoryBytes(), seconds: { total: seconds, ...value.seconds } };
  if (report.wasFinished !== true) await profile.tell(options, report);
  return report;
}

async function runPasses(job: RunningShuffle, onCounts: OnCounts) {
  const { prepared, staging, progress } = job;
  const decided = await decideOutput(chainOf(job), localExecutor(job, onCounts));
  const { piles, found } = decided.scattered;
  const deletesStripes = staging.checkpoint === undefined || !prepared.request.keepTemp;
  const written = await shuffleLocally(job, decided, deletesStripes);
  const { layout, totals } = written;
  prepared.reportLog?.passesDone({ piles, recordEnds: found.recordEnds, written: totals, cuts: layout.cuts });
  const committed = await commitOutput(staging, written, decided, prepared.request.spec, progress);
  return reportShuffle(prepared, decided, written, committed);
}

/** Makes the error of a stopped job say that its work is discarded, which `resume` would have preserved. */
function tellOfDiscarded(error: unknown, { plan, control }: PreparedShuffle): unknown {
  const couldHaveBeenResumed = plan.canBeResumed && !plan.isResumable && control.counted('finishedSlices') > 0;
  if (!(error instanceof AbortError) || !couldHaveBeenResumed) return error;
  const discarded = new AbortError(error.cause, 'discarded');
  addCleanupErrors(discarded, error.cleanupErrors);
  return discarded;
}
