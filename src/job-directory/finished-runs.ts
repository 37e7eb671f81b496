/**
 * Records of the runs of pass 2 whose part of the output is durable: their piles need not be ordered
 * again, and what they were made from may be deleted. Each record is a file of its own, numbered from 1,
 * never changed.
 */
import { join } from 'node:path';
import { VerificationError } from '../errors.js';
import { listNames } from '../io/paths.js';
import { createDurably, readSmallFile } from '../io/small-file.js';
import { array, object, type ShapeOf, text, wholeNumber } from './json-shape.js';
import { readSealed, seal } from './sealed-file.js';

const SEAL = { kind: 'runs', version: 1 } as const;
const MOST_BYTES = 2 ** 28;
const NAME = /^done-(\d{6,})$/;

const shape = object({
  jobId: text(),
  runs: array(
    object({
      /** Piles [first, end). */
      first: wholeNumber(),
      end: wholeNumber(),
      /** Where their records were written. */
      regions: array(object({ shard: wholeNumber(), start: wholeNumber(), end: wholeNumber() })),
    }),
  ),
});

export type FinishedRun = ShapeOf<typeof shape>['runs'][number];

function recordName(number: number): string {
  return `done-${String(number).padStart(6, '0')}`;
}

/** @param number one more than that of the last record. */
export async function writeFinishedRuns(
  jobDirectory: string,
  number: number,
  jobId: string,
  runs: readonly FinishedRun[],
): Promise<void> {
  await createDurably(jobDirectory, recordName(number), seal(SEAL, { jobId, runs }));
}

export interface FinishedRuns {
  readonly runs: readonly FinishedRun[];
  readonly recordCount: number;
}

/** All records of a job. @throws VerificationError when one is damaged or missing. */
export function readFinishedRuns(jobDirectory: string, jobId: string): FinishedRuns {
  const recordCount = listNames(jobDirectory, 'temp').filter((name) => NAME.test(name)).length;
  const runs: FinishedRun[] = [];
  for (let number = 1; number <= recordCount; number++) {
    const path = join(jobDirectory, recordName(number));
    const bytes = readSmallFile(path, 'temp', MOST_BYTES);
    if (bytes === undefined) throw new VerificationError(`${path} is missing, expected ${recordCount} records`);
    const record = shape(readSealed(bytes, SEAL, path), path);
    if (record.jobId !== jobId) throw new VerificationError(`${path} belongs to another job`);
    runs.push(...record.runs);
  }
  return { runs, recordCount };
}

/** Forgets them all. */
export function finishedRunNames(jobDirectory: string): string[] {
  return listNames(jobDirectory, 'temp').filter((name) => NAME.test(name));
}
