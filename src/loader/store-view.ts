/** One state of a store as loaders read it. */

import { counted, VerificationError } from '../errors.js';
import { hearSignals } from '../pause.js';
import { type MergedPile, mergeEntries } from '../pile-sets/merged-pile.js';
import type { PileEntry } from '../pile-sets/pile-set-index.js';
import type { StoredPileSet } from '../pile-sets/pile-set-writer.js';
import type { PileTotals } from '../pile-sets/pile-totals.js';
import { addTotals, emptyTotals, totalsOf } from '../pile-sets/pile-totals.js';
import { readPileEntries } from '../pile-sets/read-pile-set-index.js';
import { explainingExpiry, pileSetsOf, type StoreSnapshot } from '../store/store-snapshot.js';
import type { LoaderThreads } from './loader-threads.js';

export class StoreView {
  readonly snapshot: StoreSnapshot;
  readonly threads: LoaderThreads;
  readonly pileSets: readonly StoredPileSet[];
  /** Records of an epoch, over all ranks. */
  readonly records: number;
  #contents: Promise<StoreContents> | undefined;

  constructor(snapshot: StoreSnapshot, threads: LoaderThreads) {
    this.snapshot = snapshot;
    this.threads = threads;
    this.pileSets = pileSetsOf(snapshot, threads.layout);
    this.records = snapshot.manifest.commits.reduce((sum, { records }) => sum + records, 0);
  }

  /** Reads the contents once; after a failure the next call tries again. The threads start meanwhile. */
  contents(): Promise<StoreContents> {
    this.threads.start();
    const { signal } = this.threads.limits;
    this.#contents ??= readStoreContents(this.snapshot, this.pileSets, signal).catch((error: unknown) => {
      this.#contents = undefined;
      throw error;
    });
    return this.#contents;
  }
}

export interface StoreContents {
  readonly totals: PileTotals;
  /** The segments of each pile; undefined: there are too many to keep, so each load of a pile reads the indexes. */
  readonly merged: readonly MergedPile[] | undefined;
}

/** Index entries that are kept, about 50 MB. Piles and segments have one each. */
const MOST_ENTRIES = 2 ** 18;
/** Piles whose entries are read together. */
const PILES_TOGETHER = 4096;

/** Reads the indexes of all pile sets, and checks them against the manifest. */
export async function readStoreContents(
  snapshot: StoreSnapshot,
  pileSets: readonly StoredPileSet[],
  signal: AbortSignal | undefined,
  mostEntries = MOST_ENTRIES,
): Promise<StoreContents> {
  const { pileCount } = snapshot.settings;
  const totals = emptyTotals(pileCount);
  /** Each pile set has one entry for each pile. */
  const kept: { readonly name: string; readonly entries: readonly PileEntry[] }[] = [];
  let keptCount = 0;
  for (const { name, index } of pileSets) {
    // There may be thousands of pile sets: give the caller's event loop a turn.
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
  requireTotals(totals, snapshot);
  if (keptCount > mostEntries) return { totals, merged: undefined };
  const merged = Array.from({ length: pileCount }, (_, pile) =>
    mergeEntries(
      pile,
      kept.map(({ name, entries }) => ({ name, entry: entries[pile] })),
    ),
  );
  return { totals, merged };
}

function requireTotals({ records }: PileTotals, { directory, manifest }: StoreSnapshot): void {
  const found = records.reduce((sum, ofPile) => sum + ofPile, 0);
  const expected = manifest.commits.reduce((sum, commit) => sum + commit.records, 0);
  if (found === expected) return;
  throw new VerificationError(
    `the pile store ${directory} holds ${counted(found, 'record')}, expected ${expected}; restore it from a copy`,
  );
}
