/**
 * The record of a task of the shuffle pass that is done: what it wrote, and where. The first attempt at the task makes it. It
 * counts until the output is found damaged; then the task makes another one.
 */
import { join } from 'node:path';
import { fileName, list, nullable, object, optional, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { SealedFormat } from '../io/sealed-format.js';
import { createDurably } from '../io/small-file.js';
import { finishedRange } from '../job-directory/finished-ranges.js';
import { CLUSTER_REMEDY, recordNameOf } from './cluster-plan.js';

const share = {
  /** The directory in the staging directory that holds the shards of this attempt; null: it wrote to those of all. */
  own: nullable(fileName),
  /** Regions are counted from the end of the header of their file. */
  headerBytes: wholeNumber(),
  ranges: list(finishedRange),
} as const;

const shape = object({
  task: wholeNumber(),
  /** How often the output of the task had been found damaged before. */
  rewrite: wholeNumber(),
  ...share,
  /** The same of the list of dropped records. Absent: there is none. */
  list: optional(object(share)),
});

/** What a task wrote of the output, or of the list of dropped records. */
export type WrittenShare = Pick<ShuffleRecord, 'own' | 'headerBytes' | 'ranges'>;

export type ShuffleRecord = ValueOf<typeof shape>;

const format = new SealedFormat({
  kind: 'cluster-shuffle',
  version: 2,
  mostBytes: 2 ** 28,
  role: 'temp',
  shape,
  remedy: CLUSTER_REMEDY,
});

/** @throws NameTakenError if another attempt was first. */
export async function writeShuffleRecord(jobDirectory: string, record: ShuffleRecord): Promise<void> {
  await createDurably(jobDirectory, recordNameOf('shuffle', record.task, record.rewrite), format.seal(record));
}

/** @returns undefined if the task is not done. @throws VerificationError if the record is damaged. */
export function readShuffleRecord(jobDirectory: string, task: number, rewrite: number): ShuffleRecord | undefined {
  return format.read(join(jobDirectory, recordNameOf('shuffle', task, rewrite)));
}
