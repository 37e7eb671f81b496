/** Completes the caller's options: checks every value and fills in every default. Each job takes the parts it needs. */
import { types } from 'node:util';
import { requireWhole, UsageError } from '../errors.js';
import { openZstdPacker } from '../formats/codecs/zstd-writer.js';
import {
  type Compression,
  codecOfName,
  compressionOf,
  OUTPUT_CODECS,
  openEncoder,
  refuseOtherFormats,
} from '../formats/encoder-table.js';
import { delimiterOf } from '../formats/framing-table.js';
import { joinRecords, type RecordFormat } from '../formats/record-format.js';
import type { AskedInput, NamedInput } from '../inputs/expand-names.js';
import type { FileChoice } from '../inputs/file-choice.js';
import type { InputIdRule } from '../inputs/ids.js';
import { STANDARD_INPUT } from '../io/input-source.js';
import { drawSeed } from '../keys.js';
import { requireKnownOptions } from '../known-options.js';
import { readCpuCount, readMemory } from '../machine/limits.js';
import { STANDARD_OUTPUT } from '../output/output-target.js';
import type { ShardRule } from '../plan/shard-cuts.js';
import type { OutputSpec, ReadSpec, ShardSpec, ShuffleSpec } from '../spec.js';
import { completeMix, requireGlob } from './mix-options.js';
import { SHUFFLE_OPTIONS } from './option-names.js';
import type {
  FileChoiceOptions,
  InputOptions,
  MachineOptions,
  OutputOptions,
  RecordKind,
  ShuffleOptions,
  TalkOptions,
} from './options.js';
import { recordFormatOf } from './record-options.js';
import { completeShards } from './shard-options.js';
import { completeSplitValues, completeUnique } from './value-options.js';

/** How a job reports to its caller, and how the caller stops it. */
export interface TalkRequest {
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ShuffleOptions['onProgress'];
  readonly onWarning: (line: string) => void;
}

export interface MachineRequest {
  readonly memoryBytes: number;
  readonly workers: number;
  readonly ioLimits: Readonly<Record<string, number>>;
}

export interface InputRequest {
  readonly inputs: readonly AskedInput[];
  readonly fileChoice: FileChoice;
  readonly read: ReadSpec;
}

/** Of a job that reads inputs, and shuffles nothing. */
export interface ReadingRequest extends InputRequest, MachineRequest, TalkRequest {}

export interface OutputRequest {
  readonly spec: OutputSpec;
  /** Undefined: standard output. */
  readonly output: string | undefined;
  readonly force: boolean;
  /** Empty: chosen later, when the place of the output is known. */
  readonly tempDirs: readonly string[];
  readonly tempZstdLevel: number | undefined;
}

/** The first parts of the names of shards; none for one output. */
export function prefixesOf({ shards, shardPrefix, splits }: ShardSpec): readonly string[] {
  if (splits !== undefined) return splits.map(({ rule }) => rule.name);
  return shards === undefined ? [] : [shardPrefix];
}

export interface ResumeRequest {
  readonly resume: boolean;
  /** Undefined: derived later from the output and the temp directories. */
  readonly jobDir: string | undefined;
  readonly keepTemp: boolean;
  /** Whether even a small job must be resumable. */
  readonly mustBeResumable: boolean;
}

export const NEVER_RESUMED: ResumeRequest = {
  resume: false,
  jobDir: undefined,
  keepTemp: false,
  mustBeResumable: false,
};

export interface ShuffleRequest
  extends TalkRequest,
    MachineRequest,
    Omit<InputRequest, 'read'>,
    OutputRequest,
    ResumeRequest {
  readonly spec: ShuffleSpec;
  readonly inputIds: InputIdRule;
  readonly isSeedDrawn: boolean;
  readonly isProfiled: boolean;
  /** Whether a report needs a sample of the records. */
  readonly isSampled: boolean;
  readonly report: ShuffleOptions['report'];
}

const DEFAULT_MAX_RECORD_BYTES = 2 ** 30;
/** The kernel addresses 4 GiB, of which half may be pile buffers. */
const LARGEST_MAX_RECORD_BYTES = 2 ** 31 - 2 ** 26;
/** The page cache for inputs and output needs the other half. */
const DEFAULT_MEMORY_SHARE = 0.5;
export const MOST_WORKERS = 1024;
/** Level 1 saves nearly as much space as higher levels, which pay only on the slowest disks. */
const DEFAULT_TEMP_LEVEL = 1;

