/**
 * What was asked for, complete: every default filled in, every number checked, nothing started.
 */
import { UsageError } from '../../errors.js';
import type { DecompressProgram } from '../../formats/codec-table.js';
import type { Compression } from '../../formats/encoder-table.js';
import type { RecordFormat } from '../../formats/record-format.js';
import { readCpuCount } from '../../io/cpu-count.js';
import { STANDARD_INPUT } from '../../io/input-source.js';
import { readMemory } from '../../io/memory-limit.js';
import { drawSeed } from '../../key-derivation.js';
import { STANDARD_OUTPUT } from '../../output/output-target.js';
import { MOST_SHARDS } from '../../plan/shard-cuts.js';
import { chooseCompression, chooseTempLevel } from './compression-request.js';
import { recordFormatOf } from './framing-request.js';
import type { InputIdRule } from './input-ids.js';
import type { ShardRule, ShuffleOptions } from './shuffle-options.js';

export interface JobRequest extends RecordFormat {
  readonly inputs: ShuffleOptions['inputs'];
  readonly inputIds: InputIdRule;
  readonly output: string | undefined;
  readonly shards: ShardRule | undefined;
  readonly shardPrefix: string;
  /** Undefined: the output is not compressed. */
  readonly compression: Compression | undefined;
  readonly seed: string;
  /** Whether nobody asked for this very seed. */
  readonly isSeedDrawn: boolean;
  readonly memoryBytes: number;
  /** Empty: chosen when it is known where the output goes. */
  readonly tempDirs: readonly string[];
  /** Level of zstd; undefined: temp data is not compressed. */
  readonly tempZstdLevel: number | undefined;
  readonly workers: number;
  readonly ioLimits: Readonly<Record<string, number>>;
  readonly decompressProgram: DecompressProgram;
  readonly maxRecordBytes: number;
  readonly force: boolean;
  readonly resume: boolean;
  /** Undefined: derived from the output, when it is known where that and the temp data go. */
  readonly jobDir: string | undefined;
  readonly keepTemp: boolean;
  /** Whether the job must be one that can be gone on with, however small it is. */
  readonly mustBeResumable: boolean;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ShuffleOptions['onProgress'];
  readonly onWarning: (line: string) => void;
  readonly isProfiled: boolean;
}

const DEFAULT_MAX_RECORD_BYTES = 2 ** 30;
/** The kernel's addresses have 32 bits, and half of them may be pile buffers. */
const LARGEST_MAX_RECORD_BYTES = 2 ** 31 - 2 ** 26;
/** The other half is left to the page cache, which the inputs and the output need. */
const DEFAULT_MEMORY_SHARE = 0.5;
const MOST_WORKERS = 1024;

/** @throws UsageError */
export function completeRequest(options: ShuffleOptions): JobRequest {
  requireShapes(options);
  refuseToResumeStreams(options);
  const { shards } = options;
  if (shards?.by === 'count') requireWhole('`shards.shardCount`', shards.shardCount, 1, MOST_SHARDS);
  if (shards?.by === 'records') requireWhole('`shards.recordsPerShard`', shards.recordsPerShard, 1);
  if (shards?.by === 'bytes') requireWhole('`shards.maxShardBytes`', shards.maxShardBytes, 1);
  const shardPrefix = options.shardPrefix ?? 'shard';
  if (shardPrefix === '' || /[/\0]/.test(shardPrefix)) {
    throw new UsageError(
      `the shard prefix ${JSON.stringify(shardPrefix)} is no part of a file name; expected one without / and NUL`,
    );
  }
  for (const [path, limit] of Object.entries(options.ioLimits ?? {}))
    requireWhole(`\`ioLimits\` ${path}`, limit, 1, 2 ** 16);
  return {
    inputs: options.inputs,
    inputIds: options.inputIds ?? 'ordinal',
    output: options.output,
    shards,
    shardPrefix,
    compression: chooseCompression(options),
    seed: options.seed ?? drawSeed(),
    isSeedDrawn: options.seed === undefined,
    memoryBytes: chooseMemoryBytes(options),
    tempDirs: options.tempDirs ?? [],
    tempZstdLevel: chooseTempLevel(options),
    workers: requireWhole('`workers`', options.workers ?? readCpuCount(), 1, MOST_WORKERS),
    ioLimits: options.ioLimits ?? {},
    ...recordFormatOf(options),
    decompressProgram: options.decompressProgram,
    maxRecordBytes: requireWhole(
      '`maxRecordBytes`',
      options.maxRecordBytes ?? DEFAULT_MAX_RECORD_BYTES,
      1,
      LARGEST_MAX_RECORD_BYTES,
    ),
    force: options.force ?? false,
    resume: options.resume ?? false,
    jobDir: options.jobDir,
    keepTemp: options.keepTemp ?? false,
    mustBeResumable: options.resume === true || options.jobDir !== undefined,
    signal: options.signal,
    onProgress: options.onProgress,
    onWarning: options.onWarning ?? (() => {}),
    isProfiled: options.onProfile !== undefined,
  };
}

