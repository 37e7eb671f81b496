// @ts-check
// Fits the constants of the cost model to measured jobs. Pure.
//
// Computing is user time; the profile gives the share of each phase, as a cost per byte and per record. Copying by
// system calls is system time, as a cost per moved byte and per segment. Other load on the machine changes neither. The
// overlap is the one that predicts the elapsed times of the passes best, for jobs that had the machine for themselves.

import { medianOf } from '../figures.mjs';
import { predict } from './cost-model.mjs';

/** @import { Costs, Machine, PhaseCost } from './cost-model.mjs' */
/** @import { PlannedJob } from './planned-job.mjs' */

/**
 * @typedef {object} MeasuredJob medians over the rounds
 * @property {string} name
 * @property {PlannedJob} job
 * @property {Machine} machine
 * @property {number} wallSeconds
 * @property {number} userSeconds of the whole process
 * @property {number} sysSeconds
 * @property {Record<string, number>} steps elapsed
 * @property {Record<string, number>} pass1 seconds of all threads in each phase
 * @property {Record<string, number>} pass2
 */

/** Phases in which the program computes. */
const computing = { 1: ['scan', 'scatter', 'hash', 'other'], 2: ['sort', 'gather', 'hash', 'other'] };
/** CPU time of a job of a few lines. */
const start = { userSeconds: 0.18, sysSeconds: 0.04 };
/** Fitted to elapsed times on a quiet machine. */
const usual = { startSeconds: 0.25, overlap: 2 };
const overlaps = [1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 6, 10, 20];

/** @param {MeasuredJob[]} measured @returns {Costs} */
export function fitCosts(measured) {
  const phases = /** @type {const} */ ([1, 2]).flatMap((pass) =>
    computing[pass].map((phase) => fitPhase(measured, pass, phase)),
  );
  const [perMovedByte, perSegment] = leastSquares(
    measured.map(({ job, sysSeconds }) => {
      const moved = 2 * (job.bytes + job.storedBytes);
      return { a: moved, b: job.segments, seconds: sysSeconds - start.sysSeconds };
    }),
  );
  const alone = measured.filter((each) => !wasDisturbed(each));
  const starts = alone.map(({ steps: { pass1 = 0, pass2 = 0, ...rest } }) =>
    Object.values(rest).reduce((sum, s) => sum + s, 0),
  );
  const startSeconds = starts.length > 0 ? medianOf(starts) : usual.startSeconds;
  const withOverlap = (/** @type {number} */ overlap) => ({ startSeconds, phases, perMovedByte, perSegment, overlap });
  if (alone.length === 0) return withOverlap(usual.overlap);
  const errors = overlaps.map((overlap) => passError(withOverlap(overlap), alone));
  return withOverlap(overlaps[errors.indexOf(Math.min(...errors))] ?? usual.overlap);
}

/**
 * Whether threads waited for cores that other programs used: the computing phases took longer than the user time.
 *
 * @param {MeasuredJob} measured
 */
export function wasDisturbed({ userSeconds, pass1, pass2 }) {
  return sumOf(pass1, computing[1]) + sumOf(pass2, computing[2]) > 1.1 * userSeconds;
}

/** @param {MeasuredJob[]} measured @param {1 | 2} pass @param {string} phase @returns {PhaseCost} */
function fitPhase(measured, pass, phase) {
  const points = measured.map(({ job, userSeconds, pass1, pass2 }) => {
    const all = sumOf(pass1, computing[1]) + sumOf(pass2, computing[2]);
    const share = ((pass === 1 ? pass1 : pass2)[phase] ?? 0) / all;
    return { a: job.bytes, b: job.records, seconds: share * (userSeconds - start.userSeconds) };
  });
  const [perByte, perRecord] = leastSquares(points);
  return { pass, phase, perByte, perRecord };
}

/** Sum of squares of the logarithms of predicted over measured, of both passes of all jobs. */
/** @param {Costs} costs @param {MeasuredJob[]} measured */
function passError(costs, measured) {
  let sum = 0;
  for (const { job, machine, steps } of measured) {
    for (const { name, seconds } of predict(costs, job, machine).passes) {
      const elapsed = steps[name.replace(' ', '')];
      if (elapsed !== undefined && job.levels === 1) sum += Math.log(seconds / elapsed) ** 2;
    }
  }
  return sum;
}

/**
 * Finds x and y, neither negative, with the least sum of squares of (a x + b y - seconds) / seconds: relative errors
 * of short and long jobs count the same.
 *
 * @param {{ a: number, b: number, seconds: number }[]} points
 * @returns {[number, number]}
 */
function leastSquares(points) {
  let [aa, ab, bb, a1, b1] = [0, 0, 0, 0, 0];
  for (const { a, b, seconds } of points) {
    if (seconds <= 0) continue;
    const [u, v] = [a / seconds, b / seconds];
    aa += u * u;
    ab += u * v;
    bb += v * v;
    a1 += u;
    b1 += v;
  }
  if (aa === 0) return [0, 0];
  const determinant = aa * bb - ab * ab;
  const x = (a1 * bb - b1 * ab) / determinant;
  const y = (b1 * aa - a1 * ab) / determinant;
  if (determinant > 0 && x >= 0 && y >= 0) return [x, y];
  // Only one of them: the one with the smaller error.
  const [onlyA, onlyB] = [a1 / aa, bb === 0 ? 0 : b1 / bb];
  return onlyA * a1 >= onlyB * b1 ? [onlyA, 0] : [0, onlyB];
}

/** @param {Record<string, number>} seconds @param {string[]} phases */
function sumOf(seconds, phases) {
  return phases.reduce((sum, phase) => sum + (seconds[phase] ?? 0), 0);
}
