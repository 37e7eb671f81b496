/**
 * Opens, reads and syncs the files of a complete pile set. If one is damaged, or its disk cannot read it, the pile set
 * must be made again.
 */
import { dirname } from 'node:path';
import { SystemError, VerificationError } from '../errors.js';
import { forEachConcurrently } from '../floor/for-each-concurrently.js';
import type { JobControl } from '../floor/job-control.js';
import { type OpenFile, type OwnRole, openOwnForRead } from '../io/files.js';
import { errnoOf } from '../io/io-error.js';
import { listNames, statPath } from '../io/paths.js';
import { syncPath } from '../io/rename-and-sync.js';
import { dataFilePath, diskAt, indexFilePath, type PileSetLayout, roleOf } from './pile-layout.js';

/** Advice to the user, by where the files lie. */
export const PILE_SET_ADVICE: Record<OwnRole, string> = {
  temp: 'check the disk; if the job can be resumed, give `resume`',
  store: 'check the disk, and restore the store from a copy, or replace what was written there',
};

/**
 * The errors with which a disk or its file system reports an unreadable part; the two without names are EBADMSG and
 * EUCLEAN. Errors that a later attempt may not meet are not among them: no memory, no free descriptor, no permission,
 * an absent server.
 */
const UNREADABLE = new Set([
  'EIO',
  'EILSEQ',
  'ENODATA',
  'EREMOTEIO',
  'Unknown system error -74',
  'Unknown system error -117',
]);

export function damagedPileSetError(
  what: string,
  pileSetName: string | undefined,
  role: OwnRole = 'temp',
): VerificationError {
  return new VerificationError(`${what}; ${PILE_SET_ADVICE[role]}`, { pileSetName });
}

/** Returns what is wrong with a pile set, for a job that makes it again and needs no advice. */
export function describeDamage({ message }: Error): string {
  return Object.values(PILE_SET_ADVICE).reduce((text, advice) => text.replace(`; ${advice}`, ''), message);
}

/** Returns whether the disk reports an unreadable part, and is present as a whole: its directories still answer. */
export function isUnreadable(error: unknown, directories: readonly string[]): error is SystemError {
  return (
    error instanceof SystemError &&
    UNREADABLE.has(errnoOf(error.cause)) &&
    directories.every((path) => isDirectoryReadable(path))
  );
}

function isDirectoryReadable(directory: string): boolean {
  try {
    listNames(directory, 'temp');
    return true;
  } catch {
    return false;
  }
}

/** Reads a pile set. If making it again would help, the error names it. */
export function readingPileSet<T>(path: string, pileSetName: string | undefined, role: OwnRole, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isUnreadable(error, [dirname(path)])) throw error;
    throw new SystemError('ERR_IO', `${error.message}; ${PILE_SET_ADVICE[role]}`, { cause: error.cause, pileSetName });
  }
}

/**
 * A file that no longer exists, or is a symbolic link, is damage. But if its directory is gone, as with an unmounted
 * disk, the file may be whole: that is a SystemError.
 */
export function openPileSetFile(path: string, pileSetName: string | undefined, role: OwnRole = 'temp'): OpenFile {
  try {
    return readingPileSet(path, pileSetName, role, () => openOwnForRead(path, role));
  } catch (error) {
    const errno = error instanceof SystemError ? errnoOf(error.cause) : '';
    if (errno === 'ELOOP') throw damagedPileSetError(`${path} is a symbolic link`, pileSetName, role);
    if (errno !== 'ENOENT' || statPath(dirname(path), role) === undefined) throw error;
    throw damagedPileSetError(`${path} does not exist any more`, pileSetName, role);
  }
}

/** Syncs under way at one time; more on many disks, so that most of them have something to write. */
const FEWEST_SYNCS = 4;

/** Syncs the data files, the indexes (which must be files) and the directories of the data files. */
export async function syncPileSets(
  pileSets: readonly { readonly name: string; readonly dataFiles: readonly { stripe: number; disk: number }[] }[],
  layout: PileSetLayout,
  control: JobControl,
): Promise<void> {
  const role = roleOf(layout);
  const files = pileSets.flatMap(({ name, dataFiles }) =>
    dataFiles.map(({ stripe, disk }) => ({ path: dataFilePath(layout, name, stripe, disk), disk })),
  );
  const syncDataFile = async ({ path, disk }: { path: string; disk: number }) => {
    const { rotates, gate } = diskAt(layout, disk);
    if (rotates) await control.duringAsync(gate, () => syncPath(path, role));
    else await syncPath(path, role);
  };
  await forEachConcurrently(files, syncDataFile, Math.max(FEWEST_SYNCS, 2 * layout.disks.length));
  await forEachConcurrently(pileSets, ({ name }) => syncPath(indexFilePath(layout, name), role));
  for (const disk of new Set(files.map((file) => file.disk))) {
    await syncPath(diskAt(layout, disk).directory, role);
  }
}
