/**
 * Expands directories and patterns among the named inputs to files, without opening any. A directory stands for its
 * data: hidden names, what was not chosen, and what pileshuf made beside data are left out.
 */
import { basename, dirname, join, relative, resolve } from 'node:path';
import { InputError, UsageError } from '../errors.js';
import type { RecordList } from '../formats/record-format.js';
import { readHead } from '../io/atomic-files.js';
import type { FileVersion } from '../io/files.js';
import {
  DirectoryWalk,
  type Entry,
  type Folder,
  isPattern,
  type ListedDirectory,
  listMatches,
  type PathMatcher,
  pathsTo,
  sortByBytes,
} from '../io/list-files.js';
import { globOfShards, isShardOf, prefixOfMarker } from '../io/own-files.js';
import { realPathOf, statPath } from '../io/paths.js';
import { isJobDirectoryName } from '../job-directory/job-paths.js';
import { inputFactsOf, loadedPlaceOf, STANDARD_INPUT } from '../places/inputs/input-kinds.js';
import type { ListedInput } from '../places/inputs/input-place.js';
import { type FileChoice, type FileChooser, fileChooser } from './file-choice.js';
import { completeSetsIn, ownDirectoryAt } from './recognise-own-files.js';

/**
 * An input as the caller names it: a file, a directory, a glob pattern or `-`. `{ path }` is never a pattern. Records
 * in memory: `{ records }`. The whole numbers from `low` to `high`, both included and at most 2^64 - 1, a line each:
 * `{ range }`. `high` may be `low - 1`: no numbers.
 */
export type NamedInput =
  | string
  | { readonly path: string }
  | { readonly records: readonly (string | Uint8Array)[] }
  | { readonly range: { readonly low: number | bigint; readonly high: number | bigint } };

/** An input as a job reads it: records in memory are joined by its delimiter, and numbers have an address. */
export type AskedInput = string | { readonly path: string } | { readonly list: RecordList };

export type NamedFiles =
  | { readonly kind: 'list'; readonly list: RecordList }
  /** @param address where it lies on another machine, with what may be secret. */
  | { readonly kind: 'file'; readonly path: string; readonly by: 'name' | 'pattern'; readonly address?: string }
  | FilesOfDirectory;

export interface FilesOfDirectory {
  readonly kind: 'directory';
  readonly directory: string;
  readonly listed: ListedDirectory;
  readonly hidden: readonly string[];
  /** Directories that pileshuf made beside data, which are left out. */
  readonly own: readonly string[];
  /** Prefixes of the complete shards that the directory consists of. */
  readonly sets: readonly string[];
  /** The place of a file as an input; undefined: it would be none. @param path absolute, without symbolic links. */
  placeOf(path: string): string | undefined;
  /** Returns the version of a file as a list says it. Absent: nobody says it. */
  listedVersionOf?(path: string): FileVersion | undefined;
}

export async function expandNames(
  names: readonly AskedInput[],
  fileChoice: FileChoice,
  signal: AbortSignal | undefined,
  mayFetch: boolean,
): Promise<NamedFiles[]> {
  const chooser = await fileChooser(fileChoice);
  const walk = new DirectoryWalk(signal);
  const named: NamedFiles[] = [];
  for (const name of names) {
    if (typeof name !== 'string' && 'list' in name) {
      named.push({ kind: 'list', list: name.list });
      continue;
    }
    const { path } = typeof name === 'string' ? { path: name } : name;
    if (inputFactsOf(path).isRemote) {
      named.push(await namedFar(path, chooser, mayFetch, signal));
      continue;
    }
    const stat = path === STANDARD_INPUT ? undefined : statPath(path, 'input');
    if (stat?.isDirectory() === true) named.push(await filesOf(path, chooser, walk));
    else if (stat === undefined && name === path && isPattern(path))
      for (const match of await matchesOf(path, signal)) named.push({ kind: 'file', path: match, by: 'pattern' });
    else named.push({ kind: 'file', path, by: 'name' });
  }
  await walk.end();
  return named;
}

async function filesOf(
  directory: string,
  { isExcluded, isHidden, isIncluded, isTaken }: FileChooser,
  walk: DirectoryWalk,
): Promise<FilesOfDirectory> {
  const hidden: string[] = [];
  const own: string[] = [];
  let sets: readonly string[] = [];
  const listed = await walk.list(directory, {
    isLeftOut: (folder, entries, place) => {
      const kind = ownDirectoryAt(folder, entries);
      if (kind === undefined) {
        const prefixes = setsIn({ path: folder, place }, entries, isTaken);
        if (place === '') sets = prefixes;
        refuseHubCache(folder, entries);
        return false;
      }
      if (place === '') throw ownDirectoryError(directory, kind);
      own.push(folder);
      return true;
    },
    isPassedOver: (place) => {
      if (isExcluded(place)) return true;
      if (!isHidden(place)) return false;
      // No option takes a marker.
      const isMarker = completeSetsIn(join(directory, dirname(place)), [{ name: basename(place) }]).length > 0;
      if (!isMarker) hidden.push(join(directory, place));
      return true;
    },
    isTaken: isIncluded,
    mayVanish: isJobDirectoryName,
  });
  const { roots } = listed;
  const placeOf = (path: string) => {
    if (!inputFactsOf(path).isOnDisk) return undefined;
    const places = roots.flatMap((root) => {
      const below = relative(realPathOf(root.path, 'input'), path);
      return /^\.\.(\/|$)/.test(below) ? [] : [join(root.place, below)];
    });
    return places.find(isTaken);
  };
  return { kind: 'directory', directory, listed, hidden, own, sets, placeOf };
}

