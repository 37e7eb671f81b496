// The value of a record, which a selector finds: as a hash of 64 bits, which chooses splits and tells records apart, and as
// characters, by which equal values are known. The hash of a string is the `recordHash` of a quote and its characters,
// whichever selector found it.
//
//   selector   0 kind u16 | 2 bytes at the end of a record that only end it u16 | 4 whether records may lack a value u32 | 8 hash of their value then u64
//              16 the first record without a value u32, or 0
//              20 where their value then begins u32 | 24 where it ends u32: a quote and its characters | 28 by kind:
//              FIELD: path, as json-field.ts has it
//              COLUMN: index from 0 u32 | separator u32 | whether quotes enclose values u32
//              HOST: room for a value that the host finds

import { cellAt, columnHash, compareCells, endOfCell, findCell, hasColumn, isCellQuoted, setColumnToFind } from './csv-column';
import { haveSameBytes, compareBytes } from './duplicates';
import {
  endOfFound,
  fieldAt,
  fieldHash,
  findField,
  foundHasEscapes,
  hasField,
  readNumber,
  setFieldPath,
  valueEnd,
} from './json-field';
import { compareDecoded } from './json-text';
import { hashInCache, hashOfPieces } from './record-hash';

const FIELD: u32 = 0;
const COLUMN: u32 = 1;
const BODY: usize = 28;
const QUOTE: u32 = 0x22;
const NULL: u32 = 0x6c6c756e;

/** The lane of the hash of pieces that the host fills with a long value, as in json-field.ts. */
const LANE: u32 = 1;
const IN_PIECES: u32 = u32.MAX_VALUE;

/**
 * Puts a quote and the value into the room of the selector and returns the bytes of both; 0 if there is no value;
 * `IN_PIECES` if both are hashed in pieces.
 */
// @ts-ignore: decorator
@external('host', 'findValue')
declare function findValue(selector: usize, start: usize, end: usize): u32;

/** `compareValues` for values that the host finds. */
// @ts-ignore: decorator
@external('host', 'compareValues')
declare function compareFound(selector: usize, a: usize, endA: usize, b: usize, endB: usize): i32;

/** Prepares the search for the values of a selector. Call it before the first record: another one may have been at work. */
export function useSelector(selector: usize): void {
  const kind: u32 = load<u16>(selector);
  if (kind == FIELD) setFieldPath(selector + BODY, load<u16>(selector, 2));
  else if (kind == COLUMN) setColumnToFind(load<u32>(selector, 28), load<u32>(selector, 32) as u8, load<u32>(selector, 36) != 0);
}

/**
 * The place of the value that `valueHash` found last: its first byte in the record << 32 | `CODED` if its characters must be
 * decoded | its bytes. 0: it is not known, or lies elsewhere.
 */
export let placeOfValue: u64 = 0;
export const CODED: u32 = 0x80000000;

// @ts-ignore: decorator
@inline
function noteValue(start: usize, at: usize, end: usize, isCoded: bool): void {
  placeOfValue = (((at - start) as u64) << 32) | ((end - at) as u64) | (isCoded ? (CODED as u64) : 0);
}

/**
 * The hash of the value, by the selector of the last `useSelector`. Reads up to 15 bytes past the end. A record without a
 * value counts as one of the value that the selector has for it, if any; else `firstRecordWithoutValue` tells the first one.
 */
export function valueHash(selector: usize, start: usize, end: usize): u64 {
  const kind: u32 = load<u16>(selector);
  placeOfValue = 0;
  if (kind == FIELD) {
    const hash = fieldHash(start, end);
    if (hasField) {
      noteValue(start, fieldAt, endOfFound, foundHasEscapes);
      return hash;
    }
  } else if (kind == COLUMN) {
    const hash = columnHash(start, end);
    if (hasColumn) {
      noteValue(start, cellAt, endOfCell, isCellQuoted);
      return hash;
    }
  } else {
    const byteLength = findValue(selector, start, end);
    if (byteLength == IN_PIECES) return hashOfPieces(LANE);
    if (byteLength != 0) return hashInCache(selector + BODY, byteLength);
  }
  mayLackValue(selector, start);
  return load<u64>(selector, 8);
}

/** Returns whether records may lack a value. If not, the selector tells the first one. */
function mayLackValue(selector: usize, start: usize): bool {
  if (load<u32>(selector, 4) != 0) return true;
  if (load<u32>(selector, 16) == 0) store<u32>(selector, start as u32, 16);
  return false;
}

/** The first record without a value since the selector was placed; 0: all had one, or may lack it. */
export function firstRecordWithoutValue(selector: usize): usize {
  return load<u32>(selector, 16);
}

