/**
 * Names of shards: PREFIX-00007-of-00128.EXT, the form that loaders of data sets recognise.
 */
import { basename, join } from 'node:path';
import { UsageError } from '../errors.js';
import { withoutCodecSuffix } from '../formats/codec-table.js';
import { LONGEST_MARKER_BYTES, MARKER_ENDING, MARKER_TEXT } from '../io/own-files.js';
import { listNames, lstatPath } from '../io/paths.js';
import { readHead } from '../io/small-file.js';
import { MOST_SHARDS } from '../plan/shard-cuts.js';

export interface ShardNaming {
  readonly prefix: string;
  /** With its leading dot; empty for none. */
  readonly extension: string;
}

export function shardName(naming: ShardNaming, shard: number, shardCount: number): string {
  return `${naming.prefix}${numberPart(shard, shardCount)}${naming.extension}`;
}

function numberPart(shard: number, shardCount: number): string {
  const digits = (value: number) => String(value).padStart(5, '0');
  return `-${digits(shard)}-of-${digits(shardCount)}`;
}

/** Whether a shard of this number has such a name, whatever its prefix and extension. */
export function isNameOfShard(name: string, shard: number, shardCount: number): boolean {
  return name.includes(numberPart(shard, shardCount));
}

/** Whether shards of some prefix replace a file of this name. */
export function isMadeWayFor(name: string): boolean {
  return /-\d{5,}-of-\d{5,}(\.|$)/.test(name) || name.endsWith(MARKER_ENDING);
}

/** The longest file name that file systems allow, in bytes. */
const LONGEST_NAME_BYTES = 255;

/** @throws UsageError when the names of shards may be longer than file systems allow. */
export function requireShortNames(naming: ShardNaming): void {
  // The number of shards is not always known before.
  const byteLength = Buffer.byteLength(shardName(naming, MOST_SHARDS - 1, MOST_SHARDS));
  if (byteLength <= LONGEST_NAME_BYTES) return;
  throw new UsageError(
    `the shards may have names of ${byteLength} bytes, and file systems allow ${LONGEST_NAME_BYTES}; give a shorter \`shardPrefix\``,
  );
}

/** Name of the file that says that the shards of a prefix are complete. Loaders of data sets pass over hidden files. */
export function completionMarkerName({ prefix }: Pick<ShardNaming, 'prefix'>): string {
  return `.${prefix}${MARKER_ENDING}`;
}

/** The name that older versions gave it; undefined where it is now the name of another prefix's marker. */
export function formerMarkerName({ prefix }: Pick<ShardNaming, 'prefix'>): string | undefined {
  return prefix.startsWith('.') ? undefined : `${prefix}${MARKER_ENDING}`;
}

/** Names of all files that new shards of this prefix replace: shards, whatever their count and extension, and markers. */
export function findFormerFiles({ path, naming }: { readonly path: string; readonly naming: ShardNaming }): string[] {
  const names = listNames(path, 'output').filter((name) => isReplaced({ path, naming }, name));
  const isLast = (name: string) => name.endsWith(MARKER_ENDING);
  return [...names.filter((name) => !isLast(name)).sort(), ...names.filter(isLast).sort()];
}

/** Whether new shards of this prefix replace the file of this name in the directory `path`. */
export function isReplaced(
  { path, naming }: { readonly path: string; readonly naming: Pick<ShardNaming, 'prefix'> },
  name: string,
): boolean {
  const { prefix } = naming;
  if (name === completionMarkerName(naming)) return true;
  // A file of the user's may be called like a former marker.
  if (name === formerMarkerName(naming)) return isMarker(join(path, name));
  return name.startsWith(`${prefix}-`) && /^\d{5,}-of-\d{5,}(\.|$)/.test(name.slice(prefix.length + 1));
}

function isMarker(path: string): boolean {
  if (lstatPath(path, 'output')?.isFile() !== true) return false;
  return MARKER_TEXT.test(readHead(path, 'output', LONGEST_MARKER_BYTES).toString('latin1'));
}

/** The extension that all inputs share, without the ending of their codec; empty when their extensions differ. */
export function commonExtension(inputPaths: readonly string[]): string {
  const extensions = new Set(
    inputPaths.map((path) => {
      const name = withoutCodecSuffix(basename(path));
      const dot = name.lastIndexOf('.');
      return dot > 0 ? name.slice(dot) : '';
    }),
  );
  const [only] = extensions;
  return extensions.size === 1 && only !== undefined ? only : '';
}
