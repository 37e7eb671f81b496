/**
 * The note of the head of the order, where a job asks for its first records alone: how much of its last pile belongs to
 * it. The pile is deleted as soon as the output has its records, so the note is durable before the first record of finished
 * ranges. It never changes.
 */
import { join } from 'node:path';
import { checksumText, object, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { SealedFormat } from '../io/sealed-format.js';
import { createDurably } from '../io/small-file.js';

const HEAD_NAME = 'head';

const shape = object({
  /** The last pile of the head. */
  pile: wholeNumber(),
  /** What it has of the head. */
  records: wholeNumber(),
  recordBytes: wholeNumber(),
  checksum: checksumText,
  /** Of the whole head; at most, if the cut into shards does not depend on it. */
  longestRecordBytes: wholeNumber(),
});

const format = new SealedFormat({ kind: 'head', version: 1, mostBytes: 2 ** 12, role: 'temp', shape });

export type HeadNote = ValueOf<typeof shape>;

export async function writeHeadNote(jobDirectory: string, note: HeadNote): Promise<void> {
  await createDurably(jobDirectory, HEAD_NAME, format.seal(note));
}

/** @returns undefined when there is no note. @throws VerificationError when it is damaged. */
export function readHeadNote(jobDirectory: string): HeadNote | undefined {
  return format.read(join(jobDirectory, HEAD_NAME));
}
