/**
 * What a store has in each of its piles: read from the indexes of all pile sets, once for a loader.
 */
import { VerificationError } from '../errors.js';
import { hearSignals } from '../io/pause.js';
import type { StoredPileSet } from '../pile-store/pile-set-writer.js';
import { type PileTallies, readPileTallies } from '../pile-store/read-pile-set-index.js';
import { explainedByExpiry } from '../store/expired-meanwhile.js';
import type { StoreSnapshot } from '../store/store-snapshot.js';

/** @throws VerificationError when an index is damaged, or not what the manifest says; UsageError; AbortedError */
export async function readStoreTotals(
  snapshot: StoreSnapshot,
  pileSets: readonly StoredPileSet[],
  signal: AbortSignal | undefined,
): Promise<PileTallies> {
  const { directory, settings, manifest } = snapshot;
  const { pileCount } = settings;
  const totals: PileTallies = {
    records: new Float64Array(pileCount),
    recordBytes: new Float64Array(pileCount),
    checksums: new BigUint64Array(pileCount),
  };
  for (const { name, index } of pileSets) {
    // The event loop of the caller goes on meanwhile: there may be thousands of them.
    await hearSignals(signal);
    addTallies(totals, readTallies(index, name, snapshot));
  }
  const found = totals.records.reduce((sum, records) => sum + records, 0);
  const expected = manifest.commits.reduce((sum, { records }) => sum + records, 0);
  if (found === expected) return totals;
  throw new VerificationError(
    `the pile store ${directory} holds ${found} records, expected ${expected}; restore it from a copy`,
  );
}

function readTallies(index: StoredPileSet['index'], name: string, snapshot: StoreSnapshot): PileTallies {
  try {
    return readPileTallies(index);
  } catch (error) {
    throw explainedByExpiry(error, snapshot, name);
  }
}

function addTallies(totals: PileTallies, { records, recordBytes, checksums }: PileTallies): void {
  for (let pile = 0; pile < totals.records.length; pile++) {
    totals.records[pile] = (totals.records[pile] ?? 0) + (records[pile] ?? 0);
    totals.recordBytes[pile] = (totals.recordBytes[pile] ?? 0) + (recordBytes[pile] ?? 0);
    totals.checksums[pile] = (totals.checksums[pile] ?? 0n) + (checksums[pile] ?? 0n);
  }
}
