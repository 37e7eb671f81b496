/** Completes the caller's options: checks every value and fills in every default. Each job takes the parts it needs. */
import { types } from 'node:util';
import { UsageError } from '../errors.js';
import { generateSeed } from '../floor/keys.js';
import {
  type Compression,
  codecOfName,
  compressionOf,
  encoderAdvice,
  OUTPUT_CODECS,
} from '../formats/encoder-table.js';
import { framingOf, type RecordKind } from '../formats/framing-table.js';
import { refuseOtherFormats } from '../formats/recognition.js';
import { joinRecords, type RecordFormat } from '../formats/record-format.js';
import type { RowChoice } from '../formats/rows/row-format.js';
import { requireWholeBundles } from '../keep/bundles.js';
import { isScatteredTwice } from '../keep/content-rule.js';
import { requireCopiesTogether, type ShardSpec } from '../keep/splits.js';
import { readCpuCount, readMemory } from '../machine/limits.js';
import { refuseContradictions } from '../options/option.js';
import type {
  CallbackOptions,
  InputOptions,
  MachineOptions,
  OutputOptions,
  ShuffleOptions,
  TableOptions,
} from '../options/shuffle-options.js';
import { SHUFFLE_OPTIONS } from '../options/shuffle-options.js';
import { STANDARD_INPUT } from '../places/inputs/input-kinds.js';
import type { ShardRule } from '../plan/shard-cuts.js';
import type { S3ServiceOptions } from '../remote/address.js';
import type { TransferMemory } from '../remote/transfer-pool.js';
import { STANDARD_OUTPUT } from '../sinks/output-target.js';
import type { AskedInput, NamedInput } from '../sources/expand-names.js';
import type { FileChoice } from '../sources/file-choice.js';
import type { InputIdRule } from '../sources/ids.js';
import type { OutputSpec, ReadSpec, ShuffleSpec } from '../spec.js';
import { isPath, requireKnownOptions } from '../values/known-options.js';
import { completeMix } from './mix-options.js';
import { completeValues, computedRange, numbersInput, rangeOf, recordFormatOf } from './record-options.js';
import { completeShards } from './shard-options.js';

/** How a job reports to its caller, and how the caller stops it. */
export interface Callbacks {
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ShuffleOptions['onProgress'];
  readonly onWarning: (line: string) => void;
}

export interface MachineRequest {
  /** The memory without what transfers take, once they have begun. */
  readonly memoryBytes: number;
  /** The part of the memory that the caller gave that transfers took. Absent: nothing. */
  readonly transfers?: TransferMemory | undefined;
  readonly workers: number;
  readonly ioLimits: Readonly<Record<string, number>>;
}

/** Returns the memory that the caller gave. */
export function givenBytesOf({ memoryBytes, transfers }: Pick<MachineRequest, 'memoryBytes' | 'transfers'>): number {
  return memoryBytes + (transfers?.byteLength ?? 0);
}

export interface InputRequest {
  readonly inputs: readonly AskedInput[];
  readonly fileChoice: FileChoice;
  readonly service: S3ServiceOptions;
  readonly read: ReadSpec;
}

/** The request of a job that reads inputs, and shuffles nothing. */
export interface ReadingRequest extends InputRequest, MachineRequest, Callbacks {}

export interface OutputRequest {
  readonly spec: OutputSpec;
  /** The output as the caller named it. Undefined: standard output. */
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
  /** True if a later call can resume the job, if only to finish the moves of its outputs. */
  readonly mayResume: boolean;
  readonly resume: boolean;
  /** The job directory. Undefined: derived later from the output and the temp directories. */
  readonly jobDir: string | undefined;
  readonly keepTemp: boolean;
  /** True if even a small job must be resumable. */
  readonly mustBeResumable: boolean;
}

export const NEVER_RESUMED: ResumeRequest = {
  mayResume: false,
  resume: false,
  jobDir: undefined,
  keepTemp: false,
  mustBeResumable: false,
};

export interface ShuffleRequest
  extends Callbacks,
    MachineRequest,
    Omit<InputRequest, 'read'>,
    OutputRequest,
    ResumeRequest {
  readonly spec: ShuffleSpec;
  readonly inputIds: InputIdRule;
  readonly isSeedDrawn: boolean;
  readonly isProfiled: boolean;
  /** True if a report needs a sample of the records. */
  readonly isSampled: boolean;
  readonly report: ShuffleOptions['report'];
}

