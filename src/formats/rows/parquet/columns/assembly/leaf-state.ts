// What of a leaf is decoded and was not joined into rows yet. leaf-reader.ts fills it in, with the same numbers of fields.

import { copyExactly } from './copy-bytes';

@unmanaged
export class LeafState {
  /** Bytes of a value; 0: each has a u32 of its length in front. */
  width: u32;
  maxDefinition: u32;
  maxRepetition: u32;
  /** True if the values are u32 indexes into the dictionary. */
  isIndexed: u32;
  /** The entries of the page, from the next one on. The levels are one byte each. */
  entries: u32;
  definitions: usize;
  repetitions: usize;
  values: usize;
  /** Its values; of byte arrays a table of their addresses. */
  dictionary: usize;
  /** Whole rows of the page. An optional row in front of them was carried. */
  rows: u32;
  /**
   * A row that began in an earlier page, with its values as PLAIN stores them. Rows may end anywhere in a page if the leaf is
   * repeated.
   */
  carriedEntries: u32;
  carriedValues: u32;
  carriedBytes: u32;
  carriedDefinitions: usize;
  carriedRepetitions: usize;
  carriedPlain: usize;
  isCarriedWhole: u32;
  /** True if all entries of the page have a value. */
  isDefined: u32;
}

// @ts-ignore: decorator
@inline
export function addressOfIndexed(leaf: LeafState, place: usize): usize {
  return load<u32>(leaf.dictionary + ((load<u32>(place) as usize) << 2)) as usize;
}

// @ts-ignore: decorator
@inline
export function byteArrayBytes(address: usize): u32 {
  return 4 + load<u32>(address);
}

/** Bytes of the next `count` values from `place` on, as PLAIN stores them. */
export function plainBytes(leaf: LeafState, place: usize, count: u32): u64 {
  if (leaf.width > 0) return (count as u64) * leaf.width;
  let all: u64 = 0;
  if (leaf.isIndexed) {
    for (let to = place + ((count as usize) << 2); place < to; place += 4) {
      all += byteArrayBytes(addressOfIndexed(leaf, place));
    }
    return all;
  }
  let at = place;
  for (let i: u32 = 0; i < count; i++) at += byteArrayBytes(at);
  return at - place;
}

/** Returns the place of the value that is `count` values after `place`, if these have `bytes` bytes. */
// @ts-ignore: decorator
@inline
export function placeAfter(leaf: LeafState, place: usize, count: u32, bytes: u64): usize {
  return place + (leaf.isIndexed ? (count as usize) << 2 : (bytes as usize));
}

export function copyPlain(leaf: LeafState, place: usize, count: u32, bytes: u64, target: usize): void {
  if (!leaf.isIndexed) {
    copyExactly(target, place, bytes as u32);
    return;
  }
  const width = leaf.width;
  for (let to = place + ((count as usize) << 2); place < to; place += 4) {
    if (width == 4) {
      store<u32>(target, load<u32>(leaf.dictionary + ((load<u32>(place) as usize) << 2)));
      target += 4;
    } else if (width > 0) {
      copyExactly(target, leaf.dictionary + (load<u32>(place) as usize) * width, width);
      target += width;
    } else {
      const address = addressOfIndexed(leaf, place);
      const byteLength = byteArrayBytes(address);
      copyExactly(target, address, byteLength);
      target += byteLength;
    }
  }
}

/** How many of `count` bytes are `wanted`. */
export function countBytes(at: usize, count: u32, wanted: u32): u32 {
  const to = at + count;
  const all = i8x16.splat(wanted as u8);
  let found: u32 = 0;
  for (; at + 16 <= to; at += 16) found += popcnt<u32>(i8x16.bitmask(i8x16.eq(v128.load(at), all)));
  for (; at < to; at++) found += u32(load<u8>(at) == wanted);
  return found;
}

/** How many bytes precede the first zero, at most `most`. Reads up to 15 bytes beyond. */
// @ts-ignore: decorator
@inline
export function bytesBeforeZero(at: usize, most: u32): u32 {
  for (let i: u32 = 0; i < most; i += 16) {
    const zeros = i8x16.bitmask(i8x16.eq(v128.load(at + i), i8x16.splat(0)));
    if (zeros) return min(i + ctz<u32>(zeros), most);
  }
  return most;
}

/** Entries of the page in front of its first row. */
export function entriesBeforeRow(state: usize): u32 {
  const leaf = changetype<LeafState>(state);
  return bytesBeforeZero(leaf.repetitions, leaf.entries);
}

/** Bytes of the values of the next entries of the page. */
export function valueBytesOfEntries(state: usize, entries: u32): f64 {
  const leaf = changetype<LeafState>(state);
  const count = countBytes(leaf.definitions, entries, leaf.maxDefinition);
  return plainBytes(leaf, leaf.values, count) as f64;
}

/** Moves the next entries of the page to the row that is carried. There must be room for them. */
export function carryEntries(state: usize, entries: u32): void {
  const leaf = changetype<LeafState>(state);
  const count = countBytes(leaf.definitions, entries, leaf.maxDefinition);
  const bytes = plainBytes(leaf, leaf.values, count);
  memory.copy(leaf.carriedDefinitions + leaf.carriedEntries, leaf.definitions, entries);
  memory.copy(leaf.carriedRepetitions + leaf.carriedEntries, leaf.repetitions, entries);
  copyPlain(leaf, leaf.values, count, bytes, leaf.carriedPlain + leaf.carriedBytes);
  leaf.carriedEntries += entries;
  leaf.carriedValues += count;
  leaf.carriedBytes += bytes as u32;
  leaf.entries -= entries;
  leaf.definitions += entries;
  leaf.repetitions += entries;
  leaf.values = placeAfter(leaf, leaf.values, count, bytes);
}

// @ts-ignore: decorator
@inline
export function wholeRows(leaf: LeafState): u32 {
  return leaf.rows + leaf.isCarriedWhole;
}