/** @param isInTasks whether tasks of several machines do the job: these keep what is done in any case. */
export function completeShuffle(options: ShuffleOptions, isInTasks = false): ShuffleRequest {
  requireKnownOptions('shuffle()', options, SHUFFLE_OPTIONS);
  const { inputIds = 'ordinal', keys = 'position', seed, repeat = false } = options;
  requireInputIds(inputIds);
  // Callers without types may pass anything.
  if (keys !== 'position' && keys !== 'ordinal')
    throw new UsageError(`\`keys\` ${String(keys)}: expected 'position' or 'ordinal'`);
  if (repeat) requireRepeatable(options, isInTasks);
  requireSeed(seed);
  // A header in bytes may be that of any format.
  const kind = options.header === undefined ? (options.records?.by ?? 'lines') : undefined;
  const output = completeOutput(options, kind);
  const { read, ...inputs } = completeInputs(options);
  const unique = completeUnique(options, read);
  const splitBy = completeSplitValues(options, read, output.spec);
  const mix = completeMix(options);
  const spec: ShuffleSpec = {
    read,
    key: { seed: seed ?? drawSeed(), from: keys },
    keep: { ...output.spec.keep, repeat, unique, mix },
    cut: { ...output.spec.cut, splitBy },
    write: output.spec.write,
  };
  requireNoCopies(spec);
  if (keys === 'ordinal' && read.skipsBlank === true)
    throw new UsageError(
      '`skipBlank` does not go with `keys` from ordinals: those keep files aligned, of which none leaves a record out',
    );
  if (keys === 'ordinal' && (mix.weights.length > 0 || mix.shares !== undefined))
    throw new UsageError(
      `${mix.option} does not go with \`keys\` from ordinals: those keep files aligned in which each record comes once`,
    );
  return {
    ...inputs,
    ...completeResume(options),
    ...output,
    ...completeMachine(options),
    ...completeTalk(options),
    spec,
    inputIds,
    isSeedDrawn: seed === undefined,
    isProfiled: options.onProfile !== undefined || options.report !== undefined,
    isSampled: options.report !== undefined,
    report: options.report,
  };
}

/** Copies have keys of their own, so they would come into several splits. */
function requireNoCopies({ keep: { mix }, cut: { splits, splitBy } }: ShuffleSpec): void {
  const { weights, shares } = mix;
  if (splits === undefined || splitBy !== undefined) return;
  const hasCopies =
    weights.some(({ weight }) => weight.copies > 1 || (weight.copies === 1 && weight.chance > 0n)) ||
    shares?.groups.some(({ maxEpochs: most }) => most.numerator > most.denominator) === true;
  if (!hasCopies) return;
  throw new UsageError(
    `copies that ${mix.option} makes of a record would be in several of \`splits\`; give factors of at most 1, or \`splitBy\` a value that tells records apart, such as an id`,
  );
}

function requireRepeatable(
  { repeat, headCount, splits, shards, resume, jobDir, keepTemp, records }: ShuffleOptions,
  isInTasks: boolean,
): void {
  if (typeof repeat !== 'boolean') throw new UsageError('`repeat`: expected true or false');
  if (!isInTasks && (resume || jobDir !== undefined || keepTemp))
    throw new UsageError('a job with `repeat` cannot be resumed: leave out `resume`, `jobDir` and `keepTemp`');
  if (splits !== undefined)
    throw new UsageError('`repeat` does not go with `splits`: copies of one record would be in several of them');
  if (records?.by === 'webdataset')
    throw new UsageError('`repeat` does not go with samples of tar files: readers join copies that are neighbours');
  if (headCount === undefined && records?.by === 'npy')
    throw new UsageError('an output of npy has an end: give `headCount` beside `repeat`');
  if (shards?.by === 'bytes')
    throw new UsageError(
      '`repeat` does not go with `shards.maxShardBytes`: give a number of shards, or of records in each',
    );
}

export function completeTalk({ signal, onProgress, onWarning = () => {} }: TalkOptions): TalkRequest {
  return { signal, onProgress, onWarning };
}

export function completeMachine(options: MachineOptions & Pick<TalkOptions, 'onWarning'>): MachineRequest {
  const { ioLimits = {}, workers = readCpuCount() } = options;
  for (const [path, limit] of Object.entries(ioLimits)) requireWhole(`\`ioLimits\` ${path}`, limit, 1, 2 ** 16);
  return {
    memoryBytes: chooseMemoryBytes(options),
    workers: requireWhole('`workers`', workers, 1, MOST_WORKERS),
    ioLimits,
  };
}

export function completeReading(options: InputOptions & MachineOptions & TalkOptions): ReadingRequest {
  return { ...completeInputs(options), ...completeMachine(options), ...completeTalk(options) };
}

