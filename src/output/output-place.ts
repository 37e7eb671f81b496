/**
 * Where the output is to appear, resolved against what is there now, and every reason why it must
 * not appear there. Nothing is written yet.
 */
import { basename, dirname, join, resolve, sep } from 'node:path';
import { UsageError } from '../errors.js';
import { nameExists, realPathOf, statPath } from '../io/paths.js';
import { STANDARD_OUTPUT } from './output-target.js';
import { findShards, requireShortNames, type ShardNaming } from './shard-names.js';

export type OutputPlace =
  | { readonly kind: 'stream'; readonly path: string }
  /** One file; `path` has no symbolic link as its last part. */
  | { readonly kind: 'file'; readonly path: string; readonly mayReplace: boolean }
  /** A directory of shards. */
  | {
      readonly kind: 'shards';
      readonly path: string;
      readonly exists: boolean;
      readonly naming: ShardNaming;
      readonly mayReplace: boolean;
    };

const NAMES_OF_STANDARD_OUTPUT = new Set([STANDARD_OUTPUT, '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1']);

/**
 * @param naming how shards are named; undefined for one output.
 * @param inputPaths the regular files that are read, for a message of its own.
 */
export function resolveOutput(
  output: string | undefined,
  naming: ShardNaming | undefined,
  force: boolean,
  inputPaths: readonly string[],
): OutputPlace {
  const isStandardOutput = output === undefined || NAMES_OF_STANDARD_OUTPUT.has(output);
  if (naming !== undefined) {
    if (isStandardOutput)
      throw new UsageError('shards cannot be written to standard output; name a directory with --output');
    return resolveShardDirectory(output, naming, force);
  }
  if (isStandardOutput) return { kind: 'stream', path: STANDARD_OUTPUT };
  const stat = statPath(output, 'output');
  if (stat === undefined) {
    requireParent(output);
    requireNoDanglingLink(output);
    if (output.endsWith('/')) {
      throw new UsageError(
        `the output ${output} is named as a directory; expected a file, or --shards, --shard-records or --shard-bytes to write shards into it`,
        'ERR_OUTPUT_PLACE',
      );
    }
    return { kind: 'file', path: resolve(output), mayReplace: force };
  }
  if (stat.isDirectory()) {
    throw new UsageError(
      `the output ${output} is a directory; expected a file, or --shards, --shard-records or --shard-bytes to write shards into it`,
      'ERR_OUTPUT_PLACE',
    );
  }
  if (stat.isFIFO() || stat.isCharacterDevice() || stat.isBlockDevice()) return { kind: 'stream', path: output };
  if (!stat.isFile()) {
    throw new UsageError(
      `the output ${output} is neither a file, a pipe nor a device; name another`,
      'ERR_OUTPUT_PLACE',
    );
  }
  const path = realPathOf(output, 'output');
  if (!force) {
    throw new UsageError(
      inputPaths.some((input) => sameFile(input, path))
        ? `the output ${output} is one of the inputs; give --force to replace it at the end`
        : `the output ${output} exists already; give --force to replace it`,
      'ERR_OUTPUT_EXISTS',
    );
  }
  return { kind: 'file', path, mayReplace: true };
}

function resolveShardDirectory(output: string, naming: ShardNaming, force: boolean): OutputPlace {
  requireShortNames(naming);
  const stat = statPath(output, 'output');
  if (stat === undefined) {
    requireParent(output);
    requireNoDanglingLink(output);
    return { kind: 'shards', path: resolve(output), exists: false, naming, mayReplace: force };
  }
  if (!stat.isDirectory()) {
    throw new UsageError(
      `the output ${output} is a file; expected a directory to write shards into`,
      'ERR_OUTPUT_PLACE',
    );
  }
  const path = realPathOf(output, 'output');
  const existingShards = findShards(path, naming.prefix);
  const noFile = existingShards.find((name) => statPath(join(path, name), 'output')?.isDirectory() === true);
  if (noFile !== undefined) {
    throw new UsageError(
      `${join(output, noFile)} is a directory with the name of a shard; remove it, or give another --prefix`,
      'ERR_OUTPUT_PLACE',
    );
  }
  const [existing] = existingShards;
  if (existing !== undefined && !force) {
    throw new UsageError(
      `the output directory ${output} holds shards already (${existing}); give --force to replace all ${naming.prefix}-*-of-* in it, or another --prefix`,
      'ERR_OUTPUT_EXISTS',
    );
  }
  return { kind: 'shards', path, exists: true, naming, mayReplace: force };
}

function requireParent(output: string): void {
  const parent = dirname(resolve(output));
  if (statPath(parent, 'output')?.isDirectory() !== true) {
    throw new UsageError(`the directory ${parent} of the output does not exist; make it first`, 'ERR_OUTPUT_PLACE');
  }
}

function requireNoDanglingLink(output: string): void {
  if (nameExists(output.replace(/\/+$/, ''), 'output')) {
    throw new UsageError(
      `the output ${output} is a symbolic link that leads nowhere; remove it or make what it names`,
      'ERR_OUTPUT_PLACE',
    );
  }
}

/** The existing directory in which the output appears; undefined for a stream. */
export function directoryOfOutput(place: OutputPlace): string | undefined {
  if (place.kind === 'stream') return undefined;
  return place.kind === 'shards' && place.exists ? place.path : dirname(place.path);
}

/** @throws UsageError when `path`, named as `what`, lies in one of the input directories. */
export function requireOutside(path: string, what: string, inputDirectories: readonly string[]): void {
  const real = realpathOfNearest(path);
  for (const directory of inputDirectories) {
    const realDirectory = realPathOf(directory, 'input');
    if (real === realDirectory || real.startsWith(realDirectory.endsWith(sep) ? realDirectory : realDirectory + sep)) {
      throw new UsageError(
        `${what} ${path} lies inside the input directory ${directory}, so the job would read what it writes; name a place outside of it`,
        'ERR_OUTPUT_PLACE',
      );
    }
  }
}

function realpathOfNearest(path: string): string {
  const absolute = resolve(path);
  if (statPath(absolute, 'output') !== undefined) return realPathOf(absolute, 'output');
  return join(realpathOfNearest(dirname(absolute)), basename(absolute));
}

function sameFile(a: string, b: string): boolean {
  const statA = statPath(a, 'output');
  const statB = statPath(b, 'output');
  return statA !== undefined && statB !== undefined && statA.dev === statB.dev && statA.ino === statB.ino;
}
