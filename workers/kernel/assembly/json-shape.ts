// Most records of a file are objects of the same keys, written alike: they differ in their strings, numbers and literals. The
// shape of a whole record, which is all of its other bytes, is noted and compared with the next ones. A record of the same
// shape is whole, too, and has its value at the same place in the shape. Keys and brackets are not looked at again.
//
//   shape   pieces of up to 16 bytes, 32 bytes each:
//           0 mask of its bytes u16 | 4 byteLength u32 | 8 what follows it u32 | 16 the bytes

import { endOfKey, endOfToken, hasEscape, isAfterToken, skipSpace, skipWord } from './json-value';
import { SHAPE_PLACE, scratchAt } from './scratch';

const PIECE_BYTES: usize = 32;
const SHAPE_BYTES: usize = 2048;
const QUOTE: u32 = 0x22;
const COLON: u32 = 0x3a;
const OPEN_ARRAY: u32 = 0x5b;
const OPEN_OBJECT: u32 = 0x7b;

/** What follows a piece: another one, the end of the record, the characters of a string, or a number or literal. */
const PIECE: u32 = 0;
const END: u32 = 1;
const STRING: u32 = 2;
const WORD: u32 = 4;
/** The bit of the value that is sought. */
const SOUGHT: u32 = 8;

/** Above 0: records are compared with the shape. Below 0: so many more are not. 0: the shape of the next one is noted. */
let trust: i32 = 0;
const MOST_TRUST: i32 = 16;
const LEAST_TRUST: i32 = -64;

export let endOfSought: usize = 0;
export let soughtHasEscapes: bool = false;

/** Call it before another value is sought. */
export function forgetShape(): void {
  trust = 0;
}

/** Returns the address of the value, which ends at `endOfSought`; 0: the record is not known to have the shape. */
// @ts-ignore: decorator
@inline
export function findByShape(start: usize, end: usize): usize {
  if (trust <= 0) return 0;
  const value = findInShape(start, end);
  trust = value != 0 ? min<i32>(trust + 1, MOST_TRUST) : trust > 2 ? trust - 2 : LEAST_TRUST;
  return value;
}

function findInShape(p: usize, end: usize): usize {
  let value: usize = 0;
  let next = PIECE;
  for (let piece = scratchAt(SHAPE_PLACE); next != END; piece += PIECE_BYTES) {
    const mask: i32 = load<u16>(piece);
    if ((i8x16.bitmask(i8x16.eq(v128.load(p), v128.load(piece, 16))) & mask) != mask) return 0;
    p += load<u32>(piece, 4) as usize;
    if (p > end) return 0;
    next = load<u32>(piece, 8);
    if (next <= END) continue;
    const isString = (next & STRING) != 0;
    const from = isString ? p - 1 : p;
    p = isString ? endOfKey(p, end) : skipWord(p, end);
    if (p == 0) return 0;
    if ((next & SOUGHT) == 0) continue;
    value = from;
    endOfSought = isString ? p + 1 : p;
    soughtHasEscapes = isString && hasEscape;
  }
  return p == end ? value : 0;
}

/** Notes the shape of a whole record for `findByShape`, if it is time. `value` is the address of the value in it. */
export function noteShape(start: usize, end: usize, value: usize): void {
  if (trust < 0) trust += 1;
  else if (trust == 0) trust = writeShape(start, end, value) ? MOST_TRUST : LEAST_TRUST;
}

/** Returns whether the shape has room, and the value is not an object or an array. */
function writeShape(start: usize, end: usize, value: usize): bool {
  let piece = scratchAt(SHAPE_PLACE);
  const roomEnd = piece + SHAPE_BYTES;
  let hasValue = false;
  let from = start;
  for (let p = start; from < end; ) {
    const byte: u32 = p < end ? load<u8>(p) : 0;
    const isString = byte == QUOTE;
    const behind = isString ? endOfKey(p + 1, end) + 1 : p + 1;
    if (isString ? load<u8>(skipSpace(behind, end)) == COLON : p < end && isOfShape(byte)) {
      p = behind;
      continue;
    }
    for (const pieceEnd = isString ? p + 1 : p; from < pieceEnd; piece += PIECE_BYTES) {
      if (piece == roomEnd) return false;
      const byteLength = min<usize>(pieceEnd - from, 16) as u32;
      store<u16>(piece, (((1 as u32) << byteLength) - 1) as u16);
      store<u32>(piece, byteLength, 4);
      store<u32>(piece, PIECE, 8);
      memory.copy(piece + 16, from, byteLength);
      from += byteLength as usize;
    }
    const isSought = p == value;
    store<u32>(piece - PIECE_BYTES, p == end ? END : (isString ? STRING : WORD) | (isSought ? SOUGHT : 0), 8);
    hasValue = hasValue || isSought;
    if (p == end) break;
    p = isString ? behind : endOfToken(p, end);
    from = isString ? p - 1 : p;
  }
  return hasValue;
}

// @ts-ignore: decorator
@inline
function isOfShape(byte: u32): bool {
  return isAfterToken(byte) || byte == COLON || byte == OPEN_OBJECT || byte == OPEN_ARRAY;
}
