/**
 * Checks whether the records of files look as if they were in random order. Reads windows of neighbouring records from
 * all over the data, and tests whether windows differ and whether neighbours are alike.
 *
 *     sample   windows of records                        ../../workers/tasks/sample-windows.ts
 *     rows     each record as numbers                    record-rows.ts
 *     tests    against the same records in random order  order-tests.ts, permutation-test.ts
 *     verdict  what that means                           order-verdict.ts
 */
import type { DescribedRecord, SampledWindows, WindowTask } from '../../workers/tasks/sample-windows.js';
import { counted, InputError, UsageError } from '../errors.js';
import { rangeStart } from '../formats/framing.js';
import { type FramingSpec, framingOf } from '../formats/framing-table.js';
import { type FieldPath, parseFieldPath } from '../formats/selector.js';
import { type JobScope, runJob } from '../job/job.js';
import { completeReading } from '../job/request.js';
import { CHECK_OPTIONS, type CheckOptions } from '../options/shuffle-options.js';
import { inputName } from '../places/inputs/input-source.js';
import type { Tuning } from '../plan/memory-plan.js';
import { mayBeCut } from '../sources/cut-points.js';
import { headerBytesOf, isPlain, isReadOnce } from '../sources/input.js';
import { inputPart } from '../sources/input-part.js';
import { firstRowsInput } from '../sources/rows.js';
import type { RecordSet } from '../stages/compare-sets.js';
import { runTasks, tasksAtOnce } from '../stages/run-tasks.js';
import type { Threads } from '../stages/threads.js';
import { requireKnownOptions } from '../values/known-options.js';
import { WINDOW_RECORDS } from './order-tests.js';
import { judgeOrder, type OrderReport } from './order-verdict.js';
import { type OpenedSet, openSets, runPass } from './read-sets.js';

export interface CheckReport extends OrderReport {
  readonly files: number;
  /** The number of records: counted if all files were read whole, else an estimate. */
  readonly records: number;
  readonly isCounted: boolean;
  /** Bytes of all records before compression; an estimate if files are compressed. */
  readonly bytes: number;
  /** Elapsed time. */
  readonly seconds: number;
}

const WINDOWS = 128;
/** Enough for one window. */
const READ_BYTES = 256 * 1024;

/**
 * Tests whether the records are in random order. Reads a sample; the same files always give the same result.
 *
 * @param tuning sizes for tests; they do not change the result.
 * @throws PileshufError: one of its subclasses.
 */
export async function checkShuffled(options: CheckOptions, tuning: Partial<Tuning> = {}): Promise<CheckReport> {
  requireKnownOptions('checkShuffled()', options, CHECK_OPTIONS);
  const { value, seconds } = await runJob(options, (scope) => check(options, tuning, scope));
  return { ...value, seconds };
}

async function check(
  options: CheckOptions,
  tuning: Partial<Tuning>,
  scope: JobScope,
): Promise<Omit<CheckReport, 'seconds'>> {
  const { inputs, ...request } = completeReading(options);
  const field = options.field === undefined ? undefined : parseFieldPath(options.field, '`field`');
  const id = options.id === undefined ? undefined : parseFieldPath(options.id, '`id`');
  const opened = await openSets([inputs], request, { readBytes: READ_BYTES, ...tuning }, false);
  const [set] = opened.sets;
  const ofRows = firstRowsInput(set?.inputs ?? []);
  if (ofRows !== undefined && (field !== undefined || id !== undefined))
    throw new UsageError(
      `${ofRows.path} holds ${ofRows.rows.format} data, and \`field\` and \`id\` are fields of JSON records; leave them out`,
    );
  if (set === undefined || opened.storedBytes === undefined) {
    const stream = set?.inputs.find(isReadOnce);
    throw new UsageError(
      `${inputName(stream?.path ?? '')} is a stream, of which no sample can be read; write it to a file first`,
    );
  }
  const bytes = set.decodedBytes.reduce<number>((sum, each) => sum + (each ?? 0), 0);
  const windows = windowsOf(set);
  const parts = await runPass(opened, scope, ([records], threads) =>
    records === undefined ? Promise.resolve([]) : sampleSet(records, windows, { field, id }, threads),
  );
  const isCounted = windows.every(({ windowCount }) => windowCount === Number.POSITIVE_INFINITY);
  const read = parts.reduce((sum, part) => sum + part.records, 0);
  const readBytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  const records = isCounted ? read : Math.round((bytes * read) / Math.max(1, readBytes));
  const sample = joined(parts);
  requireFields(sample, options);
  return {
    files: set.inputs.length,
    records,
    isCounted,
    bytes: isCounted ? readBytes : bytes,
    ...judgeOrder(sample, records),
  };
}

function windowsOf({ inputs, decodedBytes, framing, meanRecordBytes }: OpenedSet) {
  const sampled = inputs.map((input, i) => ({
    decodedBytes: decodedBytes[i] ?? 0,
    canSeek: isPlain(input) && canSeek(framing) && mayBeCut(input, framing && framingOf(framing)),
  }));
  return planWindows(sampled, meanRecordBytes, WINDOWS, WINDOW_RECORDS);
}

/** Returns whether a reader can begin anywhere without counting first. */
function canSeek(framing: FramingSpec | undefined): boolean {
  return framing !== undefined && rangeStart(framingOf(framing), 0, 0) !== undefined;
}

