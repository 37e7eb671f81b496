/**
 * Measures piles before the shuffle pass: finds the records that lie across given places of the output, and what parts of a
 * pile hold. Both depend on the order of the records, so these piles are loaded an extra time, each once.
 */
import type {
  MeasureCrossingsTask,
  MeasurePartsTask,
  PartEnds,
  PartMeasure,
} from '../../workers/tasks/measure-range.js';
import { type PileTotals, totalsOfPile } from '../piles/pile-totals.js';
import type { Crossing } from '../plan/shard-cuts.js';
import { runVerified } from './run-tasks.js';
import { type PilesWork, pilesTask } from './shuffle-work.js';
import type { Threads } from './threads.js';

/** A rank or a byte of the whole output, and the pile that holds it. */
export interface PlaceInPile {
  readonly pile: number;
  /** The first byte of the pile in the whole output. */
  readonly pileByte: number;
  /** The rank or byte, counted from the beginning of the pile. */
  readonly limit: number;
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
    return { pile, pileByte: byte, limit: place - (by === 'rank' ? rank : byte) };
  };
}

/** @param places ascending. @returns each place with the record across it, in bytes of the whole output. */
export async function measureCrossingsAt<Place extends PlaceInPile>(
  work: PilesWork,
  threads: Threads,
  by: 'rank' | 'byte',
  places: readonly Place[],
): Promise<(Place & Crossing)[]> {
  const measured = new Map<Place, Crossing>();
  const placesOf = groupByPile(places);
  const take = (found: readonly Crossing[], { pile }: MeasureCrossingsTask) => {
    for (const [i, place] of (placesOf.get(pile) ?? []).entries()) {
      const { start, end } = found[i] ?? { start: 0, end: 0 };
      measured.set(place, { start: place.pileByte + start, end: place.pileByte + end });
    }
  };
  const tasks = Array.from(placesOf, ([pile, inPile]) => {
    const limits = inPile.map(({ limit }) => limit);
    return { ...pilesTask(work, `measure-${pile}`), pile, by, limits };
  });
  await runVerified(threads, 'measure', tasks, work.onWarning, take);
  // No record lies across the beginning of a pile.
  return places.map((place) => ({ start: place.pileByte, end: place.pileByte, ...place, ...measured.get(place) }));
}

/** The places inside piles, without those at the beginning of a pile. */
function groupByPile<Place extends PlaceInPile>(places: readonly Place[]): Map<number, Place[]> {
  const placesOf = new Map<number, Place[]>();
  for (const place of places) {
    if (place.limit === 0) continue;
    const others = placesOf.get(place.pile);
    if (others === undefined) placesOf.set(place.pile, [place]);
    else others.push(place);
  }
  return placesOf;
}

/** A pile with records, and where its parts end. */
export interface PileCut {
  readonly pile: number;
  readonly ends: PartEnds;
}

export async function measurePiles(
  cuts: readonly PileCut[],
  work: PilesWork,
  threads: Threads,
): Promise<ReadonlyMap<number, readonly PartMeasure[]>> {
  const { totals } = work.piles;
  const tasks: MeasurePartsTask[] = cuts.map(({ pile, ends }) => ({
    ...pilesTask(work, `parts-${pile}`),
    pile,
    expected: totalsOfPile(totals, pile),
    ends,
  }));
  const partsOf = new Map<number, readonly PartMeasure[]>();
  const take = (parts: readonly PartMeasure[], { pile }: MeasurePartsTask) => partsOf.set(pile, parts);
  await runVerified(threads, 'measure-parts', tasks, work.onWarning, take);
  return partsOf;
}
