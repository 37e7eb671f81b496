// Finds the rows of CSV, and checks its quotes: one stands at the beginning of a field, at its end, or beside another one.

import { mark } from './boundary-table';
import { matches } from './scan';

/** The state that the bytes before a place leave: passed on from scan to scan. */
const IN_QUOTES: u32 = 1;
/** A quote may stand here. */
const MAY_OPEN: u32 = 2;
const CLOSED: u32 = 4;
/** A quote was closed, and then came a carriage return. */
const CLOSED_CR: u32 = 8;
const ROW_START: u32 = MAY_OPEN;

/** The next scan must get it. */
export let quotesPending: u32 = ROW_START;
/** The first byte out of place: a quote in a field without quotes, or what follows a closed one. 0: none. */
export let strayQuote: usize = 0;

/** Commas, semicolons, tabs and bars may separate fields. */
function separators(p: usize, to: usize): u64 {
  return (
    matches(p, to, i8x16.splat(0x2c)) |
    matches(p, to, i8x16.splat(0x3b)) |
    matches(p, to, i8x16.splat(0x09)) |
    matches(p, to, i8x16.splat(0x7c))
  );
}

// @ts-ignore: decorator
@inline
function isSeparator(byte: u8): bool {
  return byte == 0x2c || byte == 0x3b || byte == 0x09 || byte == 0x7c;
}

/** Bit i: whether an odd number of bits is set at or below bit i. */
// @ts-ignore: decorator
@inline
function prefixParities(bits: u64): u64 {
  bits ^= bits << 1;
  bits ^= bits << 2;
  bits ^= bits << 4;
  bits ^= bits << 8;
  bits ^= bits << 16;
  return bits ^ (bits << 32);
}

/** The quotes, or bytes after them, that are out of place. */
// @ts-ignore: decorator
@inline
function misplacedBytes(opening: u64, mayOpen: u64, afterClosing: u64, ends: u64, returns: u64, closedCr: u64, newlines: u64): u64 {
  return (
    (opening & ~((ends << 1) | mayOpen)) |
    (afterClosing & ~(ends | returns)) |
    (((returns << 1) | closedCr) & ~newlines)
  );
}

/** Records are lines whose ends lie outside double quotes. `quotes`: see `quotesPending`. */
export function scanQuoted(
  from: usize,
  to: usize,
  recordStart: usize,
  quotes: u32,
  table: usize,
  maxCount: u32,
): u32 {
  let count: u32 = 0;
  let start = recordStart;
  // All ones inside quotes.
  let inside: u64 = 0 - ((quotes & IN_QUOTES) as u64);
  let mayOpen: u64 = quotes & MAY_OPEN ? 1 : 0;
  let closed: u64 = quotes & CLOSED ? 1 : 0;
  let closedCr: u64 = quotes & CLOSED_CR ? 1 : 0;
  strayQuote = 0;
  quotesPending = ROW_START;
  for (let p = from; p < to; p += 64) {
    const newlines = matches(p, to, i8x16.splat(0x0a));
    const found = matches(p, to, i8x16.splat(0x22));
    const last = (min<usize>(to - p, 64) - 1) as u64;
    // Bit i: whether an odd number of quotes stands at or before byte i.
    let quoted = inside;
    if ((found | closed | closedCr) != 0) {
      quoted = prefixParities(found) ^ inside;
      const closing = found & ~quoted;
      const afterClosing = (closing << 1) | closed;
      // Most often all separators are commas, and no carriage return follows a quote.
      let ends = found | newlines | matches(p, to, i8x16.splat(0x2c));
      let returns: u64 = 0;
      let stray = misplacedBytes(found & quoted, mayOpen, afterClosing, ends, 0, closedCr, newlines);
      if (stray != 0) {
        ends |= separators(p, to);
        returns = afterClosing & matches(p, to, i8x16.splat(0x0d));
        stray = misplacedBytes(found & quoted, mayOpen, afterClosing, ends, returns, closedCr, newlines);
        // Bytes from `to` on belong to the next scan.
        stray &= u64.MAX_VALUE >> (63 - last);
        if (stray != 0) {
          strayQuote = p + (ctz<u64>(stray) as usize);
          return count;
        }
      }
      closed = (closing >> last) & 1;
      closedCr = (returns >> last) & 1;
    }
    mayOpen = (((found | newlines) >> last) & 1) | (isSeparator(load<u8>(p + (last as usize))) ? 1 : 0);
    let hits = newlines & ~quoted;
    while (hits != 0) {
      const end = p + (ctz<u64>(hits) as usize) + 1;
      hits &= hits - 1;
      mark(table, count, start, end);
      start = end;
      count += 1;
      if (count == maxCount) return count;
    }
    inside = 0 - ((quoted >> last) & 1);
  }
  quotesPending = ((inside & 1) | (mayOpen * MAY_OPEN) | (closed * CLOSED) | (closedCr * CLOSED_CR)) as u32;
  return count;
}
