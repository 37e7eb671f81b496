import { VerificationError } from '../errors.js';
import { listNames } from '../io/paths.js';
import { INSPECT_OPTIONS, type InspectOptions } from '../options/store-options.js';
import { STORED_HEADER_BYTES } from '../plan/arena-sizes.js';
import type { Tuning } from '../plan/memory-plan.js';
import { type GenerationSummary, generationsOf, summaryOf, sumOfChecksums } from '../store/generations.js';
import { describeUnowned, findMarks, findUnowned, type UnownedPileSets } from '../store/store-attempt.js';
import { pileSetDirectoryOf } from '../store/store-files.js';
import {
  longestRecordBytesOf,
  missingReachedNote,
  requirePresent,
  verifyFormerManifests,
} from '../store/store-manifest.js';
import { openRemains, type StoreSnapshot } from '../store/store-snapshot.js';
import { readStoredTotals } from '../store/stored-totals.js';
import { requireKnownOptions } from '../values/known-options.js';
import { completeTalk } from './request.js';
import { verifyStore } from './verify-store.js';

export interface StoreReport {
  readonly directory: string;
  /** 16 hex digits, which no other store has. */
  readonly id: string;
  readonly seed: string;
  readonly piles: number;
  /** Number of the current state. */
  readonly state: number;
  /** The time when the current state was committed: ISO 8601, in UTC. */
  readonly time: string;
  /** Oldest first. */
  readonly generations: readonly GenerationSummary[];
  readonly inputs: number;
  readonly records: number;
  readonly bytes: number;
  /** Multiset checksum of all records, as in `ShuffleReport`. */
  readonly checksum: string;
  readonly longestRecordBytes: number;
  readonly pileSets: number;
  /** Bytes of the data files. */
  readonly diskBytes: number;
  /** Bytes of one pile: its records, plus 12 bytes a record. */
  readonly pileBytes: { readonly least: number; readonly mean: number; readonly most: number };
  /** Pile sets that were removed from the store and are not yet deleted. */
  readonly removedPileSets: number;
  /** Pile sets that belong to no state of the store and to no writer: a lost manifest has named them. */
  readonly unowned: UnownedPileSets;
  /** Writers at work, and writers that ended without cleaning up. */
  readonly writers: number;
  /** True if every record was read. */
  readonly verified: boolean;
}

/**
 * Describes a store in numbers, and compares its manifest with its indexes and data files. Others may read and write
 * the store meanwhile.
 *
 * @param tuning sizes for tests; they do not change the result.
 * @throws UsageError ERR_STORE if the directory is not a store, or if a pile set was expired and deleted meanwhile;
 *   VerificationError for the first damage, if the manifest of the present state is lost, and with `verify` if there
 *   are pile sets that a lost manifest has named; SystemError; AbortError
 */
export async function inspectStore(
  storeDirectory: string,
  options: InspectOptions = {},
  tuning: Partial<Tuning> = {},
): Promise<StoreReport> {
  requireKnownOptions('inspectStore()', options, INSPECT_OPTIONS);
  const { snapshot, newest } = openRemains(storeDirectory);
  const { directory, settings, manifest } = snapshot;
  const { verify: verified = false, signal } = options;
  const unowned = await findUnowned(snapshot, signal);
  requirePresent(newest, directory, unowned.pileSets === 0 ? '' : `, which does not name ${describeUnowned(unowned)}`);
  const totals = await readStoredTotals(snapshot, signal);
  const storedBytes = totals.recordBytes.map(
    (bytes, pile) => bytes + STORED_HEADER_BYTES * (totals.records[pile] ?? 0),
  );
  if (verified) {
    requireNoneUnowned(unowned, snapshot);
    const talk = completeTalk(options);
    await verifyFormerManifests(directory, manifest, signal);
    const note = missingReachedNote(directory, manifest.number);
    if (note !== undefined)
      talk.onWarning(
        `${note} is missing, without which nobody sees that a newer manifest is lost; the next change of the store writes it`,
      );
    await verifyStore(snapshot, talk, tuning);
  }

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
    unowned,
    writers: findMarks(listNames(pileSetDirectoryOf(directory), 'store')).length,
    verified,
  };
}

function requireNoneUnowned(unowned: UnownedPileSets, { directory, manifest }: StoreSnapshot): void {
  if (unowned.pileSets === 0) return;
  throw new VerificationError(
    `the pile store ${directory} has ${describeUnowned(unowned)} of no state and no writer: a manifest newer than that of state ${manifest.number} may be lost; restore it from a copy, or give \`giveUpLost\` to \`collectStore\` to delete them`,
  );
}
