// @ts-check
// The cases and figures of the regression guard, as data. No figure is a time. Each is a count, or the ratio of the CPU
// times of two programs in the same round, so that the machine, the day and other load nearly cancel out. User CPU is
// measured with one worker, because two workers on one processor slow each other down. The gain of a second worker is
// not guarded: if other programs use the cores, two workers are slower than one.

import { medianOf, ratioInRounds } from './figures.mjs';

/** @import { Case } from './cases.mjs' */
/** @import { ContestantName } from './contestants.mjs' */
/** @import { Run } from './measure.mjs' */
/** @import { CaseResult } from './run-case.mjs' */
/** @import { TracedCalls } from './traced-calls.mjs' */

/**
 * @typedef {object} GuardFigure
 * @property {string} name
 * @property {string} caseName
 * @property {number} slack how many times worse than the baseline it may be
 * @property {(of: OfCase) => number | null} read null if it cannot be measured
 */

/**
 * @typedef {object} OfCase
 * @property {number} dataBytes
 * @property {(name: ContestantName) => Run[]} runs none if it was left out or failed
 */

// Counts and memory depend on the number of threads.
const common = /** @type {const} */ ({ workers: 2, warmup: 0, bars: {} });
const startup = /** @type {const} */ ({ ...common, kind: 'sentences', lineCount: 1000 });
const sentences = /** @type {const} */ ({ ...common, kind: 'sentences', sizeBytes: 150e6 });
// Records and their keys need more than this, so they go to disk, in some tens of piles.
const onDisk = /** @type {const} */ ({ memory: '64M' });
const againstReference = /** @type {const} */ ({
  contestants: /** @type {ContestantName[]} */ (['one-worker', 'reference']),
  rounds: 9,
});
// Counts are the same in every round.
const counting = /** @type {const} */ ({
  contestants: /** @type {ContestantName[]} */ (['pileshuf', 'traced']),
  rounds: 1,
});

/** @type {Case[]} the cases of `--quick` */
export const guardCases = [
  { ...startup, name: 'quick-startup', contestants: ['pileshuf', 'bare-node'], rounds: 15 },
  { ...startup, name: 'quick-startup-counts', ...counting },
  { ...sentences, ...onDisk, name: 'quick-disk', ...againstReference },
  { ...sentences, ...onDisk, name: 'quick-disk-counts', ...counting },
  { ...sentences, name: 'quick-ram', memory: '1G', ...againstReference },
  { ...common, ...onDisk, name: 'quick-tiny', kind: 'tiny', sizeBytes: 48e6, ...againstReference },
];

// Ratios of CPU times differ between processor models; counts hardly differ.
const cpuSlack = 1.5;
const byteSlack = 1.05;
const callSlack = 1.2;
const openSlack = 1.1;
const memorySlack = 1.2;

/** @type {GuardFigure[]} */
export const guardFigures = [
  {
    ...costOf('quick-startup', 'user CPU of pileshuf / of bare Node', cpuSlack),
    read: ({ runs }) => ratioInRounds(runs('pileshuf'), runs('bare-node'), userSeconds),
  },
  { ...costOf('quick-startup-counts', 'files opened', openSlack), read: counted((calls) => calls.opens) },
  userCpuOf('quick-disk'),
  {
    ...costOf('quick-disk-counts', 'bytes read / input bytes', byteSlack),
    read: counted((calls, dataBytes) => calls.dataReadBytes / dataBytes),
  },
  {
    ...costOf('quick-disk-counts', 'bytes written / input bytes', byteSlack),
    read: counted((calls, dataBytes) => calls.dataWrittenBytes / dataBytes),
  },
  { ...costOf('quick-disk-counts', 'calls that read', callSlack), read: counted((calls) => calls.dataReads) },
  { ...costOf('quick-disk-counts', 'calls that write', callSlack), read: counted((calls) => calls.dataWrites) },
  {
    ...costOf('quick-disk-counts', 'peak memory, MB', memorySlack),
    read: ({ runs }) => medianOfKnown(runs('pileshuf').map(({ peakRssBytes }) => peakRssBytes && peakRssBytes / 1e6)),
  },
  userCpuOf('quick-ram'),
  userCpuOf('quick-tiny'),
];

/** @param {CaseResult[]} results @returns {Map<string, number | null>} by name */
export function measureGuardFigures(results) {
  return new Map(
    guardFigures.map(({ name, caseName, read }) => {
      const result = results.find((each) => each.case.name === caseName);
      const value = result && read({ dataBytes: result.corpus.bytes, runs: (of) => runsOf(result, of) });
      return [name, value ?? null];
    }),
  );
}

/** @param {CaseResult} result @param {ContestantName} name @returns {Run[]} */
function runsOf({ contestants }, name) {
  const found = contestants.find((each) => each.name === name);
  return found?.figures ? found.runs : [];
}

/** @param {string} caseName @param {string} what @param {number} slack */
function costOf(caseName, what, slack) {
  return { name: `${caseName}: ${what}`, caseName, slack };
}

/** @param {string} caseName @returns {GuardFigure} */
function userCpuOf(caseName) {
  return {
    ...costOf(caseName, 'user CPU of one worker / of the reference', cpuSlack),
    read: ({ runs }) => ratioInRounds(runs('one-worker'), runs('reference'), userSeconds),
  };
}

/** @param {(calls: TracedCalls, dataBytes: number) => number} figure @returns {GuardFigure['read']} */
function counted(figure) {
  return ({ runs, dataBytes }) => medianOfKnown(runs('traced').map(({ calls }) => calls && figure(calls, dataBytes)));
}

/** @param {(number | null)[]} values @returns {number | null} */
function medianOfKnown(values) {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : medianOf(known);
}

/** @param {Run} run */
function userSeconds(run) {
  return run.userSeconds;
}
