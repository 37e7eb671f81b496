// The few bytes in which an instance works for itself. Several instances may share one memory, so no such byte may lie at
// a fixed address. Each user has a place of its own.

/** Used when the host names no other place: nobody else has this memory. */
const OWN_MEMORY: usize = 32768;

let scratch: usize = OWN_MEMORY;

/** Of all places together. */
export const SCRATCH_BYTES: usize = 29824;

export const KEYS_PLACE: usize = 0; // 4 keys of u64
export const ADDRESSES_PLACE: usize = 48; // 4 addresses of u32
export const HASH_LANES_PLACE: usize = 64; // 2 lanes of 48 bytes
export const DECODED_PLACE: usize = 160; // one character in UTF-8
export const HEADER_PLACE: usize = 176; // one header of a stored record, with slack
export const SEQUENCE_PLACE: usize = 1024; // 1 KiB
export const CRC_TABLES_PLACE: usize = 2048; // 8 tables of 1 KiB
export const OFFSETS_PLACE: usize = 10240; // 256 offsets of u64
export const ROWS_PLACE: usize = 12288; // 260 rows of u32
export const COLUMNS_PLACE: usize = 13328; // 260 columns of u32
export const ENTRIES_PLACE: usize = 14368; // 132 entries of 16 bytes

export const SPLITS_PLACE: usize = 16480; // 12 KiB for bounds and a selector
export const BRACKETS_PLACE: usize = 28800; // 1 KiB

/** The address of a place. */
// @ts-ignore: decorator
@inline
export function scratchAt(place: usize): usize {
  return scratch + place;
}

/** Moves the scratch to `address`, a multiple of 16, with room for `scratchByteLength()`. Call it before all else. */
export function useScratch(address: usize): void {
  scratch = address;
}

export function scratchByteLength(): usize {
  return SCRATCH_BYTES;
}
