/**
 * Plans the work of a job. Passes the request, the inputs and the machine to the pure planners, which decide memory, piles
 * and slices. Returns the layout that a resumed job must repeat, or refuses another one.
 */

import { createHash } from 'node:crypto';
import { counted, UsageError } from '../errors.js';
import { JobControl } from '../floor/job-control.js';
import type { List } from '../floor/paged-list.js';
import { framingOf } from '../formats/framing-table.js';
import type { RowFormat, RowsOutput, UnitSize } from '../formats/rows/row-format.js';
import type { JobManifest } from '../job-directory/job-manifest.js';
import { hasSecondKeys, isScatteredTwice, valueUsesOf } from '../keep/content-rule.js';
import { type HeadPlan, planHead } from '../keep/head.js';
import { drawsPlaces, keepsAll, mayLimitPass1, recordsOfOutput } from '../keep/keep-spec.js';
import type { Weighing } from '../keep/mix.js';
import { planInMemory, shareOfPiles } from '../keep/repeat.js';
import { isNothing, ONCE } from '../keep/weights.js';
import type { DeviceGates } from '../machine/devices.js';
import { readOpenFileLimit } from '../machine/limits.js';
import { SECTION_TABLE_BYTES } from '../plan/arena-sizes.js';
import { callerMemoryOf } from '../plan/given-memory.js';
import { INLINE_BYTES, type MemoryNeed, type MemoryPlan, type Tuning } from '../plan/memory-plan.js';
import { bytesOfColumns, memoryFor, planWithColumns } from '../plan/pass2-memory.js';
import type { PileDivision } from '../plan/pile-division.js';
import { planSliceBytes, planSlices, type Slice } from '../plan/slices.js';
import { describeForSlices, mayBeCut } from '../sources/cut-points.js';
import { type Input, type Inputs, isFileInput, isPlain, isReadOnce, storedBytesIn } from '../sources/input.js';
import { PackedSlices } from '../sources/packed-slices.js';
import { isEncoded, type ShuffleSpec, type WriteSpec } from '../spec.js';
import type { MachinePlan } from '../stages/task-settings.js';
import type { DiskNeed, DiskNeeds } from './disk-space.js';
import { type Estimate, type WeighedEstimate, weighEstimate } from './estimate.js';
import type { Callbacks, MachineRequest, ResumeRequest } from './request.js';
import { expectSpilledUnits } from './spilled-units.js';
import type { TempDisks } from './temp-disks.js';

export interface ScatterPlan extends MachinePlan {
  readonly sliceBytes: number;
  readonly slices: List<Slice>;
  /** Stored bytes of all inputs, without the headers of plain ones; undefined with streams. */
  readonly inputBytes: number | undefined;
  /** The bytes to which the inputs that are read are expected to decode. */
  readonly readBytes: number;
  readonly diskNeeds: DiskNeeds;
  /** The head that limits pass 1. Undefined: pass 1 leaves nothing out. */
  readonly head: HeadPlan | undefined;
  /** Returns what the job writes when the inputs hold so many bytes of records. */
  needOf(readBytes: number): DiskNeed;
}

export interface ShufflePlan extends ScatterPlan {
  readonly isResumable: boolean;
  /** True if it would be resumable, had the caller asked for that. */
  readonly canBeResumed: boolean;
  /** The layout that a later attempt must reuse; undefined if nothing lies on disk between the passes. */
  readonly layout: NotedLayout | undefined;
}

/** How the work lies on disk, as the manifest records it. */
export type NotedLayout = NonNullable<JobManifest['layout']>;

const INLINE_INPUTS = 1000;
/** Text usually compresses to a fourth. */
const USUAL_RATIO = 4;
/** More records of a head may stay than expected, and longer ones. */
const HEAD_MARGIN = 1.2;
/** A job with this much temp data takes many minutes, and can be resumed even if the caller did not ask for it. */
export const RESUMABLE_FROM_BYTES = 32 * 2 ** 30;
/**
 * A thread that does a whole job must never wait for a permit: waiting stops the event loop, and the call that holds the
 * permit could not end. Such a thread makes one call at a time, and at most a commit beside it.
 */
const MOST_PERMITS = 2 ** 16;

