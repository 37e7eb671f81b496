// @ts-check
// The cases of `npm run bench:disks`: the simulated disks of the temp data, and the comparisons.

/** @import { DiskModel } from './simulated-disk.mjs' */

/**
 * @typedef {object} DiskContestant
 * @property {string} name
 * @property {number} diskCount
 * @property {number} workers
 * @property {Omit<DiskModel, 'directory'>} disk
 * @property {number | undefined} ioLimit of each disk; undefined: the default of its class
 */

/**
 * @typedef {object} DiskCase
 * @property {string} name
 * @property {number} sizeBytes of the inputs
 * @property {string} memory
 * @property {'directories' | 'loop devices'} places separate devices are needed if the class of a disk matters
 * @property {boolean} hasLongFiles whether slices and stripes have the sizes of a much larger job
 * @property {DiskContestant[]} contestants
 * @property {[string, string][]} comparisons the time of the first divided by the time of the second
 */

// As slow as a throttled cloud volume, so that the two cores of a small machine are never the limit.
const slow = { bytesPerSecond: 15e6, seekSeconds: 0.0001, rotates: false, writeBackBytes: 0 };
const slowBehindCache = { ...slow, writeBackBytes: 16e6 };
const rotating = { bytesPerSecond: 100e6, seekSeconds: 0.008, rotates: true, writeBackBytes: 0 };
// Half as fast, so that even four of them are slower than two cores.
const slowRotating = { ...rotating, bytesPerSecond: 50e6, seekSeconds: 0.016 };

/** More than the number of calls: never delays one. */
const noGate = 64;

/** @type {DiskCase[]} */
export const diskCases = [
  {
    name: 'slow-disks',
    sizeBytes: 200e6,
    memory: '128M',
    places: 'directories',
    hasLongFiles: false,
    contestants: [
      { name: 'one', diskCount: 1, workers: 8, disk: slow, ioLimit: noGate },
      { name: 'four', diskCount: 4, workers: 8, disk: slow, ioLimit: noGate },
      { name: 'four, 16 workers', diskCount: 4, workers: 16, disk: slow, ioLimit: noGate },
      { name: 'one behind a cache', diskCount: 1, workers: 8, disk: slowBehindCache, ioLimit: noGate },
      { name: 'four behind caches', diskCount: 4, workers: 8, disk: slowBehindCache, ioLimit: noGate },
    ],
    comparisons: [
      ['one', 'four'],
      ['one', 'four, 16 workers'],
      ['one behind a cache', 'four behind caches'],
    ],
  },
  {
    name: 'rotating-disk',
    sizeBytes: 200e6,
    memory: '128M',
    places: 'loop devices',
    hasLongFiles: true,
    contestants: [
      { name: 'one', diskCount: 1, workers: 4, disk: rotating, ioLimit: undefined },
      { name: 'one without a gate', diskCount: 1, workers: 4, disk: rotating, ioLimit: noGate },
    ],
    comparisons: [['one without a gate', 'one']],
  },
  {
    name: 'rotating-disks',
    sizeBytes: 400e6,
    memory: '256M',
    places: 'loop devices',
    hasLongFiles: true,
    contestants: [
      { name: 'one', diskCount: 1, workers: 8, disk: slowRotating, ioLimit: undefined },
      { name: 'four', diskCount: 4, workers: 8, disk: slowRotating, ioLimit: undefined },
    ],
    comparisons: [['one', 'four']],
  },
];
