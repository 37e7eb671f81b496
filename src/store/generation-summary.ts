/**
 * A generation in numbers.
 */
import type { Generation } from './expire.js';
import type { StoreCommit } from './manifest.js';

export interface GenerationSummary {
  readonly name: string;
  /** As in `2026-01-31T12:00:00.000Z`. */
  readonly time: string;
  readonly commits: number;
  readonly inputs: number;
  readonly records: number;
  readonly bytes: number;
  /** Multiset checksum of its records. */
  readonly checksum: string;
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
    checksum: sumOfChecksums(commits),
    pileSets: sum(({ pileSets }) => pileSets.length),
    diskBytes: sum(({ pileSets }) => pileSets.reduce((total, { diskBytes }) => total + diskBytes, 0)),
  };
}

/** The multiset checksum of the records of several commits. */
export function sumOfChecksums(commits: readonly StoreCommit[]): string {
  const sum = commits.reduce((total, { checksum }) => total + BigInt(`0x${checksum}`), 0n);
  return BigInt.asUintN(64, sum).toString(16).padStart(16, '0');
}
