// Which records count as equal: those with the same bytes, or those with equal values of a field. Equal values are the same
// bytes, or strings of the same characters, however these are escaped; they are compared, never taken to be equal by a hash.
//
//   place of the splits, which such a job has not   path, as json-field.ts has it | the value of records without the field: a quote and its characters

import { areSame } from './duplicates';
import { endOfFound, fieldHash, findField, foundEscapes, hasField, seekField } from './json-field';
import { compareDecoded } from './json-text';
import { hashInCache, recordHash } from './record-hash';
import { SPLITS_PLACE, scratchAt } from './scratch';

let isByValue: bool = false;
let takesMissing: bool = false;
let missingValue: usize = 0;
let missingEnd: usize = 0;
let missingHash: u64 = 0;
let withoutValue: usize = 0;

/** Records are equal from now on if all of their bytes are. */
export function equalByBytes(): void {
  isByValue = false;
}

/**
 * Records are equal from now on if the values of the field are whose path is in the place of the field. With `allowsMissing`,
 * the `missingBytes` behind the `pathBytes` are the value of records without the field; else `recordWithoutValue` tells where
 * the first one is.
 */
export function equalByField(pathBytes: u32, allowsMissing: bool, missingBytes: u32): void {
  const path = scratchAt(SPLITS_PLACE);
  seekField(path);
  takesMissing = allowsMissing;
  missingValue = path + pathBytes;
  missingEnd = missingValue + missingBytes;
  missingHash = recordHash(missingValue, missingBytes);
  withoutValue = 0;
  isByValue = true;
}

// @ts-ignore: decorator
@inline
export function areEqualByField(): bool {
  return isByValue;
}

/** The address of the first record without the field since `equalByField`, if there must be none; 0: all had it. */
export function recordWithoutValue(): usize {
  return withoutValue;
}

/** The hash of what equal records have in common. Reads up to 15 bytes past the end. */
// @ts-ignore: decorator
@inline
export function hashOfEqual(start: usize, byteLength: u32): u64 {
  return isByValue ? hashOfField(start, start + byteLength) : hashInCache(start, byteLength);
}

function hashOfField(start: usize, end: usize): u64 {
  const hash = fieldHash(start, end);
  if (hasField()) return hash;
  if (!takesMissing && withoutValue == 0) withoutValue = start;
  return missingHash;
}

/** Whether two records are equal. */
// @ts-ignore: decorator
@inline
export function areEqual(a: usize, lengthA: u32, b: usize, lengthB: u32): bool {
  if (isByValue) return compareFields(a, lengthA, b, lengthB) == 0;
  return lengthA == lengthB && areSame(a, b, lengthA);
}

/** Compares what equal records have in common, byte by byte, a prefix first: below 0, above 0, or 0 if they are equal. */
export function compareRecords(a: usize, lengthA: u32, b: usize, lengthB: u32): i32 {
  if (isByValue) return compareFields(a, lengthA, b, lengthB);
  if (lengthA == lengthB && areSame(a, b, lengthA)) return 0;
  return comparePlain(a, lengthA, b, lengthB);
}

// @ts-ignore: decorator
@inline
function comparePlain(a: usize, lengthA: u32, b: usize, lengthB: u32): i32 {
  const difference = memory.compare(a, b, min<u32>(lengthA, lengthB));
  if (difference != 0) return difference;
  return (lengthA > lengthB ? 1 : 0) - (lengthA < lengthB ? 1 : 0);
}

function compareFields(a: usize, lengthA: u32, b: usize, lengthB: u32): i32 {
  let valueA = findField(a, a + lengthA);
  let endA = endOfFound();
  let escapes = valueA != 0 && foundEscapes();
  if (valueA == 0) {
    valueA = missingValue;
    endA = missingEnd;
  }
  let valueB = findField(b, b + lengthB);
  let endB = endOfFound();
  const escapesB = valueB != 0 && foundEscapes();
  if (valueB == 0) {
    valueB = missingValue;
    endB = missingEnd;
  }
  if (!escapes && !escapesB) return comparePlain(valueA, (endA - valueA) as u32, valueB, (endB - valueB) as u32);
  return compareDecoded(valueA, endA, escapes, valueB, endB, escapesB);
}