interface ScatterRequest extends MachineRequest, Pick<Callbacks, 'signal'> {
  readonly spec: ShuffleSpec;
  /** The weights of inputs. Absent: each record comes once. */
  readonly weighing?: Weighing | undefined;
}

/** A scatter pass as it is planned: what it reads, and where its piles lie. */
interface ScatterToPlan {
  readonly request: ScatterRequest;
  readonly inputs: Inputs;
  /** The companion of each input. Absent: they have none. */
  readonly companions?: Inputs | undefined;
  /** The estimate of all inputs. */
  readonly estimate: Estimate;
  readonly disks: Pick<TempDisks, 'count' | 'rotate'>;
  readonly tuning: Tuning;
  /** The row format of the inputs. Absent: they hold no rows, or these are not read yet. */
  readonly rowFormat?: RowFormat | undefined;
}

interface ShuffleToPlan extends ScatterToPlan {
  readonly request: ScatterRequest & Pick<ResumeRequest, 'mustBeResumable' | 'keepTemp'>;
  /** True if its output is on disk. */
  readonly hasFiles: boolean;
  /** The manifest of the earlier attempt that it resumes. */
  readonly manifest: JobManifest | undefined;
}

export async function planShuffle(work: ShuffleToPlan): Promise<ShufflePlan> {
  const { manifest } = work;
  const earlier = manifest?.layout ?? undefined;
  const asAsked = planWork(work, isAskedToResume(work), earlier);
  const becomesResumable = !asAsked.memoryNeed.isResumable && mayResume(work) && isLarge(asAsked);
  const plan = becomesResumable ? planWork(work, true, earlier) : asAsked;
  const memoryNeed = becomesResumable ? { ...plan.memoryNeed, unlessLarge: asAsked.memoryNeed } : plan.memoryNeed;
  const slices = takeSlices(await slicesOf(work, plan.sliceBytes), earlier);
  const { isResumable } = memoryNeed;
  const needsLayout = isResumable && plan.memory.ramPoolBytes === 0;
  return {
    ...plan,
    memoryNeed,
    slices,
    isResumable,
    canBeResumed: mayResume(work),
    layout: needsLayout ? notedLayout(plan, slices, earlier) : undefined,
  };
}

/** Plans a scatter pass alone, into the piles of a store. */
export async function planAppend(work: ScatterToPlan, division: PileDivision): Promise<ScatterPlan> {
  const plan = planWork(work, true, division);
  return { ...plan, slices: takeSlices(await slicesOf(work, plan.sliceBytes)) };
}

/** The memory need as far as it is known, for advice in messages. */
export function expectMemoryNeed(work: ShuffleToPlan): MemoryNeed {
  return planWork(work, isAskedToResume(work), work.manifest?.layout ?? undefined).memoryNeed;
}

export function isLarge({ diskNeeds }: Pick<ScatterPlan, 'diskNeeds'>): boolean {
  return diskNeeds.expected.tempBytes >= RESUMABLE_FROM_BYTES;
}

export function createControl({ inline, memory }: MachinePlan, gates: DeviceGates): JobControl {
  return createReadControl(inline, memory.pass1SpareBytes, gates);
}

export function createReadControl(inline: boolean, spareBytes: number, gates: DeviceGates): JobControl {
  const permits = inline ? gates.permits.map(() => MOST_PERMITS) : gates.permits;
  return JobControl.create(permits, spareBytes);
}

function mayResume({ hasFiles, inputs }: ShuffleToPlan): boolean {
  return hasFiles && inputs.every(isFileInput);
}

function isAskedToResume(work: ShuffleToPlan): boolean {
  const { request, manifest } = work;
  return (request.mustBeResumable || request.keepTemp || manifest?.isResumable === true) && mayResume(work);
}

/** An expression may try for ever on one record: a thread can be ended then, the calling one not even asked to stop. */
function hasExpression(spec: ShuffleSpec): boolean {
  return valueUsesOf(spec).some(
    ({ rule: { selector } }) => 'expression' in selector && selector.expression !== undefined,
  );
}

type PlannedWork = Omit<ScatterPlan, 'slices'>;

/** The division of an unfinished job or a store. */
type PlannedDivision = PileDivision & { readonly sliceBytes?: number };

