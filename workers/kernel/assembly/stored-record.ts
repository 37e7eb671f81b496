// A stored record, the form of a record in piles:
//
//   key u64 | byteLength u32 | bytes

/** Bytes in front of the record. */
export const HEADER_BYTES: u32 = 12;
