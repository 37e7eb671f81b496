/**
 * Plans for one to a thousand terabytes on large servers: no number overflows, open files and notes have bounds,
 * segments stay large, and memory adds up. Such jobs are too large for a test; planning is pure, so the test checks
 * their plans instead.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MOST_PILES, MOST_STRIPES } from '#src/piles/pile-layout.js';
import {
  ENTRY_BYTES,
  LARGEST_ARENA_BYTES,
  MOST_SUB_PILES,
  OUTPUT_BUFFER_COUNT,
  STORED_HEADER_BYTES,
  SUB_PILE_FILL,
} from '#src/plan/arena-sizes.js';
import { type MemoryNeed, type MemoryPlan, planMemory } from '#src/plan/memory-plan.js';
import { planSliceBytes, planSlices } from '#src/plan/slices.js';
import { GIB, logarithmic, MIB } from './memory-needs.js';

const KIB = 1024;
const GB = 1e9;
const TB = 1e12;

/** The largest slice that is ever planned. */
const LARGEST_SLICE_BYTES = 64 * GIB;
/** A manifest lists no more of them (job-directory/job-manifest.ts). */
const MOST_SLICES = 2 ** 20;
/** A segment in the log of a thread and then in the index (piles/segments.ts and pile-set-index.ts). */
const NOTE_BYTES = 40 + 24;
/** A segment of a merged pile, as an object: measured on the heap of Node 20. */
const SEGMENT_OBJECT_BYTES = 141;

const anyServer: fc.Arbitrary<MemoryNeed> = fc.record({
  budgetBytes: logarithmic(4 * GIB, 1536 * GIB),
  workers: fc.integer({ min: 16, max: 96 }),
  mostSlices: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), logarithmic(1, 1e6)),
  recordBytes: logarithmic(1 * TB, 1000 * TB),
  meanRecordBytes: fc.oneof(fc.constantFrom(8, 105, 2500, 1e6), logarithmic(2, 1e7)),
  exact: fc.boolean(),
  hasStreams: fc.constant(false),
  tempDiskCount: fc.integer({ min: 1, max: 24 }),
  tempDisksRotate: fc.boolean(),
  openFileLimit: fc.constantFrom(1024, 65536, 2 ** 20),
  isResumable: fc.boolean(),
  outputWaits: fc.boolean(),
  layout: fc.constant(undefined),
});

/** The planned arena for loading a pile of this many stored bytes. */
function loadBytes(plan: MemoryPlan, need: MemoryNeed, pileBytes: number): number {
  const perStoredByte = 1.2 * (1 + ENTRY_BYTES / (need.meanRecordBytes + STORED_HEADER_BYTES));
  return pileBytes * perStoredByte + OUTPUT_BUFFER_COUNT * plan.outputBytes;
}

/** How often a record is put on a pile before it is loaded, on average. */
function scatterLevelsOf(plan: MemoryPlan, need: MemoryNeed): number {
  let levels = 1;
  let pileBytes = plan.storedBytes / plan.pileCount;
  for (; loadBytes(plan, need, pileBytes) > plan.pass2ArenaBytes; levels++) {
    const roomBytes = plan.pass2ArenaBytes - OUTPUT_BUFFER_COUNT * plan.outputBytes;
    pileBytes /= Math.min(MOST_SUB_PILES, Math.ceil(loadBytes(plan, need, pileBytes) / roomBytes / SUB_PILE_FILL));
  }
  return levels;
}

function sliceBytesOf(plan: MemoryPlan, need: MemoryNeed): number {
  return planSliceBytes(need.recordBytes, plan.workers, plan.pileCount, plan.bufferBytes);
}

/** The segments of a pile set: full buffers, and the rest of each at the end. */
function segmentsOfSlice(plan: MemoryPlan, need: MemoryNeed): number {
  const storedRatio = plan.storedBytes / need.recordBytes;
  return (sliceBytesOf(plan, need) * storedRatio) / plan.bufferBytes + plan.pileCount;
}

const onAnyServer = (expectOf: (plan: MemoryPlan, need: MemoryNeed) => void) =>
  fc.assert(
    fc.property(anyServer, (need) => expectOf(planMemory(need), need)),
    { numRuns: 500 },
  );

