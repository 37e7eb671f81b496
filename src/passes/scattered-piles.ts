/**
 * What lies between the passes: all pile sets in slice order, and what is known of each merged pile. The scatter pass
 * leaves it, a pile store has it already, the shuffle pass takes it.
 */
import type { PileSet } from '../pile-sets/pile-set-writer.js';
import { type PileTotals, sumTotals, type TotalsSum } from '../pile-sets/pile-totals.js';

/** What the shuffle pass and the removal of stripes need of a pile set; it travels with every task. */
export type ScatteredPileSet = Omit<PileSet, 'dataFiles'>;

export interface ScatteredPiles extends TotalsSum {
  readonly pileSets: readonly ScatteredPileSet[];
  readonly totals: PileTotals;
  readonly longestRecordBytes: number;
}

export function scatteredPiles(
  pileSets: readonly ScatteredPileSet[],
  totals: PileTotals,
  longestRecordBytes: number,
): ScatteredPiles {
  return { pileSets, totals, longestRecordBytes, ...sumTotals(totals) };
}