const DEFAULT_MAX_RECORD_BYTES = 2 ** 30;
/** The page cache for inputs and output needs the other half. */
const DEFAULT_MEMORY_SHARE = 0.5;
/** Level 1 saves nearly as much space as higher levels, which pay only on the slowest disks. */
const DEFAULT_TEMP_LEVEL = 1;

export function completeShuffle(options: ShuffleOptions): ShuffleRequest {
  requireKnownOptions('shuffle()', options, SHUFFLE_OPTIONS);
  refuseContradictions(SHUFFLE_OPTIONS, options);
  const { inputIds = 'ordinal', keys = 'position', seed, repeat = false } = options;
  // A header in bytes may be that of any format.
  const kind = options.header === undefined ? (options.records?.by ?? 'lines') : undefined;
  const output = completeOutput(options, kind, options.records === undefined && options.header === undefined);
  const { read, ...choice } = completeInputs(options);
  const mix = completeMix(options);
  const { splitBy, each, ...values } = completeValues(options, read, output.spec.cut, mix);
  const requested: ShuffleSpec = {
    read,
    key: { seed: seed ?? generateSeed(), from: keys },
    keep: { ...output.spec.keep, ...values, repeat, mix },
    cut: { ...output.spec.cut, splitBy, each },
    write: { ...output.spec.write, card: cardWords(options), sums: options.sums },
  };
  requireWholeBundles(requested.keep, requested.cut);
  requireCopiesTogether(requested.keep, requested.cut);
  if (values.unique !== undefined && mix.shares !== undefined)
    throw new UsageError(
      `shares of \`mix\` cannot be combined with ${options.uniqueBy === undefined ? '`unique`' : '`uniqueBy`'}: they are counted before duplicates are dropped; give weights to the groups`,
    );
  if (repeat && isScatteredTwice(requested))
    throw new UsageError(
      '`repeat` draws from records in memory, and cannot be combined with weights of records that are kept of equal ones; write these first, and draw from them',
    );
  const range = computedRange(options, requested);
  const spec = range === undefined ? requested : { ...requested, keep: { ...requested.keep, range } };
  return {
    ...choice,
    ...completeResume(options),
    ...output,
    ...completeMachine(options),
    ...completeCallbacks(options),
    spec,
    inputIds,
    isSeedDrawn: seed === undefined,
    isProfiled: options.onProfile !== undefined || options.report !== undefined,
    isSampled: options.report !== undefined,
    report: options.report,
  };
}

/** Returns what the card says of the job. Undefined: there is no card. */
function cardWords({ datasetCard = false }: Pick<ShuffleOptions, 'datasetCard'>): string | undefined {
  if (datasetCard === false) return undefined;
  return datasetCard === true ? '' : datasetCard;
}

export function completeCallbacks({ signal, onProgress, onWarning = () => {} }: CallbackOptions): Callbacks {
  return { signal, onProgress, onWarning };
}

export function completeMachine(options: MachineOptions & Pick<CallbackOptions, 'onWarning'>): MachineRequest {
  const { ioLimits = {}, workers = readCpuCount() } = options;
  return { memoryBytes: chooseMemoryBytes(options), workers, ioLimits };
}

export function completeReading(options: InputOptions & MachineOptions & CallbackOptions): ReadingRequest {
  return { ...completeInputs(options), ...completeMachine(options), ...completeCallbacks(options) };
}

function completeInputs(options: InputOptions): InputRequest {
  const { inputs, decompressProgram, igzip = true, maxRecordBytes = DEFAULT_MAX_RECORD_BYTES } = options;
  const { hidden = false, include = [], exclude = [], columns, hive, hdf5 } = options;
  const { endpoint, requesterPays, signRequests, s3Headers: headers } = options;
  if (!Array.isArray(inputs)) throw new UsageError('`inputs`: expected an array of paths, or of objects');
  for (const input of inputs) requireInput(input);
  const format = recordFormatOf(options);
  return {
    inputs: inputs.map((input) => askedInput(input, format)),
    fileChoice: { hidden, include, exclude },
    service: { endpoint, requesterPays, signRequests, headers },
    read: {
      ...format,
      decompressProgram: decompressProgram === 'none' ? [] : decompressProgram,
      igzip,
      maxRecordBytes,
      rowChoice: unlessEmpty({ columns, hive, hdf5 }),
    },
  };
}

