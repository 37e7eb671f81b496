/**
 * Brings the request, the inputs and the machine together and has the pure planners decide.
 */

import { createHash } from 'node:crypto';
import { UsageError } from '../errors.js';
import { framingOf } from '../formats/record-format.js';
import { estimateInputs } from '../inputs/estimate.js';
import type { JobInput } from '../inputs/list-inputs.js';
import { describeInputs, mayBeCut } from '../inputs/planned-inputs.js';
import type { JobManifest } from '../job-directory/job-manifest.js';
import { deriveDrawSeed } from '../keys.js';
import { readOpenFileLimit } from '../machine/limits.js';
import { type MemoryNeed, type MemoryPlan, planMemory, type Tuning } from '../plan/memory-plan.js';
import type { PileLayout } from '../plan/pile-division.js';
import { planSliceBytes, planSlices, type Slice } from '../plan/slices.js';
import type { JobRequest } from './request.js';
import type { TempPlaces } from './temp-places.js';

export interface JobPlan {
  readonly memory: MemoryPlan;
  /** What `memory` was planned for. */
  readonly memoryNeed: MemoryNeed;
  readonly slices: readonly Slice[];
  /** Whether one thread does it all, faster than others could be started. */
  readonly inline: boolean;
  /** Stored bytes of all inputs, without headers where these are plain; undefined with streams. */
  readonly inputBytes: number | undefined;
  /** What is sure to be written to disk. */
  readonly least: DiskNeed;
  /** What is written to disk by all that samples tell; nothing for what is known too little of. */
  readonly expected: DiskNeed;
  /** Whether the job keeps what it needs to be gone on with. */
  readonly isResumable: boolean;
  /** How the work is laid out on disk; undefined when nothing lies there between the passes. */
  readonly layout: WorkLayout | undefined;
}

/** What a run that goes on must take over from the one before. */
export type WorkLayout = NonNullable<JobManifest['layout']>;

export interface DiskNeed {
  readonly tempBytes: number;
  readonly outputBytes: number;
}

/** A job of this much is done before two threads have started. */
export const INLINE_BYTES = 8 * 2 ** 20;
const INLINE_INPUTS = 1000;
/** Text is usually compressed to a fourth; only for warnings. */
const USUAL_RATIO = 4;
/** Jobs with this much temp data can be gone on with without being told so: they take many minutes. */
const RESUMABLE_FROM_BYTES = 32 * 2 ** 30;

/** What decides whether a job is one that can be gone on with. */
export interface JobNature {
  /** Whether its output is on disk. */
  readonly hasFiles: boolean;
  /** That of the run before, when this one goes on. */
  readonly manifest: JobManifest | undefined;
}

/** @throws AbortedError when the caller's signal fired meanwhile. */
export async function planJob(
  request: JobRequest,
  inputs: readonly JobInput[],
  tempPlaces: TempPlaces,
  nature: JobNature,
  tuning: Tuning,
): Promise<JobPlan> {
  const layout = nature.manifest?.layout ?? undefined;
  const mayBeResumable = mayResume(inputs, nature);
  const isAskedFor = isAskedToResume(request, inputs, nature);
  const planned = planWork(request, inputs, tempPlaces, isAskedFor, layout, tuning);
  const isEnough = isAskedFor || !mayBeResumable || planned.expected.tempBytes < RESUMABLE_FROM_BYTES;
  const work = isEnough ? planned : planWork(request, inputs, tempPlaces, true, layout, tuning);
  const slices = takeSlices(await planSlicesOf(work, request, inputs), layout);
  const { sliceBytes, decodedBytes, ...rest } = work;
  const needsLayout = rest.isResumable && rest.memory.ramPoolBytes === 0;
  return { ...rest, slices, layout: needsLayout ? layoutOf(rest.memory, sliceBytes, slices, layout) : undefined };
}

/** Plans pass 1 alone, of which all goes to piles that are laid out already. @throws AbortedError */
export async function planPass1(
  request: JobRequest,
  inputs: readonly JobInput[],
  tempPlaces: TempPlaces,
  layout: PileLayout,
  tuning: Tuning,
): Promise<JobPlan> {
  const work = planWork(request, inputs, tempPlaces, true, layout, tuning);
  const slices = [...(await planSlicesOf(work, request, inputs))];
  const { sliceBytes, decodedBytes, ...rest } = work;
  return { ...rest, slices, layout: undefined };
}

async function planSlicesOf(
  { sliceBytes, decodedBytes }: WorkPlan,
  { framing, signal }: JobRequest,
  inputs: readonly JobInput[],
): Promise<Iterable<Slice>> {
  const planned = await describeInputs(inputs, decodedBytes, framing && framingOf(framing), sliceBytes, signal);
  return planSlices(planned, sliceBytes);
}

/** What memory will be planned for, as far as it is known before headers are read: for advice in messages. */
export function expectMemoryNeed(
  request: JobRequest,
  inputs: readonly JobInput[],
  tempPlaces: TempPlaces,
  nature: JobNature,
  tuning: Tuning,
): MemoryNeed {
  const layout = nature.manifest?.layout ?? undefined;
  return planWork(request, inputs, tempPlaces, isAskedToResume(request, inputs, nature), layout, tuning).memoryNeed;
}

/** Whether a job is so large that it ought to be one that can be gone on with. */
export function isLarge(plan: JobPlan): boolean {
  return plan.expected.tempBytes >= RESUMABLE_FROM_BYTES;
}

