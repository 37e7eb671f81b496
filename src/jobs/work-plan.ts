/**
 * Plans the work of a job. Passes the request, the inputs and the machine to the pure planners, which decide memory, piles
 * and slices, and keeps the layout that a resumed job must find again.
 */
import { createHash } from 'node:crypto';
import { UsageError } from '../errors.js';
import { framingOf } from '../formats/framing-table.js';
import { describeForSlices, mayBeCut } from '../inputs/cuts.js';
import { type Estimate, estimateInputs, weighEstimate } from '../inputs/estimate.js';
import type { Input } from '../inputs/list-inputs.js';
import type { Weighing } from '../inputs/weigh-inputs.js';
import { JobControl } from '../job-control.js';
import type { JobManifest } from '../job-directory/job-manifest.js';
import { deriveDrawSeed } from '../keys.js';
import type { DeviceGates } from '../machine/devices.js';
import { readOpenFileLimit } from '../machine/limits.js';
import type { ScatteredPiles } from '../passes/shuffle-work.js';
import { tooLargeToDraw } from '../pile-sets/pile-set-writer.js';
import { type HeadPlan, planHead } from '../plan/head-plan.js';
import { INLINE_BYTES, type MemoryNeed, type MemoryPlan, planMemory, type Tuning } from '../plan/memory-plan.js';
import { planPass2, planRescatter } from '../plan/pass2-memory.js';
import type { PileDivision } from '../plan/pile-division.js';
import { budgetText, leastBudgetWith, staysInMemory } from '../plan/pile-levels.js';
import { planSliceBytes, planSlices, type Slice } from '../plan/slices.js';
import { isNothing, ONCE } from '../plan/weights.js';
import type { ShuffleSpec } from '../spec.js';
import type { MachineRequest, OutputRequest, ResumeRequest, TalkRequest } from './request.js';
import type { TempDisks } from './temp-disks.js';

export interface WorkPlan {
  readonly memory: MemoryPlan;
  readonly memoryNeed: MemoryNeed;
  /** Whether the calling thread does all the work, because that is faster than starting threads. */
  readonly inline: boolean;
}

export interface ScatterPlan extends WorkPlan {
  readonly slices: readonly Slice[];
  /** Stored bytes of all inputs, without the headers of plain ones; undefined with streams. */
  readonly inputBytes: number | undefined;
  /** What the inputs that are read are expected to decode to. */
  readonly readBytes: number;
  readonly diskNeeds: DiskNeeds;
  /** Undefined: pass 1 leaves nothing out. */
  readonly head: HeadPlan | undefined;
  /** What the job writes when the inputs hold so many bytes of records. */
  needOf(readBytes: number): DiskNeed;
}

export interface ShufflePlan extends ScatterPlan {
  readonly isResumable: boolean;
  /** The layout that a later attempt must keep; undefined if nothing lies on disk between the passes. */
  readonly layout: KeptLayout | undefined;
}

/** How the work lies on disk, as the manifest records it. */
export type KeptLayout = NonNullable<JobManifest['layout']>;

export interface DiskNeed {
  readonly tempBytes: number;
  readonly outputBytes: number;
}

export interface DiskNeeds {
  /** The job writes at least this much. */
  readonly least: DiskNeed;
  /** The expected amount, from samples; 0 if too little is known. */
  readonly expected: DiskNeed;
  /** The limits within which the samples place it; undefined where it is known. */
  readonly range?: readonly [DiskNeed, DiskNeed];
}

const INLINE_INPUTS = 1000;
/** Text usually compresses to a fourth. Used only for warnings. */
const USUAL_RATIO = 4;
/** A job with this much temp data takes many minutes, and can be resumed even if the caller did not ask for it. */
export const RESUMABLE_FROM_BYTES = 32 * 2 ** 30;
/**
 * A thread that does a whole job must never wait for a permit: waiting stops the event loop, and the call that holds the
 * permit could not end. Such a thread makes one call at a time, and at most a commit beside it.
 */
const MOST_PERMITS = 2 ** 16;

interface ScatterRequest extends MachineRequest, Pick<TalkRequest, 'signal'> {
  readonly spec: ShuffleSpec;
  /** Absent: each record comes once. */
  readonly weighing?: Weighing | undefined;
}

