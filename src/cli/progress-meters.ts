/**
 * Meters that turn the reports of the library into the figures that a display of progress shows: of the job, its phase and
 * its disks.
 */

import type { DiskProgress, ShuffleProgress } from '../options/progress.js';

const WINDOW_SECONDS = 10;
/** Bounds the samples of a window, however often the library reports. */
const SAMPLES = 40;

/** The samples of the last ten seconds, and one before, so that these are covered. */
class SampleWindow<Sample extends { readonly atSeconds: number }> {
  #samples: Sample[] = [];

  /** @returns the oldest first. */
  add(now: Sample): readonly Sample[] {
    const start = now.atSeconds - WINDOW_SECONDS;
    const isCovered = this.#samples.findLastIndex(({ atSeconds }) => atSeconds <= start);
    if (isCovered > 0) this.#samples.splice(0, isCovered);
    const newest = this.#samples.at(-1)?.atSeconds ?? Number.NEGATIVE_INFINITY;
    if (now.atSeconds - newest >= WINDOW_SECONDS / SAMPLES) this.#samples.push(now);
    return this.#samples;
  }

  beginAt(...samples: readonly Sample[]): void {
    this.#samples = [...samples];
  }
}

export interface MeasuredProgress extends ShuffleProgress {
  /** The rate of the last ten seconds; 0 while it is unknown. */
  readonly bytesPerSecond: number;
  /** The rate of this attempt since the phase began; 0 while unknown. */
  readonly meanBytesPerSecond: number;
  /** The time since the phase has counted bytes. */
  readonly workedSeconds: number;
}

interface BytesSample {
  /** The time since the phase began. */
  readonly atSeconds: number;
  readonly bytesDone: number;
}

const NOTHING_DONE: BytesSample = { atSeconds: 0, bytesDone: 0 };

export class RateMeter {
  #phase: ShuffleProgress['phase'] | undefined;
  readonly #window = new SampleWindow<BytesSample>();
  #start = NOTHING_DONE;

  measure(progress: ShuffleProgress): MeasuredProgress {
    const { phase, phaseSeconds, bytesDone, bytesResumed } = progress;
    const now = { atSeconds: phaseSeconds, bytesDone: bytesDone - bytesResumed };
    if (phase !== this.#phase) this.#beginAt(NOTHING_DONE);
    this.#phase = phase;
    // Threads that start do nothing, and say nothing of the speed.
    if (now.bytesDone === 0) this.#beginAt(now);
    const [oldest = now] = this.#window.add(now);
    return {
      ...progress,
      bytesPerSecond: speedBetween(oldest, now),
      meanBytesPerSecond: speedBetween(this.#start, now),
      workedSeconds: phaseSeconds - this.#start.atSeconds,
    };
  }

  #beginAt(sample: BytesSample): void {
    this.#start = sample;
    this.#window.beginAt(sample);
  }
}

function speedBetween(from: BytesSample, to: BytesSample): number {
  const seconds = to.atSeconds - from.atSeconds;
  return seconds > 0 ? Math.max(0, (to.bytesDone - from.bytesDone) / seconds) : 0;
}

export interface DiskRate extends DiskProgress {
  /** 0 while unknown. */
  readonly readBytesPerSecond: number;
  readonly writtenBytesPerSecond: number;
  readonly meanCalls: number;
}

/** Counts begin again with each member of aligned files. */
export class DiskMeter {
  readonly #window = new SampleWindow<{ readonly atSeconds: number; readonly disks: readonly DiskProgress[] }>();
  #phase: ShuffleProgress['phase'] | undefined;
  #member: number | undefined;

