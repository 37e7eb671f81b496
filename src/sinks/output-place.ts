/**
 * Where the output will appear, resolved against what exists now, and every reason why it must not appear there. Nothing
 * is written yet.
 */
import type { BigIntStats } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { SystemError, UsageError } from '../errors.js';
import { fileCalls } from '../io/file-calls.js';
import { inputName } from '../io/input-source.js';
import { systemCall } from '../io/io-error.js';
import { globOfShards } from '../io/own-files.js';
import { fileAmongParents, findObstacle, isSameFile, nameExists, realPathOf, statPath } from '../io/paths.js';
import { isRemote } from '../io/remote-objects.js';
import { stagingDirectoryIn } from '../job-directory/job-paths.js';
import { areOnOneMount, renameObstacles } from '../machine/renames.js';
import { nameSome } from '../quantity.js';
import { shownAddress } from '../remote/address.js';
import { placeIn, resolveObjects } from './object-place.js';
import { STANDARD_OUTPUT, STANDARD_OUTPUT_FD } from './output-target.js';
import { findFormerFiles, isShard, requireShortNames, type ShardNaming, shardName } from './shard-names.js';
import { requireOpenStandardOutput } from './stream-output.js';

export type OutputPlace = { readonly kind: 'stream'; readonly path: string } | FilesPlace;

/** Output that appears only when it is complete. Paths are absolute, without symbolic links. */
export type FilesPlace = FilePlace | ShardsPlace;

export interface FilePlace {
  readonly kind: 'file';
  readonly path: string;
  readonly mayReplace: boolean;
}

export interface ShardsPlace {
  readonly kind: 'shards';
  readonly path: string;
  readonly exists: boolean;
  readonly naming: ShardNaming;
  readonly mayReplace: boolean;
}

export function outputIdentityOf(place: FilesPlace): string {
  return formatOutputIdentity(place.kind, place.path, place.kind === 'shards' ? place.naming.prefixes : []);
}

export function formatOutputIdentity(kind: FilesPlace['kind'], path: string, prefixes: readonly string[]): string {
  // A job with one prefix, and one without, has the identity that older versions gave it.
  return JSON.stringify([kind, path, ...(prefixes.length === 0 ? [''] : prefixes)]);
}

export interface FileIdentity {
  readonly path: string;
  /** Device and inode, as in the version of a file. */
  readonly identity: string;
}

export const NAMES_OF_STANDARD_OUTPUT = new Set([STANDARD_OUTPUT, '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1']);

/**
 * Finds out what `output` names now. `requireReplaceable` checks whether the job may replace what exists there.
 * @param naming undefined for one output.
 * @param mayBeRemote whether the job can write to object storage.
 */
export function resolveOutput(
  output: string | undefined,
  naming: ShardNaming | undefined,
  mayReplace: boolean,
  mayBeRemote = false,
): OutputPlace {
  if (output !== undefined && isRemote(output)) {
    if (mayBeRemote) return resolveObjects(output, naming, mayReplace);
    throw badPlace(
      `the output ${shownAddress(output)} lies on another machine, and this job writes to disks; name a file or directory, and upload it then`,
    );
  }
  const isStandardOutput = output === undefined || NAMES_OF_STANDARD_OUTPUT.has(output);
  if (naming !== undefined) {
    if (isStandardOutput)
      throw new UsageError('shards cannot be written to standard output; name a directory with `output`');
    return resolveShardDirectory(output, naming, mayReplace);
  }
  if (isStandardOutput) {
    requireOpenStandardOutput();
    return { kind: 'stream', path: STANDARD_OUTPUT };
  }
  const stat = statPath(output, 'output');
  if (stat === undefined) {
    requireParent(output);
    requireNoDanglingLink(output);
    if (output.endsWith('/')) {
      throw badPlace(
        `the output ${output} is named as a directory; expected a file, or \`shards\` to write shards into it`,
      );
    }
    return { kind: 'file', path: realPathOfNew(output), mayReplace };
  }
  if (stat.isDirectory()) {
    throw badPlace(`the output ${output} is a directory; expected a file, or \`shards\` to write shards into it`);
  }
  if (stat.isFIFO() || stat.isCharacterDevice() || stat.isBlockDevice()) return { kind: 'stream', path: output };
  if (!stat.isFile()) {
    throw badPlace(`the output ${output} is neither a file, a pipe nor a device; name another`);
  }
  return { kind: 'file', path: realPathOf(output, 'output'), mayReplace };
}

