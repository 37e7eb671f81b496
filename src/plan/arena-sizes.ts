/** The parts of a worker's arena in either pass, and the arena size that they need. Pure. */

const KIB = 1024;
const MIB = 1024 * KIB;

/** A stored record has a key and a length before its bytes. */
export const STORED_HEADER_BYTES = 12;
const SECOND_KEY_BYTES = 8;
/** Bytes that pass 2 needs for each record: two u64 entries and, in the worst case, a u32 count. */
export const ENTRY_BYTES = 2 * 8 + 4;
/** Slack after a pile buffer or an output buffer: short copies write up to 16 bytes too far. */
export const SLACK_BYTES = 64;
/** Output buffers of a thread: while the device takes some, another is filled and the next pile is loaded. */
export const OUTPUT_BUFFER_COUNT = 4;
/** A pile that does not fit is scattered again into at most this many sub-piles. */
export const MOST_SUB_PILES = 1024;
/** The plan expects a sub-pile to fill this part of an arena. */
export const SUB_PILE_FILL = 0.5;
/** The kernel's room for the bounds of splits and the selector of the value that chooses between them. */
export const MOST_SPLITS_BYTES = 12_288;
/** The kernel's room for the selector of the number that weighs a record, without what is read past its end, or for numbers beside records. */
export const MOST_WEIGHT_SELECTOR_BYTES = 4784;
/** Bytes of one pile's tally in the kernel. */
export const TALLY_BYTES = 32;
/** The kernel's table of records that are still in the buffers of their piles. */
export const RECENT_TABLE_BYTES = 32 * KIB;
/** The kernel's table of sections. */
export const SECTION_TABLE_BYTES = MIB;
/** Records marked by one call of the framing. */
export const BOUNDARY_COUNT = 1024;
/** The boundary table, with three entries of slack: scattering reads four at a time, and scanning may write there. */
export const BOUNDARY_TABLE_BYTES = (BOUNDARY_COUNT + 4) * 8;

/** The range of 32-bit addresses, less the kernel's own memory. */
export const LARGEST_ARENA_BYTES = 4 * 1024 * MIB - 4 * MIB;

/** Pile sizes vary around their mean; piles with few records vary more. */
const PILE_SKEW = 1.2;

/** Records that need not lie in the order of one key alone. */
interface KeyedPiles {
  /** True if a stored record has a second key in its header, which orders records of one key. Absent: it has none. */
  readonly hasSecondKeys?: boolean | undefined;
}

/** Returns the bytes of a stored record before those of the record. */
export function storedHeaderBytes({ hasSecondKeys = false }: KeyedPiles): number {
  return STORED_HEADER_BYTES + (hasSecondKeys ? SECOND_KEY_BYTES : 0);
}

interface Pass1Sizes {
  readonly pileCount: number;
  readonly bufferBytes: number;
  readonly readBytes: number;
  /** The bytes of other tables. Absent: there are none. */
  readonly tableBytes?: number | undefined;
}

interface Pass2Sizes {
  readonly pileCount: number;
  readonly outputBytes: number;
}

/** Bytes of arena in pass 2 for each stored byte of a pile. */
export function storedByteCost(meanRecordBytes: number): number {
  return PILE_SKEW * (1 + ENTRY_BYTES / (meanRecordBytes + STORED_HEADER_BYTES));
}

/** Returns the bytes of an arena in pass 1, the last 64 KiB of which are room for alignment. */
export function pass1ArenaBytesOf({ pileCount, bufferBytes, readBytes, tableBytes = 0 }: Pass1Sizes): number {
  return (
    tableBytes + pileCount * (bufferBytes + SLACK_BYTES + TALLY_BYTES) + 2 * readBytes + BOUNDARY_TABLE_BYTES + 64 * KIB
  );
}

export function pass2ArenaBytesOf(
  { pileCount, outputBytes }: Pass2Sizes,
  storedBytes: number,
  perStoredByte: number,
): number {
  return (storedBytes / pileCount) * perStoredByte + OUTPUT_BUFFER_COUNT * outputBytes + 128 * KIB;
}
