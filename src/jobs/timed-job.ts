/** What a job computes and moves, as the model of its time takes it: from its plan, and from what is known of its sizes. */
import type { Input } from '../inputs/list-inputs.js';
import { STORED_HEADER_BYTES } from '../plan/arena-sizes.js';
import type { TimedJob } from '../plan/expected-time.js';
import { levelsOf, staysInMemory } from '../plan/pile-levels.js';
import type { Slice } from '../plan/slices.js';
import type { EarlierAttempt } from './earlier-attempt.js';
import type { OutputRequest, ShuffleRequest } from './request.js';
import { isMeasuredBefore } from './unique-records.js';
import type { WorkPlan } from './work-plan.js';

/** Seconds for a decoded byte of each codec in pass 1, where nothing was measured. */
export const USUAL_DECODING: Readonly<Record<string, number>> = { gzip: 5e-9, bgzf: 5e-9, zstd: 4e-9, lz4: 1.5e-9 };
export const SLOW_DECODING = 15e-9;
/** Of compressed text. */
const USUAL_EXPANSION = 4;
/** Seconds for a byte of the output, of each codec: up to a level. */
const USUAL_ENCODING: Readonly<Record<'gzip' | 'zstd', readonly (readonly [number, number])[]>> = {
  gzip: [
    [1, 10e-9],
    [4, 17e-9],
    [6, 30e-9],
    [9, 45e-9],
  ],
  zstd: [
    [4, 6e-9],
    [6, 15e-9],
    [10, 27e-9],
    [12, 50e-9],
    [22, 500e-9],
  ],
};

export interface Amount {
  readonly bytes: number;
  readonly records: number;
}

/** The expected sizes of a job. */
export interface JobAmounts {
  /** Of the inputs. */
  readonly storedBytes: number;
  readonly read: Amount;
  /** With all copies. */
  readonly onPiles: Amount;
  readonly output: Amount;
  /** Of the output as written. */
  readonly writtenBytes: number;
  /** On the temp disks, of one level. */
  readonly tempBytes: number;
  readonly outputFiles: number;
  readonly decodeSeconds: number;
  readonly encodeSeconds: number;
}

/** The rest of what tells how long a job takes. */
export type JobShape = Omit<
  TimedJob,
  keyof JobAmounts | 'inputBytes' | `${'read' | 'pile' | 'output'}${'Bytes' | 'Records'}`
>;

export function timedJob(amounts: JobAmounts, shape: JobShape): TimedJob {
  const { storedBytes, read, onPiles, output, ...rest } = amounts;
  return {
    ...rest,
    ...shape,
    inputBytes: storedBytes,
    readBytes: read.bytes,
    readRecords: read.records,
    pileBytes: onPiles.bytes,
    pileRecords: onPiles.records,
    outputBytes: output.bytes,
    outputRecords: output.records,
  };
}

/** How a plan divides the work. @param tasks of pass 1. */
export function divisionOf(
  { memory, inline }: Pick<WorkPlan, 'memory' | 'inline'>,
  tempBytes: number,
  tasks: number,
): Pick<TimedJob, 'threads' | 'tasks' | 'segments'> {
  return {
    threads: inline ? 1 : memory.workers,
    tasks: Math.max(1, tasks),
    segments: staysInMemory(memory) ? 0 : tempBytes / memory.bufferBytes + (tasks * memory.pileCount) / 2,
  };
}

/** How often pass 2 finds the piles on disk, or puts them there, when they hold so much. */
export function levelsWith({ memory }: Pick<WorkPlan, 'memory'>, { bytes, records }: Amount): number {
  const storedBytes = bytes + STORED_HEADER_BYTES * records;
  return levelsOf({ ...memory, storedBytes }, bytes / Math.max(1, records));
}

/**
 * What a job does between its passes with all of its piles.
 * @param earlier undefined: the job starts anew.
 */
export function workBetween(
  request: Pick<ShuffleRequest, 'unique' | 'headCount' | 'repeat' | 'shards' | 'header' | 'duplicates'>,
  earlier: Pick<EarlierAttempt, 'distinctNote'> | undefined,
): TimedJob['between'] {
  const isNoted = earlier?.distinctNote !== undefined;
  const measures = !isNoted && (isMeasuredBefore(request) || request.duplicates !== undefined);
  return [...(measures ? ['measure' as const] : []), ...(request.repeat ? ['draw' as const] : [])];
}

/** A file of the inputs, as stored. */
export interface StoredFile {
  readonly byteLength: number;
  /** The name of its codec; undefined: plain bytes. */
  readonly codec: string | undefined;
}

/** Seconds to decode a byte of what the inputs hold, where nothing was measured. */
export function usualDecoding(files: readonly StoredFile[]): number {
  let [seconds, bytes] = [0, 0];
  for (const { byteLength, codec } of files) {
    const decodedBytes = codec === undefined ? byteLength : byteLength * USUAL_EXPANSION;
    bytes += decodedBytes;
    if (codec !== undefined) seconds += decodedBytes * (USUAL_DECODING[codec] ?? SLOW_DECODING);
  }
  return bytes === 0 ? 0 : seconds / bytes;
}

/** Files of the output. Undefined: it depends on more than is known. */
export function expectedFiles(
  { shards, splits }: Pick<ShuffleRequest, 'shards' | 'splits'>,
  output: Amount | undefined,
): number | undefined {
  const rules = splits?.map((split) => split.shards) ?? [shards ?? { by: 'count' as const, shardCount: 1 }];
  let files = 0;
  for (const rule of rules) {
    if (rule.by === 'count') files += rule.shardCount;
    else if (output === undefined || splits !== undefined) return undefined;
    else if (rule.by === 'records') files += Math.ceil(output.records / rule.recordsPerShard);
    else files += Math.ceil(output.bytes / rule.maxShardBytes);
  }
  return files;
}

/** Seconds to encode a byte of the output, where nothing was measured. */
export function usualEncoding(compression: OutputRequest['compression']): number {
  if (compression === undefined) return 0;
  const { codec, level } = compression;
  const found = USUAL_ENCODING[codec].find(([most]) => level <= most) ?? USUAL_ENCODING[codec].at(-1);
  return found?.[1] ?? 0;
}

/**
 * The part of pass 1 that its longest task does.
 * @param bytesOf an input that is read whole: its bytes, decoded or as stored, for all inputs alike.
 */
export function longestTaskShare(
  slices: readonly Slice[],
  inputs: readonly Input[],
  bytesOf: (inputOrdinal: number) => number,
): number {
  let [longest, all] = [0, 0];
  for (const slice of slices) {
    let bytes = 0;
    for (const { inputOrdinal, start, end, members } of slice) {
      const input = inputs[inputOrdinal];
      const isWhole = input?.kind === 'file' && input.codec !== undefined && members === undefined;
      bytes += isWhole || end === undefined ? bytesOf(inputOrdinal) : end - start;
    }
    longest = Math.max(longest, bytes);
    all += bytes;
  }
  return longest / Math.max(1, all);
}
