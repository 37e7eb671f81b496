/**
 * The names and first bytes of the files that pileshuf makes beside data. The rooms that write these files take them
 * from here; ../sources/recognise-own-files.ts recognises the files by them.
 */

/** The ending of the marker that the shards of a prefix are complete. */
export const MARKER_ENDING = '.complete.json';

/** The prefix whose marker has this name; undefined if no marker has. Loaders of data sets pass over hidden files. */
export function prefixOfMarker(name: string): string | undefined {
  return name.startsWith('.') && name.endsWith(MARKER_ENDING) ? name.slice(1, -MARKER_ENDING.length) : undefined;
}

/** Matches a marker. That of sections has their values, too. */
export const MARKER_TEXT = /^\{"shards":\d+,"records":\d+,"bytes":\d+,"checksum":"[0-9a-f]{16}"(?:\}\n$|,"values":)/;
export const LONGEST_MARKER_BYTES = 160;

/** The dataset card of shards, by the name that the Hugging Face Hub wants. */
export const CARD_NAME = 'README.md';
export const FIRST_BYTES_OF_CARDS = Buffer.from('---\n# Made by pileshuf\n');

/** The SHA-256 of each shard, as `sha256sum -c` reads it. Beside one file, they have its name and this ending. */
export const SUMS_NAME = 'SHA256SUMS';
export const SUMS_ENDING = '.sha256';
/** Matches the beginning of such a file. */
export const SUMS_TEXT = /^\\?[0-9a-f]{64} [ *]/;

/** Returns whether a file has the name of one that is written beside shards, for people and other programs. */
export function isBesideShards(name: string): boolean {
  return name === CARD_NAME || name === SUMS_NAME;
}

/** Returns whether a file has the name of a shard of this prefix, of whatever count and extension. */
export function isShardOf(prefix: string, name: string): boolean {
  return name.startsWith(`${prefix}-`) && /^\d{5,}-of-\d{5,}(\.|$)/.test(name.slice(prefix.length + 1));
}

export function globOfShards(prefixes: readonly string[]): string {
  return `${prefixes.length === 1 ? prefixes[0] : `{${prefixes.join(',')}}`}-*-of-*`;
}

/** Follows a file's name in the name of its record index. */
export const INDEX_SUFFIX = '.pileshuf-index';
/** The same in all versions. */
export const FIRST_BYTES_OF_RECORD_INDEXES = Buffer.from('pshindx', 'latin1');
/** First part of the name of a record index that is being made. */
export const INDEX_ATTEMPT_KIND = 'pileshuf-index';

/** First part of the name of a job's lock. */
export const LOCK_KIND = 'lock';

/** The file that makes a directory a pile store. */
export const STORE_SETTINGS_NAME = 'store';
