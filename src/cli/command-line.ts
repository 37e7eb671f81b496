/**
 * What was typed, read and checked against itself: no file has been opened, and the machine was
 * asked nothing but its memory, if a percentage of it was given. Contradictions between options are
 * found here; what only the machine can contradict (paths, space, memory) is the library's.
 */

import {
  type HeaderKind,
  type OutputCompression,
  type RecordKind,
  type ShardRule,
  type ShuffleOptions,
  UsageError,
} from '../index.js';
import type { InputList } from './input-list.js';
import type { ProgressStyle } from './progress.js';

/** The options as commander collects them, one field an option. */
export interface OptionValues {
  readonly output?: string;
  readonly shards?: number;
  readonly shardRecords?: number;
  readonly shardBytes?: number;
  readonly compress?: OutputCompression;
  readonly prefix?: string;
  readonly seed?: string;
  readonly memory?: number;
  readonly tempDir?: readonly string[];
  readonly tempCompress?: ShuffleOptions['tempCompress'];
  readonly workers?: number;
  readonly ioLimit?: ReadonlyMap<string, number>;
  readonly zeroTerminated?: boolean;
  readonly delimiter?: Uint8Array;
  readonly linesPerRecord?: number;
  readonly paragraphs?: boolean;
  readonly csv?: boolean;
  readonly recordSize?: number;
  readonly lengthPrefixed?: LengthPrefix;
  readonly tfrecord?: boolean;
  readonly npy?: boolean;
  readonly webdataset?: boolean;
  readonly header?: number;
  readonly skipBytes?: number;
  readonly decompressProgram?: readonly string[];
  readonly maxRecord?: number;
  readonly force?: boolean;
  readonly resume?: boolean;
  readonly jobDir?: string;
  readonly keepTemp?: boolean;
  readonly progress: ProgressStyle;
  readonly profile?: string;
  readonly quiet?: boolean;
}

/** A call of the command that asks for a shuffle. */
export interface CommandLine {
  /** As typed; `-` where nothing was. The lists' entries come after them. */
  readonly inputs: readonly string[];
  /** In the order typed. */
  readonly inputLists: readonly InputList[];
  readonly options: Omit<ShuffleOptions, 'inputs' | 'signal' | 'onProgress' | 'onWarning' | 'onProfile'>;
  readonly progress: ProgressStyle;
  /** File to write. */
  readonly profile: string | undefined;
  readonly quiet: boolean;
}

/** Throws UsageError where the arguments contradict each other. */
export function checkCommandLine(
  operands: readonly string[],
  inputLists: readonly InputList[],
  values: OptionValues,
): CommandLine {
  const shards = chooseShardRule(values);
  if (shards !== undefined && (values.output === undefined || values.output === '-')) {
    throw new UsageError('shards need a directory, not standard output: add --output DIR');
  }
  if (shards === undefined && values.prefix !== undefined) {
    throw new UsageError(
      '--prefix names shards, and none are asked for: add --shards, --shard-records or --shard-bytes, or leave it out',
    );
  }
  if (operands.includes('')) {
    throw new UsageError('an input is an empty string; expected a path, or - for standard input');
  }
  const inputs = operands.length === 0 && inputLists.length === 0 ? ['-'] : operands;
  refuseStdinTwice(inputs, inputLists);
  refuseToResumeStreams(inputs, values);
  return {
    inputs,
    inputLists,
    options: {
      output: values.output,
      shards,
      compress: values.compress,
      shardPrefix: values.prefix,
      seed: values.seed,
      memoryBytes: values.memory,
      tempDirs: values.tempDir,
      tempCompress: values.tempCompress,
      workers: values.workers,
      ioLimits: values.ioLimit && Object.fromEntries(values.ioLimit),
      zeroTerminated: values.zeroTerminated,
      records: chooseRecordKind(values),
      header: chooseHeaderKind(values),
      decompressProgram: values.decompressProgram,
      maxRecordBytes: values.maxRecord,
      force: values.force,
      resume: values.resume,
      jobDir: values.jobDir,
      keepTemp: values.keepTemp,
    },
    progress: values.progress,
    profile: values.profile,
    quiet: values.quiet ?? false,
  };
}

