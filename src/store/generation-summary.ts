/**
 * A generation in numbers.
 */
import type { Generation } from './expire.js';

export interface GenerationSummary {
  readonly name: string;
  /** As in `2026-01-31T12:00:00.000Z`. */
  readonly time: string;
  readonly commits: number;
  readonly inputs: number;
  readonly records: number;
  readonly bytes: number;
  readonly pileSets: number;
  /** Of the data files of its pile sets. */
  readonly diskBytes: number;
}

export function summaryOf({ name, time, commits }: Generation): GenerationSummary {
  const sum = (count: (commit: Generation['commits'][number]) => number) =>
    commits.reduce((total, commit) => total + count(commit), 0);
  return {
    name,
    time: new Date(time).toISOString(),
    commits: commits.length,
    inputs: sum(({ inputIds }) => inputIds.length),
    records: sum(({ records }) => records),
    bytes: sum(({ bytes }) => bytes),
    pileSets: sum(({ pileSets }) => pileSets.length),
    diskBytes: sum(({ pileSets }) => pileSets.reduce((total, { diskBytes }) => total + diskBytes, 0)),
  };
}