type ShufflePlanRequest = ScatterRequest & Pick<ResumeRequest, 'mustBeResumable' | 'keepTemp'>;

interface JobNature {
  /** Whether its output is on disk. */
  readonly hasFiles: boolean;
  readonly manifest: JobManifest | undefined;
}

export async function planShuffle(
  request: ShufflePlanRequest,
  inputs: readonly Input[],
  disks: TempDisks,
  nature: JobNature,
  tuning: Tuning,
): Promise<ShufflePlan> {
  const layout = nature.manifest?.layout ?? undefined;
  const isAskedFor = isAskedToResume(request, inputs, nature);
  const planned = planWork(request, inputs, disks, isAskedFor, layout, tuning);
  const mayBeResumed = mayResume(inputs, nature);
  const resumableWork = () => {
    const made = planWork(request, inputs, disks, true, layout, tuning);
    return { ...made, memoryNeed: { ...made.memoryNeed, unlessLarge: planned.memoryNeed } };
  };
  const staysAsPlanned = isAskedFor || !mayBeResumed || !isLarge(planned);
  const work = staysAsPlanned ? planned : resumableWork();
  const slices = takeSlices(await slicesOf(work, request, inputs), layout);
  const { memory, sliceBytes } = work;
  const isResumable = work.memoryNeed.isResumable;
  const needsLayout = isResumable && memory.ramPoolBytes === 0;
  return {
    ...scatterPlan(work, slices),
    isResumable,
    layout: needsLayout ? keptLayout(memory, sliceBytes, slices, layout) : undefined,
  };
}

/** Plans a scatter pass alone, into the piles of a store. */
export async function planAppend(
  request: ScatterRequest,
  inputs: readonly Input[],
  disks: TempDisks,
  division: PileDivision,
  tuning: Tuning,
): Promise<ScatterPlan> {
  const work = planWork(request, inputs, disks, true, division, tuning);
  return scatterPlan(work, [...(await slicesOf(work, request, inputs))]);
}

/** Plans a shuffle pass alone, on the piles of a store. */
export function planStoreShuffle(
  { memoryBytes, workers }: MachineRequest,
  stored: { readonly records: number; readonly bytes: number; readonly pileCount: number },
  disks: TempDisks,
  isCompressed: boolean,
  tuning: Tuning,
): WorkPlan {
  const { records, bytes, pileCount } = stored;
  const inline = tuning.inline ?? bytes <= INLINE_BYTES;
  const memoryNeed: MemoryNeed = {
    ...needWithoutInputs({ memoryBytes, workers: inline ? 1 : workers }, bytes),
    meanRecordBytes: Math.max(1, bytes / Math.max(1, records)),
    exact: true,
    tempDiskCount: disks.count,
    tempDisksRotate: disks.rotate,
    outputWaits: isCompressed,
  };
  // Plans as if this job made the piles, on disk; then sets their real number.
  const planned = planMemory(memoryNeed, { ...tuning, keepInRam: false });
  return { memory: { ...planned, pileCount, stripeCount: 1, maySpill: false }, memoryNeed, inline };
}

/** The disk needs of a shuffle pass on the piles of a store: the output, and the piles that must be scattered again. */
export function storeShuffleNeeds(
  { memory, memoryNeed }: WorkPlan,
  { totals, records, bytes, longestRecordBytes }: ScatteredPiles,
  { spec, tempZstdLevel }: Pick<OutputRequest, 'spec' | 'tempZstdLevel'>,
): DiskNeeds {
  const { compression } = spec.write;
  const { headCount = records } = spec.keep;
  const outputPart = Math.min(1, headCount / Math.max(1, records));
  const outputBytes = compression === undefined ? bytes * outputPart : 0;
  const pass2 = planPass2(memory, memoryNeed.budgetBytes, 0, longestRecordBytes);
  // Without memory for the longest record, the job ends with an error that says so.
  const { least, most } =
    pass2 === undefined ? { least: 0, most: 0 } : planRescatter(totals, pass2, memory.outputBytes);
  return {
    // Nobody knows how well records compress.
    least: { tempBytes: tempZstdLevel === undefined ? least : 0, outputBytes: outputPart < 1 ? 0 : outputBytes },
    expected: { tempBytes: most, outputBytes },
  };
}

