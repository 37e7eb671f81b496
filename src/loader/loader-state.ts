/** The position of a loader as a small JSON object, from which another process resumes with exactly the next record. */
import { UsageError } from '../errors.js';
import { checksumText, nullable, object, oneOf, readGiven, type ValueOf, wholeNumber } from '../io/json-shape.js';
import type { StoreSnapshot } from '../store/store-snapshot.js';

const VERSION = 3;
export const MOST_RANKS = 2 ** 31 - 1;

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
  { rank, worldSize, equalize }: LoaderSettings,
  epoch: number,
  record: number,
): LoaderState {
  return {
    version: VERSION,
    store,
    manifest: number,
    commits: commits.length,
    epoch,
    record,
    rank,
    worldSize,
    equalize,
  };
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
