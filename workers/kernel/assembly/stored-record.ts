// A stored record, the form of a record in piles:
//
//   key u64 | byteLength u32 | bytes
//   key u64 | byteLength u32 | input u32 | position u64 | bytes     in a job that must know where its records come from

/** Bytes in front of a record that does not tell where it comes from. */
export const HEADER_BYTES: u32 = 12;
/** Input and position. */
export const PLACE_BYTES: u32 = 12;

let headerBytes: u32 = HEADER_BYTES;

/** Whether records of the piles from now on tell where they come from. */
export function keepPlaces(isOn: bool): void {
  headerBytes = isOn ? HEADER_BYTES + PLACE_BYTES : HEADER_BYTES;
}

/** Bytes in front of a record of the piles. */
// @ts-ignore: decorator
@inline
export function headerLength(): u32 {
  return headerBytes;
}
