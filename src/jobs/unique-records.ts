/** How a shuffle differs where one of equal records is kept: the keys, the piles, the places, the report. */
import { withColumnNumber } from '../formats/selector.js';
import { type InputIds, inputKeyOf } from '../inputs/ids.js';
import { deriveContentKey } from '../keys.js';
import type { OutputLayout } from '../output/output-layout.js';
import type { FoundInInputs } from '../passes/gathered-slices.js';
import type { ScatterOutcome } from '../passes/scatter-pass.js';
import type { PilesWork, ScatteredPiles } from '../passes/shuffle-work.js';
import { takeDistinct } from '../passes/take-distinct.js';
import { leftOutOf } from '../passes/take-head.js';
import type { Threads } from '../passes/threads.js';
import type { TotalsSum } from '../pile-sets/pile-totals.js';
import type { KeepSpec, ShuffleSpec, UniqueSpec } from '../spec.js';
import type { OpenSite } from './open-site.js';
import type { ShuffleReport } from './options.js';

/** What tells equal records apart, once pass 1 has read the headers of all inputs. */
export function equalityOf({ unique }: KeepSpec, { header }: Pick<FoundInInputs, 'header'>): UniqueSpec | undefined {
  return unique && { by: unique.by && withColumnNumber(unique.by, header && { path: 'the inputs', header }) };
}

/** The generator key of an input: where the order follows from the content of records, the same for all. */
export function keyRuleOf(
  { key: { seed }, keep: { unique } }: ShuffleSpec,
  inputIds: InputIds,
): (inputOrdinal: number) => bigint {
  if (unique === undefined) return (inputOrdinal) => inputKeyOf(seed, inputIds, inputOrdinal);
  const key = deriveContentKey(seed);
  return () => key;
}

/** Whether what stays of equal records is found before the output is written, because its plan needs the numbers. */
export function isMeasuredBefore({ read: { header }, keep, cut: { shards } }: ShuffleSpec): boolean {
  const { unique, headCount, repeat } = keep;
  return unique !== undefined && (headCount !== undefined || repeat || shards !== undefined || header?.kind === 'npy');
}

/**
 * The piles that the output gets, with the totals of what stays of equal records. If the output needs no plan of them,
 * the shuffle pass finds these itself: then records lie one after the other in one file or stream.
 */
export async function distinctPiles(
  spec: ShuffleSpec,
  site: OpenSite,
  work: PilesWork,
  threads: Threads,
): Promise<ScatteredPiles> {
  if (spec.keep.unique === undefined) return work.piles;
  if (!isMeasuredBefore(spec)) return { ...work.piles, hasDuplicates: true };
  return takeDistinct(work, threads, site.kind === 'files' ? site.keptNotes : undefined);
}

/**
 * How the records of an output get their places where nobody knows them beforehand. A part in a claimed place cannot be
 * taken back and made again, as a job needs that outlives its process.
 */
export function inTurns(outlivesJob: boolean): Pick<OutputLayout, 'isAppended' | 'isClaimed'> {
  return outlivesJob ? { isAppended: true } : { isClaimed: true };
}

/** The records of the inputs that the output lacks, and why. */
export function leftOutBy(
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
