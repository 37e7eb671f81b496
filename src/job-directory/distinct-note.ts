/**
 * The note of what stays of each pile, where of equal records one is kept and the output cannot be planned without that.
 * Piles are deleted as soon as the output has their records, so the note is durable before the first record of finished
 * ranges. It never changes.
 */
import { join } from 'node:path';
import { checksumText, list, object, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { damagedFile } from '../io/sealed-file.js';
import { SealedFormat } from '../io/sealed-format.js';
import { createDurably } from '../io/small-file.js';

const DISTINCT_NAME = 'distinct';

/** The totals of the records of one pile that stay. */
export const distinctTally = object({ records: wholeNumber(), recordBytes: wholeNumber(), checksum: checksumText });

const shape = object({ piles: list(distinctTally) });

/** 65,536 piles take some 7 MB. */
const format = new SealedFormat({ kind: 'distinct', version: 2, mostBytes: 2 ** 28, role: 'temp', shape });

export type DistinctTally = ValueOf<typeof distinctTally>;
export type DistinctNote = ValueOf<typeof shape>;

export async function writeDistinctNote(jobDirectory: string, note: DistinctNote): Promise<void> {
  await createDurably(jobDirectory, DISTINCT_NAME, format.seal(note));
}

/** @returns undefined when there is no note. @throws VerificationError when it is damaged. */
export function readDistinctNote(jobDirectory: string, pileCount: number): DistinctNote | undefined {
  const path = join(jobDirectory, DISTINCT_NAME);
  const note = format.read(path);
  if (note === undefined || note.piles.length === pileCount) return note;
  throw damagedFile(path, `expected the totals of ${pileCount} piles, got ${note.piles.length}`);
}