function planWork(work: ScatterToPlan, isResumable: boolean, layout: PlannedDivision | undefined): PlannedWork {
  const { request, disks, tuning, rowFormat } = work;
  const { spec, memoryBytes, transfers, workers } = request;
  const expected = expectRecords(work, isResumable);
  const { inputs, read, made, head, onPiles, hasStreams } = expected;
  const reads = spec.keep.range === undefined ? inputs : [];
  const framing = spec.read.framing && framingOf(spec.read.framing);
  const inline = tuning.inline ?? isSmall(expected, spec);
  const shareOfMemory = shareOfPiles(spec.keep, { budgetBytes: memoryBytes, transfers });
  const memoryNeed: MemoryNeed = {
    budgetBytes: Math.floor(memoryBytes * shareOfMemory),
    shareOfMemory,
    transfers,
    workers: inline ? 1 : workers,
    mostSlices: inputs.some((input) => mayBeCut(input, framing)) ? Number.POSITIVE_INFINITY : inputs.length,
    recordBytes: Math.max(1, onPiles.recordBytes),
    mostReadBytes: request.weighing !== undefined || isScatteredTwice(spec) ? Math.max(1, read.mostBytes) : undefined,
    meanRecordBytes: made.meanRecordBytes,
    exact: onPiles.exact,
    hasStreams,
    tempDiskCount: disks.count,
    tempDisksRotate: disks.rotate,
    openFileLimit: readOpenFileLimit(),
    isResumable,
    outputWaits: isEncoded(spec.write),
    hasSecondKeys: hasSecondKeys(spec),
    columnBytes: columnBytesOf(inputs, spec, rowFormat),
    tableLogs: tableLogsOf(spec, rowFormat),
    tableBytes: spec.cut.each && SECTION_TABLE_BYTES,
    layout,
  };
  const memory = spec.keep.repeat
    ? planInMemory(memoryNeed, tuning)
    : (planWithColumns(memoryNeed, tuning) ?? refuseColumns(memoryNeed));
  return {
    memory,
    memoryNeed,
    inline,
    head,
    inputBytes: hasStreams ? undefined : reads.reduce((sum, input) => sum + recordBytesAtLeast(input), 0),
    readBytes: read.recordBytes,
    ...planDisks(work, expected, memory, memoryNeed),
    sliceBytes:
      layout?.sliceBytes ??
      tuning.sliceBytes ??
      planSliceBytes(read.recordBytes, memory.workers, memory.pileCount, memory.bufferBytes),
  };
}

function refuseColumns(need: MemoryNeed): never {
  const budget = memoryFor(need, { recordBytes: need.meanRecordBytes, decoderBytes: 0 });
  throw new UsageError(
    `pages or chunks of all columns take ${counted(Math.ceil(bytesOfColumns(need, need.meanRecordBytes)), 'byte')} in a thread, with rows of about ${counted(Math.ceil(need.meanRecordBytes), 'byte')}, and do not fit the memory budget of ${callerMemoryOf(need)} bytes; expected \`memoryBytes\` of at least ${budget}`,
    'ERR_MEMORY_BUDGET',
  );
}

/** Returns the rows that a job writes. Undefined: no rows are written, or nothing is known of them yet. */
function outputOfRows({ read: { rows }, write: { rows: write } }: ShuffleSpec): RowsOutput | undefined {
  return rows && write && { rows, write };
}

export function unitOfRows(spec: ShuffleSpec, format: RowFormat | undefined): UnitSize | undefined {
  const output = outputOfRows(spec);
  return output && format?.unitOf(output);
}

/** Returns the bytes that a thread needs beside rows: it reads them in pass 1, and writes them in pass 2. */
function columnBytesOf(inputs: Inputs, spec: ShuffleSpec, format: RowFormat | undefined): number {
  const output = outputOfRows(spec);
  const writerBytes = (output && format?.writerBytes(output)) ?? 0;
  return inputs.reduce((most, input) => Math.max(most, input.rows?.readerBytes ?? 0), writerBytes);
}

function tableLogsOf(spec: ShuffleSpec, format: RowFormat | undefined): readonly number[] | undefined {
  const output = outputOfRows(spec);
  return output && format?.tableLogs?.(output);
}

/** The records of a job, as far as the inputs tell. */
interface ExpectedRecords extends WeighedEstimate {
  /** The inputs that are read. */
  readonly inputs: Inputs;
  readonly hasStreams: boolean;
  readonly head: HeadPlan | undefined;
  readonly onPiles: Pick<Estimate, 'recordBytes' | 'exact'>;
}

