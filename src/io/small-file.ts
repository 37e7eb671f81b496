/**
 * Small files that are written and read whole, such as what a job writes down about itself.
 *
 * A file gets its name when its bytes are on the device, in one step: whoever finds the name finds all of
 * them, whenever the machine stops. Until then it has a name that no other attempt has, so what such a name
 * is left over from can be told, and removed.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { join } from 'node:path';
import { thenAlwaysAsync } from '../cleanup.js';
import { linkToNewName, publishName, syncDirectory, syncOpenFile } from './durable.js';
import { fileCalls } from './file-calls.js';
import {
  closeFile,
  createOwnFile,
  type OpenFile,
  type OwnRole,
  readAt,
  removeFile,
  withFile,
  writeAt,
} from './files.js';
import { errnoOf, type FileRole, ioError } from './io-error.js';

/** A name for one attempt at making a file of this name. */
export function nameOfAttempt(name: string): string {
  return `${name}.${randomBytes(8).toString('hex')}.attempt`;
}

export function isNameOfAttempt(name: string): boolean {
  return /\.[0-9a-f]{16}\.attempt$/.test(name);
}

/**
 * Makes a file of these bytes in a directory, durably, in place of what has the name.
 * When it throws, the name has the former bytes or the new ones, all of them.
 */
export async function replaceDurably(directory: string, name: string, bytes: Uint8Array): Promise<void> {
  await commit(directory, name, bytes, 'temp', (from, to) => {
    try {
      fileCalls.rename(from, to);
    } catch (error) {
      throw ioError('give its name to', 'temp', to, error);
    }
  });
}

/**
 * As `replaceDurably`, of a name that must not exist.
 * When syncing the directory fails, the file is there, whole, and only its name may get lost with the power.
 * So a job that finds such a file when it goes on syncs the directory before it relies on it.
 * @throws NameTakenError
 */
export async function createDurably(directory: string, name: string, bytes: Uint8Array): Promise<void> {
  await commit(directory, name, bytes, 'temp', linkToNewName);
}

/**
 * As `createDurably`, of a file of a store, which others look for. When it throws, they may have found it nevertheless,
 * and then it stays.
 * @throws NameTakenError
 */
export async function publishDurably(directory: string, name: string, bytes: Uint8Array): Promise<void> {
  await commit(directory, name, bytes, 'store', publishName);
}

async function commit(
  directory: string,
  name: string,
  bytes: Uint8Array,
  role: OwnRole,
  giveName: (from: string, to: string) => void,
): Promise<void> {
  const attempt = join(directory, nameOfAttempt(name));
  try {
    const file = createOwnFile(attempt, role);
    const write = async () => {
      writeAt(file, bytes, 0, bytes.byteLength, 0);
      await syncOpenFile(file);
    };
    await thenAlwaysAsync(write, () => closeFile(file));
    giveName(attempt, join(directory, name));
  } catch (error) {
    removeIfPossible(attempt, role);
    throw error;
  }
  await syncDirectory(directory, role);
}

/** After a failure, which says more than that its leftover could not be removed either. */
function removeIfPossible(attempt: string, role: OwnRole): void {
  try {
    removeFile(attempt, role);
  } catch {
    // Its name tells what it is to whoever goes on with the job.
  }
}

/**
 * The bytes of a file; undefined when there is none. Anything but a regular file of at most `mostBytes`
 * is an error: a symbolic link is not followed, a pipe not waited for, no more than that allocated.
 */
export function readSmallFile(path: string, role: FileRole, mostBytes: number): Uint8Array | undefined {
  const file = openToReadWhole(path, role);
  return file === undefined ? undefined : withFile(file, () => readWhole(file, mostBytes));
}

/** The first bytes of a file, at most so many. @throws SystemError also when it is a symbolic link. */
export function readHead(path: string, role: FileRole, mostBytes: number): Buffer {
  const bytes = Buffer.alloc(mostBytes);
  const file = openToReadWhole(path, role);
  return file === undefined
    ? bytes.subarray(0, 0)
    : withFile(file, () => bytes.subarray(0, readAt(file, bytes, 0, mostBytes, 0)));
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
  const stat = examine(file);
  if (!stat.isFile()) throw ioError('read', file.role, file.path, new Error('it is not a regular file'));
  if (stat.size > mostBytes) {
    throw ioError('read', file.role, file.path, new Error(`it has ${stat.size} bytes, expected at most ${mostBytes}`));
  }
  const bytes = new Uint8Array(Number(stat.size));
  return bytes.subarray(0, readAt(file, bytes, 0, bytes.byteLength, 0));
}

function examine(file: OpenFile) {
  try {
    return fileCalls.statOpen(file.fd);
  } catch (error) {
    throw ioError('examine', file.role, file.path, error);
  }
}
