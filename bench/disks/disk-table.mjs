// @ts-check
// Formats the result of a case of simulated disks as text: a table of contestants and a table of comparisons. Pure.

import { columns } from '../columns.mjs';
import { medianOf } from '../figures.mjs';

/** @import { Run } from '../measure.mjs' */
/** @import { DiskCase, DiskContestant } from './disk-cases.mjs' */
/** @import { DiskUse } from './simulated-disk.mjs' */

/** @typedef {Run & { disks: DiskUse[] }} DiskRun */
/** @typedef {{ contestant: DiskContestant, runs: DiskRun[] }} DiskEntry */

const heads = ['temp disks', 'median s', 'best s', 'worst s', 'pass 1 s', 'pass 2 s', 'busy', 'seeks'];

/** @param {DiskCase} diskCase @param {DiskEntry[]} entries @returns {string} */
export function diskTable({ name, sizeBytes, memory, comparisons }, entries) {
  const rounds = entries[0]?.runs.length ?? 0;
  const title = `${name}: ${sizeBytes / 1e6} MB of sentences, -S ${memory}, ${rounds} ${rounds === 1 ? 'round' : 'rounds'}`;
  const ratios = comparisons.map(([above, below]) =>
    ratioRow(`${above} / ${below}`, runsOf(entries, above), runsOf(entries, below)),
  );
  const lines = [
    title,
    ...columns([heads, ...entries.map(entryRow)]),
    '',
    ...columns([['comparison, in rounds', 'all', 'pass 1', 'pass 2'], ...ratios]),
  ];
  return `${lines.join('\n')}\n`;
}

/** @param {DiskEntry} entry @returns {string[]} */
function entryRow({ contestant, runs }) {
  const walls = runs.map(wallSeconds);
  /** @param {(run: DiskRun) => number} figure */
  const median = (figure) => medianOf(runs.map(figure));
  return [
    contestant.name,
    ...[medianOf(walls), Math.min(...walls), Math.max(...walls), median(pass1Seconds), median(pass2Seconds)].map(fixed),
    `${(100 * median(busyShare)).toFixed(0)} %`,
    median(({ disks }) => disks.reduce((sum, { seeks }) => sum + seeks, 0)).toFixed(0),
  ];
}

/** @param {string} name @param {DiskRun[]} above @param {DiskRun[]} below @returns {string[]} */
function ratioRow(name, above, below) {
  const belowOfRound = new Map(below.map((run) => [run.round, run]));
  /** @param {(run: DiskRun) => number} figure */
  const ratio = (figure) => {
    const ratios = above.flatMap((run) => {
      const other = belowOfRound.get(run.round);
      return other === undefined ? [] : [figure(run) / figure(other)];
    });
    return fixed(medianOf(ratios));
  };
  return [name, ratio(wallSeconds), ratio(pass1Seconds), ratio(pass2Seconds)];
}

/** @param {DiskEntry[]} entries @param {string} name */
function runsOf(entries, name) {
  return entries.find(({ contestant }) => contestant.name === name)?.runs ?? [];
}

/** @param {DiskRun} run */
const wallSeconds = (run) => run.wallSeconds;
/** @param {DiskRun} run */
const pass1Seconds = ({ profile }) => profile?.seconds['pass1'] ?? 0;
/** @param {DiskRun} run */
const pass2Seconds = ({ profile }) => profile?.seconds['pass2'] ?? 0;
/** @param {DiskRun} run the mean share of the time of both passes in which a disk is busy */
const busyShare = (run) => {
  const busy = run.disks.reduce((sum, { busySeconds }) => sum + busySeconds, 0);
  return busy / (pass1Seconds(run) + pass2Seconds(run)) / run.disks.length;
};
/** @param {number} value */
const fixed = (value) => value.toFixed(2);
