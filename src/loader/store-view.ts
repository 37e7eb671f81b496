/** One state of a store as loaders read it, and the threads that load its piles. */
import { randomUUID } from 'node:crypto';
import type { LoadSettings } from '../../workers/settings.js';
import type { LoadResult, LoadTask } from '../../workers/tasks/load-portion.js';
import { AbortError, counted, VerificationError } from '../errors.js';
import { JobControl, UNGATED } from '../floor/job-control.js';
import { yieldAndCheckAbort } from '../floor/pause.js';
import { DeviceGates } from '../machine/devices.js';
import { type MergedPile, mergeEntries } from '../piles/merged-pile.js';
import type { PileSetLayout } from '../piles/pile-layout.js';
import { type PileEntry, readPileEntries } from '../piles/pile-set-index.js';
import type { StoredPileSet } from '../piles/pile-set-writer.js';
import { addTotals, emptyTotals, type PileTotals, pileTotalsOf } from '../piles/pile-totals.js';
import { LARGEST_ARENA_BYTES } from '../plan/arena-sizes.js';
import { INLINE_BYTES } from '../plan/memory-plan.js';
import { retryOnce } from '../stages/run-tasks.js';
import { openTaskPool, type TaskPool } from '../stages/task-pool.js';
import { pileSetDirectoryOf } from '../store/store-files.js';
import { explainingExpiry, layoutOf, pileSetsOf, type StoreSnapshot } from '../store/store-snapshot.js';
import type { LoaderLimits } from './loader-options.js';

export class StoreView {
  readonly snapshot: StoreSnapshot;
  readonly threads: LoaderThreads;
  readonly pileSets: readonly StoredPileSet[];
  /** Records of an epoch, over all ranks. */
  readonly records: number;
  #mergedIndex: Promise<MergedIndex> | undefined;

  constructor(snapshot: StoreSnapshot, threads: LoaderThreads) {
    this.snapshot = snapshot;
    this.threads = threads;
    this.pileSets = pileSetsOf(snapshot, threads.layout);
    this.records = snapshot.manifest.commits.reduce((sum, { records }) => sum + records, 0);
  }

  /** Reads the indexes once; after a failure the next call tries again. The threads start meanwhile. */
  mergedIndex(): Promise<MergedIndex> {
    this.threads.start();
    const { signal } = this.threads.limits;
    this.#mergedIndex ??= readMergedIndex(this.snapshot, this.pileSets, signal).catch((error: unknown) => {
      this.#mergedIndex = undefined;
      throw error;
    });
    return this.#mergedIndex;
  }
}

/** The indexes of all pile sets, as one. */
export interface MergedIndex {
  readonly totals: PileTotals;
  /** The segments of each pile; undefined: there are too many for a cache, so each load of a pile reads the indexes. */
  readonly merged: readonly MergedPile[] | undefined;
}

/** Index entries that are cached, about 50 MB. Piles and segments have one each. */
const MOST_ENTRIES = 2 ** 18;
/** Piles whose entries are read together. */
const PILES_TOGETHER = 4096;

/** Checks the indexes against the manifest, too. */
export async function readMergedIndex(
  snapshot: StoreSnapshot,
  pileSets: readonly StoredPileSet[],
  signal: AbortSignal | undefined,
  mostEntries = MOST_ENTRIES,
): Promise<MergedIndex> {
  const { pileCount } = snapshot.settings;
  const totals = emptyTotals(pileCount);
  /** Each pile set has one entry for each pile. */
  const cached: { readonly name: string; readonly entries: readonly PileEntry[] }[] = [];
  let entryCount = 0;
  for (const { name, index } of pileSets) {
    // There may be thousands of pile sets: give the caller's event loop a turn.
    await yieldAndCheckAbort(signal, 'incomplete');
    const entries: PileEntry[] = [];
    for (let first = 0; first < pileCount; first += PILES_TOGETHER) {
      const end = Math.min(pileCount, first + PILES_TOGETHER);
      const next = explainingExpiry(snapshot, name, () => readPileEntries(index, first, end, name));
      addTotals(totals, pileTotalsOf(next), first);
      entryCount += next.reduce((sum, { segments }) => sum + segments.length, next.length);
      if (entryCount <= mostEntries) entries.push(...next);
    }
    cached.push({ name, entries });
    if (entryCount > mostEntries) cached.length = 0;
  }
  requireTotals(totals, snapshot);
  if (entryCount > mostEntries) return { totals, merged: undefined };
  return { totals, merged: Array.from({ length: pileCount }, (_, pile) => mergeEntries(pile, cached, pile)) };
}

