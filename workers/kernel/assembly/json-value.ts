// Passes over JSON values, and checks that they are some: brackets, commas, colons, names and literals as JSON has them, and
// the numbers that Python writes (NaN, Infinity). The digits of numbers and the characters of strings are not looked at.

import { BRACKETS_PLACE, scratchAt } from './scratch';

const QUOTE: u32 = 0x22;
const PLUS: u32 = 0x2b;
const COMMA: u32 = 0x2c;
const MINUS: u32 = 0x2d;
const SLASH: u32 = 0x2f;
const ZERO: u32 = 0x30;
const COLON: u32 = 0x3a;
const OPEN_ARRAY: u32 = 0x5b;
const CLOSE_ARRAY: u32 = 0x5d;
const OPEN_OBJECT: u32 = 0x7b;
const CLOSE_OBJECT: u32 = 0x7d;
/** This bit makes an ASCII letter lower case. */
const LOWER: u32 = 0x20;
const EXPONENT: u32 = 0x65;

const TRUE: u32 = 0x65757274;
const NULL: u32 = 0x6c6c756e;
/** The word `false` without its last letter. */
const FALSE: u32 = 0x736c6166;
const NAN: u32 = 0x4e614e;
const INFINITY: u64 = 0x7974696e69666e49;

/** No data nest deeper. */
const MOST_DEPTH: u32 = 1024;
// @ts-ignore: decorator
@inline
function bracketAt(depth: u32): usize {
  return scratchAt(BRACKETS_PLACE) + depth;
}

export let hasEscape: bool = false;

// @ts-ignore: decorator
@inline
export function skipSpace(p: usize, end: usize): usize {
  while (p < end) {
    const byte = load<u8>(p);
    if (byte > 0x20 || !(byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09)) break;
    p += 1;
  }
  return p;
}

/** @param p the first character of a string. `end` if no quote ends it. */
export function endOfString(p: usize, end: usize): usize {
  hasEscape = false;
  const quotes = i8x16.splat(QUOTE as i8);
  const backslashes = i8x16.splat(0x5c);
  while (p < end) {
    const block = v128.load(p);
    const found = i8x16.bitmask(v128.or(i8x16.eq(block, quotes), i8x16.eq(block, backslashes)));
    if (found == 0) {
      p += 16;
      continue;
    }
    p += ctz<i32>(found) as usize;
    if (p >= end || load<u8>(p) == QUOTE) break;
    hasEscape = true;
    p += 2;
  }
  return min<usize>(p, end);
}

/** Returns where what stands at `p` ends, if it is not a value: at white space, a comma or a closing bracket. */
export function endOfToken(p: usize, end: usize): usize {
  while (p < end && !isAfterToken(load<u8>(p))) p += 1;
  return p;
}

/** Returns where the digits, signs, points and exponents at `p` end. */
// @ts-ignore: decorator
@inline
function endOfNumber(p: usize, end: usize): usize {
  while (p < end) {
    const block = v128.load(p);
    const others = v128.or(i8x16.eq(block, i8x16.splat(COMMA as i8)), i8x16.eq(block, i8x16.splat(SLASH as i8)));
    const digits = v128.andnot(i8x16.lt_u(i8x16.sub(block, i8x16.splat(PLUS as i8)), i8x16.splat(15)), others);
    const exponents = i8x16.eq(v128.or(block, i8x16.splat(LOWER as i8)), i8x16.splat(EXPONENT as i8));
    const count = ctz<i32>(~i8x16.bitmask(v128.or(digits, exponents)));
    p += count as usize;
    if (count < 16) break;
  }
  return min<usize>(p, end);
}

/** The address after the literal or number at `p`; 0: there is none, or more follows it. Reads up to 8 bytes past the end. */
// @ts-ignore: decorator
@inline
export function skipWord(p: usize, end: usize): usize {
  const behind = skipLetters(p, end);
  if (behind == 0 || behind == end) return behind;
  const byte: u32 = load<u8>(behind);
  return isAfterToken(byte) ? behind : 0;
}

// @ts-ignore: decorator
@inline
export function isAfterToken(byte: u32): bool {
  return byte == COMMA || byte == CLOSE_OBJECT || byte == CLOSE_ARRAY || byte <= 0x20;
}

