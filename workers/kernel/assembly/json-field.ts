// Finds the value of a field in a record that is a JSON object. What follows the value is passed over, too
// (json-value.ts): a record that is cut off or damaged has no field.
//
//   path   the keys from the outermost object in: count u32, then for each key its byteLength u32 and its bytes (UTF-8)

import { endOfSought, findByShape, forgetShape, noteShape, soughtHasEscapes } from './json-shape';
import { compareDecoded, decodedAddress, decodeEscape, endOfEscape } from './json-text';
import { beginObject, endOfKey, hasEscape, skipRest, skipSpace, skipValue } from './json-value';
import { addToHash, beginHash, hashOfPieces, recordHash } from './record-hash';

const QUOTE: u32 = 0x22;
const ZERO: u32 = 0x30;
const BACKSLASH: u32 = 0x5c;
const COLON: u32 = 0x3a;
const COMMA: u32 = 0x2c;
const OPEN_OBJECT: u32 = 0x7b;

/** The lane of the hash of pieces that decodes values. Tasks that read records use the other one. */
const LANE: u32 = 1;

let path: usize = 0;
/** Bytes at the end of a record that only end it. */
let delimiterBytes: usize = 0;
/** `valueEnd` and `isEscaped` tell of what was found last. */
export let valueEnd: usize = 0;
let isEscaped: bool = false;

/** @param endBytes the last bytes of a record, which only end it. */
export function setFieldPath(pathAt: usize, endBytes: u32): void {
  path = pathAt;
  delimiterBytes = endBytes;
  forgetShape();
}

/** The address of the value, which ends at `valueEnd`; 0: the record is not a JSON object with such a field, and nothing else. */
function findValue(start: usize, recordEnd: usize): usize {
  const end = recordEnd - delimiterBytes;
  const ofShape = findByShape(start, end);
  if (ofShape != 0) {
    valueEnd = endOfSought;
    isEscaped = soughtHasEscapes;
    return ofShape;
  }
  const keys = load<u32>(path);
  let key = path + 4;
  let p = skipSpace(start, end);
  for (let i: u32 = 0; i < keys; i++) {
    p = findKey(p, end, i, key + 4, load<u32>(key));
    if (p == 0) return 0;
    key += 4 + (load<u32>(key) as usize);
  }
  valueEnd = skipValue(p, end, keys);
  isEscaped = hasEscape;
  if (valueEnd == 0 || !isEnd(skipRest(valueEnd, end, keys), end)) return 0;
  noteShape(start, end, p);
  return p;
}

/** Returns whether a record begins as a JSON object but is not exactly one. */
export function isBrokenObject(start: usize, recordEnd: usize): bool {
  const end = recordEnd - delimiterBytes;
  const p = skipSpace(start, end);
  return p < end && load<u8>(p) == OPEN_OBJECT && !isEnd(skipValue(p, end, 0), end);
}

/** Returns whether only white space follows a value that ends at `p`; `p` = 0: it has no end. */
function isEnd(p: usize, end: usize): bool {
  return p != 0 && skipSpace(p, end) == end;
}

/** The address of the value of this key in the object at `p`, `depth` objects deep; 0: it has none, or is not an object. */
function findKey(p: usize, end: usize, depth: u32, key: usize, keyBytes: usize): usize {
  if (p >= end || load<u8>(p) != OPEN_OBJECT) return 0;
  beginObject(depth);
  p = skipSpace(p + 1, end);
  while (p < end && load<u8>(p) == QUOTE) {
    const name = p + 1;
    const nameEnd = endOfKey(name, end);
    const isKey = hasEscape
      ? compareDecoded(name, nameEnd, true, key, key + keyBytes, false) == 0
      : nameEnd - name == keyBytes && memory.compare(name, key, keyBytes) == 0;
    p = skipSpace(nameEnd + 1, end);
    if (p >= end || load<u8>(p) != COLON) return 0;
    p = skipSpace(p + 1, end);
    if (isKey) return p < end ? p : 0;
    p = skipValue(p, end, depth + 1);
    if (p == 0) return 0;
    p = skipSpace(p, end);
    if (p >= end || load<u8>(p) != COMMA) return 0;
    p = skipSpace(p + 1, end);
  }
  return 0;
}

