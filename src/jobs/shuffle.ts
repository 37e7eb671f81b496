/**
 * Start reading here: a whole shuffle on one page.
 *
 *     plan      inputs -> slices, piles, memory and disk budget           prepare-shuffle.ts, ../plan/
 *     scatter   pass 1: one task a slice -> its pile set                  pass1.ts, ../passes/scatter-pass.ts
 *     merge     pile j = its segments over all pile sets; no bytes move   ../pile-sets/merged-pile.ts
 *     between   plan the cuts; fit the threads to the longest record      pass2.ts, ../passes/between-passes.ts
 *     shuffle   pass 2: one task a range of piles -> its part of the output   pass2.ts, ../passes/shuffle-pass.ts
 *     order     each task puts its piles in order, by key               ../../workers/piles/pile-orderer.ts
 *     verify    the output holds every byte                               open-site.ts, ../output/
 *     commit    make it durable, then visible                             open-site.ts, ../output/
 *
 * Every step is verified before anything is deleted or becomes visible. A resumed job takes the same steps:
 * earlier-attempt.ts finds the work of an earlier attempt, and the passes skip it. `shuffle-store.ts` takes the piles of a
 * store instead of scattering; `append.ts` stops after the scatter pass; `shuffle-together.ts` does one such shuffle for each
 * member.
 */
import { randomBytes } from 'node:crypto';
import { AbortError, addCleanupErrors } from '../errors.js';
import type { InputCounts } from '../passes/coverage-check.js';
import type { ScatterOutcome } from '../passes/scatter-pass.js';
import { diskBytesOf, type ScatteredPiles } from '../passes/shuffle-work.js';
import { leftOutOf } from '../passes/take-head.js';
import { JobStop } from '../passes/threads.js';
import { checksumTextOf, type TotalsSum } from '../pile-sets/pile-totals.js';
import type { Tuning } from '../plan/memory-plan.js';
import type { KeepSpec } from '../spec.js';
import { resumedWork } from './earlier-attempt.js';
import { finishMoves, type UntimedReport } from './finish-moves.js';
import { type JobScope, runJob } from './job.js';
import { describeJob } from './job-description.js';
import { ProfileLog } from './job-profile.js';
import { JobProgress, phasesOfShuffle } from './job-progress.js';
import { commitOutput, type OpenSite, openFiles, openStream, workAt } from './open-site.js';
import type { ShuffleOptions, ShuffleReport } from './options.js';
import { type RunningShuffle, runPass1 } from './pass1.js';
import { runPass2 } from './pass2.js';
import type { PreparedShuffle } from './prepare-shuffle.js';
import { prepareShuffle } from './prepare-shuffle.js';
import { reportShards, summarizeSplits } from './split-report.js';
import { reportGroups } from './weigh-job.js';

/**
 * Puts the records of all inputs into one uniformly random order.
 *
 * @param tuning sizes for tests; they do not change the output.
 * @throws PileshufError: one of its subclasses, with a stable `code` and a message of one line. If its `unfinishedJob` is
 *   set, the same call with `resume` continues the job.
 */
export function shuffle(options: ShuffleOptions, tuning: Partial<Tuning> = {}): Promise<ShuffleReport> {
  return shuffleCounted(options, tuning, async () => {});
}

type OnCounts = (counts: InputCounts) => Promise<void>;

/**
 * As `shuffle`, for one of several jobs whose inputs belong together.
 *
 * @param onCounts called between the passes with what was counted of each input, if the keys come from ordinals. If it
 *   throws, the job fails. Not called if an earlier attempt had written all of the output.
 */
export async function shuffleCounted(
  options: ShuffleOptions,
  tuning: Partial<Tuning>,
  onCounts: OnCounts,
): Promise<ShuffleReport> {
  const profile = new ProfileLog();
  const { value, seconds } = await runJob(options, async (scope) => {
    const prepared = await prepareShuffle(options, tuning, scope);
    const { request, control } = prepared;
    const stop = new JobStop(control, request.signal, scope.releases);
    const progress = new JobProgress(control, stop, request.onProgress, phasesOfShuffle(prepared), {
      gates: prepared.deviceGates,
      budgetBytes: request.memoryBytes,
    });
    const site = await openSite(prepared, scope);
    const journal = prepared.earlier?.journal;
    if (site.kind === 'files' && journal !== undefined)
      return workAt(site, scope, () => finishMoves(prepared, site, journal, progress));
    const attempt = randomBytes(4).toString('hex');
    const job = { site, prepared, attempt, stop, progress, profile, tuning };
    return workAt(site, scope, (threads) => runPasses({ ...job, scope: threads }, onCounts)).catch((error: unknown) => {
      throw tellOfDiscarded(stop.reason ?? error, prepared);
    });
  });
  const report = { ...value, seconds: { total: seconds, ...value.seconds } };
  await profile.tell(options, report);
  return report;
}

