/**
 * Makes a store, or finds it made. The file `store` comes last, by `link`: a directory that has it has everything else, and
 * of two creators of the same store one wins and the other uses what the first made. If a creator is killed, the next one
 * continues with what it left.
 */
import { randomBytes } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { UsageError } from '../errors.js';
import { generateSeed } from '../floor/keys.js';
import { publishDurably } from '../io/atomic-files.js';
import { ensureSharedDirectory } from '../io/directories.js';
import { ioError } from '../io/io-error.js';
import { STORE_SETTINGS_NAME } from '../io/own-files.js';
import { listNames, statPath } from '../io/paths.js';
import { NameTakenError, syncPath } from '../io/rename-and-sync.js';
import { requireOnDisk } from '../remote/address.js';
import {
  isNameInStore,
  manifestDirectoryOf,
  manifestName,
  pileSetDirectoryOf,
  readStoreSettings,
  type StoreSettings,
  settingsFormat,
  storeError,
} from './store-files.js';
import { listManifests, manifestFormat, readStoreManifest } from './store-manifest.js';
import { openSnapshot, type StoreSnapshot } from './store-snapshot.js';

interface AskedSettings {
  readonly seed?: string | undefined;
  readonly pileCount?: number | undefined;
}

/** The facts that a plan may know of a store before the job changes anything in it. */
export interface PlannedStore {
  readonly pileCount: number;
  /** The present state of the store. Undefined: the store is not made yet. */
  readonly snapshot: StoreSnapshot | undefined;
  /** An existing directory on the device that holds, or will hold, its piles. */
  readonly place: string;
}

/**
 * Opens the store at `path`, or makes one, in a new or empty directory, when `plan` has found everything else to be right: a
 * call that is refused makes no store.
 * @param otherwise the number of piles of a new store, if none is asked for; a seed is drawn if none is asked for.
 * @param plan decides and checks what the caller will do in the store; its errors end the call. It is called again when
 *   somebody else has made the store meanwhile, with another number of piles.
 */
export async function openOrCreateStore<Plan>(
  path: string,
  asked: AskedSettings,
  otherwise: { readonly pileCount: number },
  plan: (store: PlannedStore) => Plan | Promise<Plan>,
): Promise<{ readonly snapshot: StoreSnapshot; readonly plan: Plan }> {
  requireOnDisk('the store', path);
  if (readSettingsIfAny(path) === undefined) {
    const { seed = generateSeed(), pileCount = otherwise.pileCount } = asked;
    const directory = resolve(path);
    const planned = await plan({ pileCount, snapshot: undefined, place: placeOfNewStore(directory) });
    // Planning may take long: others may have made the store meanwhile.
    if (readSettingsIfAny(path) === undefined) await createStore(directory, seed, pileCount);
    const snapshot = openAsked(path, asked);
    if (snapshot.settings.pileCount === pileCount) return { snapshot, plan: planned };
  }
  const snapshot = openAsked(path, asked);
  const { directory, settings } = snapshot;
  const place = pileSetDirectoryOf(directory);
  return { snapshot, plan: await plan({ pileCount: settings.pileCount, snapshot, place }) };
}

function openAsked(path: string, asked: AskedSettings): StoreSnapshot {
  const snapshot = openSnapshot(path);
  requireAsked(snapshot.settings, asked, path);
  return snapshot;
}

function readSettingsIfAny(path: string): StoreSettings | undefined {
  const stat = statPath(path, 'store');
  if (stat === undefined) return undefined;
  if (stat.isDirectory()) return readStoreSettings(path);
  throw storeError(`the pile store ${path} is not a directory; name another place`);
}

function placeOfNewStore(directory: string): string {
  const isDirectory = (path: string) => statPath(path, 'store')?.isDirectory() === true;
  if (isDirectory(directory)) requireNothingForeign(directory);
  // A killed creator may have left a part of the store.
  const place = [pileSetDirectoryOf(directory), directory, dirname(directory)].find(isDirectory);
  if (place !== undefined) return place;
  const reason = Object.assign(new Error('the directory above it does not exist'), { code: 'ENOENT' });
  throw ioError('make the directory', 'store', directory, reason);
}

async function createStore(directory: string, seed: string, pileCount: number): Promise<void> {
  ensureSharedDirectory(directory, 'store');
  requireNothingForeign(directory);
  ensureSharedDirectory(manifestDirectoryOf(directory), 'store');
  ensureSharedDirectory(pileSetDirectoryOf(directory), 'store');
  requireUnfinished(directory);
  const id = await createFirstManifest(directory);
  // Also when somebody else made the directory: that creator may not have got this far.
  await syncPath(dirname(directory), 'store');
  await unlessTaken(publishDurably(directory, STORE_SETTINGS_NAME, settingsFormat.seal({ id, seed, pileCount })));
}

/** Returns the id of the store, from the manifest of the first creator. */
async function createFirstManifest(directory: string): Promise<string> {
  const manifest = {
    storeId: randomBytes(8).toString('hex'),
    number: 1,
    oldest: 1,
    time: Date.now(),
    commits: [],
    removed: [],
  };
  const name = manifestName(manifest.number);
  await unlessTaken(publishDurably(manifestDirectoryOf(directory), name, manifestFormat.seal(manifest)));
  return readStoreManifest(directory, manifest.number)?.storeId ?? manifest.storeId;
}

function requireNothingForeign(directory: string): void {
  const foreign = listNames(directory, 'store').find((name) => !isNameInStore(name));
  if (foreign === undefined) return;
  throw storeError(
    `${directory} is not a pile store: it holds ${foreign}; name an empty directory, or one that does not exist`,
  );
}

/** A store that has a later state was finished once. */
function requireUnfinished(directory: string): void {
  const newest = listManifests(directory).at(-1) ?? 0;
  if (newest <= 1 || readStoreSettings(directory) !== undefined) return;
  throw storeError(`the pile store ${directory} has lost its file ${STORE_SETTINGS_NAME}; restore it from a copy`);
}

async function unlessTaken(creating: Promise<void>): Promise<void> {
  try {
    await creating;
  } catch (error) {
    if (!(error instanceof NameTakenError)) throw error;
  }
}

function requireAsked(settings: StoreSettings, asked: AskedSettings, path: string): void {
  const differs = (what: string, has: string, given: string) =>
    new UsageError(
      `the pile store ${path} has ${what} ${has}, expected ${given}; give the same, or none, or name another store`,
      'ERR_STORE_DIFFERS',
    );
  if (asked.seed !== undefined && asked.seed !== settings.seed) {
    throw differs('the seed', JSON.stringify(settings.seed), JSON.stringify(asked.seed));
  }
  if (asked.pileCount !== undefined && asked.pileCount !== settings.pileCount) {
    throw differs('a number of piles of', String(settings.pileCount), String(asked.pileCount));
  }
}
