/**
 * Expands what the caller names: a directory or a pattern becomes the files that it stands for. Nothing is opened. A
 * directory stands for its data: hidden names, what was not chosen, and what pileshuf made beside data are left out.
 */
import { join } from 'node:path';
import { InputError } from '../errors.js';
import type { RecordList } from '../formats/record-list.js';
import { STANDARD_INPUT } from '../io/input-source.js';
import { DirectoryWalk, isPattern, type ListedDirectory, listMatches } from '../io/list-files.js';
import { statPath } from '../io/paths.js';
import { isNameOfJobDirectory } from '../job-directory/job-paths.js';
import { type FileChoice, type FileChooser, fileChooser } from './file-choice.js';
import { ownDirectoryAt } from './own-files.js';

/**
 * An input as the caller names it: a file, a directory, a glob pattern or `-`. `{ path }` is never a pattern. `begin`:
 * the first bytes of a stream, which the caller has read already. `{ records }`: an input in memory.
 */
export type NamedInput =
  | string
  | { readonly path: string; readonly begin?: Uint8Array | undefined }
  | { readonly records: readonly (string | Uint8Array)[] };

/** A named input as the listing takes it: with the records, if it has any, joined by the delimiter of the job. */
export type AskedInput = Exclude<NamedInput, { readonly records: unknown }> | { readonly list: RecordList };

/** What one name stands for. */
export type NamedFiles =
  | { readonly kind: 'list'; readonly list: RecordList }
  | { readonly kind: 'file'; readonly path: string; readonly begin?: Uint8Array | undefined }
  | FilesOfDirectory;

export interface FilesOfDirectory {
  readonly kind: 'directory';
  readonly directory: string;
  readonly listed: ListedDirectory;
  /** Paths of hidden files and directories that are left out. */
  readonly hidden: readonly string[];
  /** Directories that pileshuf made beside data, which are left out. */
  readonly own: readonly string[];
}

/** @throws InputError, UsageError, AbortError */
export async function expandNames(
  names: readonly AskedInput[],
  fileChoice: FileChoice,
  signal: AbortSignal | undefined,
): Promise<NamedFiles[]> {
  const chooser = await fileChooser(fileChoice);
  const walk = new DirectoryWalk(signal);
  const named: NamedFiles[] = [];
  for (const name of names) {
    if (typeof name !== 'string' && 'list' in name) {
      named.push({ kind: 'list', list: name.list });
      continue;
    }
    const { path, begin } = typeof name === 'string' ? { path: name } : name;
    const stat = path === STANDARD_INPUT || begin !== undefined ? undefined : statPath(path, 'input');
    if (stat?.isDirectory() === true) named.push(await filesOf(path, chooser, walk));
    else if (stat === undefined && name === path && isPattern(path))
      for (const match of await matchesOf(path, signal)) named.push({ kind: 'file', path: match });
    else named.push({ kind: 'file', path, begin });
  }
  await walk.end();
  return named;
}

async function filesOf(
  directory: string,
  { isExcluded, isHidden, isIncluded }: FileChooser,
  walk: DirectoryWalk,
): Promise<FilesOfDirectory> {
  const hidden: string[] = [];
  const own: string[] = [];
  const listed = await walk.list(directory, {
    isLeftOut: (folder, entries, place) => {
      const kind = ownDirectoryAt(folder, entries);
      if (kind === undefined) return false;
      if (place === '') throw ownDirectory(directory, kind);
      own.push(folder);
      return true;
    },
    isPassedOver: (place) => {
      if (isExcluded(place)) return true;
      if (!isHidden(place)) return false;
      hidden.push(join(directory, place));
      return true;
    },
    isTaken: isIncluded,
    mayVanish: isNameOfJobDirectory,
  });
  return { kind: 'directory', directory, listed, hidden, own };
}

async function matchesOf(pattern: string, signal: AbortSignal | undefined): Promise<string[]> {
  const matches = await listMatches(pattern, signal);
  if (matches.length > 0) return matches;
  throw new InputError(
    'ERR_INPUT_MISSING',
    `no file matches the pattern ${pattern}; check it and the current directory`,
  );
}

function ownDirectory(path: string, kind: string): InputError {
  const advice = kind === 'a pile store' ? 'pileshuf shuffle-store reads it' : 'name another';
  return new InputError('ERR_INPUT_UNREADABLE', `the input ${path} is ${kind} and holds no data files; ${advice}`);
}
