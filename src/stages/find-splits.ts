/**
 * Finds where splits begin in the output: at a key or at a rank. The piles with these places are measured, or a resumed job
 * takes the note of the earlier attempt.
 */
import type { PartEnds, PartMeasure } from '../../workers/tasks/measure-piles.js';
import { StagedOutputError } from '../errors.js';
import { type JobNotes, type KeptNotes, notedOrFound } from '../job-directory/notes.js';
import { type SplitBounds, splitBounds } from '../keep/splits.js';
import { checksumTextOf, type PileTotals, type TotalsSum } from '../piles/pile-totals.js';
import type { OutputSpec } from '../spec.js';
import { measurePiles, pileFinder } from './measure-piles.js';
import type { PilesWork } from './shuffle-work.js';
import type { Threads } from './threads.js';

type SplitsNote = JobNotes['splits'];

export interface FoundSplit extends TotalsSum {
  readonly name: string;
  readonly firstRank: number;
  readonly firstByte: number;
}

export async function findSplits(
  { keep, cut: { splits } }: OutputSpec,
  work: PilesWork,
  threads: Threads,
  kept: KeptNotes | undefined,
): Promise<readonly FoundSplit[] | undefined> {
  if (splits === undefined) return undefined;
  const { records, bytes, checksum } = work.piles;
  const bounds = splitBounds(splits, records, keep);
  const note = await notedOrFound(kept, 'splits', () => measureBounds(bounds, work, threads));
  const { before } = requireFits(note, bounds, work.piles);
  const starts = [NOTHING, ...before.map((sum) => ({ ...sum, checksum: BigInt(`0x${sum.checksum}`) }))];
  return splits.map(({ rule: { name } }, i) => {
    const start = starts[i] ?? NOTHING;
    const end = starts[i + 1] ?? { records, bytes, checksum };
    return {
      name,
      firstRank: start.records,
      firstByte: start.bytes,
      records: end.records - start.records,
      bytes: end.bytes - start.bytes,
      checksum: BigInt.asUintN(64, end.checksum - start.checksum),
    };
  });
}

const NOTHING: TotalsSum = { records: 0, bytes: 0, checksum: 0n };

function requireFits(note: SplitsNote, { by, bounds }: SplitBounds, all: TotalsSum): SplitsNote {
  const { before } = note;
  const isAscending = [...before, all].every(({ records, bytes }, i) => {
    const last = before[i - 1] ?? NOTHING;
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

async function measureBounds(bounds: SplitBounds, work: PilesWork, threads: Threads): Promise<SplitsNote> {
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
  partsOf: ReadonlyMap<number, readonly PartMeasure[]>,
): SplitsNote['before'] {
  let pilesBefore = NOTHING;
  let inPile = NOTHING;
  let pile = 0;
  let part = 0;
  return placed.map((bound) => {
    for (; pile < bound.pile; pile++) {
      pilesBefore = sumOf(pilesBefore, {
        records: totals.records[pile] ?? 0,
        bytes: totals.recordBytes[pile] ?? 0,
        checksum: totals.checksums[pile] ?? 0n,
      });
      inPile = NOTHING;
      part = 0;
    }
    const measured = partsOf.get(pile)?.[part];
    part += 1;
    if (measured !== undefined) inPile = sumOf(inPile, { ...measured, bytes: measured.recordBytes });
    const { records, bytes, checksum } = sumOf(pilesBefore, inPile);
    return { records, bytes, checksum: checksumTextOf(checksum) };
  });
}

function sumOf(a: TotalsSum, b: TotalsSum): TotalsSum {
  return {
    records: a.records + b.records,
    bytes: a.bytes + b.bytes,
    checksum: BigInt.asUintN(64, a.checksum + b.checksum),
  };
}
