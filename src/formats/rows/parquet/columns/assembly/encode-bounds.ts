// The least and the greatest value of a page, in the order that the schema gives the column (value-order.ts numbers them).

import { EncodedLeaf, INDEXED } from './encode-leaf';

const SIGNED: u32 = 1;
const UNSIGNED: u32 = 2;
const FLOATING: u32 = 3;
const BYTES: u32 = 4;
/** Big-endian numbers in two's complement. */
const SIGNED_BYTES: u32 = 5;

/** Longer values are decided by these bytes and the length: bounds are no longer. */
const MOST_BOUND_BYTES: u32 = 64;

/** The places of the bounds: their bytes without a length. */
export let leastAt: usize = 0;
export let leastBytes: u32 = 0;
export let mostAt: usize = 0;
export let mostBytes: u32 = 0;

/**
 * @param marks room for a byte for each entry of the dictionary.
 * @returns whether there are bounds: not without a value that is not a NaN.
 */
export function findBounds(address: usize, order: u32, marks: usize): bool {
  const leaf = changetype<EncodedLeaf>(address);
  if (leaf.valueCount == 0) return false;
  let from: usize = leaf.values;
  let count = leaf.valueCount;
  const isIndexed = leaf.mode == INDEXED;
  if (isIndexed) {
    from = leaf.dictionary;
    count = leaf.dictionaryCount;
    memory.fill(marks, 0, count);
    const end: usize = leaf.values + leaf.valueBytes;
    for (let p: usize = leaf.values; p < end; p += 4) store<u8>(marks + load<u32>(p), 1);
  }
  const used = isIndexed ? marks : 0;
  leastBytes = leaf.width;
  mostBytes = leaf.width;
  if (order >= BYTES) return boundBytes(from, count, used, leaf.width, order == SIGNED_BYTES);
  if (leaf.width == 1) return boundNumbers<u8>(from, count, used);
  if (leaf.width == 4) {
    if (order == SIGNED) return boundNumbers<i32>(from, count, used);
    return order == UNSIGNED ? boundNumbers<u32>(from, count, used) : boundNumbers<f32>(from, count, used);
  }
  if (order == SIGNED) return boundNumbers<i64>(from, count, used);
  return order == UNSIGNED ? boundNumbers<u64>(from, count, used) : boundNumbers<f64>(from, count, used);
}

/** @param used 0, or for each value a byte: whether it counts. */
function boundNumbers<T>(from: usize, count: u32, used: usize): bool {
  let first: usize = 0;
  for (; first < (count as usize); first++) {
    if (used != 0 && load<u8>(used + first) == 0) continue;
    const value = load<T>(from + first * sizeof<T>());
    if (value == value) break;
  }
  if (first == (count as usize)) return false;
  leastAt = from + first * sizeof<T>();
  mostAt = leastAt;
  let least = load<T>(leastAt);
  let most = least;
  // No NaN is less than another value, or more.
  for (let i = first; i < (count as usize); i++) {
    if (used != 0 && load<u8>(used + i) == 0) continue;
    const value = load<T>(from + i * sizeof<T>());
    if (value < least) {
      least = value;
      leastAt = from + i * sizeof<T>();
    }
    if (value > most) {
      most = value;
      mostAt = from + i * sizeof<T>();
    }
  }
  return true;
}

/**
 * Most are told apart by the 8 bytes after those that all begin with.
 * @param width 0: each has a length before it.
 */
function boundBytes(from: usize, count: u32, used: usize, width: u32, isSigned: bool): bool {
  const skip = isSigned ? 0 : commonBytes(from, count, used, width);
  const flip: u64 = isSigned ? 0x8000000000000000 : 0;
  let least: u64 = 0;
  let most: u64 = 0;
  let isFirst = true;
  let p = from;
  for (let i: usize = 0; i < (count as usize); i++) {
    const byteLength = width != 0 ? width : load<u32>(p);
    const value = width != 0 ? p : p + 4;
    p = value + (byteLength as usize);
    if (used != 0 && load<u8>(used + i) == 0) continue;
    const head = headOf(value + (skip as usize), byteLength - skip) ^ flip;
    if (isFirst || head < least || (head == least && isBefore(value, byteLength, leastAt, leastBytes))) {
      least = head;
      leastAt = value;
      leastBytes = byteLength;
    }
    if (isFirst || head > most || (head == most && isBefore(mostAt, mostBytes, value, byteLength))) {
      most = head;
      mostAt = value;
      mostBytes = byteLength;
    }
    isFirst = false;
  }
  return true;
}

/** How many bytes all values begin with, at most `MOST_BOUND_BYTES`. */
function commonBytes(from: usize, count: u32, used: usize, width: u32): u32 {
  let first: usize = 0;
  let common: u32 = MOST_BOUND_BYTES;
  let p = from;
  for (let i: usize = 0; i < (count as usize) && common != 0; i++) {
    const byteLength = width != 0 ? width : load<u32>(p);
    const value = width != 0 ? p : p + 4;
    p = value + (byteLength as usize);
    if (used != 0 && load<u8>(used + i) == 0) continue;
    if (first == 0) first = value;
    common = min<u32>(common, byteLength);
    let same: u32 = 0;
    while (same < common) {
      const differs = load<u64>(first + (same as usize)) ^ load<u64>(value + (same as usize));
      if (differs != 0) {
        same += (ctz<u64>(differs) >> 3) as u32;
        break;
      }
      same += 8;
    }
    common = min<u32>(common, same);
  }
  return common;
}

/** The first 8 bytes as a big-endian number, zeros after the end. */
// @ts-ignore: decorator
@inline
function headOf(p: usize, byteLength: u32): u64 {
  if (byteLength == 0) return 0;
  const head = bswap<u64>(load<u64>(p));
  return byteLength >= 8 ? head : head & (~(0 as u64) << ((64 - (byteLength << 3)) as u64));
}

function isBefore(a: usize, lengthA: u32, b: usize, lengthB: u32): bool {
  const difference = memory.compare(a, b, min<u32>(min<u32>(lengthA, lengthB), MOST_BOUND_BYTES));
  return difference < 0 || (difference == 0 && lengthA < lengthB);
}
