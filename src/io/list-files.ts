/**
 * Finding input files: everything below a directory, or everything that matches a pattern.
 *
 * Both give paths sorted by their bytes. Both refuse what they cannot look at: to leave out a file in silence is to
 * lose its records.
 */
import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import { InputError, UsageError } from '../errors.js';
import { hearSignalsAt } from '../pause.js';
import { fileCalls } from './file-calls.js';
import { errnoOf, ioError, reasonOf } from './io-error.js';
import { isSameFile, statPath } from './paths.js';

/**
 * All regular files below a directory, hidden ones too, and symbolic links to regular files. Links to directories are
 * not followed, so no file is met twice through a cycle.
 */
export async function listDirectory(directory: string, signal?: AbortSignal): Promise<string[]> {
  const paths: string[] = [];
  let folders = 0;
  const visit = async (folder: string) => {
    await hearSignalsAt(folders, signal);
    folders += 1;
    for (const entry of entriesOf(folder)) {
      const path = pathOf(folder, entry);
      if (entry.isDirectory()) await visit(path);
      else if (entry.isFile() || (entry.isSymbolicLink() && leadsToFile(path))) paths.push(path);
    }
  };
  await visit(directory);
  return sortByBytes(paths);
}

function entriesOf(folder: string): Dirent[] {
  try {
    return fileCalls.list(folder);
  } catch (error) {
    throw new InputError('ERR_INPUT_UNREADABLE', `cannot list the directory ${folder}: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

/** @throws InputError for a name that is not UTF-8: a string cannot hold it, so the file cannot be opened. */
function pathOf(folder: string, { name }: Dirent): string {
  const path = join(folder, name);
  if (!name.includes('\ufffd')) return path;
  throw new InputError('ERR_INPUT_UNREADABLE', `${path}: the name is not valid UTF-8; rename the file`);
}

/** @throws InputError when the link leads nowhere: leaving it out could leave out records. */
function leadsToFile(link: string): boolean {
  const stat = statPath(link, 'input');
  if (stat === undefined) {
    throw new InputError('ERR_INPUT_MISSING', `${link} is a symbolic link that leads nowhere; remove or fix it`);
  }
  return stat.isFile();
}

/**
 * One name of a pattern's path (`data` and `*.txt` in `data/*.txt`), with the steps behind it. All alternatives of a
 * pattern are searched together, as a set of steps for each directory, so each directory is listed once.
 */
interface Step {
  matches(name: string): boolean;
  /** `**`: any number of directories, also none. */
  readonly isAnyDepth: boolean;
  /** Undefined: what matches is a file. */
  readonly next: Step | undefined;
}

/**
 * Files that match a glob pattern. Special are `*`, `**`, `?`, `[...]`, `{a,b}` and the backslash; all else is taken as
 * it stands. A hidden name is matched only where the pattern has a dot. The search begins at the fixed part of the
 * pattern, so that its order does not depend on the current directory. Links to directories are followed, except by
 * `**` where one leads back to a directory above it.
 * @throws UsageError for a pattern that goes up behind its fixed part: what it names depends on the directories that
 *   match.
 * @throws InputError when a directory that may hold matches cannot be listed.
 */
export async function listMatches(pattern: string, signal?: AbortSignal): Promise<string[]> {
  const parts = pattern.split('/');
  const fixedCount = parts.findIndex((part) => /[*?[\]{}\\]/.test(part));
  const fixed = parts.slice(0, fixedCount).join('/');
  const search = parts.slice(fixedCount).join('/');
  if (/(^|[/{,])\.\.([/},]|$)/.test(search)) {
    throw new UsageError(
      `the pattern ${pattern} goes up (..) behind its first wildcard; begin it with the directory to search`,
    );
  }
  if (/\{[^{},]*\.\.[^{},]*\}/.test(search)) {
    throw new UsageError(
      `the pattern ${pattern} has a range in braces, which only shells know; give it unquoted, or as {a,b} or [0-9]`,
    );
  }
  const { default: picomatch } = await import('picomatch');
  const stepsOf = (names: readonly string[]) =>
    names.reduceRight<Step | undefined>((next, name) => {
      const isAnyDepth = name === '**';
      const test = picomatch(escapeLiterals(name), { dot: true, noextglob: true, posix: true });
      const matches = (found: string) =>
        (name.startsWith('.') || !found.startsWith('.')) && (isAnyDepth || test(found));
      return { matches, isAnyDepth, next };
    }, undefined);
  const first = alternativesOf(search).map((path) => stepsOf(path.split('/').filter((n) => n !== '' && n !== '.')));

  const paths: string[] = [];
  let folders = 0;
  const visit = async (folder: string, steps: Set<Step>, above: readonly string[]) => {
    await hearSignalsAt(folders, signal);
    folders += 1;
    // A set gives what is added to it meanwhile, too.
    for (const { isAnyDepth, next } of steps) if (isAnyDepth && next !== undefined) steps.add(next);
    for (const entry of existing(folder)) {
      const met = [...steps].filter((step) => step.matches(entry.name));
      if (met.length === 0) continue;
      const path = pathOf(folder, entry);
      if (entry.isDirectory() || (entry.isSymbolicLink() && leadsToDirectory(path))) {
        const goesBack = entry.isSymbolicLink() && above.some((directory) => isSameFile(directory, path, 'input'));
        const deeper = new Set(met.flatMap((step) => (step.isAnyDepth ? (goesBack ? [] : step) : (step.next ?? []))));
        if (deeper.size > 0) await visit(path, deeper, [...above, path]);
      } else if ((entry.isFile() || entry.isSymbolicLink()) && met.some(({ next }) => next === undefined)) {
        paths.push(path);
      }
    }
  };
  const directory = fixed === '' ? (fixedCount > 0 ? '/' : '.') : fixed;
  await visit(directory, new Set(first.filter((step) => step !== undefined)), [directory]);
  return sortByBytes(paths);
}

/** What the braces of a pattern stand for; braces without a comma stand for themselves. */
function alternativesOf(pattern: string): string[] {
  let depth = 0;
  let cuts: number[] = [];
  for (const { 0: sign, index } of pattern.matchAll(/\\.|\[[^\]]*\]|[{},]/g)) {
    if (sign === '{') {
      if (depth === 0) cuts = [index];
      depth += 1;
    } else if (sign === ',' && depth === 1) {
      cuts.push(index);
    } else if (sign === '}' && depth > 0) {
      depth -= 1;
      if (depth > 0 || cuts.length === 1) continue;
      const [before, after] = [pattern.slice(0, cuts[0]), pattern.slice(index + 1)];
      return [...cuts.slice(1), index].flatMap((end, i) =>
        alternativesOf(`${before}${pattern.slice((cuts[i] ?? 0) + 1, end)}${after}`),
      );
    }
  }
  return [pattern];
}

/** Escapes what is special to picomatch and not to us: outside of brackets, and not escaped already. */
function escapeLiterals(name: string): string {
  return name.replace(/\\.|\[[^\]]*\]|[()|+@!]/g, (found) => (found.length === 1 ? `\\${found}` : found));
}

/** The directory that a pattern begins with need not exist. */
function existing(folder: string): Dirent[] {
  try {
    return entriesOf(folder);
  } catch (error) {
    const errno = error instanceof Error ? errnoOf(error.cause) : '';
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return [];
    throw error;
  }
}

/** A link that leads nowhere counts as a file, so that its reader refuses it. */
function leadsToDirectory(link: string): boolean {
  try {
    return fileCalls.stat(link).isDirectory();
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR' || errno === 'ELOOP') return false;
    throw ioError('examine', 'input', link, error);
  }
}

/** Whether a path holds characters that make it a pattern. */
export function isPattern(path: string): boolean {
  return /[*?[\]{}]/.test(path);
}

/** UTF-16 order differs from byte order above U+FFFF; byte order is what `LC_ALL=C sort` gives. */
function sortByBytes(paths: string[]): string[] {
  return paths.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}
