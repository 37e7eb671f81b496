/**
 * The note of what stays of each pile, where of equal records one is kept and the output cannot be planned without that.
 * Piles are deleted as soon as the output has their records, so the note is durable before the first record of finished
 * ranges. It never changes. Where dropped records are listed, the list is staged and durable before the note.
 */
import { join } from 'node:path';
import { removeFile } from '../io/files.js';
import { checksumText, list, object, optional, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { damagedFile } from '../io/sealed-file.js';
import { SealedFormat } from '../io/sealed-format.js';
import { createDurably } from '../io/small-file.js';
import { writtenRegion } from './written-region.js';

const DISTINCT_NAME = 'distinct';

/** The totals of the records of one pile that stay. */
export const distinctTally = object({ records: wholeNumber(), recordBytes: wholeNumber(), checksum: checksumText });

/** The staged list of dropped records. */
const stagedList = object({ byteLength: wholeNumber(), regions: list(writtenRegion) });

const shape = object({ piles: list(distinctTally), duplicates: optional(stagedList) });

/** 65,536 piles take some 7 MB; a list of terabytes, as much. */
const format = new SealedFormat({ kind: 'distinct', version: 1, mostBytes: 2 ** 28, role: 'temp', shape });

export type DistinctTally = ValueOf<typeof distinctTally>;
export type DistinctNote = ValueOf<typeof shape>;
export type StagedList = ValueOf<typeof stagedList>;

export async function writeDistinctNote(jobDirectory: string, note: DistinctNote): Promise<void> {
  await createDurably(jobDirectory, DISTINCT_NAME, format.seal(note));
}

export function removeDistinctNote(jobDirectory: string): void {
  removeFile(join(jobDirectory, DISTINCT_NAME), 'temp');
}

/** @returns undefined when there is no note. @throws VerificationError when it is damaged. */
export function readDistinctNote(jobDirectory: string, pileCount: number): DistinctNote | undefined {
  const path = join(jobDirectory, DISTINCT_NAME);
  const note = format.read(path);
  if (note === undefined || note.piles.length === pileCount) return note;
  throw damagedFile(path, `expected the totals of ${pileCount} piles, got ${note.piles.length}`);
}