  /** @param atSeconds when the progress was reported, by a clock that only goes forward. */
  measure({ disks, phase, member }: ShuffleProgress, atSeconds: number): DiskRate[] {
    // A pass that counts inputs has counters of its own, too.
    const isSame = member?.number === this.#member && (this.#phase !== 'count' || phase === 'count');
    if (!isSame) this.#window.beginAt();
    this.#phase = phase;
    this.#member = member?.number;
    const samples = this.#window.add({ atSeconds, disks });
    const seconds = atSeconds - (samples[0]?.atSeconds ?? atSeconds);
    const rate = (bytes: number) => (seconds > 0 ? Math.max(0, bytes) / seconds : 0);
    return disks.map((disk, i) => {
      const before = samples[0]?.disks[i] ?? disk;
      const calls = samples.map((sample) => sample.disks[i]?.callsUnderWay ?? 0);
      return {
        ...disk,
        readBytesPerSecond: rate(disk.bytesRead - before.bytesRead),
        writtenBytesPerSecond: rate(disk.bytesWritten - before.bytesWritten),
        meanCalls: calls.reduce((sum, each) => sum + each, 0) / calls.length,
      };
    });
  }
}

export interface JobEstimate {
  /** The part of the job that is done, from 0 to 1; undefined while the size is unknown. */
  readonly jobDone: number | undefined;
  /** The time to the end of the job; undefined while the size or the speed is unknown, and in the last commit. */
  readonly jobSecondsLeft: number | undefined;
}

/** A phase tells its speed after this part of it, or after so many seconds. Until then, that of the phase before counts. */
const TELLING_SHARE = 0.05;
const TELLING_SECONDS = 2;

/**
 * How much of a job is done, by the bytes of all phases, and how long the rest takes at the speed of the phase. Takes all
 * events of a job, in order.
 */
export class JobEstimator {
  #mostDone: number | undefined;
  #bytesPerSecond: number | undefined;

  /** `jobDone` never falls. */
  estimate(now: MeasuredProgress): JobEstimate {
    this.#bytesPerSecond = speedOf(now) ?? this.#bytesPerSecond;
    const sizes = sizesOf(now);
    if (sizes === undefined) return { jobDone: this.#mostDone, jobSecondsLeft: undefined };
    const { doneBytes, totalBytes } = sizes;
    const { startShare, endShare } = now.member ?? { startShare: 0, endShare: 1 };
    const share = endShare - startShare;
    const done = startShare + share * (totalBytes === 0 ? 1 : doneBytes / totalBytes);
    this.#mostDone = Math.max(this.#mostDone ?? 0, done);
    // The other members take as many bytes as this one, in proportion to their shares.
    const bytesLeft = totalBytes - doneBytes + (totalBytes * (1 - endShare)) / share;
    const isKnown = this.#bytesPerSecond !== undefined && (bytesLeft > 0 || now.phase !== 'commit');
    return { jobDone: this.#mostDone, jobSecondsLeft: isKnown ? bytesLeft / (this.#bytesPerSecond ?? 1) : undefined };
  }
}

function speedOf({ bytesDone, bytesResumed, bytesTotal, workedSeconds, meanBytesPerSecond }: MeasuredProgress) {
  const isTelling =
    workedSeconds >= TELLING_SECONDS ||
    (bytesTotal !== undefined && bytesDone - bytesResumed >= TELLING_SHARE * bytesTotal);
  return isTelling && meanBytesPerSecond > 0 ? meanBytesPerSecond : undefined;
}

function sizesOf({ phases, phase, bytesDone }: MeasuredProgress) {
  const place = phases.findIndex((each) => each.phase === phase);
  let [doneBytes, totalBytes] = [0, 0];
  for (const [i, { bytes }] of phases.entries()) {
    if (bytes === undefined) return undefined;
    totalBytes += bytes;
    if (i < place) doneBytes += bytes;
    if (i === place) doneBytes += Math.min(bytes, bytesDone);
  }
  return { doneBytes, totalBytes };
}

export interface JobState extends MeasuredProgress, JobEstimate {
  /** The time since the command began. */
  readonly jobSeconds: number;
  readonly disks: readonly DiskRate[];
}

/** Shows the progress of a job. It sets its own pace: `show` may be called as often as the library likes. */
export interface ProgressDisplay {
  show(state: JobState, nowSeconds: number): void;
  /** Erases what is drawn on the screen; a later `show` draws it again. */
  clear(): void;
  /** Returns the state as one line. @param state undefined: no phase of the job has begun. */
  statusLine(state: JobState | undefined, jobSeconds: number): string;
}

export class JobMeter {
  readonly #beganAtSeconds: number;
  readonly #rates = new RateMeter();
  readonly #estimator = new JobEstimator();
  readonly #disks = new DiskMeter();

  constructor(beganAtSeconds: number) {
    this.#beganAtSeconds = beganAtSeconds;
  }

  /**
   * Takes every report, in order.
   * @param atSeconds by a clock that only goes forward.
   */
  measure(progress: ShuffleProgress, atSeconds: number): JobState {
    const measured = this.#rates.measure(progress);
    return {
      ...measured,
      ...this.#estimator.estimate(measured),
      jobSeconds: atSeconds - this.#beganAtSeconds,
      disks: this.#disks.measure(progress, atSeconds),
    };
  }
}

/** Returns the number of the pass, and of all passes. `pass` is null in a phase that is not a pass over the records. */
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
