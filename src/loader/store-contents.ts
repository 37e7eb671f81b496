/**
 * What a store has in each of its piles: read from the indexes of all pile sets, once for a loader.
 */
import { VerificationError } from '../errors.js';
import { hearSignals } from '../pause.js';
import { type MergedPile, mergeEntries } from '../pile-sets/merged-pile.js';
import type { PileEntry } from '../pile-sets/pile-set-index.js';
import type { StoredPileSet } from '../pile-sets/pile-set-writer.js';
import { addTotals, emptyTotals, type PileTotals, totalsOf } from '../pile-sets/pile-totals.js';
import { readPileEntries } from '../pile-sets/read-pile-set-index.js';
import type { StoreSnapshot } from '../store/store-snapshot.js';
import { explainingExpiry } from '../store/store-snapshot.js';

export interface StoreContents {
  readonly totals: PileTotals;
  /** Where the segments of each pile are; undefined: there are too many to keep, and indexes are read for each pile. */
  readonly merged: readonly MergedPile[] | undefined;
}

/** Entries of indexes, of piles and of segments, that are kept: some 50 MB. */
const MOST_ENTRIES = 2 ** 18;
/** Piles whose entries are read together. */
const PILES_TOGETHER = 4096;

/** What is kept of a pile set: its entries, one a pile. */
interface KeptEntries {
  readonly name: string;
  readonly entries: readonly PileEntry[];
}

/**
 * @param mostEntries are kept at most.
 * @throws VerificationError when an index is damaged, or not what the manifest says; UsageError; AbortedError
 */
export async function readStoreContents(
  snapshot: StoreSnapshot,
  pileSets: readonly StoredPileSet[],
  signal: AbortSignal | undefined,
  mostEntries = MOST_ENTRIES,
): Promise<StoreContents> {
  const { directory, settings, manifest } = snapshot;
  const { pileCount } = settings;
  const totals = emptyTotals(pileCount);
  const kept: KeptEntries[] = [];
  let keptCount = 0;
  for (const { name, index } of pileSets) {
    // The event loop of the caller goes on meanwhile: there may be thousands of them.
    await hearSignals(signal, 'incomplete');
    const entries: PileEntry[] = [];
    for (let first = 0; first < pileCount; first += PILES_TOGETHER) {
      const end = Math.min(pileCount, first + PILES_TOGETHER);
      const next = explainingExpiry(snapshot, name, () => readPileEntries(index, first, end, name));
      addTotals(totals, totalsOf(next), first);
      keptCount += next.reduce((sum, { segments }) => sum + segments.length, next.length);
      if (keptCount <= mostEntries) entries.push(...next);
    }
    kept.push({ name, entries });
    if (keptCount > mostEntries) kept.length = 0;
  }
  requireTotals(totals, manifest.commits, directory);
  if (keptCount > mostEntries) return { totals, merged: undefined };
  const merged = Array.from({ length: pileCount }, (_, pile) =>
    mergeEntries(
      pile,
      kept.map(({ name, entries }) => ({ name, entry: entries[pile] })),
    ),
  );
  return { totals, merged };
}

function requireTotals({ records }: PileTotals, commits: readonly { records: number }[], directory: string): void {
  const found = records.reduce((sum, ofPile) => sum + ofPile, 0);
  const expected = commits.reduce((sum, commit) => sum + commit.records, 0);
  if (found === expected) return;
  throw new VerificationError(
    `the pile store ${directory} holds ${found} records, expected ${expected}; restore it from a copy`,
  );
}
