/**
 * The state between the passes, which comes from a scatter pass or from a pile store, and the work of a shuffle pass on it.
 */

import type { PilesTask } from '../../workers/piles/open-pile-orderer.js';
import type { ShuffleSettings } from '../../workers/settings.js';
import type { PileSet } from '../piles/pile-set-writer.js';
import { type PileTotals, type RecordTotals, sumOverPiles } from '../piles/pile-totals.js';
import { type PileRange, planPileRanges } from '../plan/pile-ranges.js';
import type { OutputTarget } from '../sinks/output-target.js';
import type { Section } from './find-sections.js';
import type { SampleSource } from './sample-places.js';
import type { Threads } from './threads.js';

/** The part of a pile set that the shuffle pass and the removal of stripes need. Every task gets a copy. */
export type ScatteredPileSet = Omit<PileSet, 'dataFiles'>;

export interface ScatteredPiles extends RecordTotals {
  readonly pileSets: readonly ScatteredPileSet[];
  readonly totals: PileTotals;
  /** The key scale of the scatter. Absent: 1. */
  readonly keyScale?: bigint | undefined;
  /** The last pile that the output has records of, if it lacks some of this pile: `totals` has only those of the output. */
  readonly cutPile?: number;
  /** True if `totals` has the records, too, that the shuffle pass drops because it keeps one of equal records. */
  readonly hasDuplicates?: boolean;
  /** The sections, in their order. Absent: the output is not divided by values. */
  readonly sections?: readonly Section[] | undefined;
  readonly longestRecordBytes: number;
}

export function scatteredPiles(
  pileSets: readonly ScatteredPileSet[],
  totals: PileTotals,
  longestRecordBytes: number,
): ScatteredPiles {
  return { pileSets, totals, longestRecordBytes, ...sumOverPiles(totals) };
}

/** The same piles with fewer records. */
export function withTotals(piles: ScatteredPiles, totals: PileTotals): ScatteredPiles {
  return { ...piles, totals, ...sumOverPiles(totals) };
}

export function diskBytesOf({ pileSets }: ScatteredPiles): number {
  return pileSets.reduce((sum, { diskBytes }) => sum + diskBytes, 0);
}

export interface PilesWork {
  readonly piles: ScatteredPiles;
  readonly settings: ShuffleSettings;
  /** Part of the names of temp files, that no other attempt at the job has. */
  readonly attempt: string;
  readonly onWarning: (line: string) => void;
}

/** Merged piles [first, end). */
export interface PilePart {
  readonly first: number;
  readonly end: number;
}

export function isInPart(part: PilePart | undefined, pile: number): boolean {
  return part === undefined || (pile >= part.first && pile < part.end);
}

export function bytesOfPart({ recordBytes }: PileTotals, part: PilePart | undefined): number {
  return recordBytes.subarray(part?.first, part?.end).reduce((sum, bytes) => sum + bytes, 0);
}

/** The ranges for each thread: the other threads wait for the last tasks to end. */
const RANGES_A_THREAD = 4;

/** Ranges of about equal size for tasks that write no output. @param part absent: all piles. */
export function rangesForThreads(
  totals: PileTotals,
  { pool }: Threads,
  mostBytes = Number.POSITIVE_INFINITY,
  part?: PilePart,
): PileRange[] {
  const rangeBytes = Math.min(mostBytes, bytesOfPart(totals, part) / (RANGES_A_THREAD * pool.threadCount));
  const isOther = (pile: number) => !isInPart(part, pile);
  return planPileRanges(totals, rangeBytes, () => false, isOther);
}

export interface ShuffleWork extends PilesWork {
  readonly target: OutputTarget;
  /** The piles that this pass puts into the output; others do the rest. Absent: all. */
  readonly part?: PilePart | undefined;
  /** True if the data of a stripe is deleted as soon as the output has its piles. */
  readonly deletesStripes: boolean;
  /** The source of samples with keys; undefined: the records have none. */
  readonly samples: SampleSource | undefined;
}

/** @param name prefix of the names of the task's temp files, that no other task has. */
export function pilesTask({ settings, piles, attempt }: PilesWork, name: string): PilesTask {
  const { pileSets, longestRecordBytes, cutPile } = piles;
  return { job: settings, pileSets, longestRecordBytes, cutPile, attemptName: `${name}-${attempt}` };
}
