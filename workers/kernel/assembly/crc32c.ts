// CRC-32C (Castagnoli), as in RFC 3720 appendix B.4, eight bytes a step (slicing-by-8; Kounavis and Berry,
// "A Systematic Approach to Building High Performance Software-Based CRC Generators", ISCC 2005).

import { CRC_TABLES_PLACE, scratchAt } from './scratch';

const POLYNOMIAL: u32 = 0x82f63b78;

let isFilled = false;

function fillTables(): void {
  for (let byte: u32 = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (POLYNOMIAL & (0 - (crc & 1)));
    store<u32>(addressOf(0, byte), crc);
  }
  for (let k: u32 = 1; k < 8; k++) {
    for (let byte: u32 = 0; byte < 256; byte++) {
      const before = entry(k - 1, byte);
      store<u32>(addressOf(k, byte), (before >>> 8) ^ entry(0, before & 0xff));
    }
  }
  isFilled = true;
}

/** Table k, entry b: the CRC of byte b and k zeros after it. */
// @ts-ignore: decorator
@inline
function addressOf(table: u32, byte: u32): usize {
  return scratchAt(CRC_TABLES_PLACE) + ((((table << 8) | byte) as usize) << 2);
}

// @ts-ignore: decorator
@inline
function entry(table: u32, byte: u32): u32 {
  return load<u32>(addressOf(table, byte));
}

export function crc32c(from: usize, to: usize): u32 {
  if (!isFilled) fillTables();
  let crc: u32 = 0xffffffff;
  let p = from;
  for (; to - p >= 8; p += 8) {
    const low = load<u32>(p) ^ crc;
    const high = load<u32>(p, 4);
    crc =
      entry(7, low & 0xff) ^
      entry(6, (low >>> 8) & 0xff) ^
      entry(5, (low >>> 16) & 0xff) ^
      entry(4, low >>> 24) ^
      entry(3, high & 0xff) ^
      entry(2, (high >>> 8) & 0xff) ^
      entry(1, (high >>> 16) & 0xff) ^
      entry(0, high >>> 24);
  }
  for (; p < to; p++) crc = (crc >>> 8) ^ entry(0, (crc ^ load<u8>(p)) & 0xff);
  return ~crc;
}
