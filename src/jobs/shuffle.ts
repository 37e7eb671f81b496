/**
 * Start reading here: a whole shuffle on one page.
 *
 *     plan      inputs -> slices, piles, memory and disk budget           prepare-shuffle.ts, ../plan/
 *     scatter   pass 1: one task a slice -> its pile set                  ../passes/scatter-pass.ts
 *     merge     pile j = its segments over all pile sets; no bytes move   ../pile-sets/merged-pile.ts
 *     between   plan the cuts; fit the threads to the longest record      ../passes/between-passes.ts
 *     shuffle   pass 2: one task a range of piles -> its part of the output   ../passes/shuffle-pass.ts
 *     verify    the output holds every byte                               open-site.ts, ../output/
 *     commit    make it durable, then visible                             open-site.ts, ../output/
 *
 * Every step is verified before anything is deleted or becomes visible. A resumed job takes the same steps:
 * earlier-attempt.ts finds the work of an earlier attempt, and the passes skip it. With `headCount`, the piles are cut down
 * to the first records between the passes (../passes/take-head.ts); with `repeat`, copies of drawn records take their place
 * (draw-output.ts); with `unique`, duplicates leave them (unique-records.ts); with `splits`, the cuts of the output follow the
 * splits (../passes/find-splits.ts). `shuffle-store.ts` takes the piles of a store instead of scattering; `append.ts` stops
 * after the scatter pass; `shuffle-together.ts` does one such shuffle for each member.
 */
import { randomBytes } from 'node:crypto';
import { foundHeaders, planOutput, threadsOfPass2 } from '../passes/between-passes.js';
import { findSplits } from '../passes/find-splits.js';
import { holdInputs } from '../passes/hold-pass.js';
import { openJobMemory } from '../passes/job-memory.js';
import { sampleSourceOf } from '../passes/sample-places.js';
import { scatterHead } from '../passes/scatter-head.js';
import { scatterInputs } from '../passes/scatter-pass.js';
import { diskBytesOf } from '../passes/scattered-piles.js';
import { takeHead } from '../passes/take-head.js';
import { JobStop, startThreads } from '../passes/threads.js';
import { checksumTextOf } from '../pile-sets/pile-totals.js';
import type { Tuning } from '../plan/memory-plan.js';
import { tellOfDiscarded } from './discarded-work.js';
import { drawOutput, type WritablePiles } from './draw-output.js';
import { resumedWork } from './earlier-attempt.js';
import { finishMoves, type UntimedReport } from './finish-moves.js';
import { reportGroups } from './group-report.js';
import { type JobScope, runJob } from './job.js';
import { expectOfSizes, expectShuffle } from './job-costs.js';
import { describeShuffle } from './job-description.js';
import { ProfileLog } from './job-profile.js';
import { JobProgress } from './job-progress.js';
import { listDuplicates } from './list-duplicates.js';
import { commitOutput, type OpenSite, openFiles, openStream, shuffleTo, workAt } from './open-site.js';
import type { ShuffleOptions, ShuffleReport } from './options.js';
import { type PreparedShuffle, prepareShuffle } from './prepare-shuffle.js';
import { reportSplits, summarizeSplits } from './split-report.js';
import { keySplitValues } from './split-values.js';
import { scatterSettings, shuffleSettings } from './task-settings.js';
import { distinctPiles, equalityOf, inTurns, keyRuleOf, leftOutBy } from './unique-records.js';

/**
 * Puts the records of all inputs into one uniformly random order.
 *
 * @param tuning sizes for tests; they do not change the output.
 * @throws PileshufError: one of its subclasses, with a stable `code` and a message of one line. If its `unfinishedJob` is
 *   set, the same call with `resume` continues the job.
 */
export function shuffle(options: ShuffleOptions, tuning: Partial<Tuning> = {}): Promise<ShuffleReport> {
  return shuffleCounted(options, tuning, () => {});
}

/**
 * The same for one of several jobs whose inputs belong together.
 * @param onCounts called between the passes with the number of records of each input, if the keys come from ordinals. If it
 *   throws, the job fails. Not called if an earlier attempt had written all of the output.
 */
