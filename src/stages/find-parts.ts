/**
 * Finds where parts of the output begin that have shards of their own, such as splits: at a key or at a rank. The piles with
 * these places are measured, or a resumed job takes the note of the earlier attempt.
 */
import type { PartEnds } from '../../workers/tasks/measure-range.js';
import { StagedOutputError } from '../errors.js';
import { type CheckpointNotes, type JobNotes, readOrWriteNote } from '../job-directory/notes.js';
import type { PartBounds } from '../keep/splits.js';
import {
  addRecordTotals,
  NO_TOTALS,
  type PileTotals,
  type RecordTotals,
  subtractRecordTotals,
  textOfTotals,
  totalsOfPile,
  totalsOfText,
} from '../piles/pile-totals.js';
import { measurePiles, pileFinder } from './measure-piles.js';
import type { PilesWork } from './shuffle-work.js';
import type { Threads } from './threads.js';

type SplitsNote = JobNotes['splits'];

export interface FoundPart extends RecordTotals {
  readonly firstRank: number;
  readonly firstByte: number;
}

/** Returns the parts, in their order. @param bounds where all parts but the first begin. */
export async function findParts(
  bounds: PartBounds,
  work: PilesWork,
  threads: Threads,
  checkpoint: CheckpointNotes | undefined,
): Promise<readonly FoundPart[]> {
  const note = await readOrWriteNote(checkpoint, 'splits', () => measureBounds(bounds, work, threads));
  const { before } = requireFits(note, bounds, work.piles);
  const starts = [NO_TOTALS, ...before.map(totalsOfText)];
  return starts.map((start, i) => {
    const end = starts[i + 1] ?? work.piles;
    return { ...subtractRecordTotals(end, start), firstRank: start.records, firstByte: start.bytes };
  });
}

function requireFits(note: SplitsNote, { by, bounds }: PartBounds, all: RecordTotals): SplitsNote {
  const { before } = note;
  const isAscending = [...before, all].every(({ records, bytes }, i) => {
    const last = before[i - 1] ?? NO_TOTALS;
    return records >= last.records && bytes >= last.bytes;
  });
  const isAsAsked = by === 'key' || bounds.every((rank, i) => before[i]?.records === rank);
  if (before.length === bounds.length && isAscending && isAsAsked) return note;
  const noted = before.map(({ records }) => records).join(', ');
  throw new StagedOutputError(
    `the unfinished job noted that its splits begin at the records ${noted} of ${all.records}, which do not fit the splits asked for`,
  );
}

/** A bound, as the end of a part of its pile. */
interface PlacedBound {
  readonly pile: number;
  readonly end: number | bigint;
}

async function measureBounds(bounds: PartBounds, work: PilesWork, threads: Threads): Promise<SplitsNote> {
  const { totals } = work.piles;
  const placed = bounds.by === 'key' ? placeKeys(bounds.bounds, totals) : placeRanks(bounds.bounds, totals);
  const endsOf = new Map<number, PlacedBound['end'][]>();
  for (const { pile, end } of placed) {
    if ((totals.records[pile] ?? 0) === 0) continue;
    const others = endsOf.get(pile);
    if (others === undefined) endsOf.set(pile, [end]);
    else others.push(end);
  }
  const cuts = [...endsOf].map(([pile, ends]) => ({ pile, ends: { by: bounds.by, ends } as PartEnds }));
  const partsOf = await measurePiles(cuts, work, threads);
  return { before: sumsBefore(placed, totals, partsOf) };
}

function placeKeys(keys: readonly bigint[], { records }: PileTotals): PlacedBound[] {
  return keys.map((end) => ({ pile: Number((end * BigInt(records.length)) >> 64n), end }));
}

function placeRanks(ranks: readonly number[], totals: PileTotals): PlacedBound[] {
  const find = pileFinder(totals, 'rank');
  return ranks.map((rank) => {
    const { pile, limit } = find(rank);
    return { pile, end: limit };
  });
}

function sumsBefore(
  placed: readonly PlacedBound[],
  totals: PileTotals,
  partsOf: ReadonlyMap<number, readonly RecordTotals[]>,
): SplitsNote['before'] {
  let pilesBefore = NO_TOTALS;
  let inPile = NO_TOTALS;
  let pile = 0;
  let part = 0;
  return placed.map((bound) => {
    for (; pile < bound.pile; pile++) {
      pilesBefore = addRecordTotals(pilesBefore, totalsOfPile(totals, pile));
      inPile = NO_TOTALS;
      part = 0;
    }
    const measured = partsOf.get(pile)?.[part];
    part += 1;
    if (measured !== undefined) inPile = addRecordTotals(inPile, measured);
    return textOfTotals(addRecordTotals(pilesBefore, inPile));
  });
}
