/**
 * Finds input files: everything below a directory, or everything that matches a pattern. Both give paths sorted by
 * their bytes. Both refuse what they cannot look at: to leave out a file in silence is to lose its records. Also matches
 * single paths with globs.
 */
import type { Dirent } from 'node:fs';
import { basename, join, normalize } from 'node:path';
import { InputError, UsageError } from '../errors.js';
import { yieldAndCheckAbortAt } from '../floor/pause.js';
import { fileCalls } from './file-calls.js';
import { errnoOf, ioError, reasonOf } from './io-error.js';
import { isSameFile, nameExists, statPath } from './paths.js';

/**
 * The rules by which a listing leaves files out. Places are paths below the listed directory, empty for the directory
 * itself.
 */
export interface ListingRules {
  /** Leaves out a directory with everything below it. */
  readonly isLeftOut?: (directory: string, entries: readonly Entry[], place: string) => boolean;
  /** Passes over a file, or over a directory before it is opened. */
  readonly isPassedOver?: (place: string) => boolean;
  /** Takes a file that is not passed over. Absent: takes all. */
  readonly isTaken?: (place: string) => boolean;
  /** Returns whether a directory of that name may be gone when it is its turn. */
  readonly mayVanish?: (name: string) => boolean;
}

/** `place`: its path below the directory that is listed. */
export interface Folder {
  readonly path: string;
  readonly place: string;
}

export interface ListedDirectory {
  /** The directory, and those that links below it lead to. */
  readonly roots: readonly Folder[];
  readonly files: readonly string[];
}

export type Entry = Pick<Dirent, 'name' | 'isFile' | 'isDirectory' | 'isSymbolicLink'>;

interface Tree extends ListedDirectory {
  readonly rules: ListingRules;
  readonly roots: Folder[];
  readonly files: string[];
  links: Folder[];
}

/**
 * Lists directories: all regular files below them, and symbolic links to regular files. Links to directories are
 * followed at the end, and only to directories that nothing else reaches: no directory, and no earlier link, in the
 * order of the listed directories, then of the number of links on the way, then of the bytes of their paths.
 */
export class DirectoryWalk {
  readonly #signal: AbortSignal | undefined;
  readonly #trees: Tree[] = [];
  readonly #folders: string[] = [];
  /** The identities of all folders so far. Undefined until there is a link to follow: each costs a call. */
  #visited: Set<string> | undefined;

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** The result is complete after `end`. */
  async list(directory: string, rules: ListingRules = {}): Promise<ListedDirectory> {
    const root = { path: directory, place: '' };
    const tree: Tree = { rules, roots: [root], files: [], links: [] };
    this.#trees.push(tree);
    await this.#visit(tree, root, entriesOf(directory));
    return tree;
  }

  async end(): Promise<void> {
    for (const tree of this.#trees) {
      await this.#followLinks(tree);
      sortByBytes(tree.files);
    }
  }

