/**
 * What stands in the place of pass 1 when the piles are those of a store: all pile sets, and the totals of each merged
 * pile, read from their indexes and compared with what the store says of its commits.
 */
import { VerificationError } from '../errors.js';
import type { JobContext, ScatteredPileSet, ScatteredPiles } from '../passes/job-context.js';
import { hearSignals } from '../pause.js';
import { indexFilePath } from '../pile-sets/pile-layout.js';
import { type PileTallies, readPileTallies } from '../pile-sets/read-pile-set-index.js';
import type { StoreCommit } from '../store/store-manifest.js';
import type { StoreSnapshot } from '../store/store-snapshot.js';
import { explainingExpiry } from '../store/store-snapshot.js';

/** @throws VerificationError for a damaged index, or a commit that does not hold what the store says; AbortedError */
export async function gatherStoredPiles(
  snapshot: StoreSnapshot,
  { share, control }: JobContext,
): Promise<ScatteredPiles> {
  const { settings, manifest } = snapshot;
  const { pileCount } = settings;
  const totals = noTallies(pileCount);
  const pileSets: ScatteredPileSet[] = [];
  for (const commit of manifest.commits) {
    const ofCommit = noTallies(pileCount);
    for (const { name, diskBytes } of commit.pileSets) {
      await hearSignals(undefined);
      control.throwIfAborted();
      const index = { path: indexFilePath(share.layout, name), role: 'store' as const };
      const tallies = explainingExpiry(snapshot, name, () => readPileTallies(index));
      if (tallies.records.length !== pileCount) {
        throw new VerificationError(`${index.path} has ${tallies.records.length} piles, and the store ${pileCount}`);
      }
      addTallies(ofCommit, tallies);
      pileSets.push({ name, index, diskBytes });
    }
    requireTold(commit, ofCommit);
    addTallies(totals, ofCommit);
  }
  const { records, bytes, checksum } = sumOf(totals);
  return {
    pileSets,
    totals,
    records,
    bytes,
    checksum,
    longestRecordBytes: manifest.commits.reduce(
      (most, { longestRecordBytes }) => Math.max(most, longestRecordBytes),
      0,
    ),
    header: undefined,
    tempBytes: 0,
    takenOverCount: 0,
  };
}

function noTallies(pileCount: number): PileTallies {
  return {
    records: new Float64Array(pileCount),
    recordBytes: new Float64Array(pileCount),
    checksums: new BigUint64Array(pileCount),
  };
}

function addTallies(totals: PileTallies, more: PileTallies): void {
  for (let pile = 0; pile < totals.records.length; pile++) {
    totals.records[pile] = (totals.records[pile] ?? 0) + (more.records[pile] ?? 0);
    totals.recordBytes[pile] = (totals.recordBytes[pile] ?? 0) + (more.recordBytes[pile] ?? 0);
    // The array keeps sums modulo 2^64.
    totals.checksums[pile] = (totals.checksums[pile] ?? 0n) + (more.checksums[pile] ?? 0n);
  }
}

function sumOf({ records, recordBytes, checksums }: PileTallies) {
  const add = (sum: number, more: number) => sum + more;
  const checksum = checksums.reduce((sum, more) => sum + more, 0n);
  return { records: records.reduce(add, 0), bytes: recordBytes.reduce(add, 0), checksum: BigInt.asUintN(64, checksum) };
}

/** Of two pile sets of the same size and shape one could lie in the place of the other. */
function requireTold(commit: StoreCommit, tallies: PileTallies): void {
  const { records, bytes, checksum } = sumOf(tallies);
  if (records === commit.records && bytes === commit.bytes && checksum === BigInt(`0x${commit.checksum}`)) return;
  throw new VerificationError(
    `the pile sets of the commit ${commit.name} hold ${records} records of ${bytes} bytes, expected ${commit.records} of ${commit.bytes} with the checksum ${commit.checksum}; restore the store from a copy`,
  );
}
