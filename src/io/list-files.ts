/**
 * Finding input files: what lies below a directory or matches a pattern.
 */
import { type Dirent, lstat, readdir, realpath, type Stats, stat } from 'node:fs';
import { join } from 'node:path';
import { InputError, UsageError } from '../errors.js';
import { hearSignalsAt } from '../pause.js';
import { fileCalls } from './file-calls.js';
import { reasonOf } from './io-error.js';
import { statPath } from './paths.js';

/**
 * All regular files below a directory, and symbolic links to regular files, sorted by the bytes of
 * their paths. Links to directories are not followed, so no file is met twice through a cycle.
 */
export async function listDirectory(directory: string, signal?: AbortSignal): Promise<string[]> {
  const paths: string[] = [];
  let folders = 0;
  const visit = async (folder: string) => {
    await hearSignalsAt(folders, signal);
    folders += 1;
    let entries: Dirent[];
    try {
      entries = fileCalls.list(folder);
    } catch (error) {
      throw unlistable(folder, error);
    }
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.name.includes('\ufffd')) {
        throw new InputError('ERR_INPUT_UNREADABLE', `${path}: the name is not valid UTF-8; rename the file`);
      }
      if (entry.isDirectory()) await visit(path);
      else if (entry.isFile() || (entry.isSymbolicLink() && leadsToFile(path))) paths.push(path);
    }
  };
  await visit(directory);
  return sortByBytes(paths);
}

function unlistable(directory: string, error: unknown): InputError {
  return new InputError('ERR_INPUT_UNREADABLE', `cannot list the directory ${directory}: ${reasonOf(error)}`, {
    cause: error,
  });
}

/** @throws InputError when the link leads nowhere: leaving it out could leave out records. */
function leadsToFile(link: string): boolean {
  const stat = statPath(link, 'input');
  if (stat === undefined) {
    throw new InputError('ERR_INPUT_MISSING', `${link} is a symbolic link that leads nowhere; remove or mend it`);
  }
  return stat.isFile();
}

/**
 * Files that match a glob pattern, sorted by the bytes of their paths. Special are `*`, `**`, `?`,
 * `[...]`, `{a,b}` and the backslash; all else is taken as it stands. The search begins at the fixed
 * part of the pattern: from the current directory it would leave out what lies in that directory
 * itself when the pattern leads above it, and give paths whose order depends on it.
 * @throws UsageError for a pattern that goes up behind its fixed part: what it names depends on the
 *   directories that match.
 * @throws InputError when a directory that may hold matches cannot be listed.
 */
export async function listMatches(pattern: string): Promise<string[]> {
  const { glob } = await import('tinyglobby');
  const parts = pattern.split('/');
  const fixedCount = parts.findIndex((part) => /[*?[\]{}\\]/.test(part));
  const fixed = parts.slice(0, fixedCount).join('/');
  const directory = fixed === '' ? (fixedCount > 0 ? '/' : '.') : fixed;
  const search = parts.slice(fixedCount).join('/');
  if (/(^|[/{,])\.\.([/},]|$)/.test(search)) {
    throw new UsageError(
      `the pattern ${pattern} goes up (..) behind its first wildcard; let it begin with the directory to search`,
    );
  }
  if (/\{[^{},]*\.\.[^{},]*\}/.test(search)) {
    throw new UsageError(
      `the pattern ${pattern} has a range in braces, which only shells know; give it unquoted, or as {a,b} or [0-9]`,
    );
  }
  let failure: InputError | undefined;
  const matches = await glob(escapeLiterals(search), {
    cwd: directory,
    fs: strictFileSystem((path, error) => {
      failure ??= unlistable(path, error);
    }),
    dot: false,
    expandDirectories: false,
    extglob: false,
    onlyFiles: true,
    followSymbolicLinks: true,
  });
  if (failure !== undefined) throw failure;
  // Hidden ones are meant only when a dot is written; to the search [!a] or [.] may mean one, too.
  const meansHidden = /(^|[/{,])\.[^/]/.test(search);
  const meant = meansHidden ? matches : matches.filter((match) => !/(^|\/)\./.test(match));
  return sortByBytes(meant.map((match) => join(directory, match)));
}

/** What is special to the search but not to us: outside of brackets, and not escaped already. */
function escapeLiterals(search: string): string {
  return search.replace(/\\.|\[[^\]]*\]|[()|+@!]/g, (found) => (found.length === 1 ? `\\${found}` : found));
}

/**
 * The search leaves out what it cannot look at, in silence; a job must not. Directories that cannot be
 * listed are told, and a link that leads nowhere is found like a file, so that its reader refuses it.
 */
function strictFileSystem(onUnlistable: (path: string, error: Error) => void) {
  type Done<T> = (error: NodeJS.ErrnoException | null, result: T) => void;
  const strict = {
    readdir: (path: string, options: { withFileTypes: true }, done: Done<Dirent[]>) =>
      readdir(path, options, (error, entries) => {
        if (error !== null && error.code !== 'ENOENT' && error.code !== 'ENOTDIR') onUnlistable(path, error);
        done(error, entries);
      }),
    realpath: (path: string, done: Done<string>) =>
      realpath(path, (error, real) => (error === null ? done(null, real) : done(null, path))),
    stat: (path: string, done: Done<Stats>) =>
      stat(path, (error, stats) => (error === null ? done(null, stats) : lstat(path, done))),
  };
  return strict as unknown as { readdir: typeof readdir; realpath: typeof realpath; stat: typeof stat };
}

/** Whether a path holds characters that make it a pattern. */
export function isPattern(path: string): boolean {
  return /[*?[\]{}]/.test(path);
}

/** UTF-16 order differs from byte order above U+FFFF; byte order is what `LC_ALL=C sort` gives. */
function sortByBytes(paths: string[]): string[] {
  return paths.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}
