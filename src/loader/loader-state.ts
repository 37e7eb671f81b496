/**
 * The position of a loader as a small JSON object: with it another process goes on with exactly the next record.
 */
import { UsageError } from '../errors.js';
import { checksumText, nullable, object, oneOf, readGiven, type ValueOf, wholeNumber } from '../io/json-shape.js';
import type { StoreSnapshot } from '../store/store-snapshot.js';

const VERSION = 1;
const MOST_RANKS = 2 ** 31 - 1;

const shape = object({
  version: wholeNumber(VERSION, VERSION),
  /** Id of the store, and number of the state of it that is read. */
  store: checksumText,
  manifest: wholeNumber(1),
  /** How many commits that state has, which tells whether a later one has all of them still. */
  commits: wholeNumber(),
  epoch: wholeNumber(),
  /** How many records of the epoch the rank was given. One that is beyond the epoch's end counts on in the next ones. */
  record: wholeNumber(),
  rank: wholeNumber(0, MOST_RANKS - 1),
  worldSize: wholeNumber(1, MOST_RANKS),
  share: oneOf('strided', 'contiguous'),
  equalize: nullable(oneOf('drop', 'pad')),
  reshuffle: oneOf('full', 'piles', 'none'),
});

/** Plain data, for JSON; what it holds is of no use but to `resume`. */
export type LoaderState = ValueOf<typeof shape>;

/** What of a state says which records a loader gives; the rest of it is where it is. */
export type LoaderSettings = Omit<LoaderState, 'version' | 'store' | 'manifest' | 'commits' | 'epoch' | 'record'>;

export function stateOf(
  { settings, manifest }: StoreSnapshot,
  loader: LoaderSettings,
  epoch: number,
  record: number,
): LoaderState {
  const { rank, worldSize, share, equalize, reshuffle } = loader;
  const { number, commits } = manifest;
  const ofStore = { version: VERSION, store: settings.id, manifest: number, commits: commits.length };
  return { ...ofStore, epoch, record, rank, worldSize, share, equalize, reshuffle };
}

/** @throws UsageError when it is no state, of another version, or of another store. */
export function readState(state: unknown, { directory, settings }: StoreSnapshot): LoaderState {
  const refuse = (problem: string) => new UsageError(`the state to go on from is none of a loader: ${problem}`);
  const read = readGiven(shape, state, refuse);
  if (read.rank >= read.worldSize) throw refuse(`rank: expected less than ${read.worldSize}, got ${read.rank}`);
  if (read.store === settings.id) return read;
  throw new UsageError(
    `the state to go on from belongs to the pile store of id ${read.store}, and ${directory} is that of id ${settings.id}; give it the store that it was made with`,
    'ERR_STORE_DIFFERS',
  );
}
