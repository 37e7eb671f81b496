/** Memory needs with which the tests of the planners start. */
import fc from 'fast-check';
import type { MemoryNeed } from '#src/plan/memory-plan.js';

export const MIB = 1024 * 1024;
export const GIB = 1024 * MIB;

export const usualNeed: MemoryNeed = {
  budgetBytes: 256 * MIB,
  workers: 2,
  mostSlices: Number.POSITIVE_INFINITY,
  recordBytes: 2e9,
  meanRecordBytes: 105,
  exact: true,
  hasStreams: false,
  tempDiskCount: 1,
  tempDisksRotate: false,
  openFileLimit: 1024,
  isResumable: false,
  outputWaits: false,
  layout: undefined,
};

/** 2^exponent, the exponent evenly spread. */
export const logarithmic = (least: number, most: number) =>
  fc.double({ min: Math.log2(least), max: Math.log2(most), noNaN: true }).map((power) => Math.round(2 ** power));

export const anyNeed: fc.Arbitrary<MemoryNeed> = fc.record({
  budgetBytes: logarithmic(4 * MIB, 2 ** 42),
  workers: logarithmic(1, 512),
  mostSlices: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), logarithmic(1, 1000)),
  recordBytes: logarithmic(1, 2 ** 50),
  meanRecordBytes: logarithmic(1, 2 ** 20),
  exact: fc.boolean(),
  hasStreams: fc.constant(false),
  tempDiskCount: fc.integer({ min: 1, max: 12 }),
  tempDisksRotate: fc.boolean(),
  openFileLimit: logarithmic(64, 2 ** 20),
  isResumable: fc.boolean(),
  outputWaits: fc.boolean(),
  columnBytes: fc.oneof(fc.constant(0), logarithmic(1, 2 ** 34)),
  layout: fc.constant(undefined),
});
