/**
 * From "bytes done" to speed and time left. Times come from the events, so no clock is needed here.
 *
 * The speed that is shown is that of the last ten seconds. The time left comes from the last fifth of the phase where that
 * is longer: a disk that stands still for ten seconds says nothing about hours, and a page cache that is full at last halves
 * the speed for good.
 */

import type { ShuffleProgress } from '../jobs/options.js';

const SHOWN_SECONDS = 10;
const RECENT_PART = 0.2;
/** With the length of a window, this bounds its samples, however often the library reports. */
const SAMPLES = 40;

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
  #startSeconds = 0;
  #shown = new SpeedWindow();
  #recent = new SpeedWindow();

  measure(progress: ShuffleProgress): MeasuredProgress {
    const { phase, bytesDone: bytesThere, bytesResumed, bytesTotal, phaseSeconds } = progress;
    const bytesDone = bytesThere - bytesResumed;
    if (phase !== this.#phase) {
      this.#phase = phase;
      this.#startSeconds = 0;
      this.#beginAt({ phaseSeconds: 0, bytesDone: 0 });
    }
    // Threads that start do nothing, and say nothing of the speed.
    if (bytesDone === 0) {
      this.#startSeconds = phaseSeconds;
      this.#beginAt({ phaseSeconds, bytesDone });
    }
    const workedSeconds = phaseSeconds - this.#startSeconds;
    const bytesPerSecond = this.#shown.speed({ phaseSeconds, bytesDone }, SHOWN_SECONDS);
    const recentSpeed = this.#recent.speed(
      { phaseSeconds, bytesDone },
      Math.max(SHOWN_SECONDS, RECENT_PART * workedSeconds),
    );
    const bytesLeft = bytesTotal === undefined ? undefined : Math.max(0, bytesTotal - bytesThere);
    return {
      ...progress,
      bytesPerSecond,
      meanBytesPerSecond: workedSeconds > 0 ? Math.max(0, bytesDone / workedSeconds) : 0,
      startSeconds: this.#startSeconds,
      secondsLeft: bytesLeft === undefined || recentSpeed === 0 ? undefined : bytesLeft / recentSpeed,
    };
  }

  #beginAt(sample: Sample): void {
    this.#shown = new SpeedWindow(sample);
    this.#recent = new SpeedWindow(sample);
  }
}

/** The speed of the last seconds. */
class SpeedWindow {
  #samples: Sample[];

  constructor(first: Sample = { phaseSeconds: 0, bytesDone: 0 }) {
    this.#samples = [first];
  }

  /** @returns bytes a second, from the start of the window to `now`; 0 while unknown. */
  speed(now: Sample, lengthSeconds: number): number {
    const oldest = this.#dropBefore(now.phaseSeconds - lengthSeconds);
    const newest = this.#samples.at(-1) ?? oldest;
    if (now.phaseSeconds - newest.phaseSeconds >= lengthSeconds / SAMPLES) this.#samples.push(now);
    const elapsedSeconds = now.phaseSeconds - oldest.phaseSeconds;
    return elapsedSeconds > 0 ? Math.max(0, (now.bytesDone - oldest.bytesDone) / elapsedSeconds) : 0;
  }

  /** Keeps one sample at or before the start of the window, so that the window is always covered. */
  #dropBefore(startSeconds: number): Sample {
    const firstInside = this.#samples.findIndex((sample) => sample.phaseSeconds > startSeconds);
    this.#samples.splice(0, (firstInside === -1 ? this.#samples.length : firstInside) - 1);
    return this.#samples[0] ?? { phaseSeconds: 0, bytesDone: 0 };
  }
}
