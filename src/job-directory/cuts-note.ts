/**
 * The note of the cuts of the output, where the order of the records decides them. The piles that were measured are
 * deleted as soon as the output has their records, so the note is durable before the first record of finished ranges. It
 * never changes.
 */
import { join } from 'node:path';
import { list, nullable, object, optional, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { damagedFile } from '../io/sealed-file.js';
import { SealedFormat } from '../io/sealed-format.js';
import { createDurably } from '../io/small-file.js';
import type { RangeLimits } from './finished-ranges.js';

const CUTS_NAME = 'cuts';

const shape = object({
  /** The byte of the output, or of its first split, at which each shard begins; null: the cuts are arithmetic. */
  starts: nullable(list(wholeNumber())),
  /** The same of the other splits. Absent: there are none. */
  ofOthers: optional(list(nullable(list(wholeNumber())))),
});

/** A million shards take some 16 MB. */
const format = new SealedFormat({ kind: 'cuts', version: 1, mostBytes: 2 ** 25, role: 'temp', shape });

export type CutsNote = ValueOf<typeof shape>;

export async function writeCutsNote(jobDirectory: string, note: CutsNote): Promise<void> {
  await createDurably(jobDirectory, CUTS_NAME, format.seal(note));
}

/** @returns undefined when there is no note. @throws VerificationError when it is damaged. */
export function readCutsNote(
  jobDirectory: string,
  { mostShards }: Pick<RangeLimits, 'mostShards'>,
): CutsNote | undefined {
  const path = join(jobDirectory, CUTS_NAME);
  const note = format.read(path);
  for (const starts of note === undefined ? [] : [note.starts, ...(note.ofOthers ?? [])])
    requireAscending(starts ?? [0], path, mostShards);
  return note;
}

function requireAscending(starts: readonly number[], path: string, mostShards: number): void {
  if (starts[0] !== 0) throw damagedFile(path, `expected the first shard to begin at byte 0, got ${starts[0]}`);
  if (starts.length > mostShards)
    throw damagedFile(path, `expected at most ${mostShards} shards, got ${starts.length}`);
  for (const [i, start] of starts.entries()) {
    const before = starts[i - 1] ?? -1;
    if (start <= before) throw damagedFile(path, `starts[${i}]: expected a byte behind ${before}, got ${start}`);
  }
}
