/**
 * What a caller says of a loader, checked and completed.
 */
import { UsageError } from '../errors.js';
import { readCpuCount } from '../io/cpu-count.js';
import { readMemory } from '../io/memory-limit.js';
import type { LoaderSettings } from './loader-state.js';

export interface OpenStoreOptions {
  /** What piles may take in memory, in threads and ready for the consumer. Default: half of what is available. */
  readonly memoryBytes?: number | undefined;
  /** Threads that load piles, for all loaders of the store. Default: two, or as many as there are CPUs. */
  readonly workers?: number | undefined;
  /** Ends all loaders. */
  readonly signal?: AbortSignal | undefined;
}

export interface LoaderOptions {
  /** Which part of each epoch is read. Default 0 of 1: all of it. */
  readonly rank?: number | undefined;
  readonly worldSize?: number | undefined;
  /**
   * `strided` (default): record i of an epoch goes to rank i mod worldSize, and each rank reads all piles. `contiguous`:
   * each rank reads its own share of the piles alone.
   */
  readonly split?: 'strided' | 'contiguous' | undefined;
  /**
   * Ranks get counts that differ by at most one, unless they are made equal: `drop` leaves out up to worldSize - 1
   * records, `pad` gives as many twice.
   */
  readonly equalize?: 'drop' | 'pad' | undefined;
  /**
   * What epochs from 1 on have anew: `full` (default): the order of the piles and that in each; `piles`: that of the
   * piles alone; `none`: nothing, all epochs are as epoch 0.
   */
  readonly reshuffle?: 'full' | 'piles' | 'none' | undefined;
  /** Piles that are loaded ahead; one more is being consumed. Default 2. */
  readonly prefetchPiles?: number | undefined;
}

/** What threads and memory a store is read with. */
export interface LoaderLimits {
  readonly memoryBytes: number;
  readonly workers: number;
  readonly signal: AbortSignal | undefined;
}

const DEFAULT_MEMORY_SHARE = 0.5;
const DEFAULT_WORKERS = 2;
const MOST_WORKERS = 1024;
const DEFAULT_PREFETCH_PILES = 2;
const MOST_PREFETCH_PILES = 1024;
const MOST_RANKS = 2 ** 31 - 1;

export function completeLimits({ memoryBytes, workers, signal }: OpenStoreOptions): LoaderLimits {
  return {
    memoryBytes:
      memoryBytes === undefined
        ? Math.floor(readMemory().availableBytes * DEFAULT_MEMORY_SHARE)
        : requireWhole('`memoryBytes`', memoryBytes, 1),
    workers: requireWhole('`workers`', workers ?? Math.min(DEFAULT_WORKERS, readCpuCount()), 1, MOST_WORKERS),
    signal,
  };
}

/** @throws UsageError */
export function completeSettings(options: LoaderOptions): LoaderSettings {
  const { rank = 0, worldSize = 1, split = 'strided', equalize = null, reshuffle = 'full' } = options;
  requireWhole('`worldSize`', worldSize, 1, MOST_RANKS);
  requireWhole('`rank`', rank, 0, worldSize - 1);
  requireOneOf('`split`', split, ['strided', 'contiguous']);
  if (equalize !== null) requireOneOf('`equalize`', equalize, ['drop', 'pad']);
  requireOneOf('`reshuffle`', reshuffle, ['full', 'piles', 'none']);
  return { rank, worldSize, split, equalize, reshuffle };
}

export function completePrefetch({ prefetchPiles = DEFAULT_PREFETCH_PILES }: LoaderOptions): number {
  return requireWhole('`prefetchPiles`', prefetchPiles, 0, MOST_PREFETCH_PILES);
}

export function requireEpoch(epoch: number): number {
  return requireWhole('`epoch`', epoch, 0);
}

export function requireBatchSize(size: number): number {
  return requireWhole('the size of a batch', size, 1, 2 ** 31 - 1);
}

function requireWhole(what: string, value: number, least: number, most = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw new UsageError(`${what} is ${value}; expected a whole number from ${least} to ${most}`);
}

function requireOneOf(what: string, value: string, known: readonly string[]): void {
  if (known.includes(value)) return;
  throw new UsageError(`${what} is ${JSON.stringify(value)}; expected one of ${known.join(', ')}`);
}
