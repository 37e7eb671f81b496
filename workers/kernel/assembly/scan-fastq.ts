// Finds the reads of FASTQ, four lines each, and checks them; and adds up their names, in the order of the reads.

import { mark } from './boundary-table';
import { matches } from './scan';
import { recordHash } from './record-hash';

const NEWLINE: u8 = 0x0a;
const CARRIAGE_RETURN: u8 = 0x0d;
const LINES: u32 = 4;

/** How many lines the last scan found of the read that it left incomplete. */
export let readLines: u32 = 0;
/** The end of each of the last three of these lines, the last one last. */
export let readLineEnd1: usize = 0;
export let readLineEnd2: usize = 0;
export let readLineEnd3: usize = 0;
/** True if what follows the last marked read is not a read. */
export let isBadRead: bool = false;

// @ts-ignore: decorator
@inline
function lengthOf(start: usize, end: usize): usize {
  return end - start - 1 - (load<u8>(end - 2) == CARRIAGE_RETURN ? 1 : 0);
}

/**
 * @param linesBefore lines of the first read that lie before `from`; the last three of them end at `end1` to `end3`.
 * @param isPart whether only the end of the first read is there, which cannot be checked.
 */
export function scanReads(
  from: usize,
  to: usize,
  recordStart: usize,
  linesBefore: u32,
  end1: usize,
  end2: usize,
  end3: usize,
  isPart: bool,
  table: usize,
  maxCount: u32,
): u32 {
  const newline = i8x16.splat(NEWLINE);
  let count: u32 = 0;
  let start = recordStart;
  let missing = LINES - linesBefore;
  isBadRead = false;
  for (let p = from; p < to; p += 64) {
    let hits = matches(p, to, newline);
    while (hits != 0) {
      const end = p + (ctz<u64>(hits) as usize) + 1;
      hits &= hits - 1;
      missing -= 1;
      if (missing != 0) {
        end1 = end2;
        end2 = end3;
        end3 = end;
        continue;
      }
      if (!isPart) {
        const isRead =
          load<u8>(start) == 0x40 && load<u8>(end2) == 0x2b && lengthOf(end1, end2) == lengthOf(end3, end);
        if (!isRead) {
          isBadRead = true;
          return count;
        }
      }
      isPart = false;
      missing = LINES;
      mark(table, count, start, end);
      start = end;
      count += 1;
      if (count == maxCount) {
        readLines = 0;
        return count;
      }
    }
  }
  readLines = LINES - missing;
  readLineEnd1 = end1;
  readLineEnd2 = end2;
  readLineEnd3 = end3;
  return count;
}

/** A space, a tab or the line ends a name. @param start the address after the @ of the read. */
function nameEnd(start: usize, end: usize): usize {
  let at = start;
  while (at < end && load<u8>(at) > 0x20) at += 1;
  return at;
}

// @ts-ignore: decorator
@inline
function isDigit(byte: u8): bool {
  return byte >= 0x30 && byte <= 0x39;
}

/** Returns where the digits before `at` begin. */
function digitsStart(start: usize, at: usize): usize {
  while (at > start && isDigit(load<u8>(at - 1))) at -= 1;
  return at;
}

/**
 * The end of a name without the number of the mate: `/1` or `/2`, and the `.1` or `.2` of archives after the accession of
 * a run and the number of a spot, as in SRR000001.7.2.
 */
function withoutMate(start: usize, end: usize): usize {
  if (end - start < 2) return end;
  const last = load<u8>(end - 1);
  if (last != 0x31 && last != 0x32) return end;
  const mark = load<u8>(end - 2);
  if (mark == 0x2f) return end - 2;
  if (mark != 0x2e || end - start < 5) return end;
  const letter = load<u8>(start);
  if ((letter != 0x53 && letter != 0x45 && letter != 0x44) || load<u16>(start + 1) != 0x5252) return end;
  const spot = digitsStart(start, end - 2);
  if (spot == end - 2 || load<u8>(spot - 1) != 0x2e) return end;
  const run = digitsStart(start, spot - 1);
  return run == start + 3 && run < spot - 1 ? end - 2 : end;
}

/** Equal for two files if their names are equal, one by one. @param first the ordinal of the first read in the table. */
export function sumOfNames(table: usize, count: u32, first: u64): u64 {
  let sum: u64 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const entry = table + ((i as usize) << 3);
    const start = (load<u32>(entry) as usize) + 1;
    const end = withoutMate(start, nameEnd(start, load<u32>(entry, 4)));
    let hash = recordHash(start, (end - start) as u32) + (first + i) * 0x9e3779b97f4a7c15;
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
    sum += hash ^ (hash >> 31);
  }
  return sum;
}