/**
 * The hash of the value: for a string, that of a quote and its decoded characters; for another value, that of its bytes.
 * Reads up to 15 bytes past the end. `hasField` tells whether there was one.
 */
export function fieldHash(start: usize, end: usize): u64 {
  fieldAt = findField(start, end);
  hasField = fieldAt != 0;
  if (!hasField) return 0;
  return foundHasEscapes ? hashOfValue(fieldAt, endOfFound) : recordHash(fieldAt, (endOfFound - fieldAt) as u32);
}

/**
 * The address of what `fieldHash` hashes, before escapes are decoded; 0: the record has no such field. `endOfFound` is the
 * address after it, and `foundHasEscapes` tells whether it is a string with escapes.
 */
export function findField(start: usize, end: usize): usize {
  const value = findValue(start, end);
  if (value == 0) return 0;
  const isText = load<u8>(value) == QUOTE;
  endOfFound = isText ? valueEnd - 1 : valueEnd;
  foundHasEscapes = isText && isEscaped;
  return value;
}

export let endOfFound: usize = 0;
export let foundHasEscapes: bool = false;

export let hasField: bool = false;
/** The address of what `fieldHash` hashed last. */
export let fieldAt: usize = 0;

function hashOfValue(quote: usize, end: usize): u64 {
  beginHash(LANE);
  addToHash(LANE, quote, quote + 1);
  addDecoded(quote + 1, end);
  return hashOfPieces(LANE);
}

function addDecoded(p: usize, end: usize): void {
  let plain = p;
  while (p < end) {
    if (load<u8>(p) != BACKSLASH) {
      p += 1;
      continue;
    }
    if (plain < p) addToHash(LANE, plain, p);
    const decodedBytes = decodeEscape(p, end);
    addToHash(LANE, decodedAddress(), decodedAddress() + decodedBytes);
    p = min<usize>(endOfEscape, end);
    plain = p;
  }
  if (plain < end) addToHash(LANE, plain, end);
}

const MINUS: u32 = 0x2d;
const PLUS: u32 = 0x2b;
const POINT: u32 = 0x2e;
const EXPONENT: u32 = 0x65;
/** This bit makes an ASCII letter lower case. */
const LOWER: u32 = 0x20;

/** The most digits before the point and after it: more would not fit a sum. */
const MOST_DIGITS: i64 = 15;
/** No record has so many digits. */
const MOST_EXPONENT: i64 = 1_000_000_000_000;

export let wholeOfNumber: u64 = 0;
/** The fraction of the number, in parts of 10^-15. */
export let partsOfNumber: u64 = 0;
/** True if the last `readNumber` failed at a number that is too large. */
export let isTooLarge: bool = false;
let exponent: i64 = 0;

/**
 * Returns whether the bytes are a JSON number from 0 to below 10^15; -0 is 0. Reads it exactly: as a whole number, and
 * as a number of parts of 10^-15. Digits after the 15th place after the point are left out, so a sum of such numbers
 * does not depend on their order.
 */
export function readNumber(start: usize, end: usize): bool {
  isTooLarge = false;
  if (readPlain(start, end)) return true;
  wholeOfNumber = 0;
  partsOfNumber = 0;
  const isNegative = start < end && load<u8>(start) == MINUS;
  const first = isNegative ? start + 1 : start;
  const wholeEnd = skipDigits(first, end);
  // JSON has no digit after a leading 0.
  if (wholeEnd == first || (load<u8>(first) == ZERO && wholeEnd > first + 1)) return false;
  let digitsEnd = wholeEnd;
  if (wholeEnd < end && load<u8>(wholeEnd) == POINT) {
    digitsEnd = skipDigits(wholeEnd + 1, end);
    if (digitsEnd == wholeEnd + 1) return false;
  }
  if (!readExponent(digitsEnd, end)) return false;
  /** The power of ten of the next digit. */
  let place: i64 = ((wholeEnd - first) as i64) - 1 + exponent;
  for (let at = first; at < digitsEnd; at++) {
    if (at == wholeEnd) continue;
    const digit = (load<u8>(at) as u32) - ZERO;
    if (digit != 0 && (isNegative || place >= MOST_DIGITS)) {
      isTooLarge = !isNegative;
      return false;
    }
    if (place >= 0) wholeOfNumber = wholeOfNumber * 10 + (digit as u64);
    else if (place >= -MOST_DIGITS) partsOfNumber = partsOfNumber * 10 + (digit as u64);
    place -= 1;
  }
  // Zeros stand for the digits that are not written.
  if (wholeOfNumber != 0) for (; place >= 0; place--) wholeOfNumber *= 10;
  if (partsOfNumber != 0) for (; place >= -MOST_DIGITS; place--) partsOfNumber *= 10;
  return true;
}

