import { requireWhole, UsageError } from '../errors.js';
import { checksumText, nullable, object, oneOf, readValue, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { readCpuCount, readMemory } from '../machine/limits.js';
import {
  LOADER_OPTIONS,
  type LoaderOptions,
  OPEN_STORE_OPTIONS,
  type OpenStoreOptions,
} from '../options/store-options.js';
import type { StoreSnapshot } from '../store/store-snapshot.js';
import { requireKnownOptions } from '../values/known-options.js';

export type LoaderLimits = ReturnType<typeof completeLimits>;

const DEFAULT_MEMORY_SHARE = 0.5;
const DEFAULT_WORKERS = 2;
const MOST_WORKERS = 1024;
const DEFAULT_PREFETCH_PILES = 2;
const MOST_PREFETCH_PILES = 1024;
const MOST_BATCH_RECORDS = 2 ** 31 - 1;

export function completeLimits(options: OpenStoreOptions) {
  requireKnownOptions('openStore()', options, OPEN_STORE_OPTIONS);
  const { memoryBytes, workers, signal, onWarning } = options;
  return {
    memoryBytes:
      memoryBytes === undefined
        ? Math.floor(readMemory().availableBytes * DEFAULT_MEMORY_SHARE)
        : requireWhole('`memoryBytes`', memoryBytes, 1),
    workers: requireWhole('`workers`', workers ?? Math.min(DEFAULT_WORKERS, readCpuCount()), 1, MOST_WORKERS),
    signal,
    onWarning: onWarning ?? ((_line: string) => {}),
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
  const advice = 'give what `state()` returns, or `pileshuf stream --print-start` prints';
  const refuse = (problem: string) => new UsageError(`this is not the state of a loader: ${problem}; ${advice}`);
  const read = readValue(shape, state, refuse);
  if (read.rank >= read.worldSize) throw refuse(`rank: expected less than ${read.worldSize}, got ${read.rank}`);
  if (read.store === settings.id) return read;
  throw new UsageError(
    `the loader state belongs to the pile store with id ${read.store}, but ${directory} has id ${settings.id}; resume it from its own store`,
    'ERR_STORE_DIFFERS',
  );
}
