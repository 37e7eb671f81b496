/**
 * Describes a pile store in numbers, and compares the manifest with the indexes and data files.
 */

import { listNames } from '../io/paths.js';
import { type OptionNames, requireKnownOptions } from '../known-options.js';
import { type GenerationSummary, generationsOf, summaryOf, sumOfChecksums } from '../store/generations.js';
import { measurePiles } from '../store/measure-piles.js';
import { findMarks } from '../store/store-attempt.js';
import { pileSetDirectoryOf } from '../store/store-files.js';
import { longestRecordBytesOf } from '../store/store-manifest.js';
import { openSnapshot } from '../store/store-snapshot.js';
import { verifyStore } from './verify-store.js';

export interface InspectOptions {
  /** Reads every record and compares all checksums. Default: reads only the manifest and the indexes. */
  readonly verify?: boolean | undefined;
  /** Stops the call, which then throws an AbortError. */
  readonly signal?: AbortSignal | undefined;
}

export interface StoreReport {
  /** Path of the store. */
  readonly directory: string;
  /** 16 hex digits, unique to this store. */
  readonly id: string;
  readonly seed: string;
  readonly piles: number;
  /** Number of the current state. */
  readonly state: number;
  /** When the current state was committed: ISO 8601, in UTC. */
  readonly time: string;
  /** Oldest first. */
  readonly generations: readonly GenerationSummary[];
  /** Number of inputs. */
  readonly inputs: number;
  readonly records: number;
  /** Bytes of all records. */
  readonly bytes: number;
  /** Multiset checksum of all records, as in `ShuffleReport`. */
  readonly checksum: string;
  readonly longestRecordBytes: number;
  /** Number of pile sets. */
  readonly pileSets: number;
  /** Bytes of the data files of these pile sets. */
  readonly diskBytes: number;
  /** Bytes of one pile: its records, plus 12 bytes a record. */
  readonly pileBytes: { readonly least: number; readonly mean: number; readonly most: number };
  /** Number of pile sets that were removed from the store and are not yet deleted. */
  readonly removedPileSets: number;
  /** Number of writers at work, and of writers that ended without cleaning up. */
  readonly writers: number;
  /** Whether every record was read. */
  readonly verified: boolean;
}

const INSPECT_OPTIONS: OptionNames<InspectOptions> = { verify: true, signal: true };

/**
 * Describes a store. Others may read and write the store meanwhile.
 * @throws UsageError ERR_STORE if the directory is not a store, or if a pile set was expired and deleted meanwhile;
 *   VerificationError for the first damage; SystemError; AbortError
 */
export async function inspectStore(storeDirectory: string, options: InspectOptions = {}): Promise<StoreReport> {
  requireKnownOptions('inspectStore()', options, INSPECT_OPTIONS);
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
    longestRecordBytes: longestRecordBytesOf(manifest.commits),
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