/** The memory need as far as it is known before headers are read, for advice in messages. */
export function expectMemoryNeed(
  request: ShufflePlanRequest,
  inputs: readonly Input[],
  disks: TempDisks,
  nature: JobNature,
  tuning: Tuning,
): MemoryNeed {
  const layout = nature.manifest?.layout ?? undefined;
  return planWork(request, inputs, disks, isAskedToResume(request, inputs, nature), layout, tuning).memoryNeed;
}

export function isLarge({ diskNeeds }: Pick<ScatterPlan, 'diskNeeds'>): boolean {
  return diskNeeds.expected.tempBytes >= RESUMABLE_FROM_BYTES;
}

export function createControl({ inline, memory }: WorkPlan, gates: DeviceGates): JobControl {
  return createReadControl(inline, memory.pass1SpareBytes, gates);
}

export function createReadControl(inline: boolean, spareBytes: number, gates: DeviceGates): JobControl {
  const permits = inline ? gates.permits.map(() => MOST_PERMITS) : gates.permits;
  return JobControl.create(permits, spareBytes);
}

function mayResume(inputs: readonly Input[], { hasFiles }: JobNature): boolean {
  return hasFiles && inputs.every((input) => input.kind === 'file');
}

function isAskedToResume(
  { mustBeResumable, keepTemp }: ShufflePlanRequest,
  inputs: readonly Input[],
  nature: JobNature,
): boolean {
  const isAskedFor = mustBeResumable || keepTemp || nature.manifest?.isResumable === true;
  return isAskedFor && mayResume(inputs, nature);
}

interface PlannedWork extends Omit<ScatterPlan, 'slices'> {
  readonly sliceBytes: number;
  /** Decoded bytes of each input; undefined for streams. */
  readonly decodedBytes: readonly (number | undefined)[];
}

/** An expression may try for ever on one record: a thread can be ended then, the calling one not even asked to stop. */
function hasExpression({ cut, keep }: ShuffleSpec): boolean {
  const rule = cut.splitBy ?? keep.unique?.by;
  return rule !== undefined && 'expression' in rule.selector && rule.selector.expression !== undefined;
}