function resolveShardDirectory(output: string, naming: ShardNaming, mayReplace: boolean): ShardsPlace {
  requireShortNames(naming);
  // A file has no name with a slash at its end.
  const stat = statPath(output.replace(/(?<=[^/])\/+$/, ''), 'output');
  if (stat === undefined) {
    requireParent(output);
    requireNoDanglingLink(output);
    return { kind: 'shards', path: realPathOfNew(output), exists: false, naming, mayReplace };
  }
  if (!stat.isDirectory()) {
    throw badPlace(`the output ${output} is a file; expected a directory to write shards into`);
  }
  return { kind: 'shards', path: realPathOf(output, 'output'), exists: true, naming, mayReplace };
}

/**
 * @param output as the user named it, for messages.
 * @param inputPaths the regular files that the job reads; an output that is one of them gets its own message.
 */
export function requireReplaceable(place: FilesPlace, output: string, inputPaths: readonly string[]): void {
  if (place.kind === 'file') {
    const isThere = statPath(place.path, 'output') !== undefined;
    if (place.mayReplace || !isThere) {
      requireReadable(dirname(place.path));
      if (isThere) requireNoObstacle([place.path], () => output);
      return;
    }
    throw new UsageError(
      inputPaths.some((input) => isSameFile(input, place.path, 'output'))
        ? `the output ${output} is one of the inputs; give \`force\` to replace it at the end`
        : `the output ${output} exists already; give \`force\` to replace it`,
      'ERR_OUTPUT_EXISTS',
    );
  }
  if (place.exists) requireWritable(place.path);
  requireReadable(dirname(place.path));
  if (!place.exists) return;
  requireReadable(place.path);
  const { path, naming, mayReplace } = place;
  const former = findFormerFiles(place);
  const noFile = former.find((name) => statPath(join(path, name), 'output')?.isDirectory() === true);
  if (noFile !== undefined) {
    throw badPlace(
      `${join(output, noFile)} is a directory with the name of a shard; remove it, or give another \`${optionOfPrefixes(naming)}\``,
    );
  }
  const existing = former.find(isShard);
  if (existing !== undefined && !mayReplace) {
    throw new UsageError(
      `the output directory ${output} holds shards already (${existing}); give \`force\` to replace all ${patternsOf(naming)} in it, or another \`${optionOfPrefixes(naming)}\``,
      'ERR_OUTPUT_EXISTS',
    );
  }
  requireNoObstacle(
    former.map((name) => join(path, name)),
    (shard) => join(output, basename(shard)),
  );
}

function badPlace(text: string): UsageError {
  return new UsageError(text, 'ERR_OUTPUT_PLACE');
}

/** @param nameOf the name that the user gave a path. */
export function requireNoObstacle(paths: readonly string[], nameOf: (path: string) => string): void {
  const obstacleOf = renameObstacles();
  for (const path of paths) {
    const obstacle = obstacleOf(path);
    if (obstacle !== undefined) throw badPlace(`the output ${nameOf(path)} cannot be replaced: ${obstacle}`);
  }
}

function patternsOf({ prefixes }: ShardNaming): string {
  return nameSome(prefixes.map((prefix) => `${prefix}-*-of-*`));
}

/** The option that decides the first parts of the names of shards. */
function optionOfPrefixes({ prefixes }: ShardNaming): 'shardPrefix' | 'output' {
  return prefixes.length === 1 ? 'shardPrefix' : 'output';
}

/** @param output a pipe, a device or standard output. */
export function requireNotRead(output: string, read: Iterable<FileIdentity>): void {
  const stat = statOutput(output);
  // A terminal is often both, and gives nothing back.
  if (stat === undefined || !(stat.isFile() || stat.isFIFO())) return;
  const written = identityIn(stat);
  for (const { path, identity } of read) {
    if (identity !== written) continue;
    const [what, advice] =
      output === STANDARD_OUTPUT
        ? ['standard output', 'redirect it to another file (> empties a file before the command starts)']
        : [`the output ${output}`, 'name another'];
    throw new UsageError(
      `${what} is ${inputName(path)}, which the job reads, so it would read what it writes; ${advice}`,
    );
  }
}

