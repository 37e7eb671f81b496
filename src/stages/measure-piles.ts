/**
 * Measures piles before the shuffle pass: finds what lies before given places of the output, and the records across them. Both
 * depend on the order of the records, so these piles are loaded an extra time, each once.
 */
import type { LimitKind } from '../../workers/piles/pile-orderer.js';
import type { MeasureTask } from '../../workers/tasks/measure-range.js';
import { type MeasuredLimit, NOTHING_BEFORE, type PileTotals, totalsOfPile } from '../piles/pile-totals.js';
import { runVerified } from './run-tasks.js';
import { type PilesWork, pilesTask } from './shuffle-work.js';
import type { Threads } from './threads.js';

/** A rank or a byte, counted from the beginning of a pile, or a key. */
export interface LimitInPile {
  readonly pile: number;
  readonly limit: bigint;
}

/** A rank or a byte of the whole output, and the pile that holds it. */
export interface PlaceInPile extends LimitInPile {
  /** The first byte of the pile in the whole output. */
  readonly pileByte: number;
}

/** @returns the place of a rank or byte that the piles hold. The calls must ascend. */
export function pileFinder(totals: PileTotals, by: 'rank' | 'byte'): (place: number) => PlaceInPile {
  let pile = 0;
  let rank = 0;
  let byte = 0;
  return (place) => {
    for (;;) {
      const records = totals.records[pile] ?? 0;
      const bytes = totals.recordBytes[pile] ?? 0;
      const end = by === 'rank' ? rank + records : byte + bytes;
      if (pile + 1 === totals.records.length || place < end) break;
      rank += records;
      byte += bytes;
      pile += 1;
    }
    return { pile, pileByte: byte, limit: BigInt(place - (by === 'rank' ? rank : byte)) };
  };
}

/**
 * Returns each place with what lies before it in its pile.
 * @param places ascending.
 * @param verifies whether the piles are read to their ends, and verified: only then, there are checksums.
 */
export async function measureAt<Place extends LimitInPile>(
  work: PilesWork,
  threads: Threads,
  by: LimitKind,
  places: readonly Place[],
  verifies = false,
): Promise<(Place & MeasuredLimit)[]> {
  const { totals } = work.piles;
  // Nothing lies before the beginning of a pile.
  const inside = places.filter(({ pile, limit }) => limit > 0n && (totals.records[pile] ?? 0) > 0);
  const measured = new Map<Place, MeasuredLimit>();
  const placesOf = new Map(inside.map(({ pile }): [number, Place[]] => [pile, []]));
  for (const place of inside) placesOf.get(place.pile)?.push(place);
  const tasks = Array.from(placesOf, ([pile, inPile]): MeasureTask => {
    const limits = inPile.map(({ limit }) => limit);
    const expected = verifies ? totalsOfPile(totals, pile) : undefined;
    return { ...pilesTask(work, `measure-${pile}`), pile, by, limits, expected };
  });
  const take = (found: readonly MeasuredLimit[], { pile }: MeasureTask) => {
    for (const [i, place] of (placesOf.get(pile) ?? []).entries()) measured.set(place, found[i] ?? NOTHING_BEFORE);
  };
  await runVerified(threads, 'measure', tasks, work.onWarning, take);
  return places.map((place) => ({ ...place, ...(measured.get(place) ?? NOTHING_BEFORE) }));
}
