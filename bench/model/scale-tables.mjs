// @ts-check
// The tables of docs/SCALE.md and docs/SCALE-MODEL.md. Pure.

import { predict } from './cost-model.mjs';
import { wasDisturbed } from './fit.mjs';
import { planJob } from './planned-job.mjs';
import { serverOf, servers } from './servers.mjs';

/** @import { Costs } from './cost-model.mjs' */
/** @import { MeasuredJob } from './fit.mjs' */
/** @import { PlannedJob } from './planned-job.mjs' */
/** @import { Server } from './servers.mjs' */

const KIB = 2 ** 10;
const MIB = 2 ** 20;
const GIB = 2 ** 30;
const TB = 1e12;
const sizes = [1 * TB, 10 * TB, 100 * TB];
const sentenceBytes = 105;
const documentBytes = 2500;
const openFileLimit = 2 ** 20;

/** @param {number} bytes @param {number} recordBytes @param {Server} server @returns {PlannedJob} */
function plannedFor(bytes, recordBytes, { cores, budgetBytes, disks }) {
  const rotates = disks.seekSeconds > 0;
  const records = bytes / recordBytes;
  return planJob({ bytes, records, budgetBytes, workers: cores, tempDisks: disks.count, rotates, openFileLimit });
}

/** @param {Costs} costs @param {number} bytes @param {number} recordBytes @param {Server} server */
function predictFor(costs, bytes, recordBytes, server) {
  const { disks, memoryBytesPerSecond } = server;
  return predict(costs, plannedFor(bytes, recordBytes, server), { disks, memoryBytesPerSecond, cachedTempBytes: 0 });
}

/** @param {Costs} costs @returns {string[]} */
export function timeTable(costs) {
  const rows = servers.flatMap((server) =>
    sizes.map((bytes, i) => {
      const sentences = predictFor(costs, bytes, sentenceBytes, server);
      const documents = predictFor(costs, bytes, documentBytes, server);
      const limits = sentences.passes.map(({ limit }) => limit).join(', ');
      return [
        i === 0 ? server.name : '',
        `${bytes / TB} TB`,
        hours(sentences.seconds),
        hours(documents.seconds),
        `${(bytes / sentences.seconds / 1e9).toFixed(1)}`,
        limits,
      ];
    }),
  );
  return markdown(['server', 'data', 'sentences', 'documents', 'GB/s', 'what limits each pass (sentences)'], rows);
}

/** @returns {string[]} */
export function planTable() {
  const rows = servers.flatMap((server) =>
    sizes.map((bytes, i) => {
      const job = plannedFor(bytes, sentenceBytes, server);
      return [
        i === 0 ? server.name : '',
        `${bytes / TB} TB`,
        `${job.workers}`,
        job.isInMemory ? 'in memory' : `${job.levels}`,
        whole(job.piles),
        size(job.storedBytes / job.piles),
        size(job.bufferBytes),
        whole(job.slices),
        whole(job.stripes),
        whole(job.openFiles),
        size(job.indexBytes),
      ];
    }),
  );
  const heads = [
    'server',
    'data',
    'workers',
    'levels',
    'piles',
    'a pile',
    'a segment',
    'slices',
    'stripes',
    'open files',
    'indexes',
  ];
  return markdown(heads, rows);
}

/** How much memory a worker needs for one level. @returns {string[]} */
export function memoryTable() {
  const server = serverOf(32, 1, 1, 'NVMe 3 GB/s');
  const rotating = serverOf(32, 1, 1, 'rotating');
  /** @param {number} bytes @param {Server} of @param {(job: PlannedJob) => boolean} suffices */
  const least = (bytes, of, suffices) => {
    for (let shareBytes = 16 * MIB; shareBytes <= 4 * GIB; shareBytes *= 2 ** 0.125) {
      const job = plannedFor(bytes, sentenceBytes, { ...of, budgetBytes: of.cores * shareBytes });
      if (job.workers === of.cores && job.levels === 1 && suffices(job)) return size(roundUp(shareBytes));
    }
    return 'not with 4 GiB';
  };
  const rows = [0.1 * TB, ...sizes, 200 * TB].map((bytes) => [
    `${bytes / TB} TB`,
    least(bytes, server, () => true),
    least(bytes, server, ({ bufferBytes }) => bufferBytes >= 256 * KIB),
    least(bytes, rotating, () => true),
  ]);
  return markdown(
    ['data', 'one level', 'one level, segments of 256 KiB or more', 'one level, rotating disks (segments of 512 KiB)'],
    rows,
  );
}

