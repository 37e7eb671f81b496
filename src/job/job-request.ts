/**
 * What was asked for, complete: every default filled in, every number checked, nothing started.
 */
import { tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { UsageError } from '../errors.js';
import { type FramingSpec, LINES, NUL_TERMINATED } from '../formats/framing.js';
import { readCpuCount } from '../io/cpu-count.js';
import { statPath } from '../io/list-files.js';
import { readMemory } from '../io/memory-limit.js';
import { MOST_SHARDS } from '../plan/shard-cuts.js';
import { drawSeed } from './key-derivation.js';
import type { ShardRule, ShuffleOptions } from './shuffle-options.js';

export interface JobRequest {
  readonly inputs: ShuffleOptions['inputs'];
  readonly output: string | undefined;
  readonly shards: ShardRule | undefined;
  readonly shardPrefix: string;
  readonly seed: string;
  readonly memoryBytes: number;
  readonly tempDirs: readonly string[];
  readonly workers: number;
  readonly ioLimits: Readonly<Record<string, number>>;
  readonly framing: FramingSpec;
  readonly maxRecordBytes: number;
  readonly force: boolean;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ShuffleOptions['onProgress'];
  readonly onWarning: (line: string) => void;
}

const DEFAULT_MAX_RECORD_BYTES = 2 ** 30;
/** The kernel's addresses have 32 bits, and half of them may be pile buffers. */
const LARGEST_MAX_RECORD_BYTES = 2 ** 31 - 2 ** 26;
/** The other half is left to the page cache, which the inputs and the output need. */
const DEFAULT_MEMORY_SHARE = 0.5;
const MOST_WORKERS = 1024;

/** @throws UsageError */
export function completeRequest(options: ShuffleOptions): JobRequest {
  const { shards } = options;
  if (shards !== undefined) {
    if (shards.by === 'count') requireWhole('shards.shardCount', shards.shardCount, 1, MOST_SHARDS);
    else if (shards.by === 'records') requireWhole('shards.recordsPerShard', shards.recordsPerShard, 1);
    else requireWhole('shards.maxShardBytes', shards.maxShardBytes, 1);
  }
  const shardPrefix = options.shardPrefix ?? 'shard';
  if (shardPrefix === '' || /[/\0]/.test(shardPrefix)) {
    throw new UsageError(
      `the shard prefix ${JSON.stringify(shardPrefix)} is no part of a file name; expected one without / and NUL`,
    );
  }
  for (const [path, limit] of Object.entries(options.ioLimits ?? {}))
    requireWhole(`ioLimits[${path}]`, limit, 1, 2 ** 16);
  const memory = readMemory();
  const memoryBytes = options.memoryBytes ?? Math.floor(memory.availableBytes * DEFAULT_MEMORY_SHARE);
  return {
    inputs: options.inputs,
    output: options.output,
    shards,
    shardPrefix,
    seed: options.seed ?? drawSeed(),
    // More than the machine has would only reserve address space.
    memoryBytes: Math.min(requireWhole('memoryBytes', memoryBytes, 1), memory.totalBytes),
    tempDirs:
      options.tempDirs !== undefined && options.tempDirs.length > 0 ? options.tempDirs : [defaultTempDir(options)],
    workers: requireWhole('workers', options.workers ?? readCpuCount(), 1, MOST_WORKERS),
    ioLimits: options.ioLimits ?? {},
    framing: options.zeroTerminated === true ? NUL_TERMINATED : LINES,
    maxRecordBytes: requireWhole(
      'maxRecordBytes',
      options.maxRecordBytes ?? DEFAULT_MAX_RECORD_BYTES,
      1,
      LARGEST_MAX_RECORD_BYTES,
    ),
    force: options.force ?? false,
    signal: options.signal,
    onProgress: options.onProgress,
    onWarning: options.onWarning ?? (() => {}),
  };
}

function requireWhole(name: string, value: number, least: number, most = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw new UsageError(`${name} is ${value}; expected a whole number from ${least} to ${most}`);
}

/** `$TMPDIR`, else where the output goes, else /var/tmp, which is a disk where /tmp may be memory. */
function defaultTempDir(options: ShuffleOptions): string {
  const fromEnvironment = process.env['TMPDIR'];
  if (fromEnvironment !== undefined && fromEnvironment !== '') return fromEnvironment;
  const { output } = options;
  if (output !== undefined && output !== '-') {
    const stat = statPath(output, 'output');
    if (stat?.isDirectory() === true) return output;
    if (stat === undefined || stat.isFile()) return dirname(resolve(output));
  }
  return statPath('/var/tmp', 'output')?.isDirectory() === true ? '/var/tmp' : tmpdir();
}
