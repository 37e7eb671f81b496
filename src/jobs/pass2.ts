/**
 * Pass 2 of a shuffle: takes the piles of pass 1, leaves out what the output does not get, and writes the rest in its order.
 * With `headCount`, the piles are cut down to the first records (../passes/take-head.ts); with `repeat`, copies of drawn
 * records take their place (draw-output.ts); with `unique`, duplicates leave them (unique-records.ts); with `splits`, the cuts
 * of the output follow the splits (../passes/find-splits.ts).
 */
import type { ShuffleSettings } from '../../workers/settings.js';
import { NO_ENDS } from '../output/output-layout.js';
import { foundEnds, planOutput, threadsOfPass2 } from '../passes/between-passes.js';
import { type FoundSplit, findSplits } from '../passes/find-splits.js';
import type { ScatteredPiles } from '../passes/scattered-piles.js';
import type { PilesWork } from '../passes/shuffle-work.js';
import { takeHead } from '../passes/take-head.js';
import { drawOutput, type WritablePiles } from './draw-output.js';
import { isEndless, measuresPiles } from './job-phases.js';
import { type ListedDuplicates, listDuplicates } from './list-duplicates.js';
import { type ShuffledOutput, shuffleTo } from './open-site.js';
import { outlivesJob, type Pass1, type RunningShuffle } from './pass1.js';
import { shuffleSettings } from './task-settings.js';
import { distinctPiles, equalityOf, inTurns } from './unique-records.js';

/** What pass 2 has written. */
export interface Pass2 {
  readonly output: ShuffledOutput;
  readonly seconds: number;
  /** The piles of the output. */
  readonly piles: ScatteredPiles;
  /** The same before they were cut down to the first records, or copies were drawn. */
  readonly distinct: ScatteredPiles;
  /** Undefined: the output is not split. */
  readonly splits: readonly FoundSplit[] | undefined;
}

/** @throws PileshufError if a pile is not as it was, the output cannot be written, or the job is stopped. */
export async function runPass2(job: RunningShuffle, pass1: Pass1): Promise<Pass2> {
  const { site, prepared, tuning, profile, scope } = job;
  const { request } = prepared;
  const first = await openPiles(job, pass1);
  const { threads } = first;
  const work = { ...first, attempt: job.attempt, onWarning: request.onWarning };
  const { listed, distinct } = await measureIfAsked(job, pass1, work, first);
  const distinctWork = { ...work, piles: distinct };
  const write = async (ordered: WritablePiles, isFirst: boolean) => ({
    ...(await writePiles(job, pass1, { ...distinctWork, ...ordered }, ordered, listed, isFirst)),
    distinct,
  });
  if (request.repeat) {
    const drawn = {
      prepared,
      site,
      work: distinctWork,
      threads,
      tuning,
      progress: job.progress,
      onProfile: profile.add,
      onWarning: scope.warn,
    };
    return drawOutput(drawn, write);
  }
  const keptHead = site.kind === 'files' ? site.keptHead : undefined;
  return write({ ...first, piles: await takeHead(request, distinctWork, threads, keptHead) }, true);
}

/** The piles of pass 1 with the threads that fit their longest record. */
async function openPiles(
  { site, prepared, profile, scope }: RunningShuffle,
  pass1: Pass1,
  startsAnew?: boolean,
): Promise<WritablePiles> {
  const { request, inputIds, plan } = prepared;
  const { all, storage } = pass1;
  const memory = { ramPool: storage.ramPool, startsAnew };
  const fitted = await threadsOfPass2(pass1.threads, plan, memory, all, profile.add, scope.releases);
  const { threads, arenaBytes } = fitted;
  const settings: ShuffleSettings = shuffleSettings(threads, plan, arenaBytes, storage, {
    keyScale: all.keyScale,
    framing: request.framing,
    tiesByBytes: inputIds !== undefined || request.unique,
    unique: request.unique,
    uniqueBy: equalityOf(request, all),
    keepsPlaces: request.duplicates !== undefined,
    hashesOutput: outlivesJob(site),
    rescatterTo: site.piles,
    isProfiled: request.isProfiled,
    sampledKeys: prepared.reportLog?.sampledKeys(),
  });
  return { piles: all, settings, threads };
}

/** Finds what stays of the piles where that must be known before the output is written, or dropped records are listed. */
async function measureIfAsked(
  job: RunningShuffle,
  pass1: Pass1,
  work: PilesWork,
  first: WritablePiles,
): Promise<{ readonly listed: ListedDuplicates | undefined; readonly distinct: ScatteredPiles }> {
  const { site, prepared, progress } = job;
  const { request } = prepared;
  const measure = async () => {
    const listed = await listIfAsked(job, pass1, work, first);
    return { listed, distinct: listed?.distinct ?? (await distinctPiles(request, site, work, first.threads)) };
  };
  if (!measuresPiles(request, prepared.earlier)) return measure();
  return (await progress.during('measure', work.piles.bytes, measure)).value;
}

async function listIfAsked(
  { site, prepared, tuning, profile, scope }: RunningShuffle,
  { all }: Pass1,
  work: PilesWork,
  { threads }: WritablePiles,
): Promise<ListedDuplicates | undefined> {
  if (site.kind === 'stream' || site.duplicates === undefined) return undefined;
  const { duplicates } = site;
  const { releases } = scope;
  const job = { prepared, site, duplicates, outlivesJob: outlivesJob(site), work, all, threads, tuning, releases };
  return listDuplicates({ ...job, onProfile: profile.add });
}

/** Writes piles as the output, or as the next batch of an output without end. */
async function writePiles(
  job: RunningShuffle,
  pass1: Pass1,
  work: PilesWork,
  { threads }: WritablePiles,
  listed: ListedDuplicates | undefined,
  isFirst: boolean,
): Promise<Omit<Pass2, 'distinct'>> {
  const { site, prepared, progress, profile } = job;
  const { all, samples } = pass1;
  const { request } = prepared;
  const { piles } = work;
  const keptSplits = site.kind === 'files' ? site.keptSplits : undefined;
  const splits = await findSplits(request, work, threads, keptSplits);
  const planned = planOutput(request, piles, isFirst ? foundEnds(request, all) : NO_ENDS, splits);
  const outputPlan = piles.hasDuplicates === true ? { ...planned, ...inTurns(outlivesJob(site)) } : planned;
  const deletesStripes = !(outlivesJob(site) && request.keepTemp);
  profile.pass2Begins();
  const toWrite = isEndless(request) ? undefined : piles.bytes + (listed?.bytes ?? 0);
  const { value: output, seconds } = await progress.during('shuffle', toWrite, async () => {
    const shuffleWork = { ...work, deletesStripes, samples };
    const ofList = await listed?.write();
    if (ofList === undefined) return shuffleTo(site, outputPlan, shuffleWork, threads);
    const { settings, threads: own } = await openPiles(job, { ...pass1, threads: ofList }, true);
    return shuffleTo(site, outputPlan, { ...shuffleWork, settings }, own);
  });
  return { output, seconds, piles, splits };
}