/** What the types say, for callers that have none. */
function requireShapes(options: ShuffleOptions): void {
  const { inputs, output, seed, tempDirs, shards, header, resume, jobDir, keepTemp, decompressProgram } = options;
  const { inputIds } = options;
  const isPath = (value: unknown) => typeof value === 'string' && value !== '';
  const isFlag = (value: unknown) => value === undefined || typeof value === 'boolean';
  if (!Array.isArray(inputs) || !inputs.every((input) => isPath(input) || isPath(input?.path)))
    throw new UsageError('inputs: expected an array of paths, or of objects with a path');
  if (inputIds !== undefined && !isInputIdRule(inputIds))
    throw new UsageError("inputIds: expected 'ordinal', 'path', 'name', or an array of strings that are not empty");
  if (output !== undefined && !isPath(output)) throw new UsageError('output: expected a path that is not empty');
  if (tempDirs !== undefined && !(Array.isArray(tempDirs) && tempDirs.every(isPath)))
    throw new UsageError('tempDirs: expected an array of paths');
  if (decompressProgram !== undefined && !isProgram(decompressProgram))
    throw new UsageError('decompressProgram: expected an array of a program and its arguments, without NUL');
  if (shards !== undefined && !['count', 'records', 'bytes'].includes(shards.by))
    throw new UsageError("shards: expected an object with `by` one of 'count', 'records' and 'bytes'");
  if (header !== undefined && !isHeader(header))
    throw new UsageError('header: expected an object with one of `lines` and `bytes`');
  if (!isFlag(resume)) throw new UsageError('resume: expected true or false');
  if (jobDir !== undefined && !isPath(jobDir)) throw new UsageError('jobDir: expected a path that is not empty');
  if (!isFlag(keepTemp)) throw new UsageError('keepTemp: expected true or false');
  if (seed === undefined) return;
  if (typeof seed !== 'string') throw new UsageError('seed: expected a string');
  if (!isWellFormed(seed)) throw new UsageError('seed: expected well-formed Unicode, without half pairs');
}

function isInputIdRule(rule: unknown): boolean {
  if (!Array.isArray(rule)) return rule === 'ordinal' || rule === 'path' || rule === 'name';
  return rule.every((id) => typeof id === 'string' && id !== '' && isWellFormed(id));
}

/** Hashed as UTF-8, in which halves of a pair all become the same character. */
function isWellFormed(text: string): boolean {
  return Buffer.from(text).toString() === text;
}

function isHeader(header: unknown): boolean {
  return typeof header === 'object' && header !== null && 'lines' in header !== 'bytes' in header;
}

function isProgram(words: unknown): boolean {
  return (
    Array.isArray(words) &&
    words.every((word) => typeof word === 'string' && !word.includes('\0')) &&
    words[0] !== undefined &&
    words[0] !== ''
  );
}

/** Only by their names: what is a pipe or a device the job finds out. */
function refuseToResumeStreams({ inputs, output, resume, jobDir, keepTemp }: ShuffleOptions): void {
  const canBeResumed = resume === true || jobDir !== undefined;
  if ((canBeResumed || keepTemp === true) && (output === undefined || output === STANDARD_OUTPUT))
    throw new UsageError('standard output cannot be resumed: name a file or directory with `output`');
  const isStandardInput = (input: ShuffleOptions['inputs'][number]) =>
    (typeof input === 'string' ? input : input.path) === STANDARD_INPUT;
  if (canBeResumed && inputs.some(isStandardInput))
    throw new UsageError(
      'standard input (-) cannot be read again to resume the job: name files, or leave out `resume` and `jobDir`',
    );
}

function chooseMemoryBytes({ memoryBytes, onWarning }: ShuffleOptions): number {
  const { availableBytes, totalBytes } = readMemory();
  if (memoryBytes === undefined) return Math.floor(availableBytes * DEFAULT_MEMORY_SHARE);
  if (requireWhole('`memoryBytes`', memoryBytes, 1) <= totalBytes) return memoryBytes;
  onWarning?.(
    `\`memoryBytes\` is more than the ${Math.floor(totalBytes / 2 ** 20)} MiB that there are; ${Math.floor(totalBytes / 2 ** 20)} MiB are used`,
  );
  return totalBytes;
}

/** @param option in backquotes, as messages name options. @throws UsageError */
export function requireWhole(option: string, value: number, least: number, most = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw new UsageError(`${option} is ${value}; expected a whole number from ${least} to ${most}`);
}