async function sampleSet(
  set: RecordSet,
  windows: readonly WindowsOfInput[],
  { field, id }: { readonly field: FieldPath | undefined; readonly id: FieldPath | undefined },
  { pool, stop }: Threads,
): Promise<readonly SampledWindows[]> {
  const results: SampledWindows[] = [];
  const { framing } = set.settings.read;
  const every = (framing && framingOf(framing).recordBytes) ?? 1;
  const taskOf = ({ inputOrdinal, startBytes, stride, windowCount }: WindowsOfInput): WindowTask => {
    const input = set.inputs.at(inputOrdinal);
    const start = headerBytesOf(input) + Math.floor(startBytes / every) * every;
    const part = inputPart(set, { inputOrdinal, start, end: undefined }, 0n, 0);
    return { job: set.settings, part, windowRecords: WINDOW_RECORDS, stride, windowCount, field, id };
  };
  await runTasks(
    windows.entries(),
    ([, ofInput]) => pool.run('sample-windows', taskOf(ofInput)),
    (result, [i]) => {
      results[i] = result;
    },
    tasksAtOnce({ pool }),
    stop,
  );
  return results;
}

/** Whole windows alone, unless too many are short. Estimates of lengths may have given twice as many as planned. */
function joined(parts: readonly SampledWindows[]): readonly DescribedRecord[] {
  const windows = parts.flatMap((part) => part.windows);
  const ofWhole = windows.filter(({ length }) => length === WINDOW_RECORDS).flat();
  const all = windows.flat();
  const sampled = ofWhole.length >= 0.75 * all.length ? ofWhole : all;
  const step = Math.max(1, Math.floor(sampled.length / WINDOW_RECORDS / WINDOWS));
  return sampled.filter((_, i) => Math.floor(i / WINDOW_RECORDS) % step === 0);
}

function requireFields(sample: readonly DescribedRecord[], { field, id }: CheckOptions): void {
  if (sample.length === 0) return;
  const isMissing = (option: string, name: string) =>
    new InputError(
      'ERR_FIELD_MISSING',
      `none of the ${counted(sample.length, 'record')} in the sample has the field ${name}; name a field of the records, which must be JSON objects of at most 4096 bytes, or leave \`${option}\` out`,
    );
  if (field !== undefined && sample.every((record) => record.field === 0)) throw isMissing('field', field);
  if (id !== undefined && sample.every(({ number }) => Number.isNaN(number))) throw isMissing('id', id);
}

export interface SampledInput {
  /** An estimate if the input is compressed. */
  readonly decodedBytes: number;
  readonly canSeek: boolean;
}

export interface WindowsOfInput {
  readonly inputOrdinal: number;
  /** The start of the window, counted from the end of the header. */
  readonly startBytes: number;
  /** Records from the beginning of one window to that of the next. An infinite `windowCount` means up to the end. */
  readonly stride: number;
  readonly windowCount: number;
}

/** The size below which all of the data is read. */
const READ_WHOLE_BYTES = 64 * 2 ** 20;
/** Compressed inputs that cannot be cut are read whole up to here, all together. */
const DECODE_WHOLE_BYTES = 4 * 2 ** 30;
/** The windows at the beginning of each compressed input that is not read whole. */
const HEAD_WINDOWS = 4;

/** Spreads about `windowCount` windows of neighbouring records evenly over the data. */
export function planWindows(
  inputs: readonly SampledInput[],
  meanRecordBytes: number,
  windowCount: number,
  windowRecords: number,
): readonly WindowsOfInput[] {
  const totalBytes = inputs.reduce((sum, { decodedBytes }) => sum + decodedBytes, 0);
  const expectedRecords = totalBytes / Math.max(1, meanRecordBytes);
  const stride = Math.max(windowRecords, Math.floor(expectedRecords / windowCount));
  const isSmall = totalBytes <= READ_WHOLE_BYTES || stride < 4 * windowRecords;
  const uncut = inputs.filter(({ canSeek }) => !canSeek).reduce((sum, { decodedBytes }) => sum + decodedBytes, 0);
  const planned: WindowsOfInput[] = [];
  let before = 0;
  for (const [inputOrdinal, { decodedBytes, canSeek }] of inputs.entries()) {
    const whole = { inputOrdinal, startBytes: 0, stride };
    if (isSmall || (!canSeek && uncut <= DECODE_WHOLE_BYTES))
      planned.push({ ...whole, windowCount: Number.POSITIVE_INFINITY });
    else if (!canSeek) planned.push({ ...whole, stride: windowRecords, windowCount: HEAD_WINDOWS });
    else planned.push(...windowsIn({ inputOrdinal, before, decodedBytes }, totalBytes / windowCount, windowRecords));
    before += decodedBytes;
  }
  return planned;
}

/** A window in the middle of each stretch of `spacingBytes`, as far as the middle lies in the input. */
function windowsIn(
  { inputOrdinal, before, decodedBytes }: { inputOrdinal: number; before: number; decodedBytes: number },
  spacingBytes: number,
  windowRecords: number,
): WindowsOfInput[] {
  const first = Math.ceil(before / spacingBytes - 0.5);
  const windows: WindowsOfInput[] = [];
  for (let i = first; (i + 0.5) * spacingBytes < before + decodedBytes; i++) {
    const startBytes = Math.max(0, Math.floor((i + 0.5) * spacingBytes - before));
    windows.push({ inputOrdinal, startBytes, stride: windowRecords, windowCount: 1 });
  }
  return windows;
}
