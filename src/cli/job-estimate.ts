/** How much of a job is done, by the bytes of all phases, and how long the rest takes at the speed of the phase. */

import type { MeasuredProgress } from './progress-rate.js';

export interface JobEstimate {
  /** From 0 to 1; undefined while the size is unknown. */
  readonly jobDone: number | undefined;
  /** To the end of the job; undefined while the size or the speed is unknown, and in the last commit. */
  readonly jobSecondsLeft: number | undefined;
}

/** A phase tells its speed after this part of it, or after so many seconds. Until then, that of the phase before counts. */
const TELLING_SHARE = 0.05;
const TELLING_SECONDS = 2;

/** Takes all events of a job, in order. */
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
