/**
 * Pass 2 of a shuffle: takes the piles of pass 1, leaves out what the output does not get, and writes the rest in its order.
 * Duplicates leave the piles (../stages/take-distinct.ts); with `repeat`, records are drawn from them
 * (../stages/draw.ts). The rest is decided between the passes (../stages/between-passes.ts).
 */
import { orderRuleOf, withColumns } from '../keep/content-rule.js';
import { drawsPlaces, isEndless, recordsOfOutput } from '../keep/keep-spec.js';
import { sourceOf } from '../keep/numbers.js';
import type { OutputLayout } from '../sinks/output-layout.js';
import { foundEnds, planOutput } from '../stages/between-passes.js';
import { drawOutput } from '../stages/draw.js';
import type { FoundSplit } from '../stages/find-splits.js';
import type { ScatteredPiles } from '../stages/shuffle-work.js';
import { takeDistinct } from '../stages/take-distinct.js';
import { measuresPiles } from './job-progress.js';
import type { Pass1, RunningShuffle } from './pass1.js';
import { type ShuffledOutput, shuffleTo } from './staging.js';
import { openPiles } from './task-settings.js';

export interface Pass2 {
  readonly output: ShuffledOutput;
  readonly seconds: number;
  readonly piles: ScatteredPiles;
  /** The piles before they were cut down to the first records. */
  readonly distinct: ScatteredPiles;
  readonly splits: readonly FoundSplit[] | undefined;
}

export async function runPass2(job: RunningShuffle, pass1: Pass1): Promise<Pass2> {
  const { prepared, staging, progress, profile, attempt, releases } = job;
  const { request, inputIds, plan } = prepared;
  const { found, storage, samples } = pass1;
  const { spec, onWarning, isProfiled } = request;
  const { kept } = staging;
  const { header } = found;
  const rule = {
    framing: spec.read.framing,
    // Pass 1 has read the headers of all inputs.
    ...orderRuleOf(withColumns(spec, header && { path: 'the inputs', header }), inputIds !== undefined),
    rescatterTo: staging.piles,
    hashesOutput: kept !== undefined,
    isProfiled,
    sampledKeys: prepared.reportLog?.sampledKeys(),
  };
  const toOpen = { piles: pass1.piles, attempt, onWarning };
  const opened = await openPiles(toOpen, rule, plan, storage, pass1.threads, profile.add, releases);
  const { threads } = opened;
  const measure = () => takeDistinct(spec, opened.work, threads, kept);
  const measured = measuresPiles(spec, prepared.earlier)
    ? await progress.during('measure', pass1.piles.bytes, measure)
    : { value: await measure() };
  const distinct = measured.value;
  const work = { ...opened.work, piles: distinct };
  if (drawsPlaces(spec.keep)) {
    profile.pass2Begins();
    const ends = foundEnds(spec.read, found);
    const begin = (layout: OutputLayout) => staging.begin(layout, threads.control);
    const draw = () => drawOutput(spec, work, threads, { plan, ends, begin, signal: request.signal, releases });
    const source = sourceOf(spec.keep, distinct);
    const bytes = recordsOfOutput(spec.keep, source.bytes, source.bytes / Math.max(1, source.records));
    const toWrite = isEndless(spec.keep) ? undefined : Math.round(bytes);
    const { value: output, seconds } = await progress.during('shuffle', toWrite, draw);
    return { output, seconds, piles: distinct, distinct, splits: undefined };
  }
  const planned = await planOutput(spec, foundEnds(spec.read, found), work, threads, kept);
  const deletesStripes = kept === undefined || !request.keepTemp;
  const { value: output, seconds } = await shuffleTo(job, planned, { deletesStripes, samples }, threads);
  return { output, seconds, piles: planned.work.piles, distinct, splits: planned.splits };
}