  async #visit(tree: Tree, { path: folder, place: placeOfFolder }: Folder, entries: readonly Entry[]): Promise<void> {
    const { isLeftOut, isPassedOver, isTaken, mayVanish } = tree.rules;
    await yieldAndCheckAbortAt(this.#folders.length, this.#signal);
    this.#folders.push(folder);
    if (isLeftOut?.(folder, entries, placeOfFolder) === true) return;
    for (const entry of entries) {
      const place = placeOfFolder === '' ? entry.name : `${placeOfFolder}/${entry.name}`;
      if (isPassedOver?.(place) === true) continue;
      const isUnwanted = isTaken?.(place) === false;
      if (entry.isFile() && isUnwanted) continue;
      const path = pathOf(folder, entry, entries);
      const kind = kindOf(entry, path);
      if (kind === 'directory') {
        if (entry.isSymbolicLink()) tree.links.push({ path, place });
        else if (this.#visited === undefined || this.#isNew(path))
          await this.#visit(tree, { path, place }, mayVanish?.(entry.name) === true ? existing(path) : entriesOf(path));
      } else if (kind !== 'other' && !isUnwanted) {
        if (kind === 'nothing')
          throw new InputError('ERR_INPUT_MISSING', `${path} is a symbolic link that leads nowhere; remove or fix it`);
        tree.files.push(path);
      }
    }
  }

  async #followLinks(tree: Tree): Promise<void> {
    while (tree.links.length > 0) {
      const links = tree.links.sort((a, b) => compareBytes(a.path, b.path));
      tree.links = [];
      for (const link of links) {
        if (!this.#isNew(link.path)) continue;
        tree.roots.push(link);
        await this.#visit(tree, link, entriesOf(link.path));
      }
    }
  }

  /** Notes a folder; false if it was noted already, under whatever path. */
  #isNew(folder: string): boolean {
    this.#visited ??= new Set(this.#folders.map(identityAt));
    const identity = identityAt(folder);
    if (this.#visited.has(identity)) return false;
    this.#visited.add(identity);
    return true;
  }
}

/** Device and inode; for what is gone, its path. */
function identityAt(path: string): string {
  const stat = statPath(path, 'input');
  return stat === undefined ? path : `${stat.dev}:${stat.ino}`;
}

function kindOf(entry: Entry, path: string): 'file' | 'directory' | 'other' | 'nothing' {
  const found = entry.isSymbolicLink() ? targetOf(path) : entry;
  if (found === undefined) return 'nothing';
  return found.isFile() ? 'file' : found.isDirectory() ? 'directory' : 'other';
}

function entriesOf(folder: string): Entry[] {
  try {
    return fileCalls.list(folder);
  } catch (error) {
    throw new InputError('ERR_INPUT_UNREADABLE', `cannot list the directory ${folder}: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

/** Stands in a string for bytes that are not UTF-8. A name may also have the character itself. */
const REPLACEMENT = '\ufffd';

/** Refuses a name that is not UTF-8: a string cannot hold it, so the file cannot be opened. */
function pathOf(folder: string, { name }: Entry, entries: readonly Entry[]): string {
  const path = join(folder, name);
  if (!name.includes(REPLACEMENT)) return path;
  // What the path leads to may be another entry.
  if (nameExists(path, 'input') && entries.filter((other) => other.name === name).length === 1) return path;
  throw new InputError('ERR_INPUT_UNREADABLE', `${path}: the name is not valid UTF-8; rename the file`);
}

/**
 * One name of a pattern's path (`data` and `*.txt` in `data/*.txt`), with the steps after it. All alternatives of a
 * pattern are searched together, as a set of steps for each directory, so each directory is listed once.
 */
interface Step {
  matches(name: string): boolean;
  /** `**`: any number of directories, also none. */
  readonly isAnyDepth: boolean;
  /** The next step. Undefined: what matches is a file. */
  readonly next: Step | undefined;
}

/**
 * Files that match a glob pattern. Special are `*`, `**`, `?`, `[...]`, `{a,b}` and the backslash. A hidden name is
 * matched only where the pattern has a dot. The search begins at the fixed part of the pattern, so that its order does
 * not depend on the current directory. Links to directories are followed, except by `**` where one leads back to a
 * directory above it.
 *
 * A pattern that goes up after its fixed part is refused: what it names depends on the directories that match. So is a
 * directory that may hold matches and cannot be listed.
 */
export async function listMatches(pattern: string, signal?: AbortSignal): Promise<string[]> {
  const parts = pattern.split('/');
  const fixedCount = parts.findIndex((part) => /[*?[\]{}\\]/.test(part));
  const fixed = parts.slice(0, fixedCount).join('/');
  const search = parts.slice(fixedCount).join('/');
  if (/(^|[/{,])\.\.([/},]|$)/.test(search)) {
    throw new UsageError(
      `the pattern ${pattern} goes up (..) after its first wildcard; begin it with the directory to search`,
    );
  }
  if (/\{[^{},]*\.\.[^{},]*\}/.test(search)) {
    throw new UsageError(
      `the pattern ${pattern} has a range in braces, which only shells know; give it unquoted, or as {a,b} or [0-9]`,
    );
  }
  const matcherOf = await globMatcher();
  const stepsOf = (names: readonly string[]) =>
    names.reduceRight<Step | undefined>((next, name) => {
      const isAnyDepth = name === '**';
      const test = matcherOf(name);
      const matches = (found: string) =>
        (name.startsWith('.') || !found.startsWith('.')) && (isAnyDepth || test(found));
      return { matches, isAnyDepth, next };
    }, undefined);
  const first = alternativesOf(search).map((path) => stepsOf(path.split('/').filter((n) => n !== '' && n !== '.')));

  const paths: string[] = [];
  let folders = 0;
  const visit = async (folder: string, steps: Set<Step>, above: readonly string[]) => {
    await yieldAndCheckAbortAt(folders, signal);
    folders += 1;
    // The loop also reaches what is added to the set meanwhile.
    for (const { isAnyDepth, next } of steps) if (isAnyDepth && next !== undefined) steps.add(next);
    const entries = existing(folder);
    for (const entry of entries) {
      const met = [...steps].filter((step) => step.matches(entry.name));
      if (met.length === 0) continue;
      const path = pathOf(folder, entry, entries);
      // A link that leads nowhere counts as a file, so that its reader refuses it.
      if (kindOf(entry, path) === 'directory') {
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

/** Returns what the braces of a pattern stand for; braces without a comma stand for themselves. */
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

async function globMatcher(): Promise<(glob: string) => (text: string) => boolean> {
  const { default: picomatch } = await import('picomatch');
  return (glob) => {
    // What is special to picomatch and not to us: outside of brackets, and not escaped already.
    const escaped = glob.replace(/\\.|\[[^\]]*\]|[()|+@!]/g, (found) => (found.length === 1 ? `\\${found}` : found));
    return picomatch(escaped, { dot: true, noextglob: true, posix: true });
  };
}

/** The directory need not exist. */
function existing(folder: string): Entry[] {
  try {
    return entriesOf(folder);
  } catch (error) {
    const errno = error instanceof Error ? errnoOf(error.cause) : '';
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return [];
    throw error;
  }
}

function targetOf(link: string): Pick<Dirent, 'isFile' | 'isDirectory'> | undefined {
  try {
    return fileCalls.stat(link);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR' || errno === 'ELOOP') return undefined;
    throw ioError('examine', 'input', link, error);
  }
}

export function isPattern(path: string): boolean {
  return /[*?[\]{}]/.test(path);
}

export function sortByBytes(paths: string[]): string[] {
  return paths.some((path) => SURROGATE.test(path)) ? paths.sort(compareBytes) : paths.sort();
}

/** Texts without surrogates have one order in UTF-16, by which JavaScript sorts, and in bytes. */
const SURROGATE = /[\ud800-\udfff]/;

/** The order of `LC_ALL=C sort`. UTF-16 order differs from it above U+FFFF. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export type PathMatcher = (path: string) => boolean;

export const MOST_GLOB_CHARACTERS = 4096;

/**
 * Matches paths with a glob as in .gitignore: one with a slash is compared with the path, one without with each name in
 * the path; what names a directory names all files below it. Hidden names are like others.
 */
export async function pathMatcher(glob: string): Promise<PathMatcher> {
  const literal = normalize(glob).replace(/(?<=.)\/$/, '');
  const isNamed = await textMatcher(literal);
  if (!literal.includes('/')) return (path) => normalize(path).split('/').some(isNamed);
  return (path) => pathsTo(normalize(path)).some(isNamed);
}

/**
 * Returns a matcher for paths below a directory. A glob without a slash is compared with the last name of the path
 * alone.
 */
export async function matcherBelow(glob: string): Promise<PathMatcher> {
  const isNamed = await textMatcher(normalize(glob).replace(/^\/|\/$/g, ''));
  return glob.includes('/') ? (path) => pathsTo(path).some(isNamed) : (path) => isNamed(basename(path));
}

async function textMatcher(literal: string): Promise<PathMatcher> {
  const test = (await globMatcher())(literal);
  return (text) => text !== '' && (text === literal || test(text));
}

/** `a`, `a/b` and `a/b/c` for `a/b/c`. */
export function pathsTo(path: string): string[] {
  const names = path.split('/');
  return names.map((_, i) => names.slice(0, i + 1).join('/'));
}
