// The hybrid of runs and bit-packed groups, which levels, indexes and booleans have (Encodings.md of parquet-format, RLE),
// and the bit-packed levels of old writers.

import { CUT, fail, INDEX_TOO_HIGH, LEVEL_TOO_HIGH, MALFORMED, readVarint, varintEnd } from './decode-problem';

/** Reads up to 8 bytes beyond the packed ones. */
// @ts-ignore: decorator
@inline
function unpack<T>(from: usize, width: u32, count: u32, target: usize): void {
  const mask = ((1 as u64) << width) - 1;
  let bit: u64 = 0;
  for (let to = target + (count as usize) * sizeof<T>(); target < to; target += sizeof<T>()) {
    store<T>(target, ((load<u64>(from + ((bit >>> 3) as usize)) >>> (bit & 7)) & mask) as T);
    bit += width;
  }
}

function fillWords(target: usize, value: u32, count: u32): void {
  const vector = i32x4.splat(value);
  const to = target + ((count as usize) << 2);
  for (; target + 16 <= to; target += 16) v128.store(target, vector);
  for (; target < to; target += 4) store<u32>(target, value);
}

/** @param width at most 8 for bytes, 32 for words. */
// @ts-ignore: decorator
@inline
function decodeHybrid<T>(from: usize, to: usize, width: u32, count: u32, target: usize): bool {
  const valueBytes = ((width + 7) >>> 3) as usize;
  const valueMask: u32 = valueBytes == 4 ? -1 : ((1 << ((valueBytes as u32) << 3)) - 1);
  let at = from;
  let left = count;
  while (left > 0) {
    const header = readVarint(at, to);
    if (varintEnd == 0) return fail(CUT, at);
    const start = at;
    at = varintEnd;
    const length = header >>> 1;
    if (length > u32.MAX_VALUE) return fail(MALFORMED, start);
    let n: u32;
    if (header & 1) {
      n = min(length << 3, left as u64) as u32;
      if ((((n as u64) * width + 7) >>> 3) > ((to - at) as u64)) return fail(CUT, at);
      unpack<T>(at, width, n, target);
      at += min(length * width, (to - at) as u64) as usize;
    } else {
      n = min(length, left as u64) as u32;
      if (valueBytes > to - at) return fail(CUT, at);
      const value = load<u32>(at) & valueMask;
      if (sizeof<T>() == 1) memory.fill(target, value as u8, n);
      else fillWords(target, value, n);
      at += valueBytes;
    }
    target += (n as usize) * sizeof<T>();
    left -= n;
  }
  return true;
}

/** @param width 1 to 8. */
export function decodeLevels(from: usize, to: usize, width: u32, count: u32, target: usize): bool {
  return decodeHybrid<u8>(from, to, width, count, target);
}

/** The most significant bits first, without runs. @param width 1 to 8. */
export function decodeBitPackedLevels(from: usize, to: usize, width: u32, count: u32, target: usize): bool {
  if ((((count as u64) * width + 7) >>> 3) > ((to - from) as u64)) return fail(CUT, to);
  const mask = (1 << width) - 1;
  let bit: u64 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const two = bswap<u16>(load<u16>(from + ((bit >>> 3) as usize)));
    store<u8>(target + i, ((two as u32) >>> (16 - width - ((bit & 7) as u32))) & mask);
    bit += width;
  }
  return true;
}

export let levelCount: u32 = 0;

/**
 * Replaces levels by those of a table, and counts in `levelCount` how many are `counted` then.
 * @param most the highest one before. The table has so many bytes and 1 more.
 */
export function mapLevels(levels: usize, count: u32, most: u32, table: usize, counted: u32): bool {
  levelCount = 0;
  const to = levels + count;
  let at = levels;
  if (most < 16) {
    const all = v128.load(table);
    const highest = i8x16.splat(most as u8);
    const wanted = i8x16.splat(counted as u8);
    for (; at + 16 <= to; at += 16) {
      const given = v128.load(at);
      if (v128.any_true(i8x16.gt_u(given, highest))) break;
      const mapped = i8x16.swizzle(all, given);
      v128.store(at, mapped);
      levelCount += popcnt<u32>(i8x16.bitmask(i8x16.eq(mapped, wanted)));
    }
  }
  for (; at < to; at++) {
    const level = load<u8>(at) as u32;
    if (level > most) return fail(LEVEL_TOO_HIGH, at);
    const mapped = load<u8>(table + level);
    store<u8>(at, mapped);
    levelCount += u32(mapped == counted);
  }
  return true;
}

/** Decodes indexes; a byte in front of them has their width. */
export function decodeIndexes(from: usize, to: usize, count: u32, target: usize, dictionaryCount: u32): bool {
  if (count == 0) return true;
  if (from >= to) return fail(CUT, from);
  const width = load<u8>(from) as u32;
  if (width > 32) return fail(MALFORMED, from);
  if (width == 0) memory.fill(target, 0, (count as usize) << 2);
  else if (!decodeHybrid<u32>(from + 1, to, width, count, target)) return false;

  let highest = i32x4.splat(0);
  const end = target + ((count as usize) << 2);
  let at = target;
  for (; at + 16 <= end; at += 16) highest = i32x4.max_u(highest, v128.load(at));
  let most = max(max(i32x4.extract_lane(highest, 0) as u32, i32x4.extract_lane(highest, 1) as u32),
    max(i32x4.extract_lane(highest, 2) as u32, i32x4.extract_lane(highest, 3) as u32));
  for (; at < end; at += 4) most = max(most, load<u32>(at));
  return most < dictionaryCount || fail(INDEX_TOO_HIGH, from);
}

/** A u32 of their byte length, and runs. */
export function decodeRunBooleans(from: usize, to: usize, count: u32, target: usize): bool {
  if (count == 0) return true;
  if (to - from < 4) return fail(CUT, from);
  const byteLength = load<u32>(from) as usize;
  if (byteLength > to - from - 4) return fail(CUT, from);
  if (!decodeHybrid<u8>(from + 4, from + 4 + byteLength, 1, count, target)) return false;
  return booleansOnly(target, count) || fail(MALFORMED, from);
}

/** A run may repeat any byte. */
function booleansOnly(at: usize, count: u32): bool {
  const to = at + count;
  let any = i8x16.splat(0);
  for (; at + 16 <= to; at += 16) any = v128.or(any, v128.load(at));
  let rest: u8 = 0;
  for (; at < to; at++) rest |= load<u8>(at);
  return rest < 2 && !v128.any_true(i8x16.gt_u(any, i8x16.splat(1)));
}

/** Unpacks booleans as PLAIN stores them, a bit each. */
export function unpackBooleans(from: usize, count: u32, target: usize): void {
  unpack<u8>(from, 1, count, target);
}
