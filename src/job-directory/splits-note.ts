/**
 * The note of where splits begin. The piles that were measured for it are deleted as soon as the output has their records,
 * so the note is durable before the first record of finished ranges. It never changes.
 */
import { join } from 'node:path';
import { checksumText, list, object, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { SealedFormat } from '../io/sealed-format.js';
import { createDurably } from '../io/small-file.js';

const SPLITS_NAME = 'splits';

const shape = object({
  /** Of all splits but the first: what the order has before it. */
  before: list(object({ records: wholeNumber(), bytes: wholeNumber(), checksum: checksumText })),
});

const format = new SealedFormat({ kind: 'splits', version: 1, mostBytes: 2 ** 20, role: 'temp', shape });

export type SplitsNote = ValueOf<typeof shape>;

export async function writeSplitsNote(jobDirectory: string, note: SplitsNote): Promise<void> {
  await createDurably(jobDirectory, SPLITS_NAME, format.seal(note));
}

/** @returns undefined when there is no note. @throws VerificationError when it is damaged. */
export function readSplitsNote(jobDirectory: string): SplitsNote | undefined {
  return format.read(join(jobDirectory, SPLITS_NAME));
}
