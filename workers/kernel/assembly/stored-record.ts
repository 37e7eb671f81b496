// A record as piles hold it:  key u64 | byteLength u32 | bytes

/** Bytes in front of a stored record's own. */
export const HEADER_BYTES: u32 = 12;
