/**
 * From "bytes done" to speed and time left. The speed is that of the last ten seconds, not of the whole phase: a full
 * page cache halves it, and the time left should show that. Times come from the events, so no clock is needed here.
 */

import type { ShuffleProgress } from '../jobs/options.js';

const windowSeconds = 10;
/** With the window, this keeps at most 40 samples, however often the library reports. */
const sampleSpacingSeconds = 0.25;

export interface MeasuredProgress extends ShuffleProgress {
  /** In the last ten seconds; 0 while unknown. */
  readonly bytesPerSecond: number;
  /** Since the phase began, by this attempt; 0 while unknown. */
  readonly meanBytesPerSecond: number;
  /** How long the phase took to start: until it counted bytes. */
  readonly startSeconds: number;
  /** To the end of this phase; undefined while the total or the speed is unknown. */
  readonly secondsLeft: number | undefined;
}

interface Sample {
  readonly phaseSeconds: number;
  /** By this attempt. */
  readonly bytesDone: number;
}

export class RateMeter {
  #phase: ShuffleProgress['phase'] | undefined;
  #samples: Sample[] = [];
  #startSeconds = 0;

  measure(progress: ShuffleProgress): MeasuredProgress {
    if (progress.phase !== this.#phase) {
      this.#phase = progress.phase;
      this.#startSeconds = 0;
      this.#samples = [{ phaseSeconds: 0, bytesDone: 0 }];
    }
    const { bytesDone: bytesThere, bytesResumed, bytesTotal, phaseSeconds } = progress;
    const bytesDone = bytesThere - bytesResumed;
    // Threads that start do nothing, and say nothing of the speed.
    if (bytesDone === 0) {
      this.#startSeconds = phaseSeconds;
      this.#samples = [{ phaseSeconds, bytesDone }];
    }
    const startSeconds = this.#startSeconds;
    const oldest = this.#dropOldSamples(phaseSeconds);
    const elapsedSeconds = phaseSeconds - oldest.phaseSeconds;
    const bytesPerSecond = elapsedSeconds > 0 ? Math.max(0, (bytesDone - oldest.bytesDone) / elapsedSeconds) : 0;
    const bytesLeft = bytesTotal === undefined ? undefined : Math.max(0, bytesTotal - bytesThere);
    const newest = this.#samples.at(-1) ?? oldest;
    if (phaseSeconds - newest.phaseSeconds >= sampleSpacingSeconds) {
      this.#samples.push({ phaseSeconds, bytesDone });
    }
    return {
      ...progress,
      bytesPerSecond,
      meanBytesPerSecond: phaseSeconds > startSeconds ? Math.max(0, bytesDone / (phaseSeconds - startSeconds)) : 0,
      startSeconds,
      secondsLeft: bytesLeft === undefined || bytesPerSecond === 0 ? undefined : bytesLeft / bytesPerSecond,
    };
  }

  /** Keeps one sample at or before the window's start, so that the window is always covered. */
  #dropOldSamples(phaseSeconds: number): Sample {
    const start = phaseSeconds - windowSeconds;
    const firstInside = this.#samples.findIndex((sample) => sample.phaseSeconds > start);
    this.#samples.splice(0, (firstInside === -1 ? this.#samples.length : firstInside) - 1);
    return this.#samples[0] ?? { phaseSeconds: 0, bytesDone: 0 };
  }
}
