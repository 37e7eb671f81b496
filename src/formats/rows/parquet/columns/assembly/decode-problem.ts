// What decoding found wrong, and where. `PROBLEMS` of leaf-reader.ts has the words for these numbers.

/** Fewer bytes are left than the next value needs. */
export const CUT: u32 = 1;
/** Runs, blocks or widths that the encoding does not allow. */
export const MALFORMED: u32 = 2;
export const LEVEL_TOO_HIGH: u32 = 3;
export const INDEX_TOO_HIGH: u32 = 4;
export const COUNT_DIFFERS: u32 = 5;
export const LENGTH_WRONG: u32 = 6;

export let problem: u32 = 0;
export let problemAt: usize = 0;

/** @returns false */
export function fail(what: u32, at: usize): bool {
  problem = what;
  problemAt = at;
  return false;
}

export let varintEnd: usize = 0;

/** ULEB128. `varintEnd` is 0 if it does not end before `to` or within 64 bits. */
export function readVarint(from: usize, to: usize): u64 {
  let value: u64 = 0;
  let shift: u64 = 0;
  for (let at = from; at < to && shift < 64; at++) {
    const byte = load<u8>(at);
    value |= ((byte & 0x7f) as u64) << shift;
    shift += 7;
    if (byte < 0x80) {
      varintEnd = at + 1;
      return value;
    }
  }
  varintEnd = 0;
  return 0;
}
