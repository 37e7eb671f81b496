// Which records count as equal: those with the same bytes, or those with equal values. Equal values are the same bytes, or
// strings of the same characters, however these are written. They are compared, never taken to be equal by a hash.
//
//   place of the splits, which such a job has not   selector, as record-value.ts has it

import { haveSameBytes, compareBytes } from './duplicates';
import { hashInCache } from './record-hash';
import { compareValues, useSelector, valueHash } from './record-value';
import { SPLITS_PLACE, scratchAt } from './scratch';

let isByValue: bool = false;
let selector: usize = 0;

/** Compares records by their bytes, or by the values that the selector in the place of the splits finds. */
export function compareByValue(values: bool): void {
  isByValue = values;
  selector = scratchAt(SPLITS_PLACE);
  if (values) useSelector(selector);
}

/** The hash of what equal records have in common. Reads up to 15 bytes past the end. */
// @ts-ignore: decorator
@inline
export function hashOfEqual(start: usize, byteLength: u32): u64 {
  return isByValue ? valueHash(selector, start, start + byteLength) : hashInCache(start, byteLength);
}

// @ts-ignore: decorator
@inline
export function areEqual(a: usize, lengthA: u32, b: usize, lengthB: u32): bool {
  if (isByValue) return compareValues(selector, a, a + lengthA, b, b + lengthB) == 0;
  return lengthA == lengthB && haveSameBytes(a, b, lengthA);
}

/** Compares what equal records have in common. Below 0, above 0, or 0 if they are equal; a prefix comes first. */
export function compareRecords(a: usize, lengthA: u32, b: usize, lengthB: u32): i32 {
  if (isByValue) return compareValues(selector, a, a + lengthA, b, b + lengthB);
  if (lengthA == lengthB && haveSameBytes(a, b, lengthA)) return 0;
  return compareBytes(a, lengthA, b, lengthB);
}
