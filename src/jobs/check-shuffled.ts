/**
 * Checks whether the records of files look as if they were in random order. Reads windows of neighbouring records from
 * all over the data, and tests whether windows differ and whether neighbours are alike.
 *
 *     sample   windows of records                        ../plan/sample-windows.ts, sample-records.ts of workers/tasks
 *     rows     each record as numbers                    ../plan/record-sample.ts
 *     tests    against the same records in random order  ../plan/order-tests.ts
 *     verdict  what that means                           ../plan/order-verdict.ts
 */
import type { SampledPart, SampleTask } from '../../workers/tasks/sample-records.js';
import { counted, InputError, UsageError } from '../errors.js';
import { type FramingSpec, framingOf } from '../formats/framing-table.js';
import { type FieldPath, parseFieldPath } from '../formats/selector.js';
import { mayBeCut } from '../inputs/cuts.js';
import type { NamedInput } from '../inputs/expand-names.js';
import { inputPart } from '../inputs/input-part.js';
import { inputName } from '../io/input-source.js';
import { type OptionNames, requireKnownOptions } from '../known-options.js';
import type { RecordSet } from '../passes/compare-pass.js';
import { runTasks, tasksAtOnce } from '../passes/run-tasks.js';
import type { Threads } from '../passes/threads.js';
import type { Tuning } from '../plan/memory-plan.js';
import { WINDOW_RECORDS } from '../plan/order-tests.js';
import { judgeOrder, type OrderReport } from '../plan/order-verdict.js';
import { BYTE_KINDS, type SampledRecords, WORDS_OF_RECORD } from '../plan/record-sample.js';
import { planWindows, type WindowsOfInput } from '../plan/sample-windows.js';
import { type JobScope, runJob } from './job.js';
import { CHOICE_OPTIONS } from './option-names.js';
import { drawHashKeys, type OpenedSet, openSets, passOver, type ReadRequest } from './read-sets.js';
import { completeInputs, completeMachine, completeTalk } from './request.js';
import { READ_OPTIONS, type VerifyOptions } from './verify-permutation.js';

export interface CheckOptions extends Omit<VerifyOptions, 'inputs' | 'outputs' | 'skipBlank'> {
  /** Files in the order in which they are read one after the other, as in `ShuffleOptions.inputs`; no streams. */
  readonly inputs: readonly NamedInput[];
  /** A field of JSON records whose values should not drift, such as `.source`. Default: none. */
  readonly field?: string | undefined;
  /**
   * The field of JSON records with a number that tells where a record was before, such as `.id`. Default: the first
   * number in the text.
   */
  readonly id?: string | undefined;
  /** Path of a picture of what was tested, `.svg`. Default: none. */
  readonly plot?: string | undefined;
  /** Replaces an existing picture. Default false. */
  readonly force?: boolean | undefined;
}

export interface CheckReport extends OrderReport {
  readonly files: number;
  /** Of all files: counted if they were read whole, else an estimate. */
  readonly records: number;
  readonly isCounted: boolean;
  /** Bytes of all records before compression; an estimate if files are compressed. */
  readonly bytes: number;
  /** Elapsed time. */
  readonly seconds: number;
}

const CHECK_OPTIONS: OptionNames<CheckOptions> = {
  inputs: true,
  ...CHOICE_OPTIONS,
  field: true,
  id: true,
  plot: true,
  force: true,
  ...READ_OPTIONS,
};

/** Windows that are looked at. */
const WINDOWS = 128;
/** Read at a time: a window is not much. */
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
  const { inputs, ...rest } = completeInputs(options);
  const request: ReadRequest = { ...rest, ...completeMachine(options), ...completeTalk(options) };
  const field = options.field === undefined ? undefined : parseFieldPath(options.field, '`field`');
  const id = options.id === undefined ? undefined : parseFieldPath(options.id, '`id`');
  const opened = await openSets([inputs], request, { readBytes: READ_BYTES, ...tuning }, false);
  const [set] = opened.sets;
  if (set === undefined || opened.storedBytes === undefined) {
    const stream = set?.inputs.find(({ kind }) => kind === 'stream');
    throw new UsageError(
      `${inputName(stream?.path ?? '')} is a stream; expected files, of which a sample is read: write it to a file first`,
    );
  }
  const { plot, force = false } = options;
  // Loaded only for a plot.
  const plots = plot === undefined ? undefined : await import('./report/tell-plot.js');
  plots?.requirePlotPlace(plot, force, set);
  const bytes = set.decodedBytes.reduce<number>((sum, each) => sum + (each ?? 0), 0);
  const windows = windowsOf(set, WINDOWS);
  const parts = await passOver(opened, request, drawHashKeys(), scope, ([records], threads) =>
    records === undefined ? Promise.resolve([]) : sampleWindows(records, windows, { field, id }, threads),
  );
  const isCounted = windows.every(({ windowCount }) => windowCount === Number.POSITIVE_INFINITY);
  const read = parts.reduce((sum, part) => sum + part.records, 0);
  const readBytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  const records = isCounted ? read : Math.round((bytes * read) / Math.max(1, readBytes));
  const sample = joined(parts);
  requireField(sample, options);
  const report = {
    files: set.inputs.length,
    records,
    isCounted,
    bytes: isCounted ? readBytes : bytes,
    ...judgeOrder(sample, records),
  };
  if (plot !== undefined) await plots?.tellPlot(plot, force, report);
  return report;
}