export async function shuffleCounted(
  options: ShuffleOptions,
  tuning: Partial<Tuning>,
  onCounts: (recordCounts: Float64Array) => void,
): Promise<ShuffleReport> {
  const profile = new ProfileLog();
  const { value, seconds } = await runJob(options, async (scope) => {
    const prepared = { ...(await prepareShuffle(options, tuning, scope)), onCounts };
    const { request, control } = prepared;
    const stop = new JobStop(control, request.signal);
    scope.releases.push(() => stop.release());
    const progress = new JobProgress(control, stop, request.onProgress, expectShuffle(prepared), {
      gates: prepared.deviceGates,
      budgetBytes: request.memoryBytes,
    });
    const site = await openSite(prepared, scope);
    const journal = prepared.earlier?.journal;
    if (site.kind === 'files' && journal !== undefined)
      return workAt(site, scope, () => finishMoves(prepared, site, journal, progress));
    const work = (threadScope: JobScope) => shuffleAt(site, prepared, stop, progress, profile, threadScope, tuning);
    return workAt(site, scope, work).catch((error: unknown) => {
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
  const describe = (removesJobDirectory: boolean) => describeShuffle(prepared, plan, site, removesJobDirectory);
  const { isResumable, layout } = plan;
  const { directory } = site.start;
  const { keepTemp } = request;
  const parts = { site, directory, earlier, disks, outputGate, isResumable, layout, keepTemp, describe };
  return openFiles({ ...parts, mayResume: request.duplicates === undefined }, scope);
}

async function shuffleAt(
  site: OpenSite,
  prepared: PreparedShuffle & { readonly onCounts: (recordCounts: Float64Array) => void },
  stop: JobStop,
  progress: JobProgress,
  profile: ProfileLog,
  { releases, warn }: JobScope,
  tuning: Tuning,
): Promise<UntimedReport> {
  const { request, inputs, inputIds, plan, control } = prepared;
  const { memory, inline } = plan;
  const { pileCount, stripeCount } = memory;
  const outlivesJob = site.kind === 'files' && site.outlivesJob;
  const attempt = randomBytes(4).toString('hex');

  // The threads that keep memory start beside those of the task pool, and end after them.
  const openingMemory = openJobMemory(memory, inline, stop, releases);
  openingMemory.catch(() => {});
  // A single stream keeps one thread busy in pass 1; the others start when pass 2 has tasks for them.
  const size = { threadCount: inline ? 0 : memory.workers, startCount: plan.slices.length };
  const startAgain = () => startThreads(size, { control, stop }, profile.add, releases);
  const threads = await startAgain();
  const { ramPool, recordMemory } = await openingMemory;
  const piling = { layout: { pileCount, stripeCount, ...site.piles }, ramPool, tempZstdLevel: request.tempZstdLevel };

  const keepsPlaces = request.duplicates !== undefined;
  profile.pass1Begins(prepared.reportLog);
  const scatterWork = {
    ...prepared,
    inputs: prepared.inputsToRead,
    slices: plan.slices,
    keys: request.keys,
    keyOf: keyRuleOf(request, inputIds),
    settings: scatterSettings(
      threads,
      plan,
      { ...request, keepsPlaces },
      piling,
      outlivesJob,
      request.isProfiled,
      keySplitValues(request.splitBy, request.seed),
    ),
    attempt,
    onWarning: request.onWarning,
  };
  const keptPileSets = site.kind === 'files' ? site.keptPileSets(request.onWarning) : undefined;
  const scatter = () => {
    if (recordMemory !== undefined) return holdInputs({ ...scatterWork, ...recordMemory, startAgain }, threads);
    if (plan.head !== undefined) return scatterHead(scatterWork, plan.head, threads, keptPileSets);
    return scatterInputs(scatterWork, threads, keptPileSets);
  };
  const watched = () => prepared.spaceWatch?.during(scatter, stop) ?? scatter();
  const pass1 = await progress.during('scatter', plan.inputBytes, watched);
  const all = pass1.value;
  prepared.onCounts(all.recordCounts);

  const second = await threadsOfPass2(threads, plan, { ramPool, recordMemory }, all, profile.add, releases);
  const settings = shuffleSettings(second.threads, plan, second.arenaBytes, piling, all.held, {
    keyScale: all.keyScale,
    framing: request.framing,
    tiesByBytes: inputIds !== undefined || request.unique,
    unique: request.unique,
    uniqueBy: equalityOf(request, all),
    keepsPlaces,
    hashesOutput: outlivesJob,
    rescatterTo: site.piles,
    isProfiled: request.isProfiled,
    sampledKeys: prepared.reportLog?.sampledKeys(),
  });
  const work = { piles: all, settings, attempt, onWarning: request.onWarning };
  const duplicates = site.kind === 'files' ? site.duplicates : undefined;
  const listed =
    site.kind === 'stream' || duplicates === undefined
      ? undefined
      : await listDuplicates({
          prepared,
          site,
          duplicates,
          work,
          all,
          threads: second.threads,
          tuning,
          onProfile: profile.add,
          releases,
        });
  const pilesWork = { ...work, piles: listed?.distinct ?? (await distinctPiles(request, site, work, second.threads)) };
  const deletesStripes = !(outlivesJob && request.keepTemp);
  const samples = sampleSourceOf(request.framing, { ...request, ...scatterWork, recordEnds: all.recordEnds });
  const write = async (ordered: WritablePiles, isFirst = true) => {
    const { piles } = ordered;
    progress.expect(expectOfSizes(prepared, control.counted('scatteredBytes'), piles.bytes));
    const keptSplits = site.kind === 'files' ? site.keptSplits : undefined;
    const splits = await findSplits(request, { ...pilesWork, piles }, ordered.threads, keptSplits);
    const planned = planOutput(request, piles, isFirst ? foundHeaders(request, all) : undefined, splits);
    const outputPlan = piles.hasDuplicates === true ? { ...planned, ...inTurns(outlivesJob) } : planned;
    const shuffleWork = { ...pilesWork, ...ordered, deletesStripes, samples };
    profile.pass2Begins();
    const pass2 = async () => {
      const output = await shuffleTo(site, outputPlan, shuffleWork, ordered.threads);
      await listed?.write();
      return output;
    };
    const toWrite = piles.bytes + (listed?.bytes ?? 0);
    return { piles, splits, ...(await progress.during('shuffle', toWrite, pass2)) };
  };
  const writeHead = async () => {
    const keptHead = site.kind === 'files' ? site.keptHead : undefined;
    return write({
      piles: await takeHead(request, pilesWork, second.threads, keptHead),
      settings,
      threads: second.threads,
    });
  };
  const drawnJob = {
    prepared,
    site,
    work: pilesWork,
    threads: second.threads,
    tuning,
    onProfile: profile.add,
    onWarning: warn,
  };
  const pass2 = request.repeat ? await drawOutput(drawnJob, write) : await writeHead();

  const { piles } = pass2;
  const { records, bytes } = pass2.value.written;
  const checksum = checksumTextOf(pass2.value.written.checksum);
  const { cuts } = pass2.value.layout;
  const splits = summarizeSplits(pass2.splits, cuts);
  prepared.reportLog?.passesDone({ all, piles, cuts });
  const summary = { shardCount: cuts.shardCount, records, bytes, checksum, splits };
  const commit = await progress.during('commit', undefined, () => commitOutput(site, pass2.value, summary, control));
  return {
    records,
    bytes,
    seed: request.seed,
    checksum,
    seconds: { pass1: pass1.seconds, pass2: pass2.seconds, commit: commit.seconds },
    inputCount: inputs.length,
    groups: prepared.weighing && all.groups && reportGroups(prepared.weighing, all.groups),
    ...leftOutBy(request, all, pilesWork.piles, pass2.value.written),
    workers: memory.workers,
    piles: piles.totals.records.length,
    tempBytes: diskBytesOf(piles) + control.counted('rescatteredBytes'),
    decoders: all.decoders,
    shards: commit.value,
    splits: reportSplits(splits, commit.value),
    resumed: resumedWork(prepared.earlier, all.resumedCount),
  };
}
