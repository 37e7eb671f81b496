// A stored record is the form of a record in piles. An entry stands for a record, which stays where it is, and has its key.
//
//   stored record   key u64 | byteLength u32 | second key u64, or place of the value u64, in some jobs | bytes
//   entry           key u64 | address u32 | byteLength u32
//   second keys     of entries, u64 each, in the same order
//
// Records of one key are in the order of their second keys, or of their values, whose place is `placeOfValue` (record-value.ts).
// The records of stores have neither.

export const HEADER_BYTES: u32 = 12;
/** The offset of the second key in a stored record. */
export const SECOND_KEY: usize = 12;

export const ENTRY_BYTES: usize = 16;

export let hasSecondKeys: bool = false;
/** True if what follows the byte length is the place of the value, which takes the part of a second key but orders nothing. */
export let placesValues: bool = false;
/** The bytes of a stored record before those of the record. */
export let headerBytes: u32 = HEADER_BYTES;

/** Says whether stored records have second keys, and whether these are places of values. Call it before a task. */
export function useSecondKeys(isOn: bool, arePlaces: bool): void {
  hasSecondKeys = isOn;
  placesValues = arePlaces;
  headerBytes = HEADER_BYTES + (isOn ? 8 : 0);
}
