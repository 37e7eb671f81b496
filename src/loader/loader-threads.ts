/**
 * The threads that load piles of a store, shared by all its loaders. They start when a loader first reads. A small store
 * is read on the calling thread: starting threads would take longer.
 */
import { randomUUID } from 'node:crypto';
import type { LoadSettings } from '../../workers/settings.js';
import type { LoadResult, LoadTask } from '../../workers/tasks/load-portion.js';
import { AbortError } from '../errors.js';
import { JobControl, UNGATED } from '../job-control.js';
import { DeviceGates } from '../machine/device-gates.js';
import { onceMore } from '../passes/run-tasks.js';
import { openTaskPool, type TaskPool } from '../passes/task-pool.js';
import type { PileSetLayout } from '../pile-sets/pile-layout.js';
import { LARGEST_ARENA_BYTES } from '../plan/arena-sizes.js';
import { INLINE_BYTES } from '../plan/memory-plan.js';
import { pileSetDirectoryOf } from '../store/store-files.js';
import { layoutOf, type StoreSnapshot } from '../store/store-snapshot.js';
import type { LoaderLimits } from './loader-options.js';

export function isReadInline({ manifest }: StoreSnapshot): boolean {
  return manifest.commits.reduce((sum, { bytes }) => sum + bytes, 0) <= INLINE_BYTES;
}

export class LoaderThreads {
  readonly limits: LoaderLimits;
  readonly layout: PileSetLayout;
  readonly count: number;
  readonly #isInline: boolean;
  readonly #settings: LoadSettings;
  readonly #control: JobControl;
  readonly #underWay = new Set<Promise<unknown>>();
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
      return onceMore(() => pool.run('load', { ...task, job: this.#settings }), this.limits.onWarning);
    });
    this.#underWay.add(loading);
    try {
      return await loading;
    } catch (error) {
      throw error instanceof AbortError ? new AbortError(this.limits.signal?.reason, 'incomplete') : error;
    } finally {
      this.#underWay.delete(loading);
    }
  }

  /** Ends the tasks at their next safe point, then the threads. */
  async close(): Promise<void> {
    this.#control.abort();
    this.limits.signal?.removeEventListener('abort', this.#onAbort);
    await Promise.allSettled(this.#underWay);
    const pool = await this.#pool?.catch(() => undefined);
    await pool?.destroy();
  }

  #open(): Promise<TaskPool> {
    const threadCount = this.#isInline ? 0 : this.count;
    this.#pool ??= openTaskPool({ threadCount, startCount: threadCount }, this.#settings.jobName, () => {});
    return this.#pool;
  }
}
