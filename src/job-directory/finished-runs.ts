/**
 * Records of the runs of pass 2 whose part of the output is durable: their piles need not be ordered
 * again, and what they were made from may be deleted. Each record is a file of its own, numbered from 1,
 * never changed.
 */
import { join } from 'node:path';
import { listNames } from '../io/paths.js';
import { createDurably, readSmallFile } from '../io/small-file.js';
import { damagedFile } from './damaged-file.js';
import { list, object, readShape, type ValueOf, wholeNumber } from './json-shape.js';
import { seal, unseal } from './sealed-file.js';

const KIND = 'runs';
const VERSION = 1;
const MOST_BYTES = 2 ** 28;
const NAME = /^done-(\d{6,})$/;

const shape = object({
  runs: list(
    object({
      /** Piles [first, end). */
      first: wholeNumber(),
      end: wholeNumber(),
      /** Where their records were written. */
      regions: list(object({ shard: wholeNumber(), start: wholeNumber(), end: wholeNumber() })),
    }),
  ),
});

export type FinishedRun = ValueOf<typeof shape>['runs'][number];

function recordName(number: number): string {
  return `done-${String(number).padStart(6, '0')}`;
}

/** @param number one more than that of the last record. */
export async function writeFinishedRuns(
  jobDirectory: string,
  number: number,
  runs: readonly FinishedRun[],
): Promise<void> {
  await createDurably(jobDirectory, recordName(number), seal(KIND, VERSION, { runs }));
}

export interface FinishedRuns {
  readonly runs: readonly FinishedRun[];
  readonly recordCount: number;
}

/** All records of a job. @throws VerificationError when one is damaged or missing. */
export function readFinishedRuns(jobDirectory: string): FinishedRuns {
  const recordCount = listNames(jobDirectory, 'temp').filter((name) => NAME.test(name)).length;
  const runs: FinishedRun[] = [];
  for (let number = 1; number <= recordCount; number++) {
    const path = join(jobDirectory, recordName(number));
    const bytes = readSmallFile(path, 'temp', MOST_BYTES);
    if (bytes === undefined) throw damagedFile(path, `it is missing, expected ${recordCount} records`);
    const record = readShape(shape, unseal(bytes, KIND, VERSION, path), path);
    runs.push(...record.runs);
  }
  return { runs, recordCount };
}

/** The names of all records, in order. */
export function finishedRunNames(jobDirectory: string): string[] {
  return listNames(jobDirectory, 'temp')
    .filter((name) => NAME.test(name))
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
}
