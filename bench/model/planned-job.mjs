// @ts-check
// The counts of a job, such as its piles and segments, as the planner decides them: the model has no rules of its own
// about piles. Pure.

import { MOST_SUB_PILES, OUTPUT_BUFFER_COUNT, STORED_HEADER_BYTES, SUB_PILE_FILL } from '#src/plan/arena-sizes.js';
import { planMemory } from '#src/plan/memory-plan.js';
import { planSliceBytes } from '#src/plan/slices.js';

/**
 * @typedef {object} JobSize
 * @property {number} bytes of all records
 * @property {number} records
 * @property {number} budgetBytes
 * @property {number} workers wanted
 * @property {number} tempDisks
 * @property {boolean} rotates
 * @property {number} openFileLimit
 */

/**
 * @typedef {object} PlannedJob
 * @property {number} bytes
 * @property {number} records
 * @property {number} storedBytes
 * @property {number} workers
 * @property {boolean} isInMemory
 * @property {number} piles
 * @property {number} bufferBytes
 * @property {number} segments that pass 1 leaves
 * @property {number} levels how often a record is written to a pile
 * @property {number} slices
 * @property {number} stripes
 * @property {number} openFiles the most, of all workers
 * @property {number} indexBytes of all pile sets
 */

const SEGMENT_ENTRY_BYTES = 24;
const PILE_ENTRY_BYTES = 48;
/** Bytes of arena for each byte of a loaded pile, as in memory-plan.ts. */
const loadFactor = (/** @type {number} */ meanRecordBytes) => 1.2 * (1 + 20 / (meanRecordBytes + STORED_HEADER_BYTES));

/** @param {JobSize} size @returns {PlannedJob} */
export function planJob({ bytes, records, budgetBytes, workers, tempDisks, rotates, openFileLimit }) {
  const meanRecordBytes = bytes / records;
  const plan = planMemory({
    budgetBytes,
    workers,
    mostSlices: Number.POSITIVE_INFINITY,
    recordBytes: bytes,
    meanRecordBytes,
    exact: true,
    hasStreams: false,
    tempDiskCount: tempDisks,
    tempDisksRotate: rotates,
    openFileLimit,
    isResumable: false,
    outputWaits: false,
    layout: undefined,
  });
  const sliceBytes = planSliceBytes(bytes, plan.workers, plan.pileCount, plan.bufferBytes);
  const slices = Math.max(1, Math.round(bytes / sliceBytes));
  // Full buffers, plus the rest of each pile at the end of each slice.
  const segments = plan.storedBytes / plan.bufferBytes + (slices * plan.pileCount) / 2;
  const outputBytes = OUTPUT_BUFFER_COUNT * plan.outputBytes;
  let levels = 1;
  for (let pileBytes = plan.storedBytes / plan.pileCount; ; levels++) {
    const loadBytes = pileBytes * loadFactor(meanRecordBytes) + outputBytes;
    if (plan.ramPoolBytes > 0 || loadBytes <= plan.pass2ArenaBytes) break;
    const subPiles = Math.ceil(loadBytes / (plan.pass2ArenaBytes - outputBytes) / SUB_PILE_FILL);
    pileBytes /= Math.min(MOST_SUB_PILES, subPiles);
  }
  return {
    bytes,
    records,
    storedBytes: plan.storedBytes,
    workers: plan.workers,
    isInMemory: plan.ramPoolBytes > 0,
    piles: plan.pileCount,
    bufferBytes: plan.bufferBytes,
    segments,
    levels,
    slices,
    stripes: plan.stripeCount,
    openFiles: 48 + plan.workers * (8 + plan.stripeCount * tempDisks),
    indexBytes: segments * SEGMENT_ENTRY_BYTES + slices * plan.pileCount * PILE_ENTRY_BYTES,
  };
}