/** @param {Costs} costs @returns {string[]} */
export function workersTable(costs) {
  const counts = [1, 2, 4, 8, 16];
  const bytes = 100e9;
  /** @param {number} recordBytes @param {number} budgetGib @param {number} workers */
  const speed = (recordBytes, budgetGib, workers) => {
    const server = { ...serverOf(workers, budgetGib, 1, 'NVMe 3 GB/s'), memoryBytesPerSecond: 80e9 };
    const { seconds, passes } = predictFor(costs, bytes, recordBytes, server);
    const limits = new Set(passes.map(({ limit }) => limit));
    return `${(bytes / seconds / 1e9).toFixed(2)} (${[...limits].join(', ')})`;
  };
  const rows = counts.map((workers) => [
    `${workers}`,
    speed(sentenceBytes, 16, workers),
    speed(sentenceBytes, 160, workers),
    speed(documentBytes, 16, workers),
    speed(documentBytes, 160, workers),
  ]);
  const heads = ['workers', 'sentences, on disk', 'sentences, in memory', 'documents, on disk', 'documents, in memory'];
  return markdown(heads, rows);
}

/** @param {Costs} costs @returns {string[]} */
export function costsTable(costs) {
  const { phases, perMovedByte, perSegment, overlap, startSeconds } = costs;
  const rows = phases.map(({ pass, phase, perByte, perRecord }) => [
    `pass ${pass}: ${phase}`,
    (perByte * 1e9).toFixed(3),
    (perRecord * 1e9).toFixed(1),
  ]);
  rows.push(['each read and write, of its bytes', (perMovedByte * 1e9).toFixed(3), '']);
  return [
    ...markdown(['CPU time', 'ns a byte', 'ns a record'], rows),
    '',
    `In addition a segment costs ${(perSegment * 1e6).toFixed(0)} µs, and start and end of a job ${startSeconds.toFixed(2)} s; p is ${overlap}.`,
    `If nothing else limits, a core takes in ${speedOfCore(costs, sentenceBytes)} GB/s of sentences,`,
    `${speedOfCore(costs, documentBytes)} GB/s of documents and ${speedOfCore(costs, 8)} GB/s of records of 8 bytes.`,
  ];
}

/** @param {Costs} costs @param {number} recordBytes */
function speedOfCore(costs, recordBytes) {
  const server = serverOf(1, 4, 1, 'NVMe 7 GB/s');
  const { passes } = predictFor(costs, 100e9, recordBytes, server);
  return (100 / passes.reduce((sum, { coresSeconds }) => sum + coresSeconds, 0)).toFixed(2);
}

/** @param {Costs} costs @param {MeasuredJob[]} fitted @param {MeasuredJob[]} checked @returns {string[]} */
export function errorTable(costs, fitted, checked) {
  /** @param {MeasuredJob} measured */
  const errorOf = ({ job, machine, wallSeconds }) => predict(costs, job, machine).seconds / wallSeconds - 1;
  /** @param {MeasuredJob} measured @param {string} role */
  const row = (measured, role) => {
    const { name, job, machine, wallSeconds } = measured;
    const { seconds } = predict(costs, job, machine);
    const error = wasDisturbed(measured) ? 'disturbed' : percent(errorOf(measured));
    return [name, `${(job.bytes / 1e9).toFixed(1)} GB`, role, wallSeconds.toFixed(2), seconds.toFixed(2), error];
  };
  const rows = [...fitted.map((each) => row(each, 'fitted')), ...checked.map((each) => row(each, 'not fitted'))];
  const errors = checked.filter((each) => !wasDisturbed(each)).map((each) => Math.abs(errorOf(each)));
  const [mean, worst] = [errors.reduce((sum, error) => sum + error, 0) / errors.length, Math.max(...errors)];
  return [
    ...markdown(['job', 'data', '', 'measured, s', 'model, s', 'error'], rows),
    '',
    errors.length === 0
      ? 'Other work on the machine disturbed all jobs that the model was not fitted to.'
      : `Error of the jobs that the model was not fitted to: ${(mean * 100).toFixed(0)} % on average, ${(worst * 100).toFixed(0)} % at worst.`,
    ...(errors.length === checked.length
      ? []
      : ['Of disturbed jobs only the CPU time counts: the machine had other work.']),
  ];
}

/** @param {string[]} heads @param {string[][]} rows @returns {string[]} */
export function markdown(heads, rows) {
  const widths = heads.map((head, i) => Math.max(3, head.length, ...rows.map((row) => (row[i] ?? '').length)));
  const line = (/** @type {string[]} */ cells) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  return [line(heads), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)];
}

/** @param {number} seconds */
export function hours(seconds) {
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 72 * 3600) return `${(seconds / 3600).toFixed(1)} h`;
  return `${(seconds / 86400).toFixed(1)} days`;
}

/** @param {number} bytes */
function size(bytes) {
  if (bytes >= GIB) return `${(bytes / GIB).toFixed(1)} GiB`;
  return bytes >= MIB ? `${Math.round(bytes / MIB)} MiB` : `${Math.round(bytes / KIB)} KiB`;
}

/** To two digits of MiB. @param {number} bytes */
function roundUp(bytes) {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(bytes / MIB)) - 1) * MIB;
  return Math.ceil(bytes / unit) * unit;
}

/** @param {number} count */
export function whole(count) {
  return Math.round(count).toLocaleString('en');
}

/** @param {number} share */
function percent(share) {
  return `${share < 0 ? '' : '+'}${(share * 100).toFixed(0)} %`;
}
