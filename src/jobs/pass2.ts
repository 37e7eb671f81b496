/**
 * Pass 2 of a shuffle: takes the piles of pass 1, leaves out what the output does not get, and writes the rest in its order.
 * With `unique`, duplicates leave the piles (unique-records.ts); with `repeat`, records are drawn from them
 * (draw-output.ts). The rest is decided between the passes (../passes/between-passes.ts).
 */
import { foundEnds, planOutput } from '../passes/between-passes.js';
import type { FoundSplit } from '../passes/find-splits.js';
import type { PilesWork, ScatteredPiles } from '../passes/shuffle-work.js';
import type { Threads } from '../passes/threads.js';
import { drawOutput } from './draw-output.js';
import { measuresPiles } from './job-progress.js';
import { type ShuffledOutput, shuffleTo } from './open-site.js';
import { outlivesJob, type Pass1, type RunningShuffle } from './pass1.js';
import { openPiles } from './task-settings.js';
import { distinctPiles, equalityOf, inTurns } from './unique-records.js';

interface Pass2 {
  readonly output: ShuffledOutput;
  readonly seconds: number;
  readonly piles: ScatteredPiles;
  /** The piles before they were cut down to the first records. */
  readonly distinct: ScatteredPiles;
  readonly splits: readonly FoundSplit[] | undefined;
}

export async function runPass2(job: RunningShuffle, pass1: Pass1): Promise<Pass2> {
  const { site, prepared, progress, profile, scope, attempt } = job;
  const { request, inputIds, plan } = prepared;
  const { found, storage, samples } = pass1;
  const { spec, onWarning, isProfiled } = request;
  const { unique, repeat, headCount } = spec.keep;
  const rule = {
    framing: spec.read.framing,
    unique: equalityOf(spec.keep, found),
    tiesByBytes: inputIds !== undefined || unique !== undefined,
    rescatterTo: site.piles,
    hashesOutput: outlivesJob(site),
    isProfiled,
    sampledKeys: prepared.reportLog?.sampledKeys(),
  };
  const toOpen = { piles: pass1.piles, attempt, onWarning };
  const opened = await openPiles(toOpen, rule, plan, storage, pass1.threads, profile.add, scope.releases);
  const { threads } = opened;
  const distinct = await measureIfAsked(job, opened.work, threads);
  const work = { ...opened.work, piles: distinct };
  if (repeat) {
    profile.pass2Begins();
    const draw = () => drawOutput(job, pass1, work, threads);
    const toWrite = headCount && Math.round((headCount * distinct.bytes) / Math.max(1, distinct.records));
    const { value: output, seconds } = await progress.during('shuffle', toWrite, draw);
    return { output, seconds, piles: distinct, distinct, splits: undefined };
  }
  const keptNotes = site.kind === 'files' ? site.keptNotes : undefined;
  const planned = await planOutput(spec, foundEnds(spec.read, found), work, threads, keptNotes);
  const { piles } = planned.work;
  const deletesStripes = !(outlivesJob(site) && request.keepTemp);
  profile.pass2Begins();
  const write = async () => {
    const cut = await planned.cut();
    const layout = piles.hasDuplicates === true ? { ...cut, ...inTurns(outlivesJob(site)) } : cut;
    return shuffleTo(site, layout, { ...planned.work, deletesStripes, samples }, threads);
  };
  const { value: output, seconds } = await progress.during('shuffle', piles.bytes, write);
  return { output, seconds, piles, distinct, splits: planned.splits };
}

/** Finds what stays of the piles where that must be known before the output is written. */
async function measureIfAsked(job: RunningShuffle, work: PilesWork, threads: Threads): Promise<ScatteredPiles> {
  const { site, prepared, progress } = job;
  const { request } = prepared;
  const measure = () => distinctPiles(request.spec, site, work, threads);
  if (!measuresPiles(request.spec, prepared.earlier)) return measure();
  return (await progress.during('measure', work.piles.bytes, measure)).value;
}