describe('planMemory at scale', () => {
  it('gives whole, safe numbers within the limits of the formats and of 32-bit addresses', () => {
    onAnyServer((plan) => {
      const { storedBytes, pass2MayGrow: _, maySpill: __, ...sizes } = plan;
      for (const [name, size] of Object.entries(sizes)) expect(Number.isSafeInteger(size), name).toBe(true);
      expect(storedBytes).toBeLessThan(Number.MAX_SAFE_INTEGER);
      expect(plan.pileCount).toBeLessThanOrEqual(MOST_PILES);
      expect(plan.stripeCount).toBeLessThanOrEqual(MOST_STRIPES);
      expect(plan.pass1ArenaBytes).toBeLessThanOrEqual(plan.pass2ArenaBytes);
      expect(plan.pass2ArenaBytes).toBeLessThanOrEqual(LARGEST_ARENA_BYTES);
    });
  });

  it('keeps pile buffers, and so segments, large: 32 KiB, on rotating disks 512 KiB', () => {
    onAnyServer((plan, need) => {
      const leastBytes = need.tempDisksRotate && plan.ramPoolBytes === 0 ? 512 * KIB : 32 * KIB;
      expect(plan.bufferBytes).toBeGreaterThanOrEqual(leastBytes);
    });
  });

  it('puts as many piles on each disk, but for one in fifty', () => {
    onAnyServer((plan, { tempDiskCount }) => {
      // What stays in memory is on no disk.
      fc.pre(plan.ramPoolBytes === 0);
      const most = Math.ceil(plan.pileCount / tempDiskCount);
      expect(Math.floor(plan.pileCount / tempDiskCount)).toBeGreaterThanOrEqual(0.98 * most);
    });
  });

  it('keeps within the limit of open files; and 96 a pile set; where it is 65,536, no worker and no stripe is given up for it', () => {
    onAnyServer((plan, need) => {
      const files = plan.workers * (8 + plan.stripeCount * need.tempDiskCount);
      expect(48 + files).toBeLessThanOrEqual(need.openFileLimit);
      expect(plan.stripeCount * need.tempDiskCount).toBeLessThanOrEqual(96);
      if (need.openFileLimit < 65536) return;
      const wanted = Math.max(4, Math.floor(64 / need.tempDiskCount));
      expect(plan.stripeCount).toBe(Math.min(wanted, MOST_STRIPES, plan.pileCount));
      expect(plan.workers).toBeGreaterThanOrEqual(Math.ceil(need.workers / 2));
    });
  });

  it('loads piles of one level whole, and takes no second one where the memory is there', () => {
    onAnyServer((plan, need) => {
      fc.pre(plan.ramPoolBytes === 0);
      const shareBytes = Math.min(need.budgetBytes / plan.workers, LARGEST_ARENA_BYTES);
      const leastBufferBytes = need.tempDisksRotate ? 512 * KIB : 32 * KIB;
      // The inequality of memory-plan.ts, with an eighth for windows and output buffers.
      const mostPiles = Math.min(((shareBytes / 2) * 0.85) / (leastBufferBytes + 96), MOST_PILES);
      const holdsOneLevel = loadBytes(plan, need, plan.storedBytes / mostPiles) <= shareBytes * 0.85;
      if (holdsOneLevel && !need.outputWaits) expect(scatterLevelsOf(plan, need)).toBe(1);
    });
  });

  it('takes two levels at most for 100 TB of 8 bytes or more, with 512 MiB a worker and disks that do not rotate', () => {
    onAnyServer((plan, need) => {
      const shareBytes = need.budgetBytes / plan.workers;
      if (need.tempDisksRotate || plan.ramPoolBytes > 0 || need.meanRecordBytes < 8) return;
      if (need.recordBytes > 100 * TB || shareBytes < 512 * MIB) return;
      expect(scatterLevelsOf(plan, need)).toBeLessThanOrEqual(2);
    });
  });

  it('takes an eighth more temp data at most where piles are scattered again, and buffers can be so many', () => {
    onAnyServer((plan, need) => {
      if (scatterLevelsOf(plan, need) === 1 || plan.ramPoolBytes > 0) return;
      const leastBufferBytes = need.tempDisksRotate ? 512 * KIB : 32 * KIB;
      const shareBytes = Math.min(need.budgetBytes / plan.workers, LARGEST_ARENA_BYTES);
      const mostPiles = ((shareBytes / 2) * 0.85) / (leastBufferBytes + 96);
      expect(plan.pileCount).toBeGreaterThanOrEqual(Math.min(8 * plan.workers, mostPiles - need.tempDiskCount));
    });
  });
});

describe('slices at scale', () => {
  it('leave each pile a segment of 256 KiB, or a full buffer where that is more', () => {
    onAnyServer((plan, need) => {
      const bytesOfPile = sliceBytesOf(plan, need) / plan.pileCount;
      const wanted = Math.max(256 * KIB, plan.bufferBytes);
      const share = need.recordBytes / plan.pileCount / (2 * plan.workers);
      expect(bytesOfPile).toBeGreaterThanOrEqual(Math.min(wanted, share, LARGEST_SLICE_BYTES / plan.pileCount));
    });
  });

  it('are two a worker or more, and so few that they can be listed', () => {
    onAnyServer((plan, need) => {
      const count = need.recordBytes / sliceBytesOf(plan, need);
      expect(count).toBeGreaterThanOrEqual(2 * plan.workers - 1);
      expect(count).toBeLessThan(MOST_SLICES / 4);
    });
  });

  it('have so few segments that the notes about them stay small beside the budget', () => {
    onAnyServer((plan, need) => {
      const shareBytes = need.budgetBytes / plan.workers;
      const storedRatio = plan.storedBytes / need.recordBytes;
      const mostBytes = storedRatio * (16 * MIB + shareBytes / 64);
      expect(segmentsOfSlice(plan, need) * NOTE_BYTES).toBeLessThanOrEqual(mostBytes);
    });
  });

  it('have so few segments a pile that one pile of a level can be merged beside the budget', () => {
    onAnyServer((plan, need) => {
      fc.pre(scatterLevelsOf(plan, need) === 1);
      const shareBytes = need.budgetBytes / plan.workers;
      const partCount = need.recordBytes / sliceBytesOf(plan, need);
      const segmentCount = plan.storedBytes / plan.pileCount / plan.bufferBytes + partCount;
      expect(segmentCount * SEGMENT_OBJECT_BYTES).toBeLessThanOrEqual(8 * MIB + shareBytes / 64);
    });
  });

  it('cut a file of a petabyte at whole bytes, without a gap', () => {
    const byteLength = 1000 * TB + 1;
    const input = { cutBytes: 1, start: 0, byteLength, decodedBytes: byteLength };
    const parts = [...planSlices([input], 13 * GB)].map(([part]) => part);
    expect(parts.filter((part, i) => part?.start !== (parts[i - 1]?.end ?? 0))).toEqual([]);
    expect(parts.filter((part) => !Number.isSafeInteger(part?.end))).toEqual([]);
    expect(parts.at(-1)?.end).toBe(byteLength);
  });
});