function windowsOf({ inputs, decodedBytes, framing, meanRecordBytes }: OpenedSet, count: number) {
  const sampled = inputs.map((input, i) => ({
    decodedBytes: decodedBytes[i] ?? 0,
    canSeek:
      input.kind === 'file' &&
      input.codec === undefined &&
      canSeek(framing) &&
      mayBeCut(input, framing && framingOf(framing)),
  }));
  return planWindows(sampled, meanRecordBytes, count, WINDOW_RECORDS);
}

/** Whether a reader can begin anywhere without counting first. */
function canSeek(framing: FramingSpec | undefined): boolean {
  const kind = framing === undefined ? 'never' : framingOf(framing).cut.kind;
  return kind === 'anywhere' || kind === 'every';
}

async function sampleWindows(
  set: RecordSet,
  windows: readonly WindowsOfInput[],
  { field, id }: { readonly field: FieldPath | undefined; readonly id: FieldPath | undefined },
  { pool, stop }: Threads,
): Promise<readonly SampledPart[]> {
  const results: SampledPart[] = [];
  const { framing } = set.settings;
  const cut = framing === undefined ? undefined : framingOf(framing).cut;
  const sample = (i: number) => {
    const { inputOrdinal, startBytes, stride, windowCount } = windows[i] ?? {
      inputOrdinal: 0,
      startBytes: 0,
      stride: 1,
      windowCount: 0,
    };
    const input = set.inputs[inputOrdinal];
    const headerBytes = input?.kind === 'file' ? input.header.byteLength : 0;
    const every = cut?.kind === 'every' ? cut.byteLength : 1;
    const start = headerBytes + Math.floor(startBytes / every) * every;
    const task: SampleTask = {
      job: set.settings,
      part: inputPart(set, { inputOrdinal, start, end: undefined }, 0n, 0),
      windows: { records: WINDOW_RECORDS, stride, count: windowCount },
      field,
      id,
    };
    return pool.run('sample-records', task);
  };
  const take = (result: SampledPart, i: number) => {
    results[i] = result;
  };
  await runTasks(windows.keys(), sample, take, tasksAtOnce({ pool }), stop);
  return results;
}

/** The windows of all parts, one behind the other, whole ones alone unless there are few. */
function joined(parts: readonly SampledPart[]): SampledRecords {
  const rows: { readonly part: SampledPart; readonly row: number }[] = [];
  const ofWhole: typeof rows = [];
  for (const part of parts) {
    let row = 0;
    for (const count of part.windowRecords) {
      const own = Array.from({ length: count }, (_, i) => ({ part, row: row + i }));
      rows.push(...own);
      if (count === WINDOW_RECORDS) ofWhole.push(...own);
      row += count;
    }
  }
  const kept = thinned(ofWhole.length >= 0.75 * rows.length ? ofWhole : rows);
  const take = <T>(of: (sample: SampledRecords) => ArrayLike<T>) =>
    kept.map(({ part, row }) => of(part.sample)[row]).filter((value) => value !== undefined);
  const takeSeveral = (of: (sample: SampledRecords) => Float32Array | Uint32Array, width: number) =>
    kept.flatMap(({ part, row }) => [...of(part.sample).subarray(row * width, (row + 1) * width)]);
  return {
    count: kept.length,
    byteLengths: Float64Array.from(take((sample) => sample.byteLengths)),
    byteKinds: Float32Array.from(takeSeveral((sample) => sample.byteKinds, BYTE_KINDS)),
    words: Uint32Array.from(takeSeveral((sample) => sample.words, WORDS_OF_RECORD)),
    beginnings: take((sample) => sample.beginnings),
    numbers: Float64Array.from(take((sample) => sample.numbers)),
    fields: Uint32Array.from(take((sample) => sample.fields)),
  };
}

/** At most twice as many windows as planned: estimates of lengths may be wrong. */
function thinned<T>(rows: readonly T[]): readonly T[] {
  const windowCount = Math.floor(rows.length / WINDOW_RECORDS);
  const step = Math.max(1, Math.floor(windowCount / WINDOWS));
  if (step === 1) return rows;
  return rows.filter((_, i) => Math.floor(i / WINDOW_RECORDS) % step === 0);
}

/** @throws InputError ERR_FIELD_MISSING if no record has what the caller names. */
function requireField({ count, fields, numbers }: SampledRecords, { field, id }: CheckOptions): void {
  if (count === 0) return;
  const isMissing = (option: string, name: string) =>
    new InputError(
      'ERR_FIELD_MISSING',
      `none of the ${counted(count, 'record')} that were looked at has the field ${name}; expected JSON objects of at most 4096 bytes that have it, or leave \`${option}\` out`,
    );
  if (field !== undefined && fields.every((value) => value === 0)) throw isMissing('field', field);
  if (id !== undefined && numbers.every((number) => Number.isNaN(number))) throw isMissing('id', id);
}
