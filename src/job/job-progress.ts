/** Reports five times a second how far a job is. Threads count bytes in shared memory; only this file reads a clock. */
import type { Release } from '../floor/cleanup.js';
import type { Counter, JobControl } from '../floor/job-control.js';
import { isScatteredTwice } from '../keep/content-rule.js';
import { isMeasuredBefore } from '../keep/distinct.js';
import { isEndless, recordsOfOutput } from '../keep/keep-spec.js';
import type { DeviceGates } from '../machine/devices.js';
import { readResidentBytes } from '../machine/limits.js';
import type { DiskProgress, JobPhase, PhaseBytes, ShuffleProgress } from '../options/progress.js';
import type { MemoryNeed } from '../plan/memory-plan.js';
import type { ShuffleSpec } from '../spec.js';
import { JobStop } from '../stages/threads.js';
import type { EarlierAttempt } from './earlier-attempt.js';
import { type Callbacks, givenBytesOf, type MachineRequest, type ShuffleRequest } from './request.js';

const REPORT_MILLISECONDS = 200;

/** No two phases of one job have the same. */
const COUNTER_OF_PHASE: Record<JobPhase, Counter | undefined> = {
  count: 'scatteredBytes',
  scatter: 'scatteredBytes',
  measure: 'orderedBytes',
  shuffle: 'shuffledBytes',
  commit: undefined,
  verify: 'scatteredBytes',
};

/** The counter of what an earlier attempt did of a phase. */
const RESUMED_COUNTER: Partial<Record<JobPhase, Counter>> = { scatter: 'resumedBytes', shuffle: 'resumedOutputBytes' };

export interface Timed<T> {
  readonly value: T;
  readonly seconds: number;
}

type WatchedRequest = Pick<Callbacks, 'signal' | 'onProgress'> &
  Partial<Pick<MachineRequest, 'memoryBytes' | 'transfers'>>;

/** Follows a job from its first task to its last, and stops it when the caller asks. */
export class JobProgress {
  readonly control: JobControl;
  readonly stop: JobStop;
  readonly #request: WatchedRequest;
  readonly #gates: DeviceGates;
  #phases: readonly PhaseBytes[];
  /** The value that `onProgress` threw. */
  #failure: { readonly thrown: unknown } | undefined;

  /**
   * @param gates whose permits the control words of the job have.
   * @param phases all phases of the job; `during` replaces their bytes by better known ones.
   */
  constructor(
    control: JobControl,
    request: WatchedRequest,
    gates: DeviceGates,
    phases: readonly PhaseBytes[],
    releases: Release[],
  ) {
    this.control = control;
    this.stop = new JobStop(control, request.signal, releases);
    this.#request = request;
    this.#gates = gates;
    this.#phases = phases;
  }

  /** Runs one phase and reports on it. What `onProgress` throws ends the job, unless its output is committed. */
  async during<T>(phase: JobPhase, bytesTotal: number | undefined, work: () => Promise<T>): Promise<Timed<T>> {
    const began = performance.now();
    const seconds = () => (performance.now() - began) / 1000;
    const { memoryBytes, transfers } = this.#request;
    const bytesDone = () => this.#counted(COUNTER_OF_PHASE[phase]);
    this.#know(phase, bytesTotal);
    const report = () =>
      this.#tell(() => ({
        phase,
        bytesDone: bytesDone(),
        bytesResumed: this.#counted(RESUMED_COUNTER[phase]),
        bytesTotal,
        phaseSeconds: seconds(),
        phases: this.#phases,
        disks: this.#disks(),
        memory: {
          residentBytes: readResidentBytes(),
          budgetBytes: memoryBytes && givenBytesOf({ memoryBytes, transfers }),
        },
      }));
    report();
    this.#throwFailure();
    const timer = this.#request.onProgress === undefined ? undefined : setInterval(report, REPORT_MILLISECONDS);
    try {
      const value = await work();
      report();
      this.#know(phase, bytesTotal ?? bytesDone());
      // A job with a committed output succeeds.
      if (phase !== 'commit') this.#throwFailure();
      return { value, seconds: seconds() };
    } catch (error) {
      this.#throwFailure();
      throw error;
    } finally {
      clearInterval(timer);
    }
  }

  #counted(counter: Counter | undefined): number {
    return counter === undefined ? 0 : this.control.counted(counter);
  }

  #know(phase: JobPhase, bytes: number | undefined): void {
    if (bytes === undefined) return;
    this.#phases = this.#phases.map((each) => (each.phase === phase ? { phase, bytes } : each));
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.thrown;
  }

  #disks(): DiskProgress[] {
    const { devices, permits } = this.#gates;
    return devices.map(({ name }, gate) => ({
      name,
      ...this.control.trafficOf(gate),
      callLimit: permits[gate] ?? 0,
    }));
  }

  /** Makes the progress only if the caller asks for it. */
  #tell(progress: () => ShuffleProgress): void {
    const { onProgress } = this.#request;
    if (onProgress === undefined || this.#failure !== undefined) return;
    try {
      onProgress(progress());
    } catch (thrown) {
      this.#failure = { thrown };
      this.stop.request();
    }
  }
}

interface PhasedJob {
  readonly request: Pick<ShuffleRequest, 'spec'>;
  readonly plan: {
    readonly inputBytes: number | undefined;
    readonly readBytes: number;
    readonly memoryNeed: Pick<MemoryNeed, 'recordBytes' | 'meanRecordBytes'>;
  };
  readonly isCounted: boolean;
  readonly earlier: Pick<EarlierAttempt, 'notes'> | undefined;
}

export function phasesOfShuffle({ request: { spec }, plan, isCounted, earlier }: PhasedJob): readonly PhaseBytes[] {
  const { inputBytes, readBytes, memoryNeed } = plan;
  const { recordBytes, meanRecordBytes } = memoryNeed;
  // The piles are those of both scatters, if there are two.
  const onPiles = inputBytes === undefined ? undefined : recordBytes;
  const onFirst = isScatteredTwice(spec) && onPiles !== undefined ? readBytes : undefined;
  const { keep } = spec;
  const isKnown = onPiles !== undefined && !isEndless(keep);
  const written = isKnown ? recordsOfOutput(keep, onPiles - (onFirst ?? 0), meanRecordBytes) : undefined;
  return [
    ...(isCounted ? [{ phase: 'count' as const, bytes: inputBytes }] : []),
    { phase: 'scatter', bytes: inputBytes },
    ...(measuresPiles(spec, earlier) ? [{ phase: 'measure' as const, bytes: onFirst ?? onPiles }] : []),
    { phase: 'shuffle', bytes: written },
    { phase: 'commit', bytes: 0 },
  ];
}

/** Returns whether a phase of its own finds what stays of equal records. */
export function measuresPiles(spec: ShuffleSpec, earlier: Pick<EarlierAttempt, 'notes'> | undefined): boolean {
  return isScatteredTwice(spec) || (earlier?.notes.distinct === undefined && isMeasuredBefore(spec));
}