function mayResume(inputs: readonly JobInput[], { hasFiles }: JobNature): boolean {
  return hasFiles && inputs.every((input) => input.kind === 'file');
}

function isAskedToResume(request: JobRequest, inputs: readonly JobInput[], nature: JobNature): boolean {
  const isAskedFor = request.mustBeResumable || request.keepTemp || nature.manifest?.isResumable === true;
  return isAskedFor && mayResume(inputs, nature);
}

/** A plan but for the slices. */
interface WorkPlan extends Omit<JobPlan, 'slices' | 'layout'> {
  readonly sliceBytes: number;
  /** Of each input; undefined for streams. */
  readonly decodedBytes: readonly (number | undefined)[];
}

function planWork(
  request: JobRequest,
  inputs: readonly JobInput[],
  tempPlaces: TempPlaces,
  isResumable: boolean,
  layout: (PileLayout & { readonly sliceBytes?: number }) | undefined,
  tuning: Tuning,
): WorkPlan {
  const estimate = estimateInputs(inputs, request.framing, deriveDrawSeed(request.seed));
  const hasStreams = inputs.some((input) => input.kind === 'stream');
  const inline =
    tuning.inline ?? (!hasStreams && inputs.length <= INLINE_INPUTS && estimate.recordBytes <= INLINE_BYTES);
  const framing = request.framing && framingOf(request.framing);
  const memoryNeed: MemoryNeed = {
    budgetBytes: request.memoryBytes,
    workers: inline ? 1 : request.workers,
    mostSlices: inputs.some((input) => mayBeCut(input, framing)) ? Number.POSITIVE_INFINITY : inputs.length,
    recordBytes: Math.max(1, estimate.recordBytes),
    meanRecordBytes: estimate.meanRecordBytes,
    exact: estimate.exact,
    tempDiskCount: tempPlaces.count,
    tempDisksRotate: tempPlaces.rotate,
    openFileLimit: readOpenFileLimit(),
    isResumable,
    holdsOutput: request.compression !== undefined,
    layout,
  };
  const memory = planMemory(memoryNeed, tuning);
  const { pileCount, bufferBytes } = memory;
  const sliceBytes =
    layout?.sliceBytes ??
    tuning.sliceBytes ??
    planSliceBytes(estimate.recordBytes, memory.workers, pileCount, bufferBytes);
  const knownBytes = inputs.reduce((sum, input) => sum + (input.kind === 'file' ? recordBytesAtLeast(input) : 0), 0);
  const storedRatio = memory.storedBytes / memoryNeed.recordBytes;
  const isCompressed = request.compression !== undefined;
  const diskNeed = (recordBytes: number, compressedBytes: number): DiskNeed => ({
    tempBytes: Math.max(0, recordBytes * storedRatio - memory.ramPoolBytes),
    outputBytes: isCompressed ? compressedBytes : recordBytes,
  });
  return {
    memory,
    memoryNeed,
    sliceBytes,
    decodedBytes: estimate.decodedBytes,
    inline,
    inputBytes: hasStreams ? undefined : knownBytes,
    // A compressed input is at least as large decoded, as good as always; of streams and of programs nothing is known,
    // nor of how small an output gets.
    least: diskNeed(request.decompressProgram === undefined ? knownBytes : 0, 0),
    expected: diskNeed(hasStreams ? knownBytes : estimate.recordBytes, expectCompressedBytes(inputs)),
    isResumable,
  };
}

/** Stored bytes, less a header that does not lie there compressed. */
function recordBytesAtLeast({ codec, header, version }: JobInput & { kind: 'file' }): number {
  return version.byteLength - (codec === undefined ? header.byteLength : 0);
}

/** Of the same records, compressed: what is compressed already is taken to stay as small. */
function expectCompressedBytes(inputs: readonly JobInput[]): number {
  return inputs.reduce((sum, input) => {
    if (input.kind === 'stream') return sum;
    const { byteLength } = input.version;
    return sum + (input.codec === undefined ? byteLength / USUAL_RATIO : byteLength);
  }, 0);
}

/** @throws UsageError ERR_JOB_VERSION when there are more than in the run before, as soon as one is. */
function takeSlices(planned: Iterable<Slice>, before: WorkLayout | undefined): Slice[] {
  const slices: Slice[] = [];
  for (const slice of planned) {
    if (slices.length === before?.sliceCount) throw cutOtherwise();
    slices.push(slice);
  }
  return slices;
}

/** @throws UsageError ERR_JOB_VERSION when the slices are not those of the run before. */
function layoutOf(
  { pileCount, stripeCount }: MemoryPlan,
  sliceBytes: number,
  slices: readonly Slice[],
  before: WorkLayout | undefined,
): WorkLayout {
  const slicesDigest = digestSlices(slices);
  if (before !== undefined && before.slicesDigest !== slicesDigest) throw cutOtherwise();
  return { pileCount, stripeCount, sliceBytes, sliceCount: slices.length, slicesDigest };
}

function cutOtherwise(): UsageError {
  return new UsageError(
    'the unfinished job was cut into slices by another version of pileshuf; finish it with that version, or give --force without --resume to discard it',
    'ERR_JOB_VERSION',
  );
}

function digestSlices(slices: readonly Slice[]): string {
  const hash = createHash('sha256');
  for (const slice of slices) hash.update(JSON.stringify(slice));
  return hash.digest('hex');
}
