/**
 * Reads what the piles of a store hold, by the indexes of its pile sets, compared with the commits in the manifest: all
 * that can be checked without reading records.
 */
import { counted } from '../errors.js';
import { UNGATED } from '../floor/job-control.js';
import { yieldAndCheckAbort } from '../floor/pause.js';
import { statPath } from '../io/paths.js';
import { dataFilePath, indexFilePath } from '../piles/pile-layout.js';
import { damagedPileSetError } from '../piles/pile-set-file.js';
import { readPileSetDescription, readPileTotals } from '../piles/pile-set-index.js';
import {
  addTotals,
  describeTotals,
  emptyTotals,
  type PileTotals,
  sumOverPiles,
  textOfTotals,
} from '../piles/pile-totals.js';
import type { StoreCommit } from './store-manifest.js';
import { explainingExpiry, layoutOf, type StoreSnapshot } from './store-snapshot.js';

/** The totals of each merged pile. */
export async function readStoredTotals(snapshot: StoreSnapshot, signal: AbortSignal | undefined): Promise<PileTotals> {
  const layout = layoutOf(snapshot, UNGATED, false);
  const totals = emptyTotals(layout.pileCount);
  for (const commit of snapshot.manifest.commits) {
    const ofCommit = emptyTotals(layout.pileCount);
    for (const { name, diskBytes } of commit.pileSets) {
      await yieldAndCheckAbort(signal);
      const found = explainingExpiry(snapshot, name, () => {
        const tallies = readTallies(indexFilePath(layout, name), name, layout.pileCount);
        requireDataFile(dataFilePath(layout, name, 0, 0), diskBytes);
        return tallies;
      });
      addTotals(ofCommit, found);
    }
    requireAsNoted(commit, ofCommit);
    addTotals(totals, ofCommit);
  }
  return totals;
}

function readTallies(path: string, name: string, pileCount: number): PileTotals {
  const index = { path, role: 'store' } as const;
  const tallies = readPileTotals(index);
  const { name: foundName } = readPileSetDescription(index);
  if (foundName !== name) throw damaged(`${path} is the index of the pile set ${foundName}, expected ${name}`);
  if (tallies.records.length === pileCount) return tallies;
  throw damaged(`${path} has ${counted(tallies.records.length, 'pile')}, expected ${pileCount}`);
}

function requireDataFile(path: string, diskBytes: number): void {
  const found = statPath(path, 'store');
  // Without bytes there is no file.
  if (found === undefined && diskBytes > 0) throw damaged(`${path} does not exist any more`);
  const byteLength = Number(found?.size ?? 0);
  if (byteLength !== diskBytes) throw damaged(`${path} has ${counted(byteLength, 'byte')}, expected ${diskBytes}`);
}

/** Each index may be whole and still belong to another commit: the totals show it. */
function requireAsNoted(commit: StoreCommit, totals: PileTotals): void {
  const found = describeTotals(textOfTotals(sumOverPiles(totals)));
  const expected = describeTotals(commit);
  if (found === expected) return;
  throw damaged(
    `the indexes of commit ${commit.name} (generation ${commit.generation}) have ${found}, expected ${expected}`,
  );
}

function damaged(problem: string) {
  return damagedPileSetError(problem, undefined, 'store');
}
