/**
 * Cuts the piles down to the head of the order, the first records that a job asks for. All of the shuffle pass then sees
 * piles that hold no more. The last pile of the head is measured, or a resumed job takes the note of the earlier attempt.
 */
import { StagedOutputError } from '../errors.js';
import { type CheckpointNotes, type JobNotes, readOrWriteNote } from '../job-directory/notes.js';
import { mostRecords } from '../keep/head.js';
import {
  copyOfTotals,
  NO_TOTALS,
  type PileTotals,
  setTotalsOfPile,
  textOfTotals,
  totalsOfText,
} from '../piles/pile-totals.js';
import type { OutputSpec } from '../spec.js';
import { measureAt } from './measure-piles.js';
import { type PilesWork, type ScatteredPiles, withTotals } from './shuffle-work.js';
import type { Threads } from './threads.js';

type HeadNote = JobNotes['head'];

/** The last pile of the head, and how many of its records belong to it. */
interface HeadEnd {
  readonly pile: number;
  readonly records: number;
}

export async function cutToHead(
  { keep, cut: { shards } }: OutputSpec,
  work: PilesWork,
  threads: Threads,
  checkpoint: CheckpointNotes | undefined,
): Promise<ScatteredPiles> {
  const { piles } = work;
  const most = mostRecords(keep);
  if (piles.records <= most) return piles;
  const end = endOfHead(piles.totals, most);
  // The longest record decides how the output is cut by bytes. Which others pass 1 left out depends on the threads.
  const note = await readOrWriteNote(checkpoint, 'head', () => measure(shards?.by === 'bytes', end, work, threads));
  return cutAfter(piles, requireFits(note, end));
}

function endOfHead({ records }: PileTotals, most: number): HeadEnd {
  let before = 0;
  for (const [pile, count] of records.entries()) {
    if (before + count >= most) return { pile, records: most - before };
    before += count;
  }
  throw new RangeError(`the piles hold ${before} records, fewer than the ${most} of the head`);
}

function requireFits(note: HeadNote, { pile, records }: HeadEnd): HeadNote {
  if (note.pile === pile && note.inPile.records === records) return note;
  throw new StagedOutputError(
    `the unfinished job noted that its output ends with ${note.inPile.records} records of pile ${note.pile}, expected ${records} of pile ${pile}`,
  );
}

/** @param needsLongest whether the longest record of the head must be found, in all of its piles. */
async function measure(needsLongest: boolean, end: HeadEnd, work: PilesWork, threads: Threads): Promise<HeadNote> {
  const { totals, longestRecordBytes: longestOfAll } = work.piles;
  const before = needsLongest ? Array.from(totals.records.subarray(0, end.pile)) : [];
  const ends = [...before.map((records, pile) => ({ pile, records })), end];
  const places = ends.map(({ pile, records }) => ({ pile, limit: BigInt(records) }));
  const measured = await measureAt(work, threads, 'rank', places, true);
  const longestRecordBytes = needsLongest
    ? measured.reduce((most, inPile) => Math.max(most, inPile.longestRecordBytes), 0)
    : longestOfAll;
  return { pile: end.pile, inPile: textOfTotals(measured.at(-1) ?? NO_TOTALS), longestRecordBytes };
}

function cutAfter(piles: ScatteredPiles, { pile, inPile, longestRecordBytes }: HeadNote): ScatteredPiles {
  const cut = copyOfTotals(piles.totals);
  for (const column of [cut.records, cut.recordBytes]) column.fill(0, pile);
  cut.checksums.fill(0n, pile);
  setTotalsOfPile(cut, pile, totalsOfText(inPile));
  return { ...withTotals(piles, cut), longestRecordBytes, cutPile: pile };
}
