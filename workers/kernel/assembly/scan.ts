// Finds record boundaries by the bytes that end records; these bytes belong to the record.
//
// Every scan can continue where it stopped: it returns its state inside an incomplete record, and the next call passes
// the state back.

import { beginMarks, mark, markEnd } from './boundary-table';
import { SEQUENCE_PLACE, scratchAt } from './scratch';

/**
 * Scans 64 bytes a step; reads up to 63 bytes past `to`, which the read buffer's slack allows. The processor cannot
 * predict how many records end in a step, so the first two entries are written without a test; later entries overwrite
 * those that are not records.
 */
export function scanDelimiter(
  from: usize,
  to: usize,
  recordStart: usize,
  delimiter: u32,
  table: usize,
  maxCount: u32,
): u32 {
  const needle = i8x16.splat(delimiter as i8);
  let count: u32 = 0;
  beginMarks(table, recordStart);
  for (let p = from; p < to; p += 64) {
    let hits = matches(p, to, needle);
    const found = popcnt<u64>(hits) as u32;
    if (count + found > maxCount) {
      for (; count < maxCount; count++) {
        markEnd(table, count, p + (ctz<u64>(hits) as usize) + 1);
        hits &= hits - 1;
      }
      return count;
    }
    markEnd(table, count, p + (ctz<u64>(hits) as usize) + 1);
    hits &= hits - 1;
    markEnd(table, count + 1, p + (ctz<u64>(hits) as usize) + 1);
    hits &= hits - 1;
    for (let index = count + 2; hits != 0; index++) {
      markEnd(table, index, p + (ctz<u64>(hits) as usize) + 1);
      hits &= hits - 1;
    }
    count += found;
  }
  return count;
}

/** Reads up to 63 bytes past `to`. */
export function countByte(from: usize, to: usize, byte: u32): u64 {
  const needle = i8x16.splat(byte as i8);
  let count: u64 = 0;
  for (let p = from; p < to; p += 64) count += popcnt<u64>(matches(p, to, needle));
  return count;
}

/** Returns where the host puts the sequence at which records end or begin: at most 1 KiB. */
export function sequenceAddress(): usize {
  return scratchAt(SEQUENCE_PLACE);
}

/**
 * A record ends after the first `endBytes` of the `sequenceBytes` bytes at `sequenceAddress`: all of them are a delimiter,
 * fewer are the end of a record and the beginning of the next. Sequences are found from left to right without overlap,
 * only those that begin at `from` or later.
 */
export function scanSequence(
  from: usize,
  to: usize,
  recordStart: usize,
  sequenceBytes: u32,
  endBytes: u32,
  table: usize,
  maxCount: u32,
): u32 {
  const sequence = scratchAt(SEQUENCE_PLACE);
  const last = (sequenceBytes - 1) as usize;
  const firstByte = i8x16.splat(load<i8>(sequence));
  const lastByte = i8x16.splat(load<i8>(sequence + last));
  if (to - from <= last) return 0;
  const beginEnd = to - last;
  let count: u32 = 0;
  let start = recordStart;
  for (let p = from; p < beginEnd; p += 64) {
    let hits = matches(p, beginEnd, firstByte);
    if (hits == 0) continue;
    hits &= matches(p + last, to, lastByte);
    while (hits != 0) {
      const at = p + (ctz<u64>(hits) as usize);
      hits &= hits - 1;
      // This sequence overlaps the previous one.
      if (at < start || memory.compare(at, sequence, sequenceBytes) != 0) continue;
      const end = at + endBytes;
      mark(table, count, start, end);
      start = end;
      count += 1;
      if (count == maxCount) return count;
    }
  }
  return count;
}

export let linesPending: u32 = 0;

