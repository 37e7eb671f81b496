// The records start with their length, which is checked against its limit before any other use.

import { mark } from './boundary-table';
import { crc32c } from './crc32c';

export const PROBLEM_NONE: u32 = 0;
export const PROBLEM_TOO_LONG: u32 = 1;
export const PROBLEM_LENGTH_CHECKSUM: u32 = 2;
export const PROBLEM_BYTES_CHECKSUM: u32 = 3;
/** The LEB128 number does not end within ten bytes. */
export const PROBLEM_VARINT: u32 = 4;

let problem: u32 = PROBLEM_NONE;
let problemValue: u64 = 0;

export function framingProblem(): u32 {
  return problem;
}

export function framingProblemValue(): u64 {
  return problemValue;
}

// @ts-ignore: decorator
@inline
function fail(what: u32, value: u64): void {
  problem = what;
  problemValue = value;
}

export const PREFIX_U32LE: u32 = 0;
export const PREFIX_U32BE: u32 = 1;
export const PREFIX_U64LE: u32 = 2;
export const PREFIX_VARINT: u32 = 3;

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
  problem = PROBLEM_NONE;
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
  problem = PROBLEM_NONE;
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
