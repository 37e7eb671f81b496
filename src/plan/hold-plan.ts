/**
 * Plans a job whose records stay in memory where they are read. One linear memory holds the records, an entry of 16 bytes
 * for each, and the tables of pass 2:
 *
 *     records + 16 * records' number + blocks that are not full + W * (own part + region + blocks + pass 2)
 *
 * There the piles hold entries alone. A pile is as large as the core's cache takes, and there are as many piles as that
 * makes. Pure.
 */
import { BOUNDARY_COUNT, BOUNDARY_TABLE_BYTES, OUTPUT_BUFFER_COUNT, SLACK_BYTES, TALLY_BYTES } from './arena-sizes.js';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Key, address and byte length of a record. */
export const ENTRY_BYTES = 16;
/** Room in which a thread puts records together that must leave the memory. */
export const STAGING_BYTES = 64 * KIB;
/** The range of 32-bit addresses without the last page, so that an end address fits. */
const MOST_BYTES = 4096 * MIB - 64 * KIB;

/** The entries of a pile, and as many sorted ones, stay in the cache of a core. */
const PILE_RECORDS = 16 * KIB;
/** Tasks of pass 2 end between piles, so these are not too large. */
const PILE_BYTES = 2 * MIB;
/** Pile sizes vary around their mean. */
const PILE_SKEW = 1.2;
const MOST_PILES = 4096;
/** A block is as small as a few cache lines, or as large as a page. */
const SMALLEST_BLOCK_BYTES = 256;
const LARGEST_BLOCK_BYTES = 4 * KIB;
/** The alignment of direct writes. */
const PAGE_BYTES = 4 * KIB;
/** Half a block of each pile and slice stays empty: together at most this part of the entries. */
const EMPTY_SHARE = 1 / 8;
/** Memory that a thread takes for records at a time. */
const LARGEST_REGION_BYTES = 4 * MIB;
const SMALLEST_REGION_BYTES = 64 * KIB;
/** Bytes read at a time: they stay in the core's cache until they are marked, hashed and keyed. */
const PIECE_BYTES = 256 * KIB;
const LARGEST_OUTPUT_BYTES = 4 * MIB;
const SMALLEST_OUTPUT_BYTES = 64 * KIB;
/** Bytes before all parts: the kernel's constants, and the words with which threads share the rest. */
const FIRST_BYTES = 64 * KIB;
/** The own part of a thread: scratch, boundary table, staging. */
export const OWN_BYTES = STAGING_BYTES + BOUNDARY_TABLE_BYTES + 32 * KIB;
/** Records that are shorter than expected need more entries than planned. */
const ENTRY_MARGIN = 1.1;
/** Where records are shorter, moving them is cheaper than an entry for each. */
const LEAST_MEAN_BYTES = 16;
/** Memory for more or longer records than expected; it costs nothing unless it is used. */
const LEAST_ROOM_BYTES = 32 * MIB;
/** Slices a thread: the last ones to end keep the others waiting. */
const SLICES_A_WORKER = 8;
/** What a thread needs beside it, to scatter records if they do not fit. */
const LEAST_REST_BYTES = 4 * MIB;
/** The part of the budget beside the memory for records: for a long record, and for the scatter if they do not fit. */
const SPARE_SHARE = 0.2;

export interface HoldNeed {
  readonly budgetBytes: number;
  readonly workers: number;
  /** At most, as far as samples tell. */
  readonly recordBytes: number;
  /** Of the inputs, where copies make more records of them. Absent: `recordBytes`. */
  readonly mostReadBytes?: number | undefined;
  readonly meanRecordBytes: number;
  readonly exact: boolean;
  /** Whether output of pass 2 may have to wait in memory, as compressed output does. */
  readonly outputWaits: boolean;
  /** Whether `recordBytes` comes from the inputs, at least from samples of them. */
  readonly isKnown: boolean;
}

/** Sizes for tests, as in `Tuning`. */
export interface HoldTuning {
  readonly readBytes?: number;
  readonly outputBytes?: number;
  readonly sliceBytes?: number;
  readonly pileCount?: number;
  /** Memory that a thread takes for records at a time. */
  readonly regionBytes?: number;
  /** Whether records stay where they are read, however short they are. */
  readonly hold?: boolean;
  /** Of the linear memory; a small one fills up. */
  readonly recordMemoryBytes?: number;
}

export interface HoldPlan {
  /** Of the linear memory: the own parts of the threads, what pass 1 may take, and the tables of pass 2. */
  readonly memoryBytes: number;
  /** The part that will be used, as far as the plan knows. */
  readonly expectedBytes: number;
  /** The own parts and the tables of pass 2. What pass 1 takes is spare memory of the job. */
  readonly fixedBytes: number;
  /** Where the own parts end. */
  readonly ownEnd: number;
  /** Where the part ends that pass 1 may take. */
  readonly pass1End: number;
  readonly pileCount: number;
  readonly blockBytes: number;
  readonly regionBytes: number;
  readonly pieceBytes: number;
  readonly outputBytes: number;
  readonly sliceBytes: number;
}

