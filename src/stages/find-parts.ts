/**
 * Finds where parts of the output begin that have shards of their own, such as splits: at a key or at a rank. The piles with
 * these places are measured, or a resumed job takes the note of the earlier attempt.
 */
import { StagedOutputError } from '../errors.js';
import { type CheckpointNotes, type JobNotes, readOrWriteNote } from '../job-directory/notes.js';
import type { PartBounds } from '../keep/splits.js';
import {
  addRecordTotals,
  NO_TOTALS,
  type RecordTotals,
  subtractRecordTotals,
  textOfTotals,
  totalsOfPile,
  totalsOfText,
} from '../piles/pile-totals.js';
import { measureAt, pileFinder } from './measure-piles.js';
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

async function measureBounds({ by, bounds }: PartBounds, work: PilesWork, threads: Threads): Promise<SplitsNote> {
  const { totals } = work.piles;
  const pileCount = BigInt(totals.records.length);
  const places =
    by === 'key'
      ? bounds.map((limit) => ({ pile: Number((limit * pileCount) >> 64n), limit }))
      : bounds.map(pileFinder(totals, by));
  let pilesBefore = NO_TOTALS;
  let next = 0;
  const before = (await measureAt(work, threads, by, places, true)).map(({ pile, ...inPile }) => {
    for (; next < pile; next++) pilesBefore = addRecordTotals(pilesBefore, totalsOfPile(totals, next));
    return textOfTotals(addRecordTotals(pilesBefore, inPile));
  });
  return { before };
}
