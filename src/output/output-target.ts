/**
 * What the tasks of pass 2 write to, as plain data: staged files that are cut by arithmetic and written in parallel
 * at known places; or compressed ones, to which the tasks append in turns; or a stream, likewise.
 */
import { join } from 'node:path';
import type { Compression } from '../formats/encoder-table.js';
import type { GateNumber } from '../job-control.js';
import type { ShardCuts } from '../plan/shard-cuts.js';

export type OutputTarget = PlacedTarget | AppendedTarget | StreamTarget;

interface StagedTarget {
  /** Where the files lie until all is verified. */
  readonly stagingDirectory: string;
  readonly cuts: ShardCuts;
  /** Where the records of each shard begin. */
  readonly headerBytes: number;
  readonly gate: GateNumber;
}

/** Files in which each record has its place. */
export interface PlacedTarget extends StagedTarget {
  readonly kind: 'placed';
  /** Whether large writes may go around the page cache. */
  readonly direct: boolean;
}

/** Files in which a record lies behind those before it, wherever these end. */
export interface AppendedTarget extends StagedTarget {
  readonly kind: 'appended';
  readonly compression: Compression;
}

/** Standard output, or a device or pipe given by name, open in this process for all its threads. */
export interface StreamTarget {
  readonly kind: 'stream';
  readonly fd: number;
  readonly path: string;
  /** Undefined: not compressed. */
  readonly compression: Compression | undefined;
}

/** Path that stands for standard output. */
export const STANDARD_OUTPUT = '-';

/** Path of a shard (of the one output file: shard 0) until it gets its final name. */
export function stagedPath(stagingDirectory: string, shard: number): string {
  return join(stagingDirectory, `${shard}.part`);
}

/** Bytes [start, end) of one shard as they are stored, counted from the end of its header, written by one task. */
export interface WrittenRegion {
  readonly shard: number;
  readonly start: number;
  readonly end: number;
  /** That these bytes decode to. */
  readonly recordBytes: number;
  /** Of these bytes, as `checksumTextOf` gives it; empty where no later run reads them back. */
  readonly checksum: string;
}

/** Bytes of all records that regions hold. */
export function recordBytesOf(regions: readonly WrittenRegion[]): number {
  return regions.reduce((sum, { recordBytes }) => sum + recordBytes, 0);
}
