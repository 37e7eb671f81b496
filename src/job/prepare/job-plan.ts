/**
 * Brings the request, the inputs and the machine together and has the pure planners decide.
 */

import { createHash } from 'node:crypto';
import { UsageError } from '../../errors.js';
import { framingOf } from '../../formats/framing-table.js';
import { readOpenFileLimit } from '../../io/open-file-limit.js';
import type { JobManifest } from '../../job-directory/manifest.js';
import { deriveDrawSeed } from '../../key-derivation.js';
import { type MemoryNeed, type MemoryPlan, planMemory, type Tuning } from '../../plan/memory-plan.js';
import type { PileLayout } from '../../plan/pile-division.js';
import { planSplitBytes, planSplits, type Split } from '../../plan/splits.js';
import { estimateInputs } from './estimate.js';
import type { JobInput } from './job-inputs.js';
import type { JobRequest } from './job-request.js';
import { describeInputs, mayBeCut } from './planned-inputs.js';
import type { TempPlaces } from './temp-places.js';

export interface JobPlan {
  readonly memory: MemoryPlan;
  /** What `memory` was planned for. */
  readonly memoryNeed: MemoryNeed;
  readonly splits: readonly Split[];
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
  const splits = takeSplits(await planSplitsOf(work, request, inputs), layout);
  const { splitBytes, decodedBytes, ...rest } = work;
  const needsLayout = rest.isResumable && rest.memory.ramPoolBytes === 0;
  return { ...rest, splits, layout: needsLayout ? layoutOf(rest.memory, splitBytes, splits, layout) : undefined };
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
  const splits = [...(await planSplitsOf(work, request, inputs))];
  const { splitBytes, decodedBytes, ...rest } = work;
  return { ...rest, splits, layout: undefined };
}

async function planSplitsOf(
  { splitBytes, decodedBytes }: WorkPlan,
  { framing, signal }: JobRequest,
  inputs: readonly JobInput[],
): Promise<Iterable<Split>> {
  const planned = await describeInputs(inputs, decodedBytes, framing && framingOf(framing), splitBytes, signal);
  return planSplits(planned, splitBytes);
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

/** A plan but for the splits. */
interface WorkPlan extends Omit<JobPlan, 'splits' | 'layout'> {
  readonly splitBytes: number;
  /** Of each input; undefined for streams. */
  readonly decodedBytes: readonly (number | undefined)[];
}

function planWork(
  request: JobRequest,
  inputs: readonly JobInput[],
  tempPlaces: TempPlaces,
  isResumable: boolean,
  layout: (PileLayout & { readonly splitBytes?: number }) | undefined,
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
    mostSplits: inputs.some((input) => mayBeCut(input, framing)) ? Number.POSITIVE_INFINITY : inputs.length,
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
  const splitBytes =
    layout?.splitBytes ??
    tuning.splitBytes ??
    planSplitBytes(estimate.recordBytes, memory.workers, pileCount, bufferBytes);
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
    splitBytes,
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
function takeSplits(planned: Iterable<Split>, before: WorkLayout | undefined): Split[] {
  const splits: Split[] = [];
  for (const split of planned) {
    if (splits.length === before?.splitCount) throw cutOtherwise();
    splits.push(split);
  }
  return splits;
}

/** @throws UsageError ERR_JOB_VERSION when the splits are not those of the run before. */
function layoutOf(
  { pileCount, stripeCount }: MemoryPlan,
  splitBytes: number,
  splits: readonly Split[],
  before: WorkLayout | undefined,
): WorkLayout {
  const splitsDigest = digestSplits(splits);
  if (before !== undefined && before.splitsDigest !== splitsDigest) throw cutOtherwise();
  return { pileCount, stripeCount, splitBytes, splitCount: splits.length, splitsDigest };
}

function cutOtherwise(): UsageError {
  return new UsageError(
    'the unfinished job was cut into splits by another version of pileshuf; finish it with that version, or give `force` without `resume` to discard it',
    'ERR_JOB_VERSION',
  );
}

function digestSplits(splits: readonly Split[]): string {
  const hash = createHash('sha256');
  for (const split of splits) hash.update(JSON.stringify(split));
  return hash.digest('hex');
}
