// @ts-check
// The servers of the tables in docs/SCALE.md. The disks have their makers' figures for long sequential calls; the
// memory has the measured speed of servers of that size with all cores copying. Nothing was measured on this machine.

/** @import { Disks } from './cost-model.mjs' */

/**
 * @typedef {object} Server
 * @property {string} name
 * @property {number} cores
 * @property {number} budgetBytes
 * @property {string} diskKind
 * @property {Disks} disks
 * @property {number} memoryBytesPerSecond
 */

const GIB = 2 ** 30;

/** @param {number} bytesPerSecond @param {number} seekSeconds @param {number} callSeconds */
const disk = (bytesPerSecond, seekSeconds, callSeconds) => ({
  readBytesPerSecond: bytesPerSecond,
  writeBytesPerSecond: bytesPerSecond,
  seekSeconds,
  callSeconds,
});
const kinds = {
  rotating: disk(0.2e9, 0.008, 0),
  'SATA SSD': disk(0.5e9, 0, 150e-6),
  'NVMe 3 GB/s': disk(3e9, 0, 100e-6),
  'NVMe 7 GB/s': disk(7e9, 0, 100e-6),
};

/** A server socket has eight memory channels; a program gets about 150 GB/s from them. */
const memoryOfCores = (/** @type {number} */ cores) => Math.min(300e9, Math.max(80e9, cores * 5e9));

/** @param {number} cores @param {number} budgetGib @param {number} count @param {keyof typeof kinds} kind @returns {Server} */
export function serverOf(cores, budgetGib, count, kind) {
  return {
    name: `${cores} cores, -S ${budgetGib}G, ${count} x ${kind}`,
    cores,
    budgetBytes: budgetGib * GIB,
    diskKind: kind,
    disks: { count, ...kinds[kind] },
    memoryBytesPerSecond: memoryOfCores(cores),
  };
}

export const servers = [
  serverOf(16, 32, 1, 'NVMe 3 GB/s'),
  serverOf(16, 32, 4, 'SATA SSD'),
  serverOf(32, 64, 12, 'rotating'),
  serverOf(32, 128, 4, 'NVMe 3 GB/s'),
  serverOf(64, 256, 8, 'NVMe 7 GB/s'),
  serverOf(96, 512, 24, 'rotating'),
  serverOf(96, 512, 24, 'SATA SSD'),
  serverOf(96, 768, 24, 'NVMe 7 GB/s'),
];