function completeInputs(options: InputOptions): InputRequest {
  const { inputs, header, decompressProgram, igzip = true, maxRecordBytes = DEFAULT_MAX_RECORD_BYTES } = options;
  if (!Array.isArray(inputs)) throw new UsageError('`inputs`: expected an array of paths, or of objects');
  for (const input of inputs) requireInput(input);
  if (decompressProgram !== undefined && decompressProgram !== 'none' && !isProgram(decompressProgram))
    throw new UsageError(
      "`decompressProgram`: expected 'none', or an array of a program and its arguments, without NUL",
    );
  if (typeof igzip !== 'boolean') throw new UsageError('`igzip`: expected true or false');
  if (header !== undefined && !isHeader(header))
    throw new UsageError('`header`: expected an object with one of `lines`, `prefix` and `bytes`');
  const format = recordFormatOf(options);
  return {
    inputs: inputs.map((input) => askedInput(input, format)),
    fileChoice: completeFileChoice(options),
    read: {
      ...format,
      decompressProgram: decompressProgram === 'none' ? [] : decompressProgram,
      igzip,
      maxRecordBytes: requireWhole('`maxRecordBytes`', maxRecordBytes, 1, LARGEST_MAX_RECORD_BYTES),
    },
  };
}

function completeFileChoice({ hidden = false, include = [], exclude = [] }: FileChoiceOptions): FileChoice {
  if (typeof hidden !== 'boolean') throw new UsageError('`hidden`: expected true or false');
  requireGlobs('`include`', include);
  requireGlobs('`exclude`', exclude);
  return { hidden, include, exclude };
}

function requireGlobs(option: string, globs: readonly string[]): void {
  if (!Array.isArray(globs)) throw new UsageError(`${option}: expected an array of glob patterns`);
  for (const glob of globs) requireGlob(`${option}: expected each`, glob);
}

function requireInput(input: NamedInput): void {
  if (isPath(input)) return;
  const isList = typeof input === 'object' && input !== null && 'records' in input;
  if (isList) {
    requireKnownOptions('an object of `inputs`', input, { records: true });
    if (Array.isArray(input.records) && input.records.every(isTextOrBytes)) return;
    throw new UsageError('`inputs`: expected `records` to be an array of strings or of bytes');
  }
  const isNamed = typeof input === 'object' && isPath(input?.path);
  if (!isNamed) throw new UsageError('`inputs`: expected an array of paths, or of objects with a path or with records');
  requireKnownOptions('an object of `inputs`', input, { path: true });
}

export function requireInputIds(inputIds: unknown): asserts inputIds is InputIdRule {
  const isRule = Array.isArray(inputIds)
    ? inputIds.every((id) => typeof id === 'string' && id !== '' && isWellFormed(id))
    : inputIds === 'ordinal' || inputIds === 'path' || inputIds === 'name';
  if (!isRule)
    throw new UsageError("`inputIds`: expected 'ordinal', 'path', 'name', or an array of strings that are not empty");
}

export function requireSeed(seed: unknown): asserts seed is string | undefined {
  if (seed === undefined) return;
  if (typeof seed !== 'string') throw new UsageError('`seed`: expected a string');
  if (!isWellFormed(seed)) throw new UsageError('`seed`: expected well-formed Unicode, without half pairs');
}

/** @param kindOfRecords undefined: unknown. */
export function completeOutput(
  options: OutputOptions & Pick<TalkOptions, 'onWarning'>,
  kindOfRecords: RecordKind['by'] | undefined,
): OutputRequest {
  const { output, headCount, shardPrefix = 'shard', force = false, tempDirs = [] } = options;
  if (output !== undefined && !isPath(output)) throw new UsageError('`output`: expected a path that is not empty');
  if (!(Array.isArray(tempDirs) && tempDirs.every(isPath)))
    throw new UsageError('`tempDirs`: expected an array of paths');
  const { shards, splits } = completeShards(options);
  if (shards === undefined && output !== undefined) refuseOtherFormats(output, kindOfRecords);
  if (shardPrefix === '' || /[/\0]/.test(shardPrefix)) {
    throw new UsageError(
      `\`shardPrefix\` ${JSON.stringify(shardPrefix)} cannot be part of a file name; expected one without / and NUL`,
    );
  }
  return {
    spec: {
      keep: { headCount: headCount === undefined ? undefined : requireWhole('`headCount`', headCount, 0) },
      cut: { shards, shardPrefix, splits },
      write: { compression: chooseCompression({ ...options, shards }) },
    },
    output,
    force,
    tempDirs,
    tempZstdLevel: chooseTempLevel(options),
  };
}

const COMPRESSION = { codec: true, level: true } as const;

