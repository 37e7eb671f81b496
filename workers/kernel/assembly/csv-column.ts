// Finds the value of a column in a row of separated values, 16 bytes at a time. As in the framing of CSV, quotes enclose a
// byte if an odd number of them stands before it; a separator that they do not enclose ends a value.

import { addToHash, beginHash, hashAfterQuote, hashOfPieces } from './record-hash';

const QUOTE: u32 = 0x22;
const NEWLINE: u32 = 0x0a;
const RETURN: u32 = 0x0d;
/** A byte order mark in UTF-8, as a number of 3 bytes. */
const BYTE_ORDER_MARK: u32 = 0xbfbbef;

/** The lane of the hash of pieces that decodes values, as in json-field.ts. */
const LANE: u32 = 1;

let index: u32 = 0;
let separator: u8 = 0;
let takesQuotes: bool = false;
export let hasColumn: bool = false;
/** The address of what `columnHash` hashed last. */
export let cellAt: usize = 0;
let valueStart: usize = 0;
let valueEnd: usize = 0;

/** @param columnIndex counts from 0. With `quotes`, these may enclose values. */
export function setColumnToFind(columnIndex: u32, separatorByte: u8, quotes: bool): void {
  index = columnIndex;
  separator = separatorByte;
  takesQuotes = quotes;
}

/** The hash of the value as a string. Reads up to 15 bytes past the end. */
export function columnHash(start: usize, end: usize): u64 {
  cellAt = findCell(start, end);
  hasColumn = cellAt != 0;
  if (!hasColumn) return 0;
  return isCellQuoted ? hashOfQuoted(closingQuote) : hashAfterQuote(cellAt, (endOfCell - cellAt) as u32);
}

/** Sets `valueStart` and `valueEnd`, if there is such a column. */
function findColumn(start: usize, end: usize): bool {
  if (end > start && load<u8>(end - 1) == NEWLINE) end -= 1;
  if (end > start && load<u8>(end - 1) == RETURN) end -= 1;
  if (end - start >= 3 && (load<u32>(start) & 0xffffff) == BYTE_ORDER_MARK) start += 3;
  const separators = i8x16.splat(separator);
  const quotes = i8x16.splat(QUOTE as i8);
  let left = index;
  // All ones after an odd number of quotes.
  let enclosed: u32 = 0;
  valueStart = start;
  valueEnd = end;
  for (let p = start; p < end; p += 16) {
    const block = v128.load(p);
    let marks = i8x16.bitmask(i8x16.eq(block, separators)) as u32;
    if (takesQuotes) {
      const quoted = i8x16.bitmask(i8x16.eq(block, quotes)) as u32;
      if ((quoted | enclosed) != 0) {
        const inside = prefixParities(quoted) ^ enclosed;
        marks &= ~inside;
        // The bit of the last byte, in all places. After the last block nobody asks for it.
        enclosed = 0 - ((inside >> 15) & 1);
      }
    }
    if (end - p < 16) marks &= (1 << ((end - p) as u32)) - 1;
    const count = popcnt<u32>(marks);
    if (left > count) {
      left -= count;
      continue;
    }
    if (left > 0) {
      for (; left > 1; left--) marks &= marks - 1;
      left = 0;
      valueStart = p + (ctz<u32>(marks) as usize) + 1;
      marks &= marks - 1;
    }
    if (marks != 0) {
      valueEnd = p + (ctz<u32>(marks) as usize);
      return true;
    }
  }
  return left == 0;
}

/** The bits, of 16, that have an odd number of ones up to and including them. */
// @ts-ignore: decorator
@inline
function prefixParities(ones: u32): u32 {
  ones ^= ones << 1;
  ones ^= ones << 2;
  ones ^= ones << 4;
  return (ones ^ (ones << 8)) & 0xffff;
}

/** `end` if there is no quote. */
function quoteAt(p: usize, end: usize): usize {
  const quotes = i8x16.splat(QUOTE as i8);
  for (; p < end; p += 16) {
    const marks = i8x16.bitmask(i8x16.eq(v128.load(p), quotes)) as u32;
    if (marks != 0) return min<usize>(p + (ctz<u32>(marks) as usize), end);
  }
  return end;
}

/**
 * The hash of a value that has more quotes than the two around it: two stand for one. What follows the closing quote, which
 * RFC 4180 forbids, belongs to the value as it is. @param quote the address of the second quote.
 */
function hashOfQuoted(quote: usize): u64 {
  beginHash(LANE);
  // The first quote is the one that stands before the characters of a string.
  addToHash(LANE, valueStart, quote);
  while (quote < valueEnd) {
    const next = quote + 1;
    const isDoubled = next < valueEnd && load<u8>(next) == QUOTE;
    // What follows a closing quote ends at the next one, which opens again.
    const reopening = isDoubled ? next : quoteAt(next, valueEnd);
    if (!isDoubled) addToHash(LANE, next, reopening);
    const inner = isDoubled ? next : min<usize>(reopening + 1, valueEnd);
    quote = quoteAt(isDoubled ? next + 1 : inner, valueEnd);
    addToHash(LANE, inner, quote);
  }
  return hashOfPieces(LANE);
}

export let endOfCell: usize = 0;
export let isCellQuoted: bool = false;
/** The quote after the one at the beginning of the cell. */
let closingQuote: usize = 0;

/**
 * The address of the characters that `columnHash` hashes, before quotes among them are undone; 0: there is no such column.
 * `endOfCell` is the address after them, and `isCellQuoted` tells whether there are such quotes. Reads up to 15 bytes past
 * the end.
 */
export function findCell(start: usize, end: usize): usize {
  isCellQuoted = false;
  if (!findColumn(start, end)) return 0;
  endOfCell = valueEnd;
  if (!takesQuotes || valueStart == valueEnd || load<u8>(valueStart) != QUOTE) return valueStart;
  // Most often the next quote is the last byte.
  closingQuote = quoteAt(valueStart + 1, valueEnd);
  isCellQuoted = closingQuote + 1 != valueEnd;
  if (isCellQuoted) return valueStart;
  endOfCell = closingQuote;
  return valueStart + 1;
}

/** True if the byte that `skipQuotes` found last lies between quotes. */
let isInside: bool = false;

/**
 * The address of the next byte, from `p` on, that is a character of a value with quotes; `end` if there is none. `inside`:
 * whether quotes enclose `p`.
 */
function skipQuotes(p: usize, end: usize, inside: bool): usize {
  for (; p < end && load<u8>(p) == QUOTE; p++) {
    // Between quotes, the second of two is a character.
    if (inside && p + 1 < end && load<u8>(p, 1) == QUOTE) {
      p += 1;
      break;
    }
    inside = !inside;
  }
  isInside = inside;
  return p;
}

/**
 * Returns a number below 0, above 0, or 0 if they are the same; a prefix comes first. `quotedA`, `quotedB`: whether
 * quotes must be undone.
 */
export function compareCells(a: usize, endA: usize, quotedA: bool, b: usize, endB: usize, quotedB: bool): i32 {
  let insideA = false;
  let insideB = false;
  let difference: i32 = 0;
  while (difference == 0) {
    if (quotedA) {
      a = skipQuotes(a, endA, insideA);
      insideA = isInside;
    }
    if (quotedB) {
      b = skipQuotes(b, endB, insideB);
      insideB = isInside;
    }
    if (a == endA || b == endB) return (a != endA ? 1 : 0) - (b != endB ? 1 : 0);
    difference = (load<u8>(a) as i32) - (load<u8>(b) as i32);
    a += 1;
    b += 1;
  }
  return difference;
}
