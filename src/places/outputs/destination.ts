/** The place where an output appears when it is complete, as plain data: for a job, its later attempts, and tasks elsewhere. */
import type { ShardNaming } from './shard-names.js';

/** Paths are absolute, without symbolic links, or addresses without a slash at their end. */
export type Destination = FileDestination | ShardsDestination;

export interface FileDestination {
  readonly kind: 'file';
  readonly path: string;
  readonly mayReplace: boolean;
  /** True if its SHA-256 lies beside it. */
  readonly hasSums?: boolean | undefined;
}

export interface ShardsDestination {
  readonly kind: 'shards';
  readonly path: string;
  /** True if other files may lie there. */
  readonly exists: boolean;
  readonly naming: ShardNaming;
  readonly mayReplace: boolean;
}

const NO_SHARDS = { exists: false, naming: { prefixes: [], extension: '' } };

/** Returns how shards are named there, and whether in an existing directory. One file has no prefix of shards. */
export function shardsAt(to: Destination): Pick<ShardsDestination, 'exists' | 'naming'> {
  return to.kind === 'file' ? NO_SHARDS : to;
}

export function outputIdentityOf(to: Destination): string {
  return formatOutputIdentity(to.kind, to.path, shardsAt(to).naming.prefixes);
}

export function formatOutputIdentity(kind: Destination['kind'], path: string, prefixes: readonly string[]): string {
  // A job with one prefix, and one without, has the identity that older versions gave it.
  return JSON.stringify([kind, path, ...(prefixes.length === 0 ? [''] : prefixes)]);
}
