// A stored record is the form of a record in piles. An entry stands for a record, which stays where it is, and has its key.
//
//   stored record   key u64 | byteLength u32 | bytes
//   entry           key u64 | address u32 | byteLength u32

export const HEADER_BYTES: u32 = 12;

export const ENTRY_BYTES: usize = 16;
