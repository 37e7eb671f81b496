// An entry stands for a record, which stays where it is, and has its key.
//
//   entry    key u64 | address u32 | byteLength u32

export const ENTRY_BYTES: usize = 16;