function openSite(prepared: PreparedShuffle, scope: JobScope): Promise<OpenSite> {
  const { request, plan, site, earlier, disks, outputGate, control } = prepared;
  if (site.kind === 'stream') return openStream(site, disks, control, scope);
  const describe = (removesJobDirectory: boolean) => describeJob(prepared, plan, site, removesJobDirectory);
  const { isResumable, layout } = plan;
  const { directory } = site.start;
  const { keepTemp } = request;
  const parts = { site, directory, earlier, disks, outputGate, isResumable, layout, keepTemp, describe };
  return openFiles({ ...parts, mayResume: true }, scope);
}

async function runPasses(job: RunningShuffle, onCounts: OnCounts): Promise<UntimedReport> {
  const { site, prepared, progress } = job;
  const { request, plan, control } = prepared;
  const { spec } = request;
  const pass1 = await runPass1(job);
  const { found } = pass1;
  await onCounts(found.counts);
  const pass2 = await runPass2(job, pass1);
  const { piles, distinct, output } = pass2;

  const { cuts } = output.layout;
  const { records, bytes } = output.written;
  const checksum = checksumTextOf(output.written.checksum);
  const splits = summarizeSplits(pass2.splits, cuts);
  prepared.reportLog?.passesDone({ piles: pass1.piles, recordEnds: found.recordEnds, written: output.totals, cuts });
  const summary = { shardCount: cuts.shardCount, records, bytes, checksum, splits };
  const commit = await progress.during('commit', undefined, () => commitOutput(site, output, summary, control));
  return {
    records,
    bytes,
    seed: spec.key.seed,
    checksum,
    seconds: { pass1: pass1.seconds, pass2: pass2.seconds, commit: commit.seconds },
    inputCount: prepared.inputs.length,
    groups:
      prepared.weighing && found.groups && reportGroups(prepared.weighing, found.groups, spec.keep.mix.shares?.unit),
    blank: spec.read.skipsBlank === true ? found.blank : undefined,
    ...leftOutBy(spec.keep, pass1, distinct, output.written),
    workers: plan.memory.workers,
    piles: piles.totals.records.length,
    tempBytes: diskBytesOf(piles) + control.counted('rescatteredBytes'),
    decoders: found.decoders,
    ...reportShards({ records, splits }, commit.value),
    resumed: resumedWork(prepared.earlier, pass1.resumedCount),
  };
}

/** Tells a stopped job that it would have kept the finished part of its work, had it been started with `resume`. */
function tellOfDiscarded(error: unknown, prepared: PreparedShuffle): unknown {
  if (!(error instanceof AbortError) || !couldHaveBeenKept(prepared)) return error;
  const told = new AbortError(error.cause, 'discarded');
  addCleanupErrors(told, error.cleanupErrors);
  return told;
}

function couldHaveBeenKept({ plan, site, inputs, control }: PreparedShuffle): boolean {
  const canBeResumed = site.kind === 'files' && inputs.every(({ kind }) => kind === 'file');
  return canBeResumed && !plan.isResumable && control.counted('finishedSlices') > 0;
}

/** The records of the inputs that the output lacks, and why. */
function leftOutBy(
  { headCount, repeat, unique }: KeepSpec,
  { piles: all, found }: ScatterOutcome,
  kept: ScatteredPiles,
  written: TotalsSum,
): Pick<ShuffleReport, 'leftOut' | 'duplicates'> {
  const hasNoHead = headCount === undefined || repeat;
  if (unique === undefined)
    return { leftOut: hasNoHead ? undefined : leftOutOf(all, written, found.leftOut), duplicates: undefined };
  const distinct = kept.hasDuplicates === true ? written : kept;
  return {
    leftOut: hasNoHead ? undefined : leftOutOf(distinct, written),
    duplicates: leftOutOf(all, distinct, found.leftOut),
  };
}
