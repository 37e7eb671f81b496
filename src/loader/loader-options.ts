import { requireWhole, UsageError } from '../errors.js';
import { checksumText, nullable, object, oneOf, readGiven, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { type OptionNames, requireKnownOptions } from '../known-options.js';
import { readCpuCount, readMemory } from '../machine/limits.js';
import type { StoreSnapshot } from '../store/store-snapshot.js';

/** How a store is read. */
export interface OpenStoreOptions {
  /** Memory for piles, in bytes: those being loaded, those ready, and the one you read. Default: half of what is available. */
  readonly memoryBytes?: number | undefined;
  /** Threads that load piles, shared by all loaders of the store. Default: 2, or the number of CPUs if that is smaller. */
  readonly workers?: number | undefined;
  /** Ends all loaders. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each warning, which is one line. */
  readonly onWarning?: ((line: string) => void) | undefined;
}

/** Which records a loader gives, and in which order. */
export interface LoaderOptions {
  /** The rank that reads: record i of an epoch goes to rank i mod `worldSize`. Default 0. */
  readonly rank?: number | undefined;
  /** The number of ranks. Default 1. */
  readonly worldSize?: number | undefined;
  /**
   * By default the record counts of the ranks differ by at most one. `drop` makes them equal by leaving out up to
   * worldSize - 1 records, `pad` by giving up to worldSize - 1 records twice.
   */
  readonly equalize?: 'drop' | 'pad' | undefined;
  /** Piles that are loaded ahead, in addition to the one you read. Default 2. */
  readonly prefetchPiles?: number | undefined;
}

const STORE_OPTIONS: OptionNames<OpenStoreOptions> = {
  memoryBytes: true,
  workers: true,
  signal: true,
  onWarning: true,
};
const LOADER_OPTIONS: OptionNames<LoaderOptions> = {
  rank: true,
  worldSize: true,
  equalize: true,
  prefetchPiles: true,
};

export interface LoaderLimits {
  readonly memoryBytes: number;
  readonly workers: number;
  readonly signal: AbortSignal | undefined;
  readonly onWarning: (line: string) => void;
}

const DEFAULT_MEMORY_SHARE = 0.5;
const DEFAULT_WORKERS = 2;
const MOST_WORKERS = 1024;
const DEFAULT_PREFETCH_PILES = 2;
const MOST_PREFETCH_PILES = 1024;
const MOST_BATCH_RECORDS = 2 ** 31 - 1;

export function completeLimits(options: OpenStoreOptions): LoaderLimits {
  requireKnownOptions('openStore()', options, STORE_OPTIONS);
  const { memoryBytes, workers, signal, onWarning } = options;
  return {
    memoryBytes:
      memoryBytes === undefined
        ? Math.floor(readMemory().availableBytes * DEFAULT_MEMORY_SHARE)
        : requireWhole('`memoryBytes`', memoryBytes, 1),
    workers: requireWhole('`workers`', workers ?? Math.min(DEFAULT_WORKERS, readCpuCount()), 1, MOST_WORKERS),
    signal,
    onWarning: onWarning ?? (() => {}),
  };
}

export function completeSettings(options: LoaderOptions): LoaderSettings {
  requireKnownOptions('epoch()', options, LOADER_OPTIONS);
  const { rank = 0, worldSize = 1, equalize = null } = options;
  requireWhole('`worldSize`', worldSize, 1, MOST_RANKS);
  requireWhole('`rank`', rank, 0, worldSize - 1);
  if (equalize !== null && equalize !== 'drop' && equalize !== 'pad')
    throw new UsageError(`\`equalize\` is ${JSON.stringify(equalize)}; expected one of drop, pad`);
  return { rank, worldSize, equalize };
}

export function completePrefetch({ prefetchPiles = DEFAULT_PREFETCH_PILES }: LoaderOptions): number {
  return requireWhole('`prefetchPiles`', prefetchPiles, 0, MOST_PREFETCH_PILES);
}

export function requireBatchSize(size: number): number {
  return requireWhole('the size of a batch', size, 1, MOST_BATCH_RECORDS);
}

/** The position of a loader as a small JSON object, from which another process resumes with exactly the next record. */
const VERSION = 3;
const MOST_RANKS = 2 ** 31 - 1;

const shape = object({
  version: wholeNumber(VERSION, VERSION),
  /** The store's id, and the number of its state that is read. */
  store: checksumText,
  manifest: wholeNumber(1),
  /** Number of commits in that state: tells whether a later state still has all of them. */
  commits: wholeNumber(),
  epoch: wholeNumber(),
  /** Records of the epoch that the rank was given. A number beyond the end of the epoch continues in the next epochs. */
  record: wholeNumber(),
  rank: wholeNumber(0, MOST_RANKS - 1),
  worldSize: wholeNumber(1, MOST_RANKS),
  equalize: nullable(oneOf('drop', 'pad')),
});

/** A saved position: plain data for JSON, to be given to `OpenedStore.resume`. */
export type LoaderState = ValueOf<typeof shape>;

export type LoaderSettings = Pick<LoaderState, 'rank' | 'worldSize' | 'equalize'>;

export function stateOf(
  { settings: { id: store }, manifest: { number, commits } }: StoreSnapshot,
  settings: LoaderSettings,
  epoch: number,
  record: number,
): LoaderState {
  return { version: VERSION, store, manifest: number, commits: commits.length, epoch, record, ...settings };
}

export function readState(state: unknown, { directory, settings }: StoreSnapshot): LoaderState {
  const refuse = (problem: string) => new UsageError(`this is not the state of a loader: ${problem}`);
  const read = readGiven(shape, state, refuse);
  if (read.rank >= read.worldSize) throw refuse(`rank: expected less than ${read.worldSize}, got ${read.rank}`);
  if (read.store === settings.id) return read;
  throw new UsageError(
    `the loader state belongs to the pile store with id ${read.store}, but ${directory} has id ${settings.id}; resume it from its own store`,
    'ERR_STORE_DIFFERS',
  );
}
