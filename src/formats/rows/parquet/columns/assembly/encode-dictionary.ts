// Replaces values by their indexes in a dictionary, which new values join in the order in which they come. Values are
// equal if their bytes are.

import { EncodedLeaf } from './encode-leaf';

const PRIME_A: u64 = 0x9e3779b97f4a7c15;
const PRIME_B: u64 = 0xd6e8feb86659fd93;

/**
 * Writes a u32 for each of `count` values. There is room for all of them in the dictionary. Reads up to 15 bytes past the
 * values.
 */
export function indexValues(leaf: EncodedLeaf, from: usize, count: u32, out: usize): void {
  if (leaf.width == 4) indexNumbers<u32>(leaf, from, count, out);
  else if (leaf.width == 8) indexNumbers<u64>(leaf, from, count, out);
  else indexBytes(leaf, from, count, out);
}

export function indexSample(address: usize, from: usize, count: u32, out: usize): void {
  indexValues(changetype<EncodedLeaf>(address), from, count, out);
}

// @ts-ignore: decorator
@inline
function hashOfNumber<T>(value: T): u64 {
  return (value as u64) * PRIME_A;
}

/**
 * Returns how far a hash is shifted right to be a slot. Only the highest bits of a product depend on all bits of its
 * factor: whole numbers as doubles differ in their highest bits alone, and strings of a length in their last bytes.
 */
// @ts-ignore: decorator
@inline
function slotShiftOf(leaf: EncodedLeaf): u64 {
  return 64 - (ctz<u32>(leaf.slotCount) as u64);
}

function indexNumbers<T>(leaf: EncodedLeaf, from: usize, count: u32, out: usize): void {
  const end = from + (count as usize) * sizeof<T>();
  const mask = leaf.slotCount - 1;
  const shift = slotShiftOf(leaf);
  const slots: usize = leaf.slots;
  const dictionary: usize = leaf.dictionary;
  let entries = leaf.dictionaryCount;
  for (let p = from; p < end; p += sizeof<T>(), out += 4) {
    const value = load<T>(p);
    let slot = (hashOfNumber<T>(value) >> shift) as u32;
    let entry = load<u32>(slots + ((slot as usize) << 2));
    while (entry != 0 && load<T>(dictionary + ((entry - 1) as usize) * sizeof<T>()) != value) {
      slot = (slot + 1) & mask;
      entry = load<u32>(slots + ((slot as usize) << 2));
    }
    if (entry == 0) {
      store<T>(dictionary + (entries as usize) * sizeof<T>(), value);
      entries += 1;
      entry = entries;
      store<u32>(slots + ((slot as usize) << 2), entry);
    }
    store<u32>(out, entry - 1);
  }
  leaf.dictionaryCount = entries;
  leaf.dictionaryBytes = entries * (sizeof<T>() as u32);
}

function hashOfBytes(p: usize, byteLength: u32): u64 {
  let hash: u64 = (byteLength as u64) * PRIME_B;
  let left = byteLength;
  for (; left >= 8; left -= 8, p += 8) {
    hash = (hash ^ load<u64>(p)) * PRIME_A;
    hash ^= hash >> 29;
  }
  if (left != 0) hash = (hash ^ (load<u64>(p) << ((64 - (left << 3)) as u64))) * PRIME_A;
  return hash;
}

function areSame(a: usize, b: usize, byteLength: u32): bool {
  let left = byteLength;
  for (; left >= 8; left -= 8, a += 8, b += 8) if (load<u64>(a) != load<u64>(b)) return false;
  return left == 0 || (load<u64>(a) ^ load<u64>(b)) << ((64 - (left << 3)) as u64) == 0;
}

/** Returns the bytes of the value at `p` with its length, if that may differ. */
// @ts-ignore: decorator
@inline
function bytesAt(p: usize, width: u32): u32 {
  return width != 0 ? width : 4 + load<u32>(p);
}

// @ts-ignore: decorator
@inline
function entryAt(leaf: EncodedLeaf, index: u32): usize {
  if (leaf.width != 0) return leaf.dictionary + index * leaf.width;
  return leaf.dictionary + load<u32>((leaf.offsets as usize) + ((index as usize) << 2));
}

function indexBytes(leaf: EncodedLeaf, from: usize, count: u32, out: usize): void {
  const mask = leaf.slotCount - 1;
  const shift = slotShiftOf(leaf);
  const slots: usize = leaf.slots;
  const width = leaf.width;
  let p = from;
  for (; count != 0; count--, out += 4) {
    const byteLength = bytesAt(p, width);
    let slot = (hashOfBytes(p, byteLength) >> shift) as u32;
    let entry = load<u32>(slots + ((slot as usize) << 2));
    while (entry != 0) {
      const other = entryAt(leaf, entry - 1);
      if (bytesAt(other, width) == byteLength && areSame(other, p, byteLength)) break;
      slot = (slot + 1) & mask;
      entry = load<u32>(slots + ((slot as usize) << 2));
    }
    if (entry == 0) {
      memory.copy(leaf.dictionary + leaf.dictionaryBytes, p, byteLength);
      if (width == 0) store<u32>((leaf.offsets as usize) + ((leaf.dictionaryCount as usize) << 2), leaf.dictionaryBytes);
      leaf.dictionaryBytes += byteLength;
      leaf.dictionaryCount += 1;
      entry = leaf.dictionaryCount;
      store<u32>(slots + ((slot as usize) << 2), entry);
    }
    store<u32>(out, entry - 1);
    p += byteLength as usize;
  }
}

/** Takes `count` values for the first of an empty dictionary. They lie there already, and there is room for them. */
export function beginDictionary(address: usize, byteLength: u32, count: u32): void {
  const leaf = changetype<EncodedLeaf>(address);
  leaf.dictionaryBytes = byteLength;
  leaf.dictionaryCount = count;
  if (leaf.width == 0) {
    let offset: u32 = 0;
    for (let i: usize = 0; i < (count as usize); i++) {
      store<u32>((leaf.offsets as usize) + (i << 2), offset);
      offset += 4 + load<u32>((leaf.dictionary as usize) + (offset as usize));
    }
  }
  fillSlots(address);
}

/** Fills the new and empty slots of a dictionary. */
export function fillSlots(address: usize): void {
  const leaf = changetype<EncodedLeaf>(address);
  const mask = leaf.slotCount - 1;
  const shift = slotShiftOf(leaf);
  const slots: usize = leaf.slots;
  for (let i: u32 = 0; i < leaf.dictionaryCount; i++) {
    const p = entryAt(leaf, i);
    let hash: u64;
    if (leaf.width == 4) hash = hashOfNumber<u32>(load<u32>(p));
    else if (leaf.width == 8) hash = hashOfNumber<u64>(load<u64>(p));
    else hash = hashOfBytes(p, bytesAt(p, leaf.width));
    let slot = (hash >> shift) as u32;
    while (load<u32>(slots + ((slot as usize) << 2)) != 0) slot = (slot + 1) & mask;
    store<u32>(slots + ((slot as usize) << 2), i + 1);
  }
}
