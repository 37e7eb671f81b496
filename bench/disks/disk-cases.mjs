// @ts-check
// What `npm run bench:disks` runs: which simulated disks hold the temp data, and what is compared.

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
 * @property {'directories' | 'loop devices'} places devices of their own are needed where the class of a disk matters
 * @property {boolean} hasLongFiles whether slices and stripes are those of a much larger job
 * @property {DiskContestant[]} contestants
 * @property {[string, string][]} comparisons the time of the first divided by that of the second
 */

// As slow as a throttled volume of a cloud, so that the two cores of a small machine have nothing to say.
const slow = { bytesPerSecond: 15e6, seekSeconds: 0.0001, rotates: false, writeBackBytes: 0 };
const slowBehindCache = { ...slow, writeBackBytes: 16e6 };
const rotating = { bytesPerSecond: 100e6, seekSeconds: 0.008, rotates: true, writeBackBytes: 0 };
// The same at half the pace, so that four of them are still slower than two cores.
const slowRotating = { ...rotating, bytesPerSecond: 50e6, seekSeconds: 0.016 };

/** More than there are calls: it never holds one back. */
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
