// DELTA_BINARY_PACKED and the two encodings of byte arrays whose lengths have it (Encodings.md of parquet-format). Sums wrap
// around, as those of the writer did.

import { copyLoosely } from './copy-bytes';
import { COUNT_DIFFERS, CUT, fail, LENGTH_WRONG, MALFORMED, readVarint, varintEnd } from './decode-problem';

/** The most values of a block, so that no product of it and a width overflows. */
const MOST_BLOCK_VALUES: u64 = 1 << 31;

/** The end of the encoded numbers. */
let deltaEnd: usize = 0;

// @ts-ignore: decorator
@inline
function signed(zigzag: u64): u64 {
  return (zigzag >>> 1) ^ (0 - (zigzag & 1));
}

let miniblocks: u64 = 0;
let miniblockValues: u64 = 0;
let firstValue: u64 = 0;

/** Reads the header of a page of `count` values, which ends at `varintEnd`. */
function readHeader(from: usize, to: usize, count: u32): bool {
  const blockValues = readVarint(from, to);
  if (varintEnd == 0) return fail(CUT, from);
  miniblocks = readVarint(varintEnd, to);
  if (varintEnd == 0) return fail(CUT, from);
  const total = readVarint(varintEnd, to);
  if (varintEnd == 0) return fail(CUT, from);
  firstValue = readVarint(varintEnd, to);
  if (varintEnd == 0) return fail(CUT, from);
  if (total != (count as u64)) return fail(COUNT_DIFFERS, from);
  if (blockValues > MOST_BLOCK_VALUES || miniblocks == 0 || blockValues % miniblocks != 0) return fail(MALFORMED, from);
  miniblockValues = blockValues / miniblocks;
  if (miniblockValues == 0 || miniblockValues % 8 != 0) return fail(MALFORMED, from);
  return true;
}

function decodeDelta<T>(from: usize, to: usize, count: u32, target: usize): bool {
  deltaEnd = from;
  if (count == 0 && from == to) return true;
  if (!readHeader(from, to, count)) return false;
  let at = varintEnd;
  let value = signed(firstValue);
  let left = count;
  if (left > 0) {
    store<T>(target, value as T);
    target += sizeof<T>();
    left -= 1;
  }
  while (left > 0) {
    const zigzag = readVarint(at, to);
    if (varintEnd == 0) return fail(CUT, at);
    const least = signed(zigzag);
    const widths = varintEnd;
    if (miniblocks > ((to - widths) as u64)) return fail(CUT, widths);
    at = widths + (miniblocks as usize);
    for (let m: usize = 0; m < (miniblocks as usize) && left > 0; m++) {
      const width = load<u8>(widths + m) as u64;
      if (width > 64) return fail(MALFORMED, widths + m);
      const n = min(miniblockValues, left as u64);
      if (((n * width + 7) >>> 3) > ((to - at) as u64)) return fail(CUT, at);
      const mask: u64 = width == 64 ? -1 : ((1 as u64) << width) - 1;
      const end = target + (n as usize) * sizeof<T>();
      if (width <= 57) {
        for (let bit: u64 = 0; target < end; target += sizeof<T>(), bit += width) {
          value += least + ((load<u64>(at + ((bit >>> 3) as usize)) >>> (bit & 7)) & mask);
          store<T>(target, value as T);
        }
      } else {
        for (let bit: u64 = 0; target < end; target += sizeof<T>(), bit += width) {
          const place = at + ((bit >>> 3) as usize);
          const shift = bit & 7;
          // The shift of 64 bits that a shift of 0 would make is none.
          const high = shift == 0 ? 0 : (load<u8>(place, 8) as u64) << (64 - shift);
          value += least + (((load<u64>(place) >>> shift) | high) & mask);
          store<T>(target, value as T);
        }
      }
      left -= n as u32;
      // The padding of the last one may be missing.
      at += min((miniblockValues * width) >>> 3, (to - at) as u64) as usize;
    }
  }
  deltaEnd = at;
  return true;
}

export function decodeDelta32(from: usize, to: usize, count: u32, target: usize): bool {
  return decodeDelta<u32>(from, to, count, target);
}

export function decodeDelta64(from: usize, to: usize, count: u32, target: usize): bool {
  return decodeDelta<u64>(from, to, count, target);
}

/** Decodes to u32, and refuses negative ones. */
function decodeLengths(from: usize, to: usize, count: u32, lengths: usize): bool {
  if (!decodeDelta<u32>(from, to, count, lengths)) return false;
  for (let i: usize = 0; i < count; i++) {
    if (load<i32>(lengths + (i << 2)) < 0) return fail(LENGTH_WRONG, from);
  }
  return true;
}

/**
 * DELTA_LENGTH_BYTE_ARRAY to what PLAIN stores.
 * @param lengths room for `count` u32.
 * @param target room for as many u32 and for as many bytes as are encoded.
 */
export function decodeDeltaLengths(from: usize, to: usize, count: u32, lengths: usize, target: usize): bool {
  if (!decodeLengths(from, to, count, lengths)) return false;
  let at = deltaEnd;
  for (let i: usize = 0; i < count; i++) {
    const byteLength = load<u32>(lengths + (i << 2));
    if ((byteLength as usize) > to - at) return fail(LENGTH_WRONG, at);
    store<u32>(target, byteLength);
    copyLoosely(target + 4, at, byteLength);
    at += byteLength;
    target += 4 + (byteLength as usize);
  }
  return true;
}

/** Bytes that `expandPrefixes` writes. */
export let expandedBytes: f64 = 0;
let suffixesAt: usize = 0;

/**
 * DELTA_BYTE_ARRAY, first step: reads and checks all lengths.
 * @param prefixes room for `count` u32. @param suffixes the same.
 * @param width of each value; 0: any.
 */
export function decodePrefixes(from: usize, to: usize, count: u32, prefixes: usize, suffixes: usize, width: u32): bool {
  if (!decodeLengths(from, to, count, prefixes)) return false;
  if (!decodeLengths(deltaEnd, to, count, suffixes)) return false;
  suffixesAt = deltaEnd;
  let left = (to - suffixesAt) as u64;
  let all: u64 = width == 0 ? (count as u64) << 2 : 0;
  let before: u64 = 0;
  for (let i: usize = 0; i < count; i++) {
    const prefix = load<u32>(prefixes + (i << 2)) as u64;
    const suffix = load<u32>(suffixes + (i << 2)) as u64;
    if (prefix > before || suffix > left) return fail(LENGTH_WRONG, from);
    left -= suffix;
    before = prefix + suffix;
    if (before > (i32.MAX_VALUE as u64) || (width != 0 && before != (width as u64))) return fail(LENGTH_WRONG, from);
    all += before;
  }
  expandedBytes = all as f64;
  return true;
}

/** The second step, right after the first one, to what PLAIN stores. @param target room for `expandedBytes`. */
export function expandPrefixes(count: u32, prefixes: usize, suffixes: usize, width: u32, target: usize): void {
  let source = suffixesAt;
  let before = target;
  for (let i: usize = 0; i < count; i++) {
    const prefix = load<u32>(prefixes + (i << 2));
    const suffix = load<u32>(suffixes + (i << 2));
    if (width == 0) {
      store<u32>(target, prefix + suffix);
      target += 4;
    }
    copyLoosely(target, before, prefix);
    copyLoosely(target + prefix, source, suffix);
    before = target;
    target += prefix + suffix;
    source += suffix;
  }
}
