/**
 * Small files that are written and read whole, such as the notes of a job about itself.
 *
 * A file gets its name when its bytes are on the device, in one step: a reader that finds the name finds all bytes,
 * whenever the machine stops. Until then it has the name of one attempt, which tells a left-over file from others.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { join } from 'node:path';
import { ifPossible } from '../floor/cleanup.js';
import { fileCalls } from './file-calls.js';
import {
  createOwnFile,
  type OpenFile,
  type OwnRole,
  readBytes,
  removeFile,
  withFile,
  withFileAsync,
  writeAt,
} from './files.js';
import { errnoOf, type FileRole, ioError, systemCall } from './io-error.js';
import { linkToNewName, NameTakenError, publishName, syncOpenFile, syncPath } from './rename-and-sync.js';

export function attemptName(name: string): string {
  return `${name}.${randomBytes(8).toString('hex')}.attempt`;
}

export function isAttemptName(name: string): boolean {
  return /\.[0-9a-f]{16}\.attempt$/.test(name);
}

/** Creates a file that must not exist. It may be lost with the power. */
export function createWhole(path: string, bytes: Uint8Array, role: OwnRole): void {
  withFile(createOwnFile(path, role), (file) => writeAt(file, bytes, 0, bytes.byteLength, 0));
}

/**
 * Writes a file durably, and replaces one of that name. When it throws, the name has either all of the former bytes or
 * all of the new ones.
 */
export async function replaceDurably(directory: string, name: string, ...pieces: readonly Uint8Array[]): Promise<void> {
  await writeThenName(directory, name, pieces, 'temp', (from, to) =>
    systemCall('give its name to', 'temp', to, () => fileCalls.rename(from, to)),
  );
}

/**
 * Creates as `replaceDurably` replaces, for a name that must not exist. When syncing the directory fails, the file is
 * whole, and only its name may be lost with the power. So a job that finds such a file when it resumes syncs the
 * directory before it relies on it.
 * @throws NameTakenError
 */
export async function createDurably(directory: string, name: string, bytes: Uint8Array): Promise<void> {
  await createDurablyFrom(directory, name, [bytes]);
}

/** Creates as `createDurably`, from pieces: a longer file, which is never in memory as a whole. */
export async function createDurablyFrom(directory: string, name: string, pieces: Iterable<Uint8Array>): Promise<void> {
  await writeThenName(directory, name, pieces, 'temp', linkToNewName);
}

/**
 * Creates as `createDurably`, where several may write the same: the first wins. @returns whether this call was the
 * first.
 */
export async function createDurablyIfAbsent(directory: string, name: string, bytes: Uint8Array): Promise<boolean> {
  try {
    await createDurably(directory, name, bytes);
    return true;
  } catch (error) {
    if (error instanceof NameTakenError) return false;
    throw error;
  }
}

/**
 * Creates as `createDurably`, for a file of a store, which others look for. When it throws, they may have found the
 * file nevertheless; then it stays.
 * @throws NameTakenError
 */
export async function publishDurably(directory: string, name: string, bytes: Uint8Array): Promise<void> {
  await writeThenName(directory, name, [bytes], 'store', publishName);
}

async function writeThenName(
  directory: string,
  name: string,
  pieces: Iterable<Uint8Array>,
  role: OwnRole,
  giveName: (from: string, to: string) => void,
): Promise<void> {
  const attempt = join(directory, attemptName(name));
  try {
    await withFileAsync(createOwnFile(attempt, role), async (file) => {
      let end = 0;
      for (const bytes of pieces) {
        writeAt(file, bytes, 0, bytes.byteLength, end);
        end += bytes.byteLength;
      }
      await syncOpenFile(file);
    });
    giveName(attempt, join(directory, name));
  } catch (error) {
    // A job that resumes knows the file by its name.
    ifPossible(() => removeFile(attempt, role));
    throw error;
  }
  await syncPath(directory, role);
}

/**
 * Undefined when there is no file. Anything but a regular file of at most `mostBytes` is an error: it does not follow a
 * symbolic link, wait for a pipe or allocate more.
 */
export function readSmallFile(path: string, role: FileRole, mostBytes: number): Uint8Array | undefined {
  return retryIfStale(() => {
    const file = openToReadWhole(path, role);
    return file === undefined ? undefined : withFile(file, () => readWhole(file, mostBytes));
  });
}

/** Reads the first bytes of a file; none when there is no file. Refuses a symbolic link. */
export function readHead(path: string, role: FileRole, mostBytes: number): Buffer {
  return retryIfStale(() => {
    const file = openToReadWhole(path, role);
    return Buffer.from(file === undefined ? [] : withFile(file, () => readBytes(file, 0, mostBytes)));
  });
}

const MOST_TRIES = 5;

/**
 * Looks again where another machine has removed or replaced the file since it was opened: NFS loses an open file then,
 * which other file systems preserve.
 */
function retryIfStale<T>(look: () => T): T {
  for (let looks = 1; ; looks++) {
    try {
      return look();
    } catch (error) {
      const isStale = error instanceof Error && errnoOf(error.cause) === 'ESTALE';
      if (!isStale || looks === MOST_TRIES) throw error;
    }
  }
}

function openToReadWhole(path: string, role: FileRole): OpenFile | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    return { fd: fileCalls.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), path, role };
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT') return undefined;
    throw ioError('open', role, path, errno === 'ELOOP' ? new Error('it is a symbolic link', { cause: error }) : error);
  }
}

function readWhole(file: OpenFile, mostBytes: number): Uint8Array {
  const stat = systemCall('examine', file.role, file.path, () => fileCalls.statOpen(file.fd));
  if (!stat.isFile()) throw ioError('read', file.role, file.path, new Error('it is not a regular file'));
  if (stat.size > mostBytes) {
    throw ioError('read', file.role, file.path, new Error(`it has ${stat.size} bytes, expected at most ${mostBytes}`));
  }
  return readBytes(file, 0, Number(stat.size));
}
