/**
 * Questions about paths, with errors that say what could not be found out.
 */
import { lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { errnoOf, type FileRole, ioError } from './io-error.js';

function leadsNowhere(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === 'ENOENT' || errno === 'ENOTDIR';
}

/** `stat`, following symbolic links; undefined when there is nothing. */
export function statPath(path: string, role: FileRole): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    if (leadsNowhere(error)) return undefined;
    throw ioError('examine', role, path, error);
  }
}

/** Whether there is something of this name, be it a symbolic link that leads nowhere. */
export function nameExists(path: string, role: FileRole): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    if (leadsNowhere(error)) return false;
    throw ioError('examine', role, path, error);
  }
}

/** The path of an existing file without symbolic links. */
export function realPathOf(path: string, role: FileRole): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw ioError('examine', role, path, error);
  }
}

/** The names in a directory, of files and directories alike. */
export function listNames(directory: string, role: FileRole): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    throw ioError('list', role, directory, error);
  }
}
