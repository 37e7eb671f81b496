/**
 * Names of shards: PREFIX-00007-of-00128.EXT, the form that loaders of data sets recognise.
 */
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { withoutCodecSuffix } from '../formats/codec-table.js';

export interface ShardNaming {
  readonly prefix: string;
  /** With its leading dot; empty for none. */
  readonly extension: string;
}

export function shardName(naming: ShardNaming, shard: number, shardCount: number): string {
  const digits = (value: number) => String(value).padStart(5, '0');
  return `${naming.prefix}-${digits(shard)}-of-${digits(shardCount)}${naming.extension}`;
}

/** Names in `directory` that are shards of this prefix, whatever their count and extension. */
export function findShards(directory: string, prefix: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => entry.name)
    .filter((name) => name.startsWith(`${prefix}-`) && /^\d{5,}-of-\d{5,}(\.|$)/.test(name.slice(prefix.length + 1)))
    .sort();
}

/** The extension that all inputs share once their codec's ending is left out; empty when they differ. */
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
