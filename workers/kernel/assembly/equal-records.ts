// Which records count as equal: those with the same bytes, or those with equal values. Equal values are the same bytes, or
// strings of the same characters, however these are written. They are compared, never taken to be equal by a hash.

import { haveSameBytes, compareBytes } from './duplicates';
import { hashInCache } from './record-hash';
import { CODED, compareValues, useSelector, valueHash } from './record-value';
import { headerBytes, placesValues, SECOND_KEY } from './stored-record';

/** The selector of the values that are compared, as record-value.ts has it; 0: all bytes are. */
let selector: usize = 0;

/** Compares records by the values that a selector finds; 0: by their bytes. */
export function compareByValue(selectorAt: usize): void {
  selector = selectorAt;
  useEquality();
}

/** Prepares for records whose other values were sought since `compareByValue`. */
export function useEquality(): void {
  if (selector != 0) useSelector(selector);
}

/** The hash of what equal records have in common. Reads up to 15 bytes past the end. */
// @ts-ignore: decorator
@inline
export function hashOfEqual(start: usize, byteLength: u32): u64 {
  return selector != 0 ? valueHash(selector, start, start + byteLength) : hashInCache(start, byteLength);
}

// @ts-ignore: decorator
@inline
export function areEqual(a: usize, lengthA: u32, b: usize, lengthB: u32): bool {
  if (selector != 0) return compareValues(selector, a, a + lengthA, b, b + lengthB) == 0;
  return lengthA == lengthB && haveSameBytes(a, b, lengthA);
}

/** Does what `compareRecords` does. Most records tell where their values lie, and few values must be decoded. */
export function compareStored(a: usize, b: usize): i32 {
  const recordA = a + headerBytes;
  const recordB = b + headerBytes;
  if (placesValues) {
    const placeA = load<u64>(a, SECOND_KEY);
    const placeB = load<u64>(b, SECOND_KEY);
    if (placeA != 0 && placeB != 0) {
      const valueA = recordA + ((placeA >> 32) as usize);
      const valueB = recordB + ((placeB >> 32) as usize);
      const lengthA = placeA as u32;
      const lengthB = placeB as u32;
      if (lengthA == lengthB && haveSameBytes(valueA, valueB, lengthA & ~CODED)) return 0;
      if (((lengthA | lengthB) & CODED) == 0) return compareBytes(valueA, lengthA, valueB, lengthB);
    }
  }
  return compareRecords(recordA, load<u32>(a, 8), recordB, load<u32>(b, 8));
}

/** Compares what equal records have in common. Below 0, above 0, or 0 if they are equal; a prefix comes first. */
function compareRecords(a: usize, lengthA: u32, b: usize, lengthB: u32): i32 {
  if (selector != 0) return compareValues(selector, a, a + lengthA, b, b + lengthB);
  if (lengthA == lengthB && haveSameBytes(a, b, lengthA)) return 0;
  return compareBytes(a, lengthA, b, lengthB);
}
