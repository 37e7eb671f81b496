/**
 * Pass 2 of a shuffle: takes the piles of pass 1, leaves out what the output does not get, and writes the rest in its order.
 * With `unique`, duplicates leave the piles (../passes/take-distinct.ts); with `repeat`, records are drawn from them
 * (draw-output.ts). The rest is decided between the passes (../passes/between-passes.ts).
 */
import { withColumnNumber } from '../formats/selector.js';
import type { OutputLayout } from '../output/output-layout.js';
import { foundEnds, planOutput } from '../passes/between-passes.js';
import type { FoundSplit } from '../passes/find-splits.js';
import type { FoundInInputs } from '../passes/gathered-slices.js';
import type { ScatteredPiles } from '../passes/shuffle-work.js';
import { takeDistinct } from '../passes/take-distinct.js';
import type { KeepSpec, UniqueSpec } from '../spec.js';
import { drawOutput } from './draw-output.js';
import { measuresPiles } from './job-progress.js';
import { type ShuffledOutput, shuffleTo } from './open-site.js';
import type { Pass1, RunningShuffle } from './pass1.js';
import { openPiles } from './task-settings.js';

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
  const outlivesJob = site.kept !== undefined;
  const { spec, onWarning, isProfiled } = request;
  const { unique, repeat, headCount } = spec.keep;
  const rule = {
    framing: spec.read.framing,
    unique: equalityOf(spec.keep, found),
    tiesByBytes: inputIds !== undefined || unique !== undefined,
    rescatterTo: site.piles,
    hashesOutput: outlivesJob,
    isProfiled,
    sampledKeys: prepared.reportLog?.sampledKeys(),
  };
  const toOpen = { piles: pass1.piles, attempt, onWarning };
  const opened = await openPiles(toOpen, rule, plan, storage, pass1.threads, profile.add, scope.releases);
  const { threads } = opened;
  const measure = () => takeDistinct(spec, opened.work, threads, site.kept);
  const measured = measuresPiles(spec, prepared.earlier)
    ? await progress.during('measure', pass1.piles.bytes, measure)
    : { value: await measure() };
  const distinct = measured.value;
  const work = { ...opened.work, piles: distinct };
  if (repeat) {
    profile.pass2Begins();
    const draw = () => drawOutput(job, pass1, work, threads);
    const toWrite = headCount && Math.round((headCount * distinct.bytes) / Math.max(1, distinct.records));
    const { value: output, seconds } = await progress.during('shuffle', toWrite, draw);
    return { output, seconds, piles: distinct, distinct, splits: undefined };
  }
  const planned = await planOutput(spec, foundEnds(spec.read, found), work, threads, site.kept);
  const { piles } = planned.work;
  const deletesStripes = !(outlivesJob && request.keepTemp);
  profile.pass2Begins();
  const write = async () => {
    const cut = await planned.cut();
    const layout = piles.hasDuplicates === true ? { ...cut, ...inTurns(outlivesJob) } : cut;
    return shuffleTo(site, layout, { ...planned.work, deletesStripes, samples }, threads);
  };
  const { value: output, seconds } = await progress.during('shuffle', piles.bytes, write);
  return { output, seconds, piles, distinct, splits: planned.splits };
}

/** What tells equal records apart, once pass 1 has read the headers of all inputs. */
function equalityOf({ unique }: KeepSpec, { header }: Pick<FoundInInputs, 'header'>): UniqueSpec | undefined {
  return unique && { by: unique.by && withColumnNumber(unique.by, header && { path: 'the inputs', header }) };
}

/**
 * How the records of an output get their places where nobody knows them beforehand. A part in a claimed place cannot be
 * taken back and made again, as a job needs that outlives its process.
 */
function inTurns(outlivesJob: boolean): Pick<OutputLayout, 'isAppended' | 'isClaimed'> {
  return outlivesJob ? { isAppended: true } : { isClaimed: true };
}