function statOutput(output: string | undefined): BigIntStats | undefined {
  if (output !== undefined && !NAMES_OF_STANDARD_OUTPUT.has(output)) return statPath(output, 'output');
  return systemCall('examine', 'output', 'standard output', () => fileCalls.statOpen(STANDARD_OUTPUT_FD));
}

function identityIn({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

export function requireWritable(directory: string): void {
  const obstacle = findObstacle(directory, 'write', 'output');
  if (obstacle === undefined) return;
  throw new SystemError('ERR_IO', `cannot make the output in ${directory}: ${obstacle}; expected a writable directory`);
}

/** The last step of a job opens the directory to make the names in it durable. */
function requireReadable(directory: string): void {
  const obstacle = findObstacle(directory, 'read', 'output');
  if (obstacle === undefined) return;
  throw new SystemError(
    'ERR_IO',
    `cannot make the output in ${directory} durable, because that directory cannot be read: ${obstacle}; expected one that can be read and written`,
  );
}

function realPathOfNew(path: string): string {
  const absolute = resolve(path);
  return join(realPathOf(dirname(absolute), 'output'), basename(absolute));
}

function requireParent(output: string): void {
  const parent = dirname(resolve(output));
  if (statPath(parent, 'output')?.isDirectory() !== true) {
    const file = fileAmongParents(resolve(output), 'output');
    const problem =
      file === undefined
        ? `the directory ${parent} of the output does not exist; make it first`
        : `the output ${output} cannot lie there, because ${file} is not a directory; name another place`;
    throw badPlace(problem);
  }
}

function requireNoDanglingLink(output: string): void {
  if (nameExists(output.replace(/\/+$/, ''), 'output')) {
    throw badPlace(`the output ${output} is a symbolic link that leads nowhere; remove it or make what it names`);
  }
}

/**
 * The existing directory in which the output is staged: the parent of the output, so that it is the same before and after
 * the output appears; or the directory of shards itself, when that is a mount point or its parent cannot be written.
 */
export function stagingParentOf(place: FilesPlace): string {
  const parent = dirname(place.path);
  if (place.kind === 'file' || !place.exists) return parent;
  // An earlier attempt may have staged its outputs in either.
  const there = [parent, place.path].find((path) =>
    nameExists(stagingDirectoryIn(path, outputIdentityOf(place)), 'output'),
  );
  if (there !== undefined) return there;
  return !areOnOneMount(place.path, parent) || findObstacle(parent, 'write', 'output') !== undefined
    ? place.path
    : parent;
}

/**
 * @param what how messages call the output: `the output out`.
 * @param placeOf where the next job of the same inputs would read a file; undefined: it would not.
 */
export function requireUnread(
  what: string,
  output: FilesPlace,
  placeOf: (path: string) => { readonly directory: string; readonly place: string } | undefined,
): void {
  const { path } = output;
  const files =
    output.kind === 'file'
      ? [path]
      : output.naming.prefixes.map((prefix) => placeIn(path, shardName({ ...output.naming, prefix }, 0, 1)));
  const found = files.map(placeOf).find((place) => place !== undefined);
  if (found === undefined) return;
  const { directory, place } = found;
  const below = output.kind === 'file' ? place : dirname(place);
  // Other files may lie in a directory that exists.
  const glob = output.kind === 'shards' && output.exists ? join(below, globOfShards(output.naming.prefixes)) : below;
  throw badPlace(
    `${what} lies in the input directory ${directory}, where the next job would read it; name a place elsewhere, or give \`exclude\` '/${glob}' to leave it out`,
  );
}

export function requireOutside(path: string, what: string, inputDirectories: readonly string[]): void {
  const real = realpathOfNearest(path);
  for (const directory of inputDirectories) {
    if (isRemote(directory)) continue;
    const realDirectory = realPathOf(directory, 'input');
    if (real === realDirectory || real.startsWith(realDirectory.endsWith(sep) ? realDirectory : realDirectory + sep)) {
      throw badPlace(
        `${what} ${path} lies inside the input directory ${directory}, so the job would read what it writes; name a place outside of it`,
      );
    }
  }
}

function realpathOfNearest(path: string): string {
  const absolute = resolve(path);
  if (statPath(absolute, 'output') !== undefined) return realPathOf(absolute, 'output');
  return join(realpathOfNearest(dirname(absolute)), basename(absolute));
}
