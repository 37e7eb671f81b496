// @ts-check
// The cost model: predicts how long a job takes, from the costs of bytes, records and segments and the speed of the
// disks. Pure.
//
//     time    = start + sum over passes
//     pass    = (cores^p + disks^p)^(1/p), or the time of the memory if that is longer
//     cores   = CPU seconds of the pass / workers: per byte and record, per byte moved by system calls, per segment
//     disks   = bytes to and from the disks / the speed of all disks together
//
// p tells how well computing and waiting overlap: 1 not at all, infinity completely. A rotating disk loses one seek a
// segment. In pass 1 N threads each wait for a random one of D rotating disks, which keeps N / (N + D - 1) of the disks
// busy. Each level of piles beyond the first is another pass that reads and writes all temp data.

/** @import { PlannedJob } from './planned-job.mjs' */

/**
 * @typedef {object} PhaseCost CPU seconds
 * @property {1 | 2} pass
 * @property {string} phase
 * @property {number} perByte of the records
 * @property {number} perRecord
 */

/**
 * @typedef {object} Costs the fitted constants
 * @property {number} startSeconds everything outside the passes
 * @property {PhaseCost[]} phases that compute
 * @property {number} perMovedByte CPU seconds to read or write a byte
 * @property {number} perSegment CPU seconds to write and read a segment, besides its bytes
 * @property {number} overlap p
 */

/**
 * @typedef {object} Disks the disks of inputs, temp data and outputs, evenly spread
 * @property {number} count
 * @property {number} readBytesPerSecond of each
 * @property {number} writeBytesPerSecond of each
 * @property {number} seekSeconds of a rotating disk; otherwise 0
 * @property {number} callSeconds the wait for a read, besides its bytes
 */

/**
 * @typedef {object} Machine
 * @property {Disks} disks
 * @property {number} cachedTempBytes temp data that stays in the page cache and never reaches a disk
 * @property {number} memoryBytesPerSecond
 */

/** @typedef {'cores' | 'disks' | 'memory'} Limit */

/**
 * @typedef {object} PassTime
 * @property {string} name
 * @property {number} coresSeconds
 * @property {number} disksSeconds
 * @property {number} seconds
 * @property {Limit} limit
 */

/** @typedef {{ seconds: number, passes: PassTime[] }} Prediction */

/** The bytes of one write to a rotating disk, as in pile-set-writer.ts. */
const SYNC_BYTES = 8 * 2 ** 20;
/** The same in pass 2, where threads follow each other from disk to disk; measured on simulated disks. */
const PASS2_DISKS_BUSY = 0.92;
/** How often a pass moves a stored byte to or from memory: DMA, copies, large buffers. Counted, not measured. */
const MEMORY_TRANSFERS = 9;

/**
 * @param {Costs} costs
 * @param {PlannedJob} job
 * @param {Machine} machine
 * @returns {Prediction}
 */
export function predict(costs, job, machine) {
  const { bytes, workers, levels } = job;
  const { disks } = machine;
  const tempBytes = job.isInMemory ? 0 : Math.max(0, job.storedBytes - machine.cachedTempBytes);
  const segmentBytes = job.storedBytes / job.segments;
  const reads = (/** @type {number} */ count) => count / disks.readBytesPerSecond;
  const writes = (/** @type {number} */ count) => count / disks.writeBytesPerSecond;
  // Rotating disks pay for moving the head. Others need no waiting in turn: the page cache takes the writes.
  const seekShare = disks.seekSeconds * disks.readBytesPerSecond;
  const readLoss = 1 + seekShare / segmentBytes;
  const writeLoss = 1 + seekShare / SYNC_BYTES;
  const busyInPass1 = disks.seekSeconds === 0 ? 1 : workers / (workers + disks.count - 1);
  const busyInPass2 = disks.count === 1 ? 1 : PASS2_DISKS_BUSY;
  const moved = bytes + job.storedBytes;
  const latency = tempBytes === 0 ? 0 : job.segments * disks.callSeconds;
  const segmentCosts = (job.segments * costs.perSegment) / 2;
  const cpu1 = computeSeconds(costs, job, 1) + moved * costs.perMovedByte + segmentCosts;
  const cpu2 = computeSeconds(costs, job, 2) + moved * costs.perMovedByte + segmentCosts;
  const cpuLevel = 2 * job.storedBytes * costs.perMovedByte + 2 * segmentCosts + rescatterSeconds(costs, job);

  /** @param {string} name @param {number} cpuSeconds @param {number} disksSeconds @returns {PassTime} */
  const passOf = (name, cpuSeconds, disksSeconds) => {
    const coresSeconds = cpuSeconds / workers;
    const memorySeconds = (MEMORY_TRANSFERS * job.storedBytes) / machine.memoryBytesPerSecond;
    const together = (coresSeconds ** costs.overlap + disksSeconds ** costs.overlap) ** (1 / costs.overlap);
    /** @type {Limit} */
    const limit = memorySeconds > together ? 'memory' : coresSeconds > disksSeconds ? 'cores' : 'disks';
    return { name, coresSeconds, disksSeconds, seconds: Math.max(together, memorySeconds), limit };
  };
  const passes = [
    passOf('pass 1', cpu1, (reads(bytes) + writes(tempBytes) * writeLoss) / disks.count / busyInPass1),
    ...Array.from({ length: levels - 1 }, (_, i) =>
      passOf(
        `level ${i + 2}`,
        cpuLevel + latency,
        (reads(job.storedBytes) * readLoss + writes(job.storedBytes) * writeLoss) / disks.count / busyInPass1,
      ),
    ),
    passOf('pass 2', cpu2 + latency, (reads(tempBytes) * readLoss + writes(bytes)) / disks.count / busyInPass2),
  ];
  return { seconds: passes.reduce((sum, { seconds }) => sum + seconds, costs.startSeconds), passes };
}

/** @param {Costs} costs @param {PlannedJob} job @param {1 | 2} pass */
function computeSeconds({ phases }, { bytes, records }, pass) {
  return phases
    .filter((phase) => phase.pass === pass)
    .reduce((sum, { perByte, perRecord }) => sum + bytes * perByte + records * perRecord, 0);
}

/** Records are scattered again, without framing, and are hashed once more when written and when read. */
/** @param {Costs} costs @param {PlannedJob} job */
function rescatterSeconds({ phases }, { bytes, records }) {
  return phases
    .filter(({ pass, phase }) => pass === 1 && (phase === 'scatter' || phase === 'hash'))
    .reduce((sum, { phase, perByte, perRecord }) => {
      const times = phase === 'hash' ? 2 : 1;
      return sum + times * (bytes * perByte + records * perRecord);
    }, 0);
}