/** Refuses `-`; the job itself finds pipes and devices. */
function completeResume(
  options: Pick<ShuffleOptions, 'inputs' | 'output' | 'resume' | 'jobDir' | 'keepTemp'>,
): ResumeRequest {
  const { inputs, output, resume, jobDir, keepTemp } = options;
  const isFlag = (value: unknown) => value === undefined || typeof value === 'boolean';
  if (!isFlag(resume)) throw new UsageError('`resume`: expected true or false');
  if (jobDir !== undefined && !isPath(jobDir)) throw new UsageError('`jobDir`: expected a path that is not empty');
  if (!isFlag(keepTemp)) throw new UsageError('`keepTemp`: expected true or false');
  const mustBeResumable = resume === true || jobDir !== undefined;
  if ((mustBeResumable || keepTemp === true) && (output === undefined || output === STANDARD_OUTPUT))
    throw new UsageError('standard output cannot be resumed: name a file or directory with `output`');
  const isStandardInput = (input: NamedInput) =>
    typeof input === 'string' ? input === STANDARD_INPUT : 'path' in input && input.path === STANDARD_INPUT;
  if (mustBeResumable && inputs.some(isStandardInput))
    throw new UsageError(
      'standard input (-) cannot be read again to resume the job: name files, or leave out `resume` and `jobDir`',
    );
  return { resume: resume ?? false, jobDir, keepTemp: keepTemp ?? false, mustBeResumable };
}

function chooseCompression(
  options: Pick<ShuffleOptions, 'compress' | 'output' | 'onWarning'> & { readonly shards: ShardRule | undefined },
): Compression | undefined {
  const { compress, output, shards } = options;
  const codecByName = shards === undefined && output !== undefined ? codecOfName(output) : undefined;
  const compression = compress === undefined ? codecByName && compressionOf(codecByName) : asAskedFor(compress);
  if (codecByName !== undefined && codecByName !== compression?.codec) {
    options.onWarning?.(
      `the output ${output} will be ${compression === undefined ? 'plain' : compression.codec}, as asked for, though its name says ${codecByName}`,
    );
  }
  if (compression !== undefined) openEncoder(compression);
  return compression;
}

function asAskedFor(compress: NonNullable<ShuffleOptions['compress']>): Compression | undefined {
  if (compress === 'none') return undefined;
  const codec = OUTPUT_CODECS.find((known) => known === compress?.codec);
  if (codec === undefined) {
    throw new UsageError(
      `\`compress\`: expected 'none', or an object with \`codec\` one of ${OUTPUT_CODECS.join(', ')}`,
    );
  }
  requireKnownOptions('`compress`', compress, COMPRESSION);
  return compressionOf(codec, compress.level);
}

function chooseTempLevel({ tempCompress }: Pick<ShuffleOptions, 'tempCompress'>): number | undefined {
  if (tempCompress === undefined) return undefined;
  if (tempCompress?.codec !== 'zstd') throw new UsageError("`tempCompress`: expected an object with `codec` 'zstd'");
  requireKnownOptions('`tempCompress`', tempCompress, COMPRESSION);
  const { level } = compressionOf('zstd', tempCompress.level ?? DEFAULT_TEMP_LEVEL, '`tempCompress`');
  openZstdPacker(level);
  return level;
}

function chooseMemoryBytes({ memoryBytes, onWarning }: Pick<ShuffleOptions, 'memoryBytes' | 'onWarning'>): number {
  const { availableBytes, totalBytes } = readMemory();
  if (memoryBytes === undefined) return Math.floor(availableBytes * DEFAULT_MEMORY_SHARE);
  if (requireWhole('`memoryBytes`', memoryBytes, 1) <= totalBytes) return memoryBytes;
  const totalMib = Math.floor(totalBytes / 2 ** 20);
  onWarning?.(`\`memoryBytes\` is more than the ${totalMib} MiB of this machine; pileshuf uses ${totalMib} MiB`);
  return totalBytes;
}

function askedInput(input: NamedInput, { framing, header }: RecordFormat): AskedInput {
  if (typeof input === 'string' || !('records' in input)) return input;
  const delimiter = framing && delimiterOf(framing);
  if (delimiter === undefined)
    throw new UsageError(
      'records that are given as words must end in a delimiter: lines, NUL or `records.delimiter`; give others in files',
    );
  if (header !== undefined)
    throw new UsageError(
      'records that are given as words have no header; leave out `header.lines`, `header.prefix` and `header.bytes`, or give files',
    );
  return { list: joinRecords(input.records, Buffer.from(delimiter, 'hex')) };
}

function isTextOrBytes(value: unknown): boolean {
  return typeof value === 'string' || types.isUint8Array(value);
}

function isPath(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Seeds and ids are hashed as UTF-8, where every unpaired surrogate becomes the same character. */
function isWellFormed(text: string): boolean {
  return Buffer.from(text).toString() === text;
}

function isHeader(header: unknown): boolean {
  const names = typeof header === 'object' && header !== null ? Object.keys(header) : [];
  return names.length === 1 && ['lines', 'bytes', 'prefix'].includes(names[0] ?? '');
}

function isProgram(words: unknown): boolean {
  return (
    Array.isArray(words) &&
    words.every((word) => typeof word === 'string' && !word.includes('\0')) &&
    words[0] !== undefined &&
    words[0] !== ''
  );
}
