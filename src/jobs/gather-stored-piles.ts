/**
 * Takes the piles of a store in place of a scatter pass: all pile sets, and the totals of each merged pile. Reads the
 * totals from the indexes, and compares them with the commits in the manifest.
 */
import { counted, VerificationError } from '../errors.js';
import type { JobControl } from '../job-control.js';
import { type ScatteredPileSet, type ScatteredPiles, scatteredPiles } from '../passes/scattered-piles.js';
import { hearSignals } from '../pause.js';
import { indexFilePath, type PileSetLayout } from '../pile-sets/pile-layout.js';
import { addTotals, emptyTotals, type PileTotals, sumTotals } from '../pile-sets/pile-totals.js';
import { readPileTotals } from '../pile-sets/read-pile-set-index.js';
import { longestRecordBytesOf, type StoreCommit } from '../store/store-manifest.js';
import { explainingExpiry, type StoreSnapshot } from '../store/store-snapshot.js';

/** @throws VerificationError for a damaged index, or a commit that differs from the manifest; AbortError */
export async function gatherStoredPiles(
  snapshot: StoreSnapshot,
  layout: PileSetLayout,
  control: JobControl,
): Promise<ScatteredPiles> {
  const { settings, manifest } = snapshot;
  const { pileCount } = settings;
  const totals = emptyTotals(pileCount);
  const pileSets: ScatteredPileSet[] = [];
  for (const commit of manifest.commits) {
    const ofCommit = emptyTotals(pileCount);
    for (const { name, diskBytes } of commit.pileSets) {
      await hearSignals(undefined);
      control.throwIfAborted();
      const index = { path: indexFilePath(layout, name), role: 'store' as const };
      const tallies = explainingExpiry(snapshot, name, () => readPileTotals(index));
      if (tallies.records.length !== pileCount) {
        throw new VerificationError(
          `${index.path} has ${counted(tallies.records.length, 'pile')}, and the store ${pileCount}`,
        );
      }
      addTotals(ofCommit, tallies);
      pileSets.push({ name, index, diskBytes });
    }
    requireAsNoted(commit, ofCommit);
    addTotals(totals, ofCommit);
  }
  return scatteredPiles(pileSets, totals, longestRecordBytesOf(manifest.commits));
}

/** Each index may be whole and still belong to another commit: the totals show it. */
function requireAsNoted(commit: StoreCommit, totals: PileTotals): void {
  const { records, bytes, checksum } = sumTotals(totals);
  if (records === commit.records && bytes === commit.bytes && checksum === BigInt(`0x${commit.checksum}`)) return;
  throw new VerificationError(
    `the pile sets of the commit ${commit.name} hold ${counted(records, 'record')} of ${counted(bytes, 'byte')}, expected ${commit.records} of ${commit.bytes} with the checksum ${commit.checksum}; restore the store from a copy`,
  );
}