/** @param linesBefore lines of the first record that lie before `from`. */
export function scanLineGroups(
  from: usize,
  to: usize,
  recordStart: usize,
  linesPerRecord: u32,
  linesBefore: u32,
  table: usize,
  maxCount: u32,
): u32 {
  const needle = i8x16.splat(0x0a);
  let count: u32 = 0;
  let start = recordStart;
  let missing = linesPerRecord - linesBefore;
  for (let p = from; p < to; p += 64) {
    let hits = matches(p, to, needle);
    while (hits != 0) {
      const end = p + (ctz<u64>(hits) as usize) + 1;
      hits &= hits - 1;
      missing -= 1;
      if (missing != 0) continue;
      missing = linesPerRecord;
      mark(table, count, start, end);
      start = end;
      count += 1;
      if (count == maxCount) {
        linesPending = 0;
        return count;
      }
    }
  }
  linesPending = linesPerRecord - missing;
  return count;
}

export let paragraphLineStart: usize = 0;
export let paragraphSeen: u32 = 0;
const SEEN_TEXT: u32 = 1;
const SEEN_BLANK: u32 = 2;

/**
 * A record is lines with text and the blank lines after them; blank lines before the first text belong to the first
 * record. A line is blank when only a carriage return, or nothing, precedes its newline.
 */
export function scanParagraphs(
  from: usize,
  to: usize,
  recordStart: usize,
  lineStart: usize,
  seen: u32,
  table: usize,
  maxCount: u32,
): u32 {
  const needle = i8x16.splat(0x0a);
  let count: u32 = 0;
  let start = recordStart;
  for (let p = from; p < to; p += 64) {
    let hits = matches(p, to, needle);
    while (hits != 0) {
      const newline = p + (ctz<u64>(hits) as usize);
      hits &= hits - 1;
      const isBlank = newline == lineStart || (newline == lineStart + 1 && load<u8>(lineStart) == 0x0d);
      if (isBlank) {
        if (seen != 0) seen = SEEN_TEXT | SEEN_BLANK;
      } else {
        const endsRecord = (seen & SEEN_BLANK) != 0;
        seen = SEEN_TEXT;
        if (endsRecord) {
          mark(table, count, start, lineStart);
          start = lineStart;
          count += 1;
          if (count == maxCount) {
            // The next call starts at this line again.
            paragraphLineStart = lineStart;
            paragraphSeen = 0;
            return count;
          }
        }
      }
      lineStart = newline + 1;
    }
  }
  // A line that is not blank begins a record, whatever follows.
  if ((seen & SEEN_BLANK) != 0 && lineStart < to) {
    if (load<u8>(lineStart) != 0x0d || to - lineStart > 1) {
      mark(table, count, start, lineStart);
      count += 1;
      seen = SEEN_TEXT;
    }
  }
  paragraphLineStart = lineStart;
  paragraphSeen = seen;
  return count;
}

export function scanFixed(recordStart: usize, to: usize, recordBytes: u32, table: usize, maxCount: u32): u32 {
  const whole = ((to - recordStart) as u32) / recordBytes;
  const count = min<u32>(whole, maxCount);
  let start = recordStart;
  for (let i: u32 = 0; i < count; i++) {
    mark(table, i, start, start + recordBytes);
    start += recordBytes;
  }
  return count;
}

/** One bit for each of the 64 bytes at `p` that equals the lanes of `needle`; those from `to` on are 0. */
// @ts-ignore: decorator
@inline
export function matches(p: usize, to: usize, needle: v128): u64 {
  const hits: u64 =
    (i8x16.bitmask(i8x16.eq(v128.load(p, 0), needle)) as u32 as u64) |
    ((i8x16.bitmask(i8x16.eq(v128.load(p, 16), needle)) as u32 as u64) << 16) |
    ((i8x16.bitmask(i8x16.eq(v128.load(p, 32), needle)) as u32 as u64) << 32) |
    ((i8x16.bitmask(i8x16.eq(v128.load(p, 48), needle)) as u32 as u64) << 48);
  return to - p < 64 ? hits & (((1 as u64) << ((to - p) as u64)) - 1) : hits;
}
