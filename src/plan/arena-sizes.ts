/**
 * What a worker's arena consists of in either pass, and how large it is for so many piles and buffers of such sizes.
 */

const KIB = 1024;
const MIB = 1024 * KIB;

/** Bytes of a stored record besides its own: key and length. */
export const STORED_HEADER_BYTES = 12;
/** Bytes of pass 2 a record: two u64 entries, and a u32 count for every record in the worst case. */
export const ENTRY_BYTES = 2 * 8 + 4;
/** Behind a pile buffer or an output buffer: short copies write up to 16 bytes too far. */
export const SLACK_BYTES = 64;
/** Output buffers of a thread: while the device takes some, another is filled and the next pile is loaded. */
export const OUTPUT_BUFFER_COUNT = 4;
/** Into so many a pile that does not fit is split at most, and so full they are planned to make an arena. */
export const MOST_SUB_PILES = 1024;
export const SUB_PILE_FILL = 0.5;
/** Bytes of one pile's tally in the kernel. */
export const TALLY_BYTES = 32;
/** Records marked by one call of the framing. */
export const BOUNDARY_COUNT = 1024;
/** The boundary table, with the three entries of slack that scattering four at a time reads and scanning may write. */
export const BOUNDARY_TABLE_BYTES = (BOUNDARY_COUNT + 4) * 8;

/** 32-bit addresses, less what the kernel keeps for itself. */
export const LARGEST_ARENA_BYTES = 4 * 1024 * MIB - 4 * MIB;

/** Pile sizes scatter around their mean, the more the fewer records they hold. */
const PILE_SKEW = 1.2;

export interface Pass1Sizes {
  readonly pileCount: number;
  readonly bufferBytes: number;
  readonly readBytes: number;
}

export interface Pass2Sizes {
  readonly pileCount: number;
  readonly outputBytes: number;
}

/** Bytes of arena in pass 2 for each stored byte of a pile. */
export function storedByteCost(meanRecordBytes: number): number {
  return PILE_SKEW * (1 + ENTRY_BYTES / (meanRecordBytes + STORED_HEADER_BYTES));
}

/** Buffers with slack and tally, the window, the boundary table, and what alignment may cost. */
export function pass1Arena({ pileCount, bufferBytes, readBytes }: Pass1Sizes): number {
  return pileCount * (bufferBytes + SLACK_BYTES + TALLY_BYTES) + 2 * readBytes + BOUNDARY_TABLE_BYTES + 64 * KIB;
}

/** Output buffers, and a pile with its sort entries. */
export function pass2Arena({ pileCount, outputBytes }: Pass2Sizes, storedBytes: number, perStoredByte: number): number {
  return (storedBytes / pileCount) * perStoredByte + OUTPUT_BUFFER_COUNT * outputBytes + 128 * KIB;
}