// @ts-ignore: decorator
@inline
function skipLetters(p: usize, end: usize): usize {
  if (p >= end) return 0;
  const first = load<u8>(p) == MINUS ? p + 1 : p;
  if (first < end && (load<u8>(first) as u32) - ZERO <= 9) {
    return endOfNumber(p, end);
  }
  let behind = p;
  const letters = load<u32>(p);
  if (load<u64>(first) == INFINITY) behind = first + 8;
  else if (letters == TRUE || letters == NULL) behind = p + 4;
  else if (letters == FALSE && load<u8>(p, 4) == EXPONENT) behind = p + 5;
  else if ((letters & 0xffffff) == NAN) behind = p + 3;
  return behind == p || behind > end ? 0 : behind;
}

/** @param depth the number of objects around it. */
// @ts-ignore: decorator
@inline
export function beginObject(depth: u32): void {
  store<u8>(bracketAt(depth), OPEN_OBJECT as u8);
}

/** The address after the value at `p`, inside of `depth` objects; 0: there is no whole one. */
// @ts-ignore: decorator
@inline
export function skipValue(p: usize, end: usize, depth: u32): usize {
  if (p >= end) return 0;
  const first: u32 = load<u8>(p);
  if (first == QUOTE) {
    p = endOfString(p + 1, end);
    return p < end ? p + 1 : 0;
  }
  if (first != OPEN_OBJECT && first != OPEN_ARRAY) return skipWord(p, end);
  store<u8>(bracketAt(depth), first as u8);
  return skipMembers(p + 1, end, depth, depth + 1, false);
}

/** The address after the outermost of `depth` objects; `p` follows a value of the innermost. 0: they do not end so. */
export function skipRest(p: usize, end: usize, depth: u32): usize {
  return skipMembers(p, end, 0, depth, true);
}

/** Does what `endOfString` does; most strings are short. */
// @ts-ignore: decorator
@inline
export function endOfKey(p: usize, end: usize): usize {
  const block = v128.load(p);
  const found = i8x16.bitmask(v128.or(i8x16.eq(block, i8x16.splat(QUOTE as i8)), i8x16.eq(block, i8x16.splat(0x5c))));
  const at = p + (ctz<i32>(found) as usize);
  if (found == 0 || at >= end || load<u8>(at) != QUOTE) return endOfString(p, end);
  hasEscape = false;
  return at;
}

/** The address after the string with its first character at `p`; above `end` if it has no end. Most strings are short. */
// @ts-ignore: decorator
@inline
function skipString(p: usize, end: usize): usize {
  const block = v128.load(p);
  const found = i8x16.bitmask(v128.or(i8x16.eq(block, i8x16.splat(QUOTE as i8)), i8x16.eq(block, i8x16.splat(0x5c))));
  const at = p + (ctz<i32>(found) as usize);
  return found != 0 && at < end && load<u8>(at) == QUOTE ? at + 1 : endOfString(p, end) + 1;
}

/**
 * Passes over the rest of the open containers, until `outer` of them are left. Returns 0 if they do not end.
 * @param isAfterValue whether `p` follows a value. Else it follows an opening bracket.
 */
function skipMembers(p: usize, end: usize, outer: u32, depth: u32, isAfterValue: bool): usize {
  let isObject = load<u8>(bracketAt(depth - 1)) == OPEN_OBJECT;
  for (p = skipSpace(p, end); p < end; p = skipSpace(p, end)) {
    let byte: u32 = load<u8>(p);
    if (byte == (isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
      depth -= 1;
      p += 1;
      if (depth == outer) return p;
      isObject = load<u8>(bracketAt(depth - 1)) == OPEN_OBJECT;
      isAfterValue = true;
      continue;
    }
    if (isAfterValue) {
      if (byte != COMMA) return 0;
      p = skipSpace(p + 1, end);
      if (p >= end) return 0;
      byte = load<u8>(p);
    }
    if (isObject) {
      if (byte != QUOTE) return 0;
      p = skipSpace(skipString(p + 1, end), end);
      if (p >= end || load<u8>(p) != COLON) return 0;
      p = skipSpace(p + 1, end);
      if (p >= end) return 0;
      byte = load<u8>(p);
    }
    isAfterValue = true;
    if (byte == QUOTE) {
      p = skipString(p + 1, end);
    } else if (byte == OPEN_OBJECT || byte == OPEN_ARRAY) {
      if (depth == MOST_DEPTH) return 0;
      store<u8>(bracketAt(depth), byte as u8);
      isObject = byte == OPEN_OBJECT;
      depth += 1;
      p += 1;
      isAfterValue = false;
    } else {
      p = skipWord(p, end);
      if (p == 0) return 0;
    }
  }
  return 0;
}