/** @param index counts from 0. */
export function setSelectorColumn(selector: usize, index: u32): void {
  store<u32>(selector, index, BODY);
  useSelector(selector);
}

/** The place of what `find` or `readValue` found: characters, and whether they must be decoded before they can be compared. */
export let foundAt: usize = 0;
export let foundEnd: usize = 0;
export let isCoded: bool = false;

/** A record without a value counts as one of the value that the selector has for it. Returns whether the record has one. */
function find(selector: usize, start: usize, end: usize): bool {
  const kind: u32 = load<u16>(selector);
  isCoded = false;
  if (kind == FIELD) {
    foundAt = findField(start, end);
    foundEnd = endOfFound;
    isCoded = foundHasEscapes;
  } else if (kind == COLUMN) {
    foundAt = findCell(start, end);
    foundEnd = endOfCell;
    isCoded = isCellQuoted;
  } else {
    const byteLength = findValue(selector, start, end);
    foundAt = byteLength == 0 ? 0 : selector + BODY;
    // A long value, which is hashed in pieces, has no characters here.
    foundEnd = foundAt + (byteLength == IN_PIECES ? 0 : (byteLength as usize));
  }
  if (foundAt != 0) return true;
  foundAt = (load<u32>(selector, 20) as usize) + ((kind == COLUMN) as usize);
  foundEnd = load<u32>(selector, 24);
  isCoded = false;
  return false;
}

/** Finds the characters of a value, by the selector of the last `useSelector`. False: the record must have one and has none. */
export function findCharactersOf(selector: usize, start: usize, end: usize): bool {
  return find(selector, start, end) || mayLackValue(selector, start);
}

/** The results of `readValue`: nothing, characters that are not a number from 0 to below 10^15, or a number. */
export const NO_VALUE: u32 = 0;
const OTHER_VALUE: u32 = 1;
export const NUMBER: u32 = 2;

/**
 * Reads the value as a number, by the selector of the last `useSelector`, with `wholeOfNumber` and `partsOfNumber`. A string of
 * JSON is none. A record with null or without a value has the value that the selector has for it, if any; else
 * `firstRecordWithoutValue` tells the first one.
 */
export function readValue(selector: usize, start: usize, end: usize): u32 {
  if (!findCharacters(selector, start, end)) return NO_VALUE;
  return readNumber(foundAt, foundEnd) ? NUMBER : OTHER_VALUE;
}

function findCharacters(selector: usize, start: usize, end: usize): bool {
  const kind: u32 = load<u16>(selector);
  if (kind == FIELD) {
    foundAt = findField(start, end);
    foundEnd = valueEnd;
    if (foundAt != 0 && foundEnd - foundAt == 4 && load<u32>(foundAt) == NULL) foundAt = 0;
  } else if (kind == COLUMN) {
    foundAt = findCell(start, end);
    foundEnd = endOfCell;
  } else {
    const byteLength = findValue(selector, start, end);
    foundAt = byteLength == 0 ? 0 : selector + BODY;
    foundEnd = foundAt + (byteLength == IN_PIECES ? 0 : (byteLength as usize));
    if (foundAt < foundEnd && load<u8>(foundAt) == QUOTE) foundAt += 1;
  }
  if (foundAt != 0) return true;
  if (!mayLackValue(selector, start)) return false;
  foundAt = (load<u32>(selector, 20) as usize) + 1;
  foundEnd = load<u32>(selector, 24);
  return true;
}

/**
 * Compares the values of two records in UTF-8, by the selector of the last `useSelector`. Below 0, above 0, or 0 if they are
 * equal; a prefix comes first. Reads up to 15 bytes past the ends.
 */
export function compareValues(selector: usize, a: usize, endA: usize, b: usize, endB: usize): i32 {
  const kind: u32 = load<u16>(selector);
  if (kind != FIELD && kind != COLUMN) {
    // Equal records have equal values: the host need not look.
    if (endA - a == endB - b && haveSameBytes(a, b, (endA - a) as u32)) return 0;
    return compareFound(selector, a, endA, b, endB);
  }
  find(selector, a, endA);
  const valueA = foundAt;
  const valueEndA = foundEnd;
  const isCodedA = isCoded;
  find(selector, b, endB);
  if (!isCodedA && !isCoded) {
    const lengthA = (valueEndA - valueA) as u32;
    const lengthB = (foundEnd - foundAt) as u32;
    if (lengthA == lengthB && haveSameBytes(valueA, foundAt, lengthA)) return 0;
    return compareBytes(valueA, lengthA, foundAt, lengthB);
  }
  if (kind == FIELD) return compareDecoded(valueA, valueEndA, isCodedA, foundAt, foundEnd, isCoded);
  return compareCells(valueA, valueEndA, isCodedA, foundAt, foundEnd, isCoded);
}
