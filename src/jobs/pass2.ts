/**
 * Pass 2 of a shuffle: takes the piles of pass 1, leaves out what the output does not get, and writes the rest in its order.
 * With `headCount`, the piles are cut down to the first records (../passes/take-head.ts); with `repeat`, records
 * are drawn from them (draw-output.ts); with `unique`, duplicates leave them (unique-records.ts); with `splits`, the cuts
 * of the output follow the splits (../passes/find-splits.ts).
 */
import { foundEnds, planOutput, threadsOfPass2 } from '../passes/between-passes.js';
import { type FoundSplit, findSplits } from '../passes/find-splits.js';
import type { ScatteredPiles } from '../passes/scattered-piles.js';
import type { PilesWork } from '../passes/shuffle-work.js';
import { takeHead } from '../passes/take-head.js';
import type { Threads } from '../passes/threads.js';
import { drawOutput } from './draw-output.js';
import { measuresPiles } from './job-phases.js';
import { type ShuffledOutput, shuffleTo } from './open-site.js';
import { outlivesJob, type Pass1, type RunningShuffle } from './pass1.js';
import { shuffleSettings } from './task-settings.js';
import { distinctPiles, equalityOf, inTurns } from './unique-records.js';

export interface Pass2 {
  readonly output: ShuffledOutput;
  readonly seconds: number;
  readonly piles: ScatteredPiles;
  /** The piles before they were cut down to the first records. */
  readonly distinct: ScatteredPiles;
  readonly splits: readonly FoundSplit[] | undefined;
}

export async function runPass2(job: RunningShuffle, pass1: Pass1): Promise<Pass2> {
  const { site, prepared, progress, profile } = job;
  const { request } = prepared;
  const { work, threads } = await openPiles(job, pass1);
  const distinct = await measureIfAsked(job, work, threads);
  const distinctWork = { ...work, piles: distinct };
  if (request.repeat) {
    profile.pass2Begins();
    const draw = () => drawOutput(job, pass1, distinctWork, threads);
    const toWrite =
      request.headCount && Math.round((request.headCount * distinct.bytes) / Math.max(1, distinct.records));
    const { value: output, seconds } = await progress.during('shuffle', toWrite, draw);
    return { output, seconds, piles: distinct, distinct, splits: undefined };
  }
  const keptHead = site.kind === 'files' ? site.keptHead : undefined;
  const piles = await takeHead(request, distinctWork, threads, keptHead);
  return { ...(await writePiles(job, pass1, { ...work, piles }, threads)), distinct };
}

/** The piles of pass 1 with the threads that fit their longest record. */
async function openPiles(
  { site, prepared, profile, scope, attempt }: RunningShuffle,
  { all, storage, threads: first }: Pass1,
): Promise<{ readonly work: PilesWork; readonly threads: Threads }> {
  const { request, inputIds, plan } = prepared;
  const fitted = await threadsOfPass2(first, plan, storage.ramPool, all, profile.add, scope.releases);
  const { threads, arenaBytes } = fitted;
  const settings = shuffleSettings(threads, plan, arenaBytes, storage, {
    keyScale: all.keyScale,
    framing: request.framing,
    tiesByBytes: inputIds !== undefined || request.unique,
    unique: request.unique,
    uniqueBy: equalityOf(request, all),
    hashesOutput: outlivesJob(site),
    rescatterTo: site.piles,
    isProfiled: request.isProfiled,
    sampledKeys: prepared.reportLog?.sampledKeys(),
  });
  return { work: { piles: all, settings, attempt, onWarning: request.onWarning }, threads };
}

/** Finds what stays of the piles where that must be known before the output is written. */
async function measureIfAsked(job: RunningShuffle, work: PilesWork, threads: Threads): Promise<ScatteredPiles> {
  const { site, prepared, progress } = job;
  const { request } = prepared;
  const measure = () => distinctPiles(request, site, work, threads);
  if (!measuresPiles(request, prepared.earlier)) return measure();
  return (await progress.during('measure', work.piles.bytes, measure)).value;
}

async function writePiles(
  { site, prepared, progress, profile }: RunningShuffle,
  { all, samples }: Pass1,
  work: PilesWork,
  threads: Threads,
): Promise<Omit<Pass2, 'distinct'>> {
  const { request } = prepared;
  const { piles } = work;
  const keptSplits = site.kind === 'files' ? site.keptSplits : undefined;
  const splits = await findSplits(request, work, threads, keptSplits);
  const planned = planOutput(request, piles, foundEnds(request, all), splits);
  const outputPlan = piles.hasDuplicates === true ? { ...planned, ...inTurns(outlivesJob(site)) } : planned;
  const deletesStripes = !(outlivesJob(site) && request.keepTemp);
  profile.pass2Begins();
  const { value: output, seconds } = await progress.during('shuffle', piles.bytes, () =>
    shuffleTo(site, outputPlan, { ...work, deletesStripes, samples }, threads),
  );
  return { output, seconds, piles, splits };
}
