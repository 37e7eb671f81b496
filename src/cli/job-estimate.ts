/**
 * How much of a whole job is done, and how long the rest takes. The phases of a job cost differently: pass 1 may inflate,
 * pass 2 may compress. So a phase that has not begun takes as long as its cost says, at the pace of the phases before it.
 * A phase that has begun takes over from there, bit by bit, with the rate that is measured in it: the estimate does not
 * jump when the pass changes.
 *
 * Times come from the events, so no clock is needed here.
 */

import type { ShuffleProgress } from '../jobs/options.js';
import type { JobPhase } from '../plan/phase-costs.js';
import type { MeasuredProgress } from './progress-rate.js';

/** A phase that is over. */
export interface EndedPhase {
  readonly phase: JobPhase;
  readonly seconds: number;
  /** The part of the phase that was done in these seconds, from 0 to 1; an earlier attempt may have done the rest. */
  readonly share: number;
}

export interface JobEstimate {
  /** From 0 to 1; undefined while the size or the pace is unknown. */
  readonly jobDone: number | undefined;
  /** To the end of the job; undefined while it is unknown. */
  readonly jobSecondsLeft: number | undefined;
}

const UNKNOWN: JobEstimate = { jobDone: undefined, jobSecondsLeft: undefined };

/** A phase's own rate counts alone when this part of it is done, or after so many seconds. */
const TRUSTED_SHARE = 0.1;
const TRUSTED_SECONDS = 30;

/** @param ended the phases before the one that `now` tells of. */
export function estimateJob(ended: readonly EndedPhase[], now: MeasuredProgress): JobEstimate {
  const costs = new Map(now.phases.map(({ phase, cost }) => [phase, cost]));
  const costOf = (phase: JobPhase) => costs.get(phase);
  const before = paceOf(ended.map(({ phase, seconds, share }) => ({ seconds, cost: (costOf(phase) ?? 0) * share })));
  const cost = costOf(now.phase);
  const current = timeOf(now, before === undefined || cost === undefined ? undefined : before * cost);
  if (current === undefined || cost === undefined) return UNKNOWN;
  const pace = paceOf([
    ...ended.map(({ phase, seconds, share }) => ({ seconds, cost: (costOf(phase) ?? 0) * share })),
    { seconds: current.wholeSeconds, cost },
  ]);
  if (pace === undefined) return UNKNOWN;
  const place = now.phases.findIndex(({ phase }) => phase === now.phase);
  let doneSeconds = current.wholeSeconds - current.secondsLeft;
  let secondsLeft = current.secondsLeft;
  for (const [i, { phase, cost: expected }] of now.phases.entries()) {
    if (i === place) continue;
    if (expected === undefined) return UNKNOWN;
    const past = ended.find((each) => each.phase === phase);
    if (i > place) secondsLeft += expected * pace;
    // What an earlier attempt did is done, too, and would have taken this long.
    else doneSeconds += past !== undefined && past.share > 0 ? past.seconds / past.share : expected * pace;
  }
  const jobDone = doneSeconds + secondsLeft === 0 ? undefined : doneSeconds / (doneSeconds + secondsLeft);
  return { jobDone, jobSecondsLeft: current.isOverdue ? undefined : secondsLeft };
}

interface PhaseTime {
  /** Of the whole phase, as if no earlier attempt had done a part of it. */
  readonly wholeSeconds: number;
  readonly secondsLeft: number;
  /** Whether the phase takes longer than expected, and says nothing of its end. */
  readonly isOverdue: boolean;
}

/** @param expectedSeconds of the whole phase, by the phases before it. */
function timeOf(now: MeasuredProgress, expectedSeconds: number | undefined): PhaseTime | undefined {
  const { secondsLeft: measured } = now;
  const phaseSeconds = now.phaseSeconds - (now.bytesTotal === undefined ? 0 : now.startSeconds);
  const shares = sharesOf(now);
  if (shares === undefined) {
    if (expectedSeconds === undefined) return undefined;
    const wholeSeconds = Math.max(expectedSeconds, phaseSeconds);
    const secondsLeft = wholeSeconds - phaseSeconds;
    return { wholeSeconds, secondsLeft, isOverdue: secondsLeft === 0 && phaseSeconds > 0 };
  }
  const { done, worked } = shares;
  const expected = expectedSeconds === undefined ? undefined : expectedSeconds * (1 - done);
  const trust = Math.min(1, worked / TRUSTED_SHARE + phaseSeconds / TRUSTED_SECONDS);
  const secondsLeft = mixed(expected, measured, trust);
  if (secondsLeft === undefined) return undefined;
  const ofAttempt = 1 - (done - worked);
  return {
    wholeSeconds: ofAttempt > 0 ? (phaseSeconds + secondsLeft) / ofAttempt : (expectedSeconds ?? phaseSeconds),
    secondsLeft,
    isOverdue: false,
  };
}

/** The done part of a phase, and what this attempt did of it. Undefined: the size is unknown. */
function sharesOf({ bytesDone, bytesResumed, bytesTotal }: ShuffleProgress) {
  if (bytesTotal === undefined) return undefined;
  if (bytesTotal === 0) return { done: 1, worked: 0 };
  const done = Math.min(1, bytesDone / bytesTotal);
  return { done, worked: Math.max(0, done - bytesResumed / bytesTotal) };
}

/** @param trust in the measured value, from 0 to 1. */
function mixed(expected: number | undefined, measured: number | undefined, trust: number): number | undefined {
  if (measured === undefined) return trust < 1 ? expected : undefined;
  return expected === undefined ? measured : (1 - trust) * expected + trust * measured;
}

/** Seconds for a unit of cost. Undefined: nothing was done yet. */
function paceOf(work: readonly { readonly seconds: number; readonly cost: number }[]): number | undefined {
  const cost = work.reduce((sum, each) => sum + each.cost, 0);
  const seconds = work.reduce((sum, each) => sum + each.seconds, 0);
  return cost > 0 && seconds > 0 ? seconds / cost : undefined;
}

/** Follows the events of a job, or of one member after the other. */
export class JobEstimator {
  #ended: EndedPhase[] = [];
  #last: MeasuredProgress | undefined;
  #jobDone: number | undefined;

  /** `jobDone` never falls. */
  estimate(now: MeasuredProgress): JobEstimate {
    if (this.#last?.member?.number !== now.member?.number) {
      this.#ended = [];
      this.#jobDone = undefined;
    } else if (this.#last !== undefined && this.#last.phase !== now.phase) {
      const ended = endOf(this.#last);
      // An output without end comes back to its phases: of each the last time counts, and the list does not grow.
      this.#ended = [...this.#ended.filter(({ phase }) => phase !== ended.phase), ended];
    }
    this.#last = now;
    const { jobDone, jobSecondsLeft } = estimateJob(this.#ended, now);
    if (jobDone !== undefined) this.#jobDone = Math.max(this.#jobDone ?? 0, jobDone);
    return { jobDone: this.#jobDone, jobSecondsLeft };
  }
}

function endOf({ phase, phaseSeconds, startSeconds, bytesDone, bytesResumed }: MeasuredProgress): EndedPhase {
  const share = bytesDone > 0 ? 1 - bytesResumed / bytesDone : 1;
  return { phase, seconds: bytesDone > 0 ? phaseSeconds - startSeconds : phaseSeconds, share };
}
