// CRCs of up to 64 bits whose bits are reflected, 16 bytes at a time: a table for each of the 16 places has what its byte
// adds. A program of its own, since the thread that fetches needs no other loop.

const SLICES: usize = 16;
const TABLE_BYTES: usize = 2048;
const TABLES: usize = memory.data(16 * 2048, 16);
/** The bytes to add have the second page. */
const ROOM: usize = 65536;

export function begin(polynomial: u64): void {
  for (let byte: u32 = 0; byte < 256; byte++) {
    let crc: u64 = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (crc & 1 ? polynomial : 0);
    store<u64>(TABLES + (byte << 3), crc);
  }
  for (let i: usize = 256; i < SLICES * 256; i++) {
    const crc = load<u64>(TABLES + ((i - 256) << 3));
    store<u64>(TABLES + (i << 3), next(crc, 0));
  }
}

/** @returns the remainder after the first bytes there. */
export function add(byteLength: u32, crc: u64): u64 {
  const end = ROOM + byteLength;
  let at = ROOM;
  for (; end - at >= 16; at += 16) crc = remainderOfWord(8, load<u64>(at) ^ crc) ^ remainderOfWord(0, load<u64>(at, 8));
  for (; at < end; at++) crc = next(crc, load<u8>(at));
  return crc;
}

// @ts-ignore: decorator
@inline
function next(crc: u64, byte: u8): u64 {
  return (crc >> 8) ^ entry(0, crc ^ byte, 0);
}

// @ts-ignore: decorator
@inline
function remainderOfWord(slice: usize, word: u64): u64 {
  return (
    entry(slice + 7, word, 0) ^
    entry(slice + 6, word, 8) ^
    entry(slice + 5, word, 16) ^
    entry(slice + 4, word, 24) ^
    entry(slice + 3, word, 32) ^
    entry(slice + 2, word, 40) ^
    entry(slice + 1, word, 48) ^
    entry(slice, word, 56)
  );
}

// @ts-ignore: decorator
@inline
function entry(slice: usize, word: u64, shift: u64): u64 {
  return load<u64>(TABLES + slice * TABLE_BYTES + ((((word >> shift) as u32) & 255) << 3));
}
