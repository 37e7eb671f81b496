/**
 * Where the output of shuf goes. A pipe, a device or standard output gets the bytes at once. A file is left to the
 * library, which makes it beside its place and moves it there when all of it is written: so it may be the input, and a
 * failure leaves it as it was.
 */
import { accessSync, closeSync, constants, lstatSync, openSync, readlinkSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { quoteName } from './quoted.js';
import { hasRawBytes } from './raw-words.js';
import { reasonOf, ShufError } from './shuf-error.js';
import { writeAll } from './waiting-calls.js';

const NAMES_OF_STANDARD_OUTPUT = new Set(['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1']);
/** As many as Linux follows. */
const MOST_LINKS = 40;

export type OutputPlace =
  /** Undefined: standard output. */
  { readonly kind: 'stream'; readonly path: string | undefined } | { readonly kind: 'file'; readonly path: string };

/** @throws ShufError if the file could not be written there. */
export function placeOfOutput(output: string | undefined): OutputPlace {
  if (output === undefined || NAMES_OF_STANDARD_OUTPUT.has(output)) return { kind: 'stream', path: undefined };
  // A file that is named `-`, as any other.
  const path = output === '-' ? './-' : output;
  try {
    // The library has paths that are UTF-8.
    if (hasRawBytes(output)) throw new ShufError(`${quoteName(output)}: expected a name in UTF-8`);
    const stat = statSync(path, { throwIfNoEntry: path === '' });
    if (stat === undefined) return { kind: 'file', path: requireParent(targetOf(path)) };
    if (stat.isDirectory()) throw new ShufError(`${quoteName(output)}: Is a directory`);
    accessSync(path, constants.W_OK);
    return { kind: stat.isFile() ? 'file' : 'stream', path };
  } catch (error) {
    throw asShufError(output, error);
  }
}

/** Writes to a pipe or a device. @throws ShufError, ClosedOutput */
export function writeStream(path: string, bytes: Uint8Array): void {
  const fd = openStream(path);
  try {
    writeAll(fd, bytes);
  } finally {
    closeSync(fd);
  }
}

function openStream(path: string): number {
  try {
    return openSync(path, 'w');
  } catch (error) {
    throw asShufError(path, error);
  }
}

function asShufError(output: string, error: unknown): ShufError {
  return error instanceof ShufError ? error : new ShufError(`${quoteName(output)}: ${reasonOf(error)}`);
}

/** Where a new file will be: at the end of a chain of links that leads nowhere yet. */
function targetOf(path: string): string {
  let target = path;
  for (let links = 0; links < MOST_LINKS; links++) {
    if (lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return target;
    target = resolve(dirname(target), readlinkSync(target));
  }
  return target;
}

/** @returns the path. @throws if its directory is missing, or no file can be made in it. */
function requireParent(path: string): string {
  accessSync(dirname(path), constants.W_OK | constants.X_OK);
  if (path.endsWith('/')) throw new ShufError(`${quoteName(path)}: Is a directory`);
  return path;
}