/** Returns the choice of the caller. Undefined: nothing is asked for. */
function unlessEmpty(choice: RowChoice): RowChoice | undefined {
  return Object.values(choice).some((value) => value !== undefined) ? choice : undefined;
}

function requireInput(input: NamedInput): void {
  if (isPath(input)) return;
  const given = typeof input === 'object' && input !== null ? input : {};
  if ('records' in given) {
    requireKnownOptions('an object of `inputs`', given, { records: true });
    if (Array.isArray(given.records) && given.records.every(isTextOrBytes)) return;
    throw new UsageError('`inputs`: expected `records` to be an array of strings or of bytes');
  }
  const isNamed = 'path' in given && isPath(given.path);
  if (!isNamed && !('range' in given))
    throw new UsageError(
      '`inputs`: expected an array of paths, or of objects with a path, with records or with a range',
    );
  requireKnownOptions('an object of `inputs`', given, isNamed ? { path: true } : { range: true });
}

/** @param kindOfRecords undefined: unknown. */
export function completeOutput(
  options: OutputOptions & TableOptions & Pick<CallbackOptions, 'onWarning'> & Pick<ShuffleOptions, 'each'>,
  kindOfRecords: RecordKind['by'] | undefined,
  mayHoldRows = false,
): OutputRequest {
  const { output, headCount, shardPrefix = 'shard', force = false, tempDirs = [] } = options;
  const { parquetCodec, rowGroupBytes, rowGroupRows } = options;
  const { shards, splits } = completeShards(options);
  if (shards === undefined && output !== undefined) refuseOtherFormats(output, kindOfRecords, mayHoldRows);
  return {
    spec: {
      keep: { headCount },
      cut: { shards, shardPrefix, splits },
      write: {
        compression: chooseCompression({ ...options, shards }),
        rowChoice: unlessEmpty({ parquetCodec, rowGroupBytes, rowGroupRows }),
      },
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
  const { inputs, output, resume = false, jobDir, keepTemp = false } = options;
  const mustBeResumable = resume || jobDir !== undefined;
  if ((mustBeResumable || keepTemp) && (output === undefined || output === STANDARD_OUTPUT))
    throw new UsageError('standard output cannot be resumed: name a file or directory with `output`');
  const isStandardInput = (input: NamedInput) =>
    typeof input === 'string' ? input === STANDARD_INPUT : 'path' in input && input.path === STANDARD_INPUT;
  if (mustBeResumable && inputs.some(isStandardInput))
    throw new UsageError(
      'standard input (-) cannot be read again to resume the job: name files, or leave out `resume` and `jobDir`',
    );
  return { mayResume: true, resume, jobDir, keepTemp, mustBeResumable };
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
  const advice = compression && encoderAdvice(compression);
  if (advice !== undefined) options.onWarning?.(advice);
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
  return compressionOf('zstd', tempCompress.level ?? DEFAULT_TEMP_LEVEL, '`tempCompress`').level;
}

function chooseMemoryBytes({ memoryBytes, onWarning }: Pick<ShuffleOptions, 'memoryBytes' | 'onWarning'>): number {
  const { availableBytes, totalBytes } = readMemory();
  if (memoryBytes === undefined) return Math.floor(availableBytes * DEFAULT_MEMORY_SHARE);
  if (memoryBytes <= totalBytes) return memoryBytes;
  const totalMib = Math.floor(totalBytes / 2 ** 20);
  onWarning?.(`\`memoryBytes\` is more than the ${totalMib} MiB of this machine; pileshuf uses ${totalMib} MiB`);
  return totalBytes;
}

function askedInput(input: NamedInput, format: RecordFormat): AskedInput {
  if (typeof input === 'string' || 'path' in input) return input;
  if ('range' in input) return numbersInput(rangeOf(input), format);
  const { framing, header } = format;
  const delimiter = framing && framingOf(framing).delimiter;
  if (delimiter === undefined)
    throw new UsageError(
      'records that are given as words must end in a delimiter: lines, NUL or `records.delimiter`; give others in files',
    );
  if (header !== undefined)
    throw new UsageError(
      'records that are given as words have no header; leave out `header.lines`, `header.prefix` and `header.bytes`, or give files',
    );
  return { list: joinRecords(input.records, delimiter) };
}

function isTextOrBytes(value: unknown): boolean {
  return typeof value === 'string' || types.isUint8Array(value);
}
