/**
 * What a job puts into its job directory, told from what others have there: a user may have named a directory
 * that has another use, and a file in it `manifest`.
 */
import { join } from 'node:path';
import { SystemError } from '../errors.js';
import { listNames, lstatPath } from '../io/paths.js';
import { FIRST_BYTES_OF_SEALED_FILES } from '../io/sealed-file.js';
import { isNameOfAttempt, readHead } from '../io/small-file.js';
import { FIRST_BYTES_OF_INDEXES } from '../pile-sets/pile-set-index.js';
import { looksLikeLock } from './lock-name.js';

/** What a job writes into its job directory, beside locks and attempts. */
const OWN_NAME = /^(manifest|commit|done-\d{6,}|disk-\d+|[a-z0-9-]+\.index)$/;
/** A data directory in a job directory that the user named. */
const DATA_DIRECTORY_NAME = /^disk-\d+$/;
const DATA_FILE_NAME = /^[a-z0-9-]+\.\d+\.pile$/;

export function isOwnName(name: string): boolean {
  return OWN_NAME.test(name) || looksLikeLock(name) || isNameOfAttempt(name);
}

export function isNameOfDataDirectory(name: string): boolean {
  return DATA_DIRECTORY_NAME.test(name);
}

/**
 * @param isNamed whether the user named the directory: then names alone prove nothing.
 * @throws SystemError ERR_TEMP_DIR when there is something that no job has put there, or may not have.
 */
export function requireNothingForeign(jobDirectory: string, isNamed: boolean): void {
  const foreign = findForeignName(jobDirectory, isNamed);
  if (foreign === undefined) return;
  throw new SystemError(
    'ERR_TEMP_DIR',
    `cannot use the directory ${jobDirectory}: it holds ${foreign}, which is not from a job; name one that is empty or does not exist`,
  );
}

function findForeignName(jobDirectory: string, isNamed: boolean): string | undefined {
  const names = listNames(jobDirectory, 'temp');
  const files: string[] = [];
  for (const name of names) {
    if (!isOwnName(name)) return name;
    if (isNameOfDataDirectory(name)) {
      const inside = listDirectory(join(jobDirectory, name));
      const foreign = inside.find((file) => !DATA_FILE_NAME.test(file));
      if (foreign !== undefined) return join(name, foreign);
      files.push(...inside.map((file) => join(name, file)));
    } else if (!looksLikeLock(name) && !isNameOfAttempt(name)) files.push(name);
  }
  // Until it has written one of these, a job has put nothing there but locks, attempts and empty directories.
  return !isNamed || names.some((name) => isFromAJob(join(jobDirectory, name))) ? undefined : files[0];
}

/** Empty where it is no directory. */
function listDirectory(path: string): string[] {
  return lstatPath(path, 'temp')?.isDirectory() === true ? listNames(path, 'temp') : [];
}

function isFromAJob(path: string): boolean {
  if (lstatPath(path, 'temp')?.isFile() !== true) return false;
  return [FIRST_BYTES_OF_SEALED_FILES, FIRST_BYTES_OF_INDEXES].some((first) =>
    readHead(path, 'temp', first.byteLength).equals(first),
  );
}