function requireTotals({ records }: PileTotals, { directory, manifest }: StoreSnapshot): void {
  const found = records.reduce((sum, ofPile) => sum + ofPile, 0);
  const expected = manifest.commits.reduce((sum, commit) => sum + commit.records, 0);
  if (found === expected) return;
  throw new VerificationError(
    `the pile store ${directory} holds ${counted(found, 'record')}, expected ${expected}; restore it from a copy`,
  );
}

/** Returns whether the calling thread reads a store: for a small one, starting threads would take longer. */
export function isReadInline({ manifest }: StoreSnapshot): boolean {
  return manifest.commits.reduce((sum, { bytes }) => sum + bytes, 0) <= INLINE_BYTES;
}

/** The threads that load piles of a store, shared by all its loaders. They start when a loader first reads. */
export class LoaderThreads {
  readonly limits: LoaderLimits;
  readonly layout: PileSetLayout;
  readonly count: number;
  readonly #isInline: boolean;
  readonly #settings: LoadSettings;
  readonly #control: JobControl;
  readonly #activeLoads = new Set<Promise<unknown>>();
  readonly #onAbort = () => this.#control.abort();
  #pool: Promise<TaskPool> | undefined;

  /** @param snapshot any state of the store. */
  constructor(snapshot: StoreSnapshot, isInline: boolean, limits: LoaderLimits) {
    this.limits = limits;
    this.#isInline = isInline;
    this.count = isInline ? 1 : limits.workers;
    const gates = new DeviceGates({});
    const directory = pileSetDirectoryOf(snapshot.directory);
    const rotates = gates.deviceOf(directory, 'store').deviceClass === 'rotating';
    const gate = gates.gateOf(directory, 'store');
    // A single thread makes one call at a time, without a gate.
    this.layout = layoutOf(snapshot, isInline ? UNGATED : gate, rotates);
    this.#control = JobControl.create(gates.permits, 0);
    this.#settings = {
      jobName: randomUUID(),
      control: this.#control.buffer,
      layout: this.layout,
      // Portions are planned to fit into `memoryBytes`. A portion of long records may take more.
      arenaBytes: LARGEST_ARENA_BYTES,
    };
    if (limits.signal?.aborted === true) this.#control.abort();
    limits.signal?.addEventListener('abort', this.#onAbort);
  }

  start(): void {
    // `load` reports the failure.
    this.#open().catch(() => {});
  }

  async load(task: Omit<LoadTask, 'job'>): Promise<LoadResult> {
    const loading = this.#open().then((pool) => {
      if (this.#control.isAborted) throw new AbortError(this.limits.signal?.reason, 'incomplete');
      return retryOnce(() => pool.run('load', { ...task, job: this.#settings }), this.limits.onWarning);
    });
    this.#activeLoads.add(loading);
    try {
      return await loading;
    } catch (error) {
      throw error instanceof AbortError ? new AbortError(this.limits.signal?.reason, 'incomplete') : error;
    } finally {
      this.#activeLoads.delete(loading);
    }
  }

  /** Ends the tasks at their next safe point, then the threads. */
  async close(): Promise<void> {
    this.#control.abort();
    this.limits.signal?.removeEventListener('abort', this.#onAbort);
    await Promise.allSettled(this.#activeLoads);
    const pool = await this.#pool?.catch(() => undefined);
    await pool?.destroy();
  }

  #open(): Promise<TaskPool> {
    const threadCount = this.#isInline ? 0 : this.count;
    this.#pool ??= openTaskPool({ threadCount, startCount: threadCount }, this.#settings.jobName, () => {});
    return this.#pool;
  }
}