function planWork(
  request: ScatterRequest,
  allInputs: readonly Input[],
  disks: TempDisks,
  isResumable: boolean,
  layout: (PileDivision & { readonly sliceBytes?: number }) | undefined,
  tuning: Tuning,
): PlannedWork {
  const { spec } = request;
  const { read: reading, keep } = spec;
  const { headCount, repeat, unique } = keep;
  const weights = request.weighing?.weights;
  const ofInputs = estimateInputs(allInputs, reading.framing, deriveDrawSeed(spec.key.seed));
  const { read, made: estimate } = weighEstimate(ofInputs, weights);
  const inputs = weights === undefined ? allInputs : allInputs.filter((_, i) => !isNothing(weights[i] ?? ONCE));
  const hasStreams = inputs.some((input) => input.kind === 'stream');
  const records = estimate.recordBytes / estimate.meanRecordBytes;
  const drawnBytes = repeat ? (headCount ?? Number.POSITIVE_INFINITY) * estimate.meanRecordBytes : 0;
  const isSmall =
    inputs.length <= INLINE_INPUTS && Math.max(read.recordBytes, estimate.recordBytes, drawnBytes) <= INLINE_BYTES;
  const inline = tuning.inline ?? (!hasStreams && isSmall && !hasExpression(spec));
  const framing = reading.framing && framingOf(reading.framing);
  const isCompressed = spec.write.compression !== undefined;
  const isKnown = !hasStreams;
  const mayReadAgain = isKnown && !isResumable;
  // Equal records count as one, and nobody knows of them in pass 1.
  const limitsPass1 = headCount !== undefined && !repeat && unique === undefined;
  const head = limitsPass1 ? planHead({ headCount, records, isKnown, mayReadAgain }) : undefined;
  const onPiles = head === undefined ? estimate : estimateHead(estimate, head);
  // Records to draw from lie in their order, beside the piles.
  if (repeat) requireRoomToDraw(request);
  const shareOfMemory = repeat ? 1 / 2 : 1;
  const memoryNeed: MemoryNeed = {
    budgetBytes: Math.floor(request.memoryBytes * shareOfMemory),
    shareOfMemory,
    workers: inline ? 1 : request.workers,
    mostSlices: inputs.some((input) => mayBeCut(input, framing)) ? Number.POSITIVE_INFINITY : inputs.length,
    recordBytes: Math.max(1, onPiles.recordBytes),
    mostReadBytes: weights === undefined ? undefined : Math.max(1, read.mostBytes),
    meanRecordBytes: estimate.meanRecordBytes,
    exact: onPiles.exact,
    hasStreams,
    tempDiskCount: disks.count,
    tempDisksRotate: disks.rotate,
    openFileLimit: readOpenFileLimit(),
    isResumable,
    outputWaits: isCompressed,
    layout,
  };
  const memory = repeat ? planInMemory(memoryNeed, tuning) : planMemory(memoryNeed, tuning);
  const { workers, pileCount, bufferBytes } = memory;
  const sliceBytes =
    layout?.sliceBytes ?? tuning.sliceBytes ?? planSliceBytes(read.recordBytes, workers, pileCount, bufferBytes);
  const knownBytes = inputs.reduce((sum, input) => sum + recordBytesAtLeast(input), 0);
  const leastBytes = allInputs.reduce(
    (sum, input, i) => sum + recordBytesAtLeast(input) * (weights?.[i]?.copies ?? 1),
    0,
  );
  const madeOfRead = estimate.recordBytes / Math.max(1, read.recordBytes);
  const storedRatio = memory.storedBytes / memoryNeed.recordBytes;
  const mostOnPiles = head === undefined ? Number.POSITIVE_INFINITY : onPiles.recordBytes;
  const mostOutput = (headCount ?? Number.POSITIVE_INFINITY) * estimate.meanRecordBytes;
  const diskNeed = (recordBytes: number, compressedBytes: number): DiskNeed => {
    const outputBytes = repeat ? mostOutput : Math.min(recordBytes, mostOutput);
    const storedBytes = Math.min(recordBytes, mostOnPiles) * storedRatio;
    return {
      tempBytes: repeat ? 0 : Math.max(0, storedBytes - memory.ramPoolBytes),
      outputBytes: isCompressed ? compressedBytes * (outputBytes / Math.max(1, recordBytes)) : outputBytes,
    };
  };
  const compressedBytes = expectCompressedBytes(inputs) * (weights === undefined ? 1 : madeOfRead);
  return {
    memory,
    memoryNeed,
    inline,
    head,
    inputBytes: hasStreams ? undefined : knownBytes,
    readBytes: read.recordBytes,
    diskNeeds: {
      // A compressed input hardly ever shrinks when decoded. The size of a stream, of the output of a program, of a
      // compressed output, of the first records and of what is kept of equal ones is unknown.
      least: diskNeed(
        reading.decompressProgram === undefined && headCount === undefined && unique === undefined ? leastBytes : 0,
        0,
      ),
      expected: diskNeed(hasStreams ? leastBytes : estimate.recordBytes, compressedBytes),
      ...(!hasStreams &&
        !estimate.exact && {
          range: [
            diskNeed(estimate.leastBytes, compressedBytes),
            diskNeed(estimate.mostBytes, compressedBytes),
          ] as const,
        }),
    },
    needOf: (readBytes) => diskNeed(weights === undefined ? readBytes : readBytes * madeOfRead, compressedBytes),
    sliceBytes,
    decodedBytes: read.decodedBytes,
  };
}

/** Beside each other: a pool, the arena of a thread, and the records in their order. */
const LEAST_BYTES_TO_DRAW = 32 * 2 ** 20;

function requireRoomToDraw({ memoryBytes }: MachineRequest): void {
  if (memoryBytes >= LEAST_BYTES_TO_DRAW) return;
  throw new UsageError(
    `a memory budget of ${memoryBytes} bytes is too small for \`repeat\`: expected at least ${LEAST_BYTES_TO_DRAW / 2 ** 20}M; give more with \`memoryBytes\``,
    'ERR_MEMORY_BUDGET',
  );
}

/** Plans piles in memory alone, with fewer threads if that makes room. */
function planInMemory(need: MemoryNeed, tuning: Tuning): MemoryPlan {
  for (let workers = need.workers; workers >= 1; workers--) {
    const memory = planMemory({ ...need, workers }, { ...tuning, keepInRam: true });
    if (memory.ramPoolBytes > 0) return memory;
  }
  throw tooLargeToDrawFrom(need, need.recordBytes);
}

