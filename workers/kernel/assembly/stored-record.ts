// A stored record, the form of a record in piles:
//
//   key u64 | byteLength u32 | bytes

export const HEADER_BYTES: u32 = 12;
