/**
 * What a store holds, in numbers, compared with what its indexes and files say.
 */
import { listNames } from '../io/paths.js';
import { type GenerationSummary, generationsOf, summaryOf, sumOfChecksums } from '../store/generations.js';
import { measurePiles } from '../store/measure-piles.js';
import { findMarks } from '../store/store-attempt.js';
import { pileSetDirectoryOf } from '../store/store-files.js';
import { openSnapshot } from '../store/store-snapshot.js';
import { verifyStore } from './verify-store.js';

export interface InspectOptions {
  /** Read every record, and compare all checksums. */
  readonly verify?: boolean | undefined;
  /** Stops it. */
  readonly signal?: AbortSignal | undefined;
}

export interface StoreReport {
  readonly directory: string;
  /** 16 hex digits that no other store has. */
  readonly id: string;
  readonly seed: string;
  readonly piles: number;
  /** Number of the state, and since when it is. */
  readonly state: number;
  readonly time: string;
  /** Oldest first. */
  readonly generations: readonly GenerationSummary[];
  readonly inputs: number;
  readonly records: number;
  readonly bytes: number;
  /** Multiset checksum of all records, as in a ShuffleReport. */
  readonly checksum: string;
  readonly longestRecordBytes: number;
  readonly pileSets: number;
  /** Of the data files of its pile sets. */
  readonly diskBytes: number;
  /** Bytes of the records that lie on one pile, with 12 more a record. */
  readonly pileBytes: { readonly least: number; readonly mean: number; readonly most: number };
  /** Taken out of the store, and not deleted yet. */
  readonly removedPileSets: number;
  /** Writers at work, and those that did not come to their end. */
  readonly writers: number;
  /** Whether every record was read. */
  readonly verified: boolean;
}

/**
 * Looks at a store, while others may read and write it.
 * @throws PileshufError UsageError: ERR_STORE; VerificationError for the first thing that is not as it was written, UsageError
 *   ERR_STORE when it was expired and deleted meanwhile; SystemError; AbortedError
 */
export async function inspectStore(storeDirectory: string, options: InspectOptions = {}): Promise<StoreReport> {
  const snapshot = openSnapshot(storeDirectory);
  const { directory, settings, manifest } = snapshot;
  const { verify: verified = false, signal } = options;
  const storedBytes = await measurePiles(snapshot, signal);
  if (verified) await verifyStore(snapshot, signal);

  const generations = generationsOf(manifest.commits).map(summaryOf);
  const sum = (count: (generation: GenerationSummary) => number) =>
    generations.reduce((total, generation) => total + count(generation), 0);
  return {
    directory,
    id: settings.id,
    seed: settings.seed,
    piles: settings.pileCount,
    state: manifest.number,
    time: new Date(manifest.time).toISOString(),
    generations,
    inputs: sum(({ inputs }) => inputs),
    records: sum(({ records }) => records),
    bytes: sum(({ bytes }) => bytes),
    checksum: sumOfChecksums(manifest.commits),
    longestRecordBytes: manifest.commits.reduce((most, commit) => Math.max(most, commit.longestRecordBytes), 0),
    pileSets: sum(({ pileSets }) => pileSets),
    diskBytes: sum(({ diskBytes }) => diskBytes),
    pileBytes: {
      least: storedBytes.reduce((least, bytes) => Math.min(least, bytes), Number.POSITIVE_INFINITY),
      mean: storedBytes.reduce((total, bytes) => total + bytes, 0) / storedBytes.length,
      most: storedBytes.reduce((most, bytes) => Math.max(most, bytes), 0),
    },
    removedPileSets: manifest.removed.reduce((total, { pileSets }) => total + pileSets.length, 0),
    writers: findMarks(listNames(pileSetDirectoryOf(directory), 'store')).length,
    verified,
  };
}
