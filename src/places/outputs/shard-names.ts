/** Names of shards: PREFIX-00007-of-00128.EXT, the form that loaders of data sets recognise. */
import { basename, join } from 'node:path';
import { UsageError } from '../../errors.js';
import { withoutCodecSuffix } from '../../formats/codec-table.js';
import { readHead } from '../../io/atomic-files.js';
import {
  CARD_NAME,
  FIRST_BYTES_OF_CARDS,
  isBesideShards,
  isShardOf,
  MARKER_ENDING,
  SUMS_TEXT,
} from '../../io/own-files.js';
import { listNames, statPath } from '../../io/paths.js';
import { MOST_SHARDS } from '../../plan/shard-cuts.js';

export interface ShardNaming {
  /** Several if the output is split. */
  readonly prefixes: readonly string[];
  /** The extension with its leading dot; empty for none. */
  readonly extension: string;
  /** The first part of the names of directories, one for each section. Absent: the shards lie in one directory. */
  readonly sections?: string | undefined;
  /** The names of other files that belong to the shards: see `isBesideShards`. Absent: none. */
  readonly beside?: readonly string[] | undefined;
}

/** Shards of one prefix, which are numbered together. */
export interface ShardGroup {
  readonly prefix: string;
  readonly shardCount: number;
}

export function shardName(
  { prefix, extension }: { readonly prefix: string; readonly extension: string },
  shard: number,
  shardCount: number,
): string {
  return `${prefix}${numberPart(shard, shardCount)}${extension}`;
}

export function shardNames({ extension }: Pick<ShardNaming, 'extension'>, groups: readonly ShardGroup[]): string[] {
  return groups.flatMap(({ prefix, shardCount }) =>
    Array.from({ length: shardCount }, (_, shard) => shardName({ prefix, extension }, shard, shardCount)),
  );
}

function numberPart(shard: number, shardCount: number): string {
  const digits = (value: number) => String(value).padStart(5, '0');
  return `-${digits(shard)}-of-${digits(shardCount)}`;
}

/** Returns whether a shard of this number has such a name, whatever its prefix and extension. */
export function isShardName(name: string, shard: number, shardCount: number): boolean {
  return name.includes(numberPart(shard, shardCount));
}

/** Returns whether a file of this name would be replaced by shards of some prefix. */
export function isReplaceableName(name: string): boolean {
  return /-\d{5,}-of-\d{5,}(\.|$)/.test(name) || !isShard(name);
}

/** The longest file name that file systems allow, in bytes. */
const LONGEST_NAME_BYTES = 255;

/** @param advice what makes the names shorter. */
export function requireShortNames(
  { prefixes, extension }: ShardNaming,
  advice = 'a shorter `shardPrefix`, or shorter names of `splits`',
): void {
  // The number of shards is not always known before.
  const byteLengths = prefixes.map((prefix) =>
    Buffer.byteLength(shardName({ prefix, extension }, MOST_SHARDS - 1, MOST_SHARDS)),
  );
  const byteLength = Math.max(...byteLengths);
  if (byteLength <= LONGEST_NAME_BYTES) return;
  throw new UsageError(
    `the shards may have names of ${byteLength} bytes, and file systems allow ${LONGEST_NAME_BYTES}; give ${advice}`,
  );
}

/** Name of the file that says that the shards of a prefix are complete. */
export function completionMarkerName(prefix: string): string {
  return `.${prefix}${MARKER_ENDING}`;
}

/**
 * Returns the names of all files that new shards replace: shards of their prefixes, whatever the count and extension, markers, and
 * files beside them, also of a job that had some where the new one has none.
 */
export function findReplacedFiles({ path, naming }: { readonly path: string; readonly naming: ShardNaming }): string[] {
  const names = listNames(path, 'output');
  const replaced = replacedFilesAmong(names, naming);
  const ofFormer = names.filter((name) => !replaced.includes(name) && describesShards(join(path, name), replaced));
  return [...replaced, ...ofFormer.sort()];
}

/** Returns whether a file is a card that pileshuf made, or has the SHA-256 of one of these shards first. */
function describesShards(path: string, names: readonly string[]): boolean {
  const name = basename(path);
  if (!isBesideShards(name) || !names.some(isShard) || statPath(path, 'output')?.isFile() !== true) return false;
  const head = readHead(path, 'output', SUMS_HEAD_BYTES);
  if (name === CARD_NAME) return FIRST_BYTES_OF_CARDS.equals(head.subarray(0, FIRST_BYTES_OF_CARDS.byteLength));
  const first = head.toString().split('\n')[0]?.replace(SUMS_TEXT, '');
  return names.some((each) => isShard(each) && each === first);
}

/** A digest, two spaces and the longest name. */
const SUMS_HEAD_BYTES = 64 + 2 + LONGEST_NAME_BYTES + 1;

/** Returns the names that new shards replace: first shards, then the other files. */
export function replacedFilesAmong(all: readonly string[], naming: Omit<ShardNaming, 'extension'>): string[] {
  const names = all.filter((name) => isReplaced(naming, name));
  return [...names.filter(isShard).sort(), ...names.filter((name) => !isShard(name)).sort()];
}

/** Returns whether a former file is a shard, and neither a marker nor a file beside shards. */
export function isShard(name: string): boolean {
  return !name.endsWith(MARKER_ENDING) && !isBesideShards(name);
}

function isReplaced({ prefixes, beside = [] }: Omit<ShardNaming, 'extension'>, name: string): boolean {
  if (isBesideShards(name)) return beside.includes(name);
  return prefixes.some((prefix) => name === completionMarkerName(prefix) || isShardOf(prefix, name));
}

/** Names of shards in the directory that new shards of these prefixes do not replace. */
export function findOtherShards({ path, naming }: { readonly path: string; readonly naming: ShardNaming }): string[] {
  const isOther = (name: string) => isReplaceableName(name) && isShard(name) && !isReplaced(naming, name);
  return listNames(path, 'output').filter(isOther).sort();
}

export function besideExistsError(output: string, name: string): UsageError {
  return new UsageError(
    `the output directory ${output} has a ${name} already; give \`force\` to replace it, or leave out \`${name === CARD_NAME ? 'datasetCard' : 'sums'}\``,
    'ERR_OUTPUT_EXISTS',
  );
}

/** The extension that all inputs share, without the ending of their codec; empty when their extensions differ. */
export function commonExtension(inputs: Iterable<{ readonly path: string }>): string {
  const extensions = new Set<string>();
  for (const { path } of inputs) {
    const name = withoutCodecSuffix(basename(path));
    const dot = name.lastIndexOf('.');
    extensions.add(dot > 0 ? name.slice(dot) : '');
  }
  const [only] = extensions;
  return extensions.size === 1 && only !== undefined ? only : '';
}
