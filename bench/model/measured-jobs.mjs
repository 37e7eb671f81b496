// @ts-check
// Turns the measurements of the bench into the input of the fit: medians, and the machine of each job. Pure.

import { medianOf } from '../figures.mjs';
import { planJob } from './planned-job.mjs';

/** @import { Profile } from '../breakdown.mjs' */
/** @import { Run } from '../measure.mjs' */
/** @import { Disks } from './cost-model.mjs' */
/** @import { MeasuredJob } from './fit.mjs' */
/** @import { ModelCase } from './model-cases.mjs' */

/**
 * @typedef {object} CaseRuns
 * @property {ModelCase} case
 * @property {number} bytes
 * @property {number} records
 * @property {Pick<Run, 'wallSeconds' | 'userSeconds' | 'sysSeconds' | 'profile'>[]} runs
 */

/**
 * @typedef {object} Measurements a file in bench/results
 * @property {string} date
 * @property {Record<string, string | null>} versions
 * @property {{ cores: number, memoryBytes: number }} machine
 * @property {CaseRuns[]} cases
 */

/** The share of memory that may be dirty before writers wait: vm.dirty_ratio of Linux. */
const DIRTY_SHARE = 0.2;
/** Unused: the disks are the limit there. */
const UNLIMITED = Number.POSITIVE_INFINITY;
const MIB = 2 ** 20;

/** @param {Measurements} measurements @returns {Disks} the one disk of all files */
export function measuredDisk({ cases }) {
  const secondsOf = (/** @type {string} */ name) => {
    const found = cases.find((each) => each.case.name === name);
    if (found === undefined) throw new Error(`the measurements have no case ${name}`);
    return { bytes: found.bytes, seconds: medianOf(found.runs.map(({ wallSeconds }) => wallSeconds)) };
  };
  const read = secondsOf('disk-read');
  // Two reads and two writes.
  const both = secondsOf('disk-both');
  const readBytesPerSecond = read.bytes / read.seconds;
  const writeBytesPerSecond = (2 * both.bytes) / (both.seconds - (2 * both.bytes) / readBytesPerSecond);
  return { count: 1, readBytesPerSecond, writeBytesPerSecond, seekSeconds: 0, callSeconds: 0 };
}

/** @param {Measurements} measurements @param {ModelCase['role']} role @returns {MeasuredJob[]} */
export function measuredJobs(measurements, role) {
  const disks = measuredDisk(measurements);
  return measurements.cases.flatMap(
    ({ case: { name, role: itsRole, memory, cgroupLimitBytes }, bytes, records, runs }) => {
      if (itsRole !== role) return [];
      const profiles = runs.flatMap(({ profile }) => (profile === null ? [] : [profile]));
      const job = planJob({
        bytes,
        records,
        budgetBytes: budgetOf(memory),
        workers: measurements.machine.cores,
        tempDisks: 1,
        rotates: false,
        openFileLimit: 2 ** 20,
      });
      const isTight = cgroupLimitBytes !== undefined;
      const cachedTempBytes = isTight ? 0 : measurements.machine.memoryBytes * DIRTY_SHARE;
      const median = (/** @type {(run: CaseRuns['runs'][number]) => number} */ figure) => medianOf(runs.map(figure));
      return [
        {
          name,
          job,
          machine: { disks, cachedTempBytes, memoryBytesPerSecond: UNLIMITED },
          wallSeconds: median(({ wallSeconds }) => wallSeconds),
          userSeconds: median(({ userSeconds }) => userSeconds ?? 0),
          sysSeconds: median(({ sysSeconds }) => sysSeconds ?? 0),
          steps: medians(profiles, ({ seconds }) => seconds),
          pass1: medians(profiles, ({ pass1 }) => pass1),
          pass2: medians(profiles, ({ pass2 }) => pass2),
        },
      ];
    },
  );
}

/** @param {Profile[]} profiles @param {(profile: Profile) => Record<string, number>} figures */
function medians(profiles, figures) {
  const [first] = profiles;
  const names = first === undefined ? [] : Object.keys(figures(first));
  return Object.fromEntries(names.map((name) => [name, medianOf(profiles.map((each) => figures(each)[name] ?? 0))]));
}

/** @param {string | undefined} memory as in the cases: in MiB or GiB */
function budgetOf(memory) {
  const match = /^(\d+)([MG])$/.exec(memory ?? '');
  if (!match) throw new Error(`expected a case with a memory such as 256M, got ${memory}`);
  return Number(match[1]) * (match[2] === 'G' ? 1024 : 1) * MIB;
}