/** Does what `readNumber` does, for up to 15 digits and perhaps a point with more of them. */
// @ts-ignore: decorator
@inline
function readPlain(start: usize, end: usize): bool {
  let whole: u64 = 0;
  let p = start;
  for (; p < end; p++) {
    const digit = (load<u8>(p) as u32) - ZERO;
    if (digit > 9) break;
    whole = whole * 10 + (digit as u64);
  }
  const digits = p - start;
  if (digits == 0 || digits > (MOST_DIGITS as usize) || (digits > 1 && load<u8>(start) == ZERO)) return false;
  let parts: u64 = 0;
  if (p < end && load<u8>(p) == POINT) {
    const first = p + 1;
    p = first;
    let places: u32 = 0;
    if (end - p >= 8 && areDigits(load<u64>(p))) {
      parts = numberOfDigits(load<u64>(p));
      p += 8;
      places = 8;
      if (end - p >= 8 && areDigits(load<u64>(p))) {
        parts = parts * 10_000_000 + numberOfDigits(load<u64>(p)) / 10;
        p += 8;
        places = 15;
      }
    }
    for (; p < end; p++) {
      const digit = (load<u8>(p) as u32) - ZERO;
      if (digit > 9) break;
      if (places == 15) continue;
      parts = parts * 10 + (digit as u64);
      places += 1;
    }
    if (p == first) return false;
    if (places < 8) {
      parts *= 100_000_000;
      places += 8;
    }
    for (; places < 15; places++) parts *= 10;
  }
  wholeOfNumber = whole;
  partsOfNumber = parts;
  return p == end;
}

/** Returns whether all eight bytes are digits. */
// @ts-ignore: decorator
@inline
function areDigits(bytes: u64): bool {
  const high = bytes & 0xf0f0f0f0f0f0f0f0;
  return (high | (((bytes + 0x0606060606060606) & 0xf0f0f0f0f0f0f0f0) >> 4)) == 0x3333333333333333;
}

/** Returns the number of eight digits, the first of which is the lowest byte: pairs, fours and eights are joined. */
// @ts-ignore: decorator
@inline
function numberOfDigits(bytes: u64): u64 {
  const digits = bytes - 0x3030303030303030;
  const pairs = digits * 10 + (digits >> 8);
  const low = (pairs & 0x000000ff000000ff) * (100 + (1_000_000 << 32));
  const high = ((pairs >> 16) & 0x000000ff000000ff) * (1 + (10_000 << 32));
  return (low + high) >> 32;
}

function skipDigits(p: usize, end: usize): usize {
  while (p < end && (load<u8>(p) as u32) - ZERO <= 9) p += 1;
  return p;
}

/** Returns whether [p, end) is empty or an exponent. Sets `exponent`. */
function readExponent(p: usize, end: usize): bool {
  exponent = 0;
  if (p == end) return true;
  if (((load<u8>(p) as u32) | LOWER) != EXPONENT) return false;
  p += 1;
  const sign: u32 = p < end ? load<u8>(p) : 0;
  if (sign == MINUS || sign == PLUS) p += 1;
  if (p == end || skipDigits(p, end) != end) return false;
  for (; p < end && exponent < MOST_EXPONENT; p++) exponent = exponent * 10 + (((load<u8>(p) as u32) - ZERO) as i64);
  if (sign == MINUS) exponent = -exponent;
  return true;
}
