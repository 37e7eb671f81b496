/**
 * Whether a program would be found, as the operating system looks for it.
 */
import { constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileCalls } from '../io/file-calls.js';

/** What is searched where nothing is said. */
const USUAL_PATH = '/bin:/usr/bin';

/** @param name with a slash: a path. */
export function isProgram(name: string, searchPath = process.env['PATH'] ?? USUAL_PATH): boolean {
  if (name.includes('/')) return isExecutable(name);
  return searchPath.split(delimiter).some((directory) => isExecutable(join(directory, name)));
}

function isExecutable(path: string): boolean {
  try {
    fileCalls.access(path, constants.X_OK);
    return fileCalls.stat(path).isFile();
  } catch {
    return false;
  }
}
