/**
 * Compares each commit of a store with its indexes and the sizes of their files: all that can be checked without reading
 * records.
 */
import { counted } from '../errors.js';
import { statPath } from '../io/paths.js';
import { UNGATED } from '../job-control.js';
import { hearSignals } from '../pause.js';
import { dataFilePath, indexFilePath, type PileSetLayout } from '../pile-sets/pile-layout.js';
import { damagedPileSet } from '../pile-sets/pile-set-file.js';
import { addTotals, checksumTextOf, emptyTotals, type PileTotals, sumTotals } from '../pile-sets/pile-totals.js';
import { readPileSetDescription, readPileTotals } from '../pile-sets/read-pile-set-index.js';
import { STORED_HEADER_BYTES } from '../plan/arena-sizes.js';
import type { StoreCommit } from './store-manifest.js';
import { explainingExpiry, layoutOf, type StoreSnapshot } from './store-snapshot.js';

/**
 * @returns the memory that each pile needs when it is loaded, in bytes.
 * @throws VerificationError, AbortError; UsageError ERR_STORE when a pile set was expired and deleted meanwhile
 */
export async function measureStoredPiles(snapshot: StoreSnapshot, signal: AbortSignal | undefined): Promise<Float64Array> {
  const storedBytes = new Float64Array(snapshot.settings.pileCount);
  for (const commit of snapshot.manifest.commits) await addTallies(commit, snapshot, storedBytes, signal);
  return storedBytes;
}

/** @throws VerificationError when the pile sets of a commit differ from what it says. */
async function addTallies(
  commit: StoreCommit,
  snapshot: StoreSnapshot,
  storedBytes: Float64Array,
  signal: AbortSignal | undefined,
): Promise<void> {
  const layout = layoutOf(snapshot, UNGATED, false);
  const totals = emptyTotals(layout.pileCount);
  for (const { name, diskBytes } of commit.pileSets) {
    await hearSignals(signal);
    const tallies = explainingExpiry(snapshot, name, () => {
      const found = readTallies(indexFilePath(layout, name), name, layout);
      requireDataFile(dataFilePath(layout, name, 0, 0), diskBytes);
      return found;
    });
    addTotals(totals, tallies);
  }
  for (const [pile, count] of totals.records.entries()) {
    storedBytes[pile] = (storedBytes[pile] ?? 0) + (totals.recordBytes[pile] ?? 0) + STORED_HEADER_BYTES * count;
  }
  const { records, bytes, checksum } = sumTotals(totals);
  const found = `${counted(records, 'record')} of ${counted(bytes, 'byte')}, checksum ${checksumTextOf(checksum)}`;
  const told = `${counted(commit.records, 'record')} of ${counted(commit.bytes, 'byte')}, checksum ${commit.checksum}`;
  if (found === told) return;
  throw damagedPileSet(
    `the indexes of commit ${commit.name} (generation ${commit.generation}) have ${found}, expected ${told}`,
    undefined,
    'store',
  );
}

function readTallies(path: string, name: string, { pileCount }: PileSetLayout): PileTotals {
  const index = { path, role: 'store' } as const;
  const tallies = readPileTotals(index);
  const { name: foundName } = readPileSetDescription(index);
  if (foundName !== name) {
    throw damagedPileSet(`${path} is the index of the pile set ${foundName}, expected ${name}`, undefined, 'store');
  }
  if (tallies.records.length !== pileCount) {
    throw damagedPileSet(
      `${path} has ${counted(tallies.records.length, 'pile')}, expected ${pileCount}`,
      undefined,
      'store',
    );
  }
  return tallies;
}

function requireDataFile(path: string, diskBytes: number): void {
  const byteLength = Number(statPath(path, 'store')?.size ?? 0);
  if (byteLength === diskBytes) return;
  throw damagedPileSet(`${path} has ${counted(byteLength, 'byte')}, expected ${diskBytes}`, undefined, 'store');
}