function expectRecords({ request, inputs, estimate }: ScatterToPlan, isResumable: boolean): ExpectedRecords {
  const { keep } = request.spec;
  const weights = request.weighing?.weights;
  const { read, made } = weighEstimate(estimate, request.weighing, keep.weightBy !== undefined);
  const areRead = weights === undefined ? inputs : inputs.filter((_, i) => !isNothing(weights[i] ?? ONCE));
  const hasStreams = areRead.some(isReadOnce);
  const records = made.recordBytes / made.meanRecordBytes;
  const readsAgain = !hasStreams && !isResumable;
  const head = mayLimitPass1(keep)
    ? planHead(keep, { records, isKnown: !hasStreams, mayReadAgain: readsAgain })
    : undefined;
  const firstBytes = isScatteredTwice(request.spec) ? read.recordBytes : 0;
  const headBytes = head && HEAD_MARGIN * head.keptRecords * made.meanRecordBytes;
  const onPiles =
    keep.range !== undefined
      ? { recordBytes: 0, exact: true }
      : headBytes === undefined
        ? { recordBytes: made.recordBytes + firstBytes, exact: made.exact }
        : { recordBytes: Math.min(made.recordBytes, headBytes), exact: false };
  return { read, made, inputs: areRead, hasStreams, head, onPiles };
}

function isSmall({ read, made, inputs, hasStreams }: ExpectedRecords, spec: ShuffleSpec): boolean {
  const writtenBytes = recordsOfOutput(spec.keep, made.recordBytes, made.meanRecordBytes);
  const mostBytes =
    spec.keep.range === undefined ? Math.max(read.recordBytes, made.recordBytes, writtenBytes) : writtenBytes;
  return !hasStreams && inputs.length <= INLINE_INPUTS && mostBytes <= INLINE_BYTES && !hasExpression(spec);
}

function planDisks(
  { request, inputs: allInputs, rowFormat }: ScatterToPlan,
  { read, made, inputs, hasStreams, head, onPiles }: ExpectedRecords,
  memory: MemoryPlan,
  memoryNeed: MemoryNeed,
): Pick<ScatterPlan, 'diskNeeds' | 'needOf'> {
  const { spec, weighing } = request;
  const isCompressed = isEncoded(spec.write);
  const copies = made.recordBytes / Math.max(1, read.recordBytes);
  const storedRatio = memory.storedBytes / Math.max(1, onPiles.recordBytes);
  const firstCopies = isScatteredTwice(spec) ? read.recordBytes / Math.max(1, made.recordBytes) : 0;
  const mostOnPiles = head === undefined ? Number.POSITIVE_INFINITY : onPiles.recordBytes;
  const compressedBytes = expectCompressedBytes(inputs, spec.write, rowFormat) * copies;
  const unit = unitOfRows(spec, rowFormat);
  const needOfMade = (recordBytes: number): DiskNeed => {
    const outputBytes = recordsOfOutput(spec.keep, recordBytes, made.meanRecordBytes);
    const storedBytes = Math.min(recordBytes * (1 + firstCopies), mostOnPiles) * storedRatio;
    const ratio = compressedBytes / Math.max(1, recordBytes);
    const written = { unit, recordBytes: outputBytes, ratio, shardBytes: Number.POSITIVE_INFINITY };
    return {
      tempBytes: drawsPlaces(spec.keep) ? 0 : Math.max(0, storedBytes - memory.ramPoolBytes),
      outputBytes: isCompressed ? ratio * outputBytes : outputBytes,
      waitingBytes: expectSpilledUnits({ ...written, memory, memoryNeed }).mostBytes,
    };
  };
  const leastBytes = allInputs.reduce(
    (sum, input, i) => sum + decodedBytesAtLeast(input) * (weighing?.weights[i] ?? ONCE).copies,
    0,
  );
  // A compressed input hardly ever shrinks when decoded. The size of a stream, of the output of a program, of a
  // compressed output, of the first records and of what is kept of equal ones is unknown.
  const isKnown = spec.read.decompressProgram === undefined && keepsAll(spec.keep) && spec.keep.weightBy === undefined;
  const least = needOfMade(isKnown ? leastBytes : 0);
  return {
    diskNeeds: {
      least: { ...least, outputBytes: isCompressed ? 0 : least.outputBytes, waitingBytes: 0 },
      expected: needOfMade(hasStreams ? leastBytes : made.recordBytes),
    },
    needOf: (readBytes) => needOfMade(readBytes * copies),
  };
}