/** @returns undefined: the records do not fit, or are so short that another way is faster. */
export function planHold(need: HoldNeed, tuning: HoldTuning = {}): HoldPlan | undefined {
  const { budgetBytes, workers, meanRecordBytes, exact } = need;
  // To compress the output takes most of the time, and memory for members that wait for their turn.
  const isWorthIt = need.isKnown && !need.outputWaits && meanRecordBytes >= LEAST_MEAN_BYTES;
  if (!isWorthIt && tuning.hold !== true) return undefined;
  const mostBytes = tuning.recordMemoryBytes ?? Math.floor(budgetBytes * (exact ? 1 - SPARE_SHARE : 1 / 2));
  const capacityBytes = Math.min(MOST_BYTES, mostBytes);
  // Nobody knows how much a stream has.
  const recordBytes = need.isKnown ? need.recordBytes : Math.min(need.recordBytes, capacityBytes);
  const records = recordBytes / meanRecordBytes;
  const readBytes = Math.min(
    need.mostReadBytes ?? recordBytes,
    need.isKnown ? Number.POSITIVE_INFINITY : capacityBytes,
  );
  const pileCount =
    tuning.pileCount ?? clamp(Math.ceil(Math.max(records / PILE_RECORDS, recordBytes / PILE_BYTES)), 1, MOST_PILES);
  const sliceBytes = tuning.sliceBytes ?? Math.max(MIB, Math.ceil(readBytes / (SLICES_A_WORKER * workers)));
  const sliceCount = 1 + Math.ceil((5 / 4) * (readBytes / sliceBytes));
  const blockBytes = blockBytesFor(records / (sliceCount * pileCount));
  const regionBytes =
    tuning.regionBytes ?? clamp(Math.ceil(sliceBytes / 2), SMALLEST_REGION_BYTES, LARGEST_REGION_BYTES);
  const wantedOutputBytes = tuning.outputBytes ?? clamp(recordBytes / 4, SMALLEST_OUTPUT_BYTES, LARGEST_OUTPUT_BYTES);
  const outputBytes = roundDown(wantedOutputBytes, 4 * KIB);
  const sizes = { pileCount, blockBytes, regionBytes, pieceBytes: tuning.readBytes ?? PIECE_BYTES, sliceBytes };

  const pass2Bytes = heldPass2Bytes(workers, outputBytes, PILE_SKEW * (records / pileCount) + 64);
  const blocksBytes = 2 * blocksAtOnce(pileCount, blockBytes) * blockBytes;
  const pass1Bytes =
    readBytes +
    records * ENTRY_BYTES * ENTRY_MARGIN * (1 + EMPTY_SHARE) +
    sliceCount * pileCount * TALLY_BYTES +
    workers * (2 * regionBytes + blocksBytes);
  const ownEnd = FIRST_BYTES + workers * OWN_BYTES;
  const neededBytes = Math.ceil(ownEnd + pass1Bytes + pass2Bytes);
  const mayTakeBytes = Math.min(capacityBytes, budgetBytes - workers * LEAST_REST_BYTES);
  if (tuning.recordMemoryBytes === undefined && need.isKnown && neededBytes > mayTakeBytes) return undefined;
  const roomyBytes = need.isKnown ? Math.max(2 * neededBytes, neededBytes + LEAST_ROOM_BYTES) : mayTakeBytes;
  const memoryBytes = tuning.recordMemoryBytes ?? Math.min(mayTakeBytes, roomyBytes);
  const expectedBytes = Math.min(memoryBytes, neededBytes);
  const fixedBytes = Math.ceil(ownEnd + pass2Bytes);
  const pass1End = Math.floor(memoryBytes - pass2Bytes);
  if (pass1End < ownEnd || budgetBytes - memoryBytes < workers * LEAST_REST_BYTES) return undefined;
  return {
    ...sizes,
    memoryBytes,
    expectedBytes,
    fixedBytes,
    ownEnd,
    pass1End,
    outputBytes,
  };
}

/** The most blocks that the records of one boundary table need: each pile one, and one more for as many as fill a block. */
export function blocksAtOnce(pileCount: number, blockBytes: number): number {
  return Math.min(BOUNDARY_COUNT, pileCount + Math.ceil(BOUNDARY_COUNT / (blockBytes / ENTRY_BYTES - 1)));
}

function blockBytesFor(records: number): number {
  const bytes = 2 * EMPTY_SHARE * ENTRY_BYTES * records;
  return clamp(2 ** Math.floor(Math.log2(Math.max(1, bytes))), SMALLEST_BLOCK_BYTES, LARGEST_BLOCK_BYTES);
}

/** The part of a thread in pass 2: output buffers, counts, sorted entries and one more. */
export interface HeldPass2Layout {
  /** Of each output buffer. */
  readonly bufferOffsets: readonly [number, ...number[]];
  /** log2 of the number of ranges in the counting step, for one or two entries each. */
  readonly bits: number;
  readonly countsOffset: number;
  readonly sortedOffset: number;
  readonly byteLength: number;
}

/** What all threads together need in pass 2. @param mostRecords of a pile. */
export function heldPass2Bytes(workers: number, outputBytes: number, mostRecords: number): number {
  return workers * (heldPass2Layout(outputBytes, mostRecords).byteLength + PAGE_BYTES);
}

/** @param mostRecords of a pile. */
export function heldPass2Layout(outputBytes: number, mostRecords: number): HeldPass2Layout {
  const strideBytes = Math.ceil((outputBytes + SLACK_BYTES) / PAGE_BYTES) * PAGE_BYTES;
  const bits = clamp(Math.floor(Math.log2(Math.max(2, mostRecords))), 1, 24);
  const further = Array.from({ length: OUTPUT_BUFFER_COUNT - 1 }, (_, i) => (i + 1) * strideBytes);
  const countsOffset = OUTPUT_BUFFER_COUNT * strideBytes;
  const sortedOffset = countsOffset + 4 * 2 ** bits;
  const byteLength = Math.ceil(sortedOffset + ENTRY_BYTES * (mostRecords + 1));
  return { bufferOffsets: [0, ...further], bits, countsOffset, sortedOffset, byteLength };
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}

function roundDown(value: number, unit: number): number {
  return Math.max(unit, Math.floor(value / unit) * unit);
}
