/**
 * The state between the passes: all pile sets in slice order, and the totals of each merged pile. It comes from a scatter
 * pass or from a pile store, and the shuffle pass takes it.
 */
import type { PileSet } from '../pile-sets/pile-set-writer.js';
import { type PileTotals, sumTotals, type TotalsSum } from '../pile-sets/pile-totals.js';

/** The part of a pile set that the shuffle pass and the removal of stripes need. Every task gets a copy. */
export type ScatteredPileSet = Omit<PileSet, 'dataFiles'>;

export interface ScatteredPiles extends TotalsSum {
  readonly pileSets: readonly ScatteredPileSet[];
  readonly totals: PileTotals;
  /** The key scale of the scatter. Absent: 1. */
  readonly keyScale?: bigint | undefined;
  /** The last pile that the output has records of, if it lacks some of this pile: `totals` has only those of the output. */
  readonly cutPile?: number;
  /** Whether `totals` has the records, too, that the shuffle pass drops because it keeps one of equal records. */
  readonly hasDuplicates?: boolean;
  readonly longestRecordBytes: number;
}

export function scatteredPiles(
  pileSets: readonly ScatteredPileSet[],
  totals: PileTotals,
  longestRecordBytes: number,
): ScatteredPiles {
  return { pileSets, totals, longestRecordBytes, ...sumTotals(totals) };
}

export function diskBytesOf({ pileSets }: ScatteredPiles): number {
  return pileSets.reduce((sum, { diskBytes }) => sum + diskBytes, 0);
}