async function slicesOf(
  { request: { spec, weighing, signal }, inputs, companions, estimate }: ScatterToPlan,
  sliceBytes: number,
): Promise<Iterable<Slice>> {
  if (spec.keep.range !== undefined) return [];
  const { decodedBytes } = weighEstimate(estimate, weighing, spec.keep.weightBy !== undefined).read;
  const described = await describeForSlices(inputs, decodedBytes, spec.read, sliceBytes, signal, companions);
  const slices = planSlices(described, sliceBytes);
  return weighing === undefined ? slices : withoutUnread(slices, weighing);
}

/** Leaves out the inputs of the weight 0. */
function* withoutUnread(slices: Iterable<Slice>, { weights }: Weighing): Generator<Slice, void> {
  for (const slice of slices) {
    const read = slice.filter(({ inputOrdinal }) => !isNothing(weights[inputOrdinal] ?? ONCE));
    if (read.length > 0) yield read;
  }
}

/** Stored bytes, without the header of a plain input. */
function recordBytesAtLeast(input: Input): number {
  return (storedBytesIn(input) ?? 0) - (isPlain(input) ? input.header.byteLength : 0);
}

/** A few rows may take less than what is stored around them. */
function decodedBytesAtLeast(input: Input): number {
  return Math.min(recordBytesAtLeast(input), input.rows?.rowBytes ?? Number.POSITIVE_INFINITY);
}

/** Bytes of a compressed output, for warnings: compressed inputs are assumed to become as long again. */
function expectCompressedBytes(inputs: Inputs, { rows: write }: WriteSpec, format: RowFormat | undefined): number {
  return inputs.reduce((sum, input) => {
    const { rows } = input;
    const ofRows = rows && write && format?.expectStored?.(rows, write);
    if (ofRows !== undefined) return sum + ofRows.byteLength;
    const storedBytes = storedBytesIn(input) ?? 0;
    return sum + (input.codec === undefined ? storedBytes / USUAL_RATIO : storedBytes);
  }, 0);
}

function takeSlices(planned: Iterable<Slice>, earlier?: NotedLayout): List<Slice> {
  const slices = new PackedSlices();
  for (const slice of planned) {
    if (slices.length === earlier?.sliceCount) throw otherDivisionError();
    slices.push(slice);
  }
  return slices;
}

function notedLayout(
  { memory: { pileCount, stripeCount }, sliceBytes }: PlannedWork,
  slices: List<Slice>,
  earlier: NotedLayout | undefined,
): NotedLayout {
  const hash = createHash('sha256');
  for (const slice of slices) hash.update(JSON.stringify(slice));
  const slicesDigest = hash.digest('hex');
  if (earlier !== undefined && earlier.slicesDigest !== slicesDigest) throw otherDivisionError();
  return { pileCount, stripeCount, sliceBytes, sliceCount: slices.length, slicesDigest };
}

function otherDivisionError(): UsageError {
  return new UsageError(
    'another version of pileshuf cut the unfinished job into slices; finish it with that version, or give `force` without `resume` to discard it',
    'ERR_JOB_VERSION',
  );
}

const USUAL_RECORD_BYTES = 200;

/** The memory need of a job of which only the size is known. @param byteLength of its data, about. */
export function memoryNeedOf(
  { memoryBytes, transfers, workers }: Pick<MachineRequest, 'memoryBytes' | 'transfers' | 'workers'>,
  byteLength: number,
): MemoryNeed {
  return {
    budgetBytes: memoryBytes,
    transfers,
    workers,
    mostSlices: Number.POSITIVE_INFINITY,
    recordBytes: Math.max(1, byteLength),
    meanRecordBytes: USUAL_RECORD_BYTES,
    exact: false,
    hasStreams: false,
    tempDiskCount: 1,
    tempDisksRotate: false,
    openFileLimit: readOpenFileLimit(),
    isResumable: false,
    outputWaits: false,
    layout: undefined,
  };
}