/** The error for records that do not fit in memory, with a budget that suffices. @param recordBytes of all records, about. */
export function tooLargeToDrawFrom(need: MemoryNeed, recordBytes: number): UsageError {
  const { shareOfMemory = 1 } = need;
  const budget = leastBudgetWith({ ...need, recordBytes }, Number.MAX_SAFE_INTEGER, staysInMemory);
  return tooLargeToDraw(budget === undefined ? undefined : `at least ${budgetText(budget / shareOfMemory)}`);
}

/** More records may stay than expected, and longer ones. */
const HEAD_MARGIN = 1.2;

/** What goes on piles in a job that asks for the head of the order. */
function estimateHead(
  estimate: Estimate,
  { keptRecords }: HeadPlan,
): Pick<Estimate, 'recordBytes' | 'mostBytes' | 'exact'> {
  const keptBytes = keptRecords * estimate.meanRecordBytes;
  const recordBytes = Math.min(estimate.recordBytes, HEAD_MARGIN * keptBytes);
  return { recordBytes, mostBytes: Math.min(estimate.mostBytes, 2 * recordBytes), exact: false };
}

function scatterPlan(work: PlannedWork, slices: Slice[]): ScatterPlan {
  const { memory, memoryNeed, inline, inputBytes, readBytes, diskNeeds, head, needOf } = work;
  return { memory, memoryNeed, inline, inputBytes, readBytes, diskNeeds, head, needOf, slices };
}

async function slicesOf(
  { sliceBytes, decodedBytes }: PlannedWork,
  { spec, signal, weighing }: ScatterRequest,
  inputs: readonly Input[],
): Promise<Iterable<Slice>> {
  const { framing } = spec.read;
  const described = await describeForSlices(inputs, decodedBytes, framing && framingOf(framing), sliceBytes, signal);
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
  if (input.kind === 'stream') return 0;
  if (input.kind === 'list') return input.list.bytes.byteLength;
  const { codec, header, version } = input;
  return version.byteLength - (codec === undefined ? header.byteLength : 0);
}

/** Bytes of a compressed output: compressed inputs are assumed to keep their size. */
function expectCompressedBytes(inputs: readonly Input[]): number {
  return inputs.reduce((sum, input) => {
    if (input.kind === 'stream') return sum;
    if (input.kind === 'list') return sum + input.list.bytes.byteLength / USUAL_RATIO;
    const { byteLength } = input.version;
    return sum + (input.codec === undefined ? byteLength / USUAL_RATIO : byteLength);
  }, 0);
}

function takeSlices(planned: Iterable<Slice>, earlier: KeptLayout | undefined): Slice[] {
  const slices: Slice[] = [];
  for (const slice of planned) {
    if (slices.length === earlier?.sliceCount) throw cutDifferently();
    slices.push(slice);
  }
  return slices;
}

function keptLayout(
  { pileCount, stripeCount }: MemoryPlan,
  sliceBytes: number,
  slices: readonly Slice[],
  earlier: KeptLayout | undefined,
): KeptLayout {
  const slicesDigest = digestSlices(slices);
  if (earlier !== undefined && earlier.slicesDigest !== slicesDigest) throw cutDifferently();
  return { pileCount, stripeCount, sliceBytes, sliceCount: slices.length, slicesDigest };
}

function cutDifferently(): UsageError {
  return new UsageError(
    'another version of pileshuf cut the unfinished job into slices; finish it with that version, or give `force` without `resume` to discard it',
    'ERR_JOB_VERSION',
  );
}

function digestSlices(slices: readonly Slice[]): string {
  const hash = createHash('sha256');
  for (const slice of slices) hash.update(JSON.stringify(slice));
  return hash.digest('hex');
}

const USUAL_RECORD_BYTES = 200;

/** What messages advise on memory in a job that only reads. @param byteLength of the inputs, about. */
export function memoryNeedOfReading(request: MachineRequest, byteLength: number): MemoryNeed {
  return { ...needWithoutInputs(request, byteLength), reads: 'only' };
}

function needWithoutInputs(
  { memoryBytes, workers }: Pick<MachineRequest, 'memoryBytes' | 'workers'>,
  byteLength: number,
): MemoryNeed {
  return {
    budgetBytes: memoryBytes,
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
