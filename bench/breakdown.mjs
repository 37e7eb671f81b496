// @ts-check
// Shows where the time of pileshuf goes, from the output of `--profile`: a table of the phases, each with its median
// over the rounds and its share of the elapsed time. Pure.

import { columns } from './columns.mjs';
import { medianOf } from './figures.mjs';

/** @import { Run } from './measure.mjs' */

/**
 * @typedef {object} Profile as `JobProfile` of the library, without its tasks
 * @property {number} workers
 * @property {Record<string, number>} seconds elapsed, of the steps of the job
 * @property {Record<string, number>} pass1 of all threads, of each phase
 * @property {Record<string, number>} pass2
 */

/** @param {string} text what pileshuf wrote @returns {Profile} */
export function readProfile(text) {
  const { tasks: _, ...profile } = JSON.parse(text);
  return profile;
}

/** @param {Run[]} runs @returns {string[]} lines; none when nothing was profiled */
export function breakdownLines(runs) {
  const profiles = runs.flatMap(({ profile }) => (profile === null ? [] : [profile]));
  const [first] = profiles;
  if (first === undefined) return [];
  /** @param {(profile: Profile) => number | undefined} figure */
  const median = (figure) => medianOf(profiles.map((profile) => figure(profile) ?? 0));
  const elapsed = median(({ seconds }) => Object.values(seconds).reduce((sum, each) => sum + each, 0));
  const steps = Object.keys(first.seconds).map((step) => {
    const seconds = median((profile) => profile.seconds[step]);
    return [step, text(seconds), percent(seconds / elapsed)];
  });
  const phases = Object.keys(first.pass1).flatMap((phase) => {
    const pass1 = median((profile) => profile.pass1[phase]) / first.workers;
    const pass2 = median((profile) => profile.pass2[phase]) / first.workers;
    if (pass1 + pass2 < leastSeconds) return [];
    return [[phase, text(pass1), text(pass2), percent((pass1 + pass2) / elapsed)]];
  });
  return [
    ...columns([['step', 'seconds', 'of all'], ...steps, ['all', text(elapsed), '']]),
    '',
    ...columns([[`phase, a worker of ${first.workers}`, 'pass 1', 'pass 2', 'of all'], ...phases]),
  ];
}

const leastSeconds = 0.0005;
/** @param {number} seconds */
const text = (seconds) => seconds.toFixed(3);
/** @param {number} share */
const percent = (share) => `${(share * 100).toFixed(1)} %`;
