// The window of keys that a level of piles divides, where records have two keys. It is all first keys, unless a pile has many
// records with nearly the same: then it begins with its least pair of keys, and ends behind its greatest.
//
//   pair    key * 2^64 + second key
//   place   of a pair in the window: the upper 64 bits of (pair - least pair), shifted left as far as those of all pairs allow

import { hasSecondKeys, headerBytes, SECOND_KEY } from './stored-record';

let leastKey: u64 = 0;
let leastSecond: u64 = 0;
let shift: u64 = 0;

/** The least and the greatest pair that `spanStored` saw since `beginSpan`. */
let lowKey: u64 = 0;
let lowSecond: u64 = 0;
let highKey: u64 = 0;
let highSecond: u64 = 0;

/** Uses the window of these pairs. `shift` is 0 to 127; with 0 from the pair 0 on, places are first keys. */
export function useWindow(ofKey: u64, ofSecond: u64, shiftOfPairs: u32): void {
  leastKey = ofKey;
  leastSecond = ofSecond;
  shift = shiftOfPairs as u64;
}

/** Returns what divides the records of a level: the key, or the place of both keys in the window. */
// @ts-ignore: decorator
@inline
export function placeOf(key: u64, second: u64): u64 {
  return hasSecondKeys ? placeInWindow(key, second) : key;
}

function placeInWindow(key: u64, second: u64): u64 {
  const low = second - leastSecond;
  const high = key - leastKey - ((second < leastSecond) as u64);
  if (shift >= 64) return low << (shift - 64);
  return shift == 0 ? high : (high << shift) | (low >> (64 - shift));
}

export function beginSpan(): void {
  lowKey = u64.MAX_VALUE;
  lowSecond = u64.MAX_VALUE;
  highKey = 0;
  highSecond = 0;
}

/** Looks at the keys of the complete stored records in [from, to). Returns the address of the first incomplete one. */
export function spanStored(from: usize, to: usize): usize {
  let p = from;
  while (to - p >= headerBytes) {
    const byteLength = load<u32>(p, 8);
    if (byteLength > ((to - p) as u32) - headerBytes) break;
    const key = load<u64>(p);
    const second = load<u64>(p, SECOND_KEY);
    if (key < lowKey || (key == lowKey && second < lowSecond)) {
      lowKey = key;
      lowSecond = second;
    }
    if (key > highKey || (key == highKey && second > highSecond)) {
      highKey = key;
      highSecond = second;
    }
    p += headerBytes + byteLength;
  }
  return p;
}

export function spanKey(): u64 {
  return lowKey;
}

export function spanSecond(): u64 {
  return lowSecond;
}

/** Returns the shift of the window of all seen pairs: 128 if they are one. */
export function spanShift(): u32 {
  const high = highKey - lowKey - ((highSecond < lowSecond) as u64);
  return (high != 0 ? clz<u64>(high) : 64 + clz<u64>(highSecond - lowSecond)) as u32;
}
