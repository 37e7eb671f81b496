/**
 * What each phase of a job is expected to cost, so that the time of one phase tells that of the next. A cost is the
 * time in the model of expected-time.ts, on a machine with one usual disk. Only the relation matters: the time left
 * takes the time of a unit from what the job has done so far.
 */
import { type Circumstances, expectPasses, type PassName, type TimedDevice, type TimedJob } from './expected-time.js';

/** A phase of a job; `ShuffleProgress.phase` says what each of them does. */
export type JobPhase = 'count' | 'scatter' | 'measure' | 'draw' | 'shuffle' | 'commit' | 'verify';

export interface PhaseCost {
  readonly phase: JobPhase;
  /** Undefined: the inputs have an unknown size, or the output has no end. */
  readonly cost: number | undefined;
}

/**
 * Between the speeds of a page cache and of a disk: most jobs have some of both. A job that waits for its disks alone
 * moves about the same bytes in both passes, whatever the speed is.
 */
const USUAL_DISK: TimedDevice = {
  name: '',
  inputShare: 1,
  tempShare: 1,
  outputShare: 1,
  readBytesPerSecond: 2.5e9,
  writeBytesPerSecond: 2.5e9,
  seekSeconds: 0,
};
const USUAL: Circumstances = { slowness: 1, cachedInputShare: 0, cachedTempShare: 0 };
/** Of a written byte, of which the system has written nearly all by then; and of a file. */
const MAKING_DURABLE = { perByte: 0.05e-9, perFile: 5e-3 };

const PHASE_OF_PASS: Readonly<Record<PassName, JobPhase>> = {
  count: 'count',
  'pass 1': 'scatter',
  measure: 'measure',
  draw: 'draw',
  'further levels': 'shuffle',
  'pass 2': 'shuffle',
};

/** The phases of a job with both passes. @param isDurable whether the output is a file or shards, not a stream. */
export function costsOfShuffle(job: TimedJob, isDurable: boolean): readonly PhaseCost[] {
  const costs = new Map<JobPhase, number>();
  for (const { name, seconds } of expectPasses(job, [USUAL_DISK], USUAL)) {
    const phase = PHASE_OF_PASS[name];
    costs.set(phase, (costs.get(phase) ?? 0) + seconds);
  }
  return [
    ...Array.from(costs, ([phase, cost]) => ({ phase, cost })),
    { phase: 'commit', cost: isDurable ? costOfCommit(job.writtenBytes, job.outputFiles) : 0 },
  ];
}

/** The same without pass 1. */
export function costsOfPass2(job: TimedJob, isDurable: boolean): readonly PhaseCost[] {
  return costsOfShuffle(job, isDurable).map((each) => (each.phase === 'scatter' ? { ...each, cost: 0 } : each));
}

/** The same without pass 2. @param writtenBytes what pass 1 writes. */
export function costsOfPass1(job: TimedJob, writtenBytes: number): readonly PhaseCost[] {
  const scatter = costsOfShuffle(job, true).filter(({ phase }) => phase === 'scatter');
  return [...scatter, { phase: 'commit', cost: costOfCommit(writtenBytes) }];
}

/** Phases of which nobody knows what they will cost. */
export function unknownCosts(phases: readonly JobPhase[]): readonly PhaseCost[] {
  return phases.map((phase) => ({ phase, cost: undefined }));
}

/**
 * A job of one phase that reads or makes so many bytes, and of a commit.
 * @param committedBytes absent: there is no commit.
 */
export function costsOfOnePhase(
  phase: JobPhase,
  bytes: number | undefined,
  committedBytes?: number,
): readonly PhaseCost[] {
  const cost = bytes === undefined ? undefined : bytes / USUAL_DISK.readBytesPerSecond;
  const commit = { phase: 'commit' as const, cost: costOfCommit(committedBytes ?? 0) };
  return committedBytes === undefined ? [{ phase, cost }] : [{ phase, cost }, commit];
}

function costOfCommit(writtenBytes: number, files = 1): number {
  return writtenBytes * MAKING_DURABLE.perByte + files * MAKING_DURABLE.perFile;
}
