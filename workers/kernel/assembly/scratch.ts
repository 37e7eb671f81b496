// The few bytes in which an instance of the kernel works for itself. Instances may share one memory, so each has a place of
// its own for them.

/** The place in a memory that no other instance has: after the constants, and below the arena. */
const OWN_MEMORY: usize = 28672;

let scratch: usize = OWN_MEMORY;

/** Moves the scratch to 36 KiB at `address`, a multiple of 16. */
export function useScratch(address: usize): void {
  scratch = address;
}

export const KEYS_PLACE: usize = 0; // 4 keys of u64
export const ADDRESSES_PLACE: usize = 48; // 4 addresses of u32
export const HASH_LANES_PLACE: usize = 64; // 2 lanes of 48 bytes
export const DECODED_PLACE: usize = 160; // one character in UTF-8
export const HEADER_PLACE: usize = 176; // one header of a stored record, with slack
export const SEQUENCE_PLACE: usize = 1008; // 1 KiB after a newline
export const CRC_TABLES_PLACE: usize = 2048; // 8 tables of 1 KiB
export const ENTRIES_PLACE: usize = 10240; // 132 entries of 16 bytes

export const SPLITS_PLACE: usize = 12352; // 12 KiB for bounds and a selector
export const BRACKETS_PLACE: usize = 24672; // 1 KiB
export const NUMBERS_PLACE: usize = 25696; // twice 4 offsets of u64, their rows and their columns
export const WEIGHTS_PLACE: usize = 25904; // 128 weights of 16 bytes
export const WEIGHT_SELECTOR_PLACE: usize = 27952; // 4800 bytes
export const SECONDS_PLACE: usize = 32768; // 132 second keys of u64
export const SLOTS_PLACE: usize = 33824; // 132 addresses of u32
export const SUMS_PLACE: usize = 34352; // 96 bytes
export const SHAPE_PLACE: usize = 34448; // 2 KiB

// @ts-ignore: decorator
@inline
export function scratchAt(place: usize): usize {
  return scratch + place;
}