async function namedFar(
  address: string,
  { isExcluded, isHidden, isIncluded }: FileChooser,
  mayFetch: boolean,
  signal: AbortSignal | undefined,
): Promise<NamedFiles> {
  const path = inputFactsOf(address).shown(address);
  if (!mayFetch)
    throw new UsageError(
      `${path} lies on another machine, and this command reads local files; copy it to a disk first`,
    );
  const far = loadedPlaceOf(address);
  far?.requireAddress?.(address);
  if (!address.endsWith('/')) return { kind: 'file', path, by: 'name', address };
  const hidden = new Set<string>();
  const files: string[] = [];
  const found = (await far?.list?.(address, signal)) ?? [];
  for (const { place } of found) {
    const steps = pathsTo(place);
    const step = steps.find(isHidden);
    if (steps.some(isExcluded)) continue;
    if (step !== undefined) {
      if (!isMarkerAmong(found, step)) hidden.add(path + step);
    } else if (isIncluded(place)) files.push(path + place);
  }
  const listed = { files: sortByBytes(files), roots: [{ path, place: '' }] };
  const placeOf = (output: string) => {
    const place = output.startsWith(path) ? output.slice(path.length) : undefined;
    return place === undefined || pathsTo(place).some(isExcluded) || !isIncluded(place) ? undefined : place;
  };
  const listedVersionOf = versionsBelow(path, found);
  return {
    kind: 'directory',
    directory: path,
    listed,
    hidden: [...hidden],
    own: [],
    sets: [],
    placeOf,
    listedVersionOf,
  };
}

/** A look at the object would be a request: a marker is known by the shards beside it. */
function isMarkerAmong(found: readonly ListedInput[], place: string): boolean {
  const name = basename(place);
  const prefix = prefixOfMarker(name);
  if (prefix === undefined) return false;
  const below = place.slice(0, -name.length);
  return found.some((other) => other.place.startsWith(below) && isShardOf(prefix, other.place.slice(below.length)));
}

function versionsBelow(path: string, found: readonly ListedInput[]) {
  const versions = new Map(found.map(({ place, version }) => [path + place, version]));
  return (file: string) => versions.get(file)?.();
}

/**
 * Finds the prefixes of complete shards that are inputs. Shards beside or below other files are most likely made of
 * these, and refused.
 */
function setsIn({ path, place }: Folder, entries: readonly Entry[], isTaken: PathMatcher): readonly string[] {
  const complete = completeSetsIn(path, entries);
  if (complete.length === 0) return [];
  const files = entries.filter(
    (entry) => !entry.isDirectory() && prefixOfMarker(entry.name) === undefined && isTaken(join(place, entry.name)),
  );
  const prefixes = complete.filter((prefix) => files.some(({ name }) => isShardOf(prefix, name)));
  const areAlone = files.every(({ name }) => prefixes.some((prefix) => isShardOf(prefix, name)));
  if (prefixes.length === 0 || (place === '' && areAlone)) return prefixes;
  const glob = join('/', place, globOfShards(prefixes));
  const reading = place === '' ? `\`include\` '${glob}' to take them alone` : `name ${path} itself to read them`;
  throw new InputError(
    'ERR_INPUT_UNREADABLE',
    `${path} holds the complete shards of an earlier job among the inputs; give \`exclude\` '${glob}' to leave them out, or ${reading}`,
  );
}

function refuseHubCache(path: string, entries: readonly Entry[]): void {
  const advice = adviceOnHubCache(path, entries);
  if (advice === undefined) return;
  throw new InputError(
    'ERR_INPUT_UNREADABLE',
    `${path} is the cache of a Hub repository, which holds each file twice and all versions that were loaded; ${advice}`,
  );
}

async function matchesOf(pattern: string, signal: AbortSignal | undefined): Promise<string[]> {
  const matches = await listMatches(pattern, signal);
  if (matches.length > 0) return matches;
  throw new InputError(
    'ERR_INPUT_MISSING',
    `no file matches the pattern ${pattern}; check it and the current directory`,
  );
}

function ownDirectoryError(path: string, kind: string): InputError {
  const advice = kind === 'a pile store' ? 'pileshuf shuffle-store reads it' : 'name another';
  return new InputError('ERR_INPUT_UNREADABLE', `the input ${path} is ${kind} and holds no data files; ${advice}`);
}

const NAME_OF_CACHE = /^(?:datasets|models|spaces)--/;
const LONGEST_REVISION_BYTES = 256;

/**
 * The cache of a Hugging Face repository holds every version that was loaded, and each file twice, as a blob and as a
 * link to it in a snapshot. Says which of its directories to name; undefined: `folder` is no such cache.
 */
function adviceOnHubCache(folder: string, entries: readonly Entry[]): string | undefined {
  const holds = (name: string) => entries.some((entry) => entry.name === name && entry.isDirectory());
  if (!(NAME_OF_CACHE.test(basename(resolve(folder))) && holds('blobs') && holds('snapshots'))) return undefined;
  const snapshots = join(folder, 'snapshots');
  const main = join(folder, 'refs', 'main');
  const hasMain = statPath(main, 'input')?.isFile() === true;
  const newest = hasMain && join(snapshots, readHead(main, 'input', LONGEST_REVISION_BYTES).toString().trim());
  return newest !== false && statPath(newest, 'input')?.isDirectory() === true
    ? `name its newest snapshot, ${newest}`
    : `name one of those in ${snapshots}`;
}