function chooseShardRule({ shards, shardRecords, shardBytes }: OptionValues): ShardRule | undefined {
  const asked: (readonly [option: string, rule: ShardRule])[] = [];
  if (shards !== undefined) {
    asked.push(['--shards', { by: 'count', shardCount: shards }]);
  }
  if (shardRecords !== undefined) {
    asked.push(['--shard-records', { by: 'records', recordsPerShard: shardRecords }]);
  }
  if (shardBytes !== undefined) {
    asked.push(['--shard-bytes', { by: 'bytes', maxShardBytes: shardBytes }]);
  }
  return onlyOne(asked);
}

type LengthPrefix = Extract<RecordKind, { by: 'length-prefix' }>['prefix'];

function chooseRecordKind(values: OptionValues): RecordKind | undefined {
  const { zeroTerminated, delimiter, linesPerRecord, paragraphs, csv, recordSize, lengthPrefixed } = values;
  const asked: (readonly [option: string, kind: RecordKind | undefined])[] = [];
  if (zeroTerminated === true) asked.push(['--zero-terminated', undefined]);
  if (delimiter !== undefined) asked.push(['--delimiter', { by: 'delimiter', delimiter }]);
  if (linesPerRecord !== undefined) asked.push(['--lines-per-record', { by: 'lines', linesPerRecord }]);
  if (paragraphs === true) asked.push(['--paragraphs', { by: 'paragraphs' }]);
  if (csv === true) asked.push(['--csv', { by: 'csv' }]);
  if (recordSize !== undefined) asked.push(['--record-size', { by: 'size', recordBytes: recordSize }]);
  if (lengthPrefixed !== undefined) asked.push(['--length-prefixed', { by: 'length-prefix', prefix: lengthPrefixed }]);
  if (values.tfrecord === true) asked.push(['--tfrecord', { by: 'tfrecord' }]);
  if (values.npy === true) asked.push(['--npy', { by: 'npy' }]);
  if (values.webdataset === true) asked.push(['--webdataset', { by: 'webdataset' }]);
  return onlyOne(asked);
}

function chooseHeaderKind({ header, skipBytes }: OptionValues): HeaderKind | undefined {
  const asked: (readonly [option: string, kind: HeaderKind])[] = [];
  if (header !== undefined) asked.push(['--header', { lines: header }]);
  if (skipBytes !== undefined) asked.push(['--skip-bytes', { bytes: skipBytes }]);
  return onlyOne(asked);
}

function onlyOne<T>(asked: readonly (readonly [option: string, value: T])[]): T | undefined {
  if (asked.length > 1) {
    const names = asked.map(([option]) => option).join(' and ');
    throw new UsageError(`${names} contradict each other; give one of them`);
  }
  return asked[0]?.[1];
}

/** Standard input can be read once: as one input, or as one list. */
function refuseStdinTwice(inputs: readonly string[], inputLists: readonly InputList[]): void {
  const listsFromStdin = inputLists.filter(({ path }) => path === '-');
  const stdinInputs = inputs.filter((input) => input === '-');
  if (listsFromStdin.length + stdinInputs.length <= 1) {
    return;
  }
  const list = listsFromStdin[0];
  if (list === undefined) {
    throw new UsageError('standard input (-) is given twice as an input, and can be read only once; give it once');
  }
  throw new UsageError(
    listsFromStdin.length > 1
      ? 'two lists of inputs are to be read from standard input; give one of them as a file'
      : `standard input cannot be both the list of inputs (${list.option} -) and an input (-); give one of them as a file`,
  );
}

/** What was written to standard output, or read from standard input, is gone when the job goes on. */
function refuseToResumeStreams(inputs: readonly string[], { output, resume, jobDir, keepTemp }: OptionValues): void {
  const canBeResumed = resume === true || jobDir !== undefined;
  if ((canBeResumed || keepTemp === true) && (output === undefined || output === '-')) {
    throw new UsageError('standard output cannot be resumed: name a file or directory with --output');
  }
  if (canBeResumed && inputs.includes('-')) {
    throw new UsageError(
      'standard input (-) cannot be read again to resume the job: name files, or leave out --resume and --job-dir',
    );
  }
}
