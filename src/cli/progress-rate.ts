import type { ShuffleProgress } from '../jobs/options.js';

const WINDOW_SECONDS = 10;
/** Bounds the samples of a window, however often the library reports. */
const SAMPLES = 40;

export interface MeasuredProgress extends ShuffleProgress {
  /** In the last ten seconds; 0 while unknown. */
  readonly bytesPerSecond: number;
  /** Since the phase began, by this attempt; 0 while unknown. */
  readonly meanBytesPerSecond: number;
  /** Since the phase has counted bytes. */
  readonly workedSeconds: number;
}

interface Sample {
  readonly phaseSeconds: number;
  readonly bytesDone: number;
}

export class RateMeter {
  #phase: ShuffleProgress['phase'] | undefined;
  /** One before the window and those in it, so that the window is always covered. */
  #samples: [Sample, ...Sample[]] = [{ phaseSeconds: 0, bytesDone: 0 }];
  #start: Sample = this.#samples[0];

  measure(progress: ShuffleProgress): MeasuredProgress {
    const { phase, phaseSeconds } = progress;
    const now = { phaseSeconds, bytesDone: progress.bytesDone - progress.bytesResumed };
    if (phase !== this.#phase) this.#beginAt({ phaseSeconds: 0, bytesDone: 0 });
    this.#phase = phase;
    // Threads that start do nothing, and say nothing of the speed.
    if (now.bytesDone === 0) this.#beginAt(now);
    const workedSeconds = phaseSeconds - this.#start.phaseSeconds;
    return {
      ...progress,
      bytesPerSecond: speedBetween(this.#windowStart(now), now),
      meanBytesPerSecond: speedBetween(this.#start, now),
      workedSeconds,
    };
  }

  #beginAt(sample: Sample): void {
    this.#start = sample;
    this.#samples = [sample];
  }

  #windowStart(now: Sample): Sample {
    const startSeconds = now.phaseSeconds - WINDOW_SECONDS;
    for (let second = this.#samples[1]; second !== undefined && second.phaseSeconds <= startSeconds; ) {
      this.#samples = [second, ...this.#samples.slice(2)];
      second = this.#samples[1];
    }
    const newest = this.#samples.at(-1) ?? this.#samples[0];
    if (now.phaseSeconds - newest.phaseSeconds >= WINDOW_SECONDS / SAMPLES) this.#samples.push(now);
    return this.#samples[0];
  }
}

function speedBetween(from: Sample, to: Sample): number {
  const seconds = to.phaseSeconds - from.phaseSeconds;
  return seconds > 0 ? Math.max(0, (to.bytesDone - from.bytesDone) / seconds) : 0;
}
