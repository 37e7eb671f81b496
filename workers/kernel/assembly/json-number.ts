// Reads a JSON number from 0 to below 10^15 exactly: as a whole number, and as a number of parts of 10^-15. Digits after the
// 15th place after the point are left out, so a sum of such numbers does not depend on their order.

const MINUS: u32 = 0x2d;
const PLUS: u32 = 0x2b;
const POINT: u32 = 0x2e;
const ZERO: u32 = 0x30;
const EXPONENT: u32 = 0x65;
/** This bit makes an ASCII letter lower case. */
const LOWER: u32 = 0x20;

/** Before the point and after it: more would not fit a sum. */
export const MOST_DIGITS: i64 = 15;
/** No record has so many digits. */
const MOST_EXPONENT: i64 = 1_000_000_000_000;

export let wholeOfNumber: u64 = 0;
/** In parts of 10^-15. */
export let partsOfNumber: u64 = 0;
let exponent: i64 = 0;

/** Whether the bytes are a JSON number from 0 to below 10^15. -0 is 0. */
export function readNumber(start: usize, end: usize): bool {
  wholeOfNumber = 0;
  partsOfNumber = 0;
  const isNegative = start < end && load<u8>(start) == MINUS;
  const first = isNegative ? start + 1 : start;
  const wholeEnd = passDigits(first, end);
  // JSON has no digit after a leading 0.
  if (wholeEnd == first || (load<u8>(first) == ZERO && wholeEnd > first + 1)) return false;
  let digitsEnd = wholeEnd;
  if (wholeEnd < end && load<u8>(wholeEnd) == POINT) {
    digitsEnd = passDigits(wholeEnd + 1, end);
    if (digitsEnd == wholeEnd + 1) return false;
  }
  if (!readExponent(digitsEnd, end)) return false;
  /** The power of ten of the next digit. */
  let place: i64 = ((wholeEnd - first) as i64) - 1 + exponent;
  for (let at = first; at < digitsEnd; at++) {
    if (at == wholeEnd) continue;
    const digit = (load<u8>(at) as u32) - ZERO;
    if (digit != 0 && (isNegative || place >= MOST_DIGITS)) return false;
    if (place >= 0) wholeOfNumber = wholeOfNumber * 10 + (digit as u64);
    else if (place >= -MOST_DIGITS) partsOfNumber = partsOfNumber * 10 + (digit as u64);
    place -= 1;
  }
  // Zeros stand for the digits that are not written.
  if (wholeOfNumber != 0) for (; place >= 0; place--) wholeOfNumber *= 10;
  if (partsOfNumber != 0) for (; place >= -MOST_DIGITS; place--) partsOfNumber *= 10;
  return true;
}

function passDigits(p: usize, end: usize): usize {
  while (p < end && (load<u8>(p) as u32) - ZERO <= 9) p += 1;
  return p;
}

/** Whether [p, end) is empty or an exponent. Sets `exponent`. */
function readExponent(p: usize, end: usize): bool {
  exponent = 0;
  if (p == end) return true;
  if (((load<u8>(p) as u32) | LOWER) != EXPONENT) return false;
  p += 1;
  const sign: u32 = p < end ? load<u8>(p) : 0;
  if (sign == MINUS || sign == PLUS) p += 1;
  if (p == end || passDigits(p, end) != end) return false;
  for (; p < end && exponent < MOST_EXPONENT; p++) exponent = exponent * 10 + (((load<u8>(p) as u32) - ZERO) as i64);
  if (sign == MINUS) exponent = -exponent;
  return true;
}
