/** What a display of progress shows, measured from the reports of the library: the job, its phase, its disks. */

import type { ShuffleProgress } from '../jobs/options.js';
import { DiskMeter, type DiskRate } from './disk-rates.js';
import { type JobEstimate, JobEstimator } from './job-estimate.js';
import { type MeasuredProgress, RateMeter } from './progress-rate.js';

export interface TimedProgress {
  readonly progress: ShuffleProgress;
  /** By a clock that only goes forward. */
  readonly atSeconds: number;
}

export interface JobState extends MeasuredProgress, JobEstimate {
  /** Since the command began. */
  readonly jobSeconds: number;
  readonly disks: readonly DiskRate[];
}

export interface ProgressDisplay {
  show(state: JobState, nowSeconds: number): void;
  /** Erases what is drawn on the screen; a later `show` draws it again. */
  stepAside(): void;
}

export class JobMeter {
  readonly #beganAtSeconds: number;
  readonly #rates = new RateMeter();
  readonly #estimator = new JobEstimator();
  readonly #disks = new DiskMeter();

  constructor(beganAtSeconds: number) {
    this.#beganAtSeconds = beganAtSeconds;
  }

  /** Takes every report, in order. */
  measure({ progress, atSeconds }: TimedProgress): JobState {
    const measured = this.#rates.measure(progress);
    return {
      ...measured,
      ...this.#estimator.estimate(measured),
      jobSeconds: atSeconds - this.#beganAtSeconds,
      disks: this.#disks.measure(progress, atSeconds),
    };
  }
}

/** `pass` is null in a phase that is no pass over the records. */
export function passOf({
  phase,
  phases,
}: {
  readonly phase: ShuffleProgress['phase'] | null;
  readonly phases: ShuffleProgress['phases'];
}): { readonly pass: number | null; readonly passes: number } {
  const passes = phases.filter((each) => each.phase === 'scatter' || each.phase === 'shuffle');
  const place = passes.findIndex((each) => each.phase === phase);
  return { pass: place < 0 ? null : place + 1, passes: passes.length };
}
