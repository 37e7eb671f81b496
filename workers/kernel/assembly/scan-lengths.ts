// The records start with their length, which is checked against its limit before any other use.

import { mark } from './boundary-table';
import { CRC_TABLES_PLACE, scratchAt } from './scratch';

const PROBLEM_NONE: u32 = 0;
const PROBLEM_TOO_LONG: u32 = 1;
const PROBLEM_LENGTH_CHECKSUM: u32 = 2;
const PROBLEM_BYTES_CHECKSUM: u32 = 3;
/** The LEB128 number does not end within ten bytes. */
const PROBLEM_VARINT: u32 = 4;

export let framingProblem: u32 = PROBLEM_NONE;
export let framingProblemValue: u64 = 0;

// @ts-ignore: decorator
@inline
function fail(what: u32, value: u64): void {
  framingProblem = what;
  framingProblemValue = value;
}

const PREFIX_U32LE: u32 = 0;
const PREFIX_U32BE: u32 = 1;
const PREFIX_U64LE: u32 = 2;
const PREFIX_VARINT: u32 = 3;

const VARINT_BYTES: usize = 10;

/** @param longest byte length of a record, its prefix included. */
export function scanLengthPrefixed(
  recordStart: usize,
  to: usize,
  prefix: u32,
  longest: u64,
  table: usize,
  maxCount: u32,
): u32 {
  framingProblem = PROBLEM_NONE;
  let count: u32 = 0;
  let start = recordStart;
  while (count < maxCount) {
    let at = start;
    let length: u64 = 0;
    if (prefix == PREFIX_VARINT) {
      let shift: u64 = 0;
      let isWhole = false;
      while (at < to && at - start < VARINT_BYTES) {
        const byte = load<u8>(at);
        at += 1;
        // The tenth byte may hold one bit only.
        if (shift == 63 && byte > 1) break;
        length |= ((byte & 0x7f) as u64) << shift;
        if (byte < 0x80) {
          isWhole = true;
          break;
        }
        shift += 7;
      }
      if (!isWhole) {
        if (at - start == VARINT_BYTES) fail(PROBLEM_VARINT, 0);
        return count;
      }
    } else {
      const prefixBytes: usize = prefix == PREFIX_U64LE ? 8 : 4;
      if (to - start < prefixBytes) return count;
      if (prefix == PREFIX_U64LE) length = load<u64>(start);
      else length = (prefix == PREFIX_U32BE ? bswap<u32>(load<u32>(start)) : load<u32>(start)) as u64;
      at += prefixBytes;
    }
    const prefixBytes = (at - start) as u64;
    if (length > longest || length + prefixBytes > longest) {
      fail(PROBLEM_TOO_LONG, length);
      return count;
    }
    if (((to - at) as u64) < length) return count;
    const end = at + (length as usize);
    mark(table, count, start, end);
    start = end;
    count += 1;
  }
  return count;
}

/** Bytes of a TFRecord besides its data: u64 length, masked CRC of it, masked CRC of the data. */
const TFRECORD_BYTES: u64 = 16;

// @ts-ignore: decorator
@inline
function maskedCrc(from: usize, to: usize): u32 {
  const crc = crc32c(from, to);
  return rotr<u32>(crc, 15) + 0xa282ead8;
}

/** @param longest byte length of a whole record. */
export function scanTfrecords(recordStart: usize, to: usize, longest: u64, table: usize, maxCount: u32): u32 {
  framingProblem = PROBLEM_NONE;
  let count: u32 = 0;
  let start = recordStart;
  while (count < maxCount && to - start >= 12) {
    const length = load<u64>(start);
    if (load<u32>(start, 8) != maskedCrc(start, start + 8)) {
      fail(PROBLEM_LENGTH_CHECKSUM, length);
      return count;
    }
    if (length > longest || length + TFRECORD_BYTES > longest) {
      fail(PROBLEM_TOO_LONG, length);
      return count;
    }
    if (((to - start) as u64) < length + TFRECORD_BYTES) return count;
    const data = start + 12;
    const dataEnd = data + (length as usize);
    if (load<u32>(dataEnd) != maskedCrc(data, dataEnd)) {
      fail(PROBLEM_BYTES_CHECKSUM, length);
      return count;
    }
    mark(table, count, start, dataEnd + 4);
    start = dataEnd + 4;
    count += 1;
  }
  return count;
}

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

/**
 * CRC-32C (Castagnoli), as in RFC 3720 appendix B.4, eight bytes a step (slicing-by-8; Kounavis and Berry, "A Systematic
 * Approach to Building High Performance Software-Based CRC Generators", ISCC 2005).
 */
function crc32c(from: usize, to: usize): u32 {
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
