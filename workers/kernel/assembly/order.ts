// Pass 2: sorts the records of one loaded pile by key, or by both keys, and gathers them.
//
// Sort entries are u64: the upper 32 bits of the key's place in the pile, then the address of the stored record. One
// counting step puts each entry into one of 2^bits ranges (about two records each), then one insertion sort finishes
// the nearly sorted whole. If upper bits are equal, the whole keys decide. If keys are equal, records stay in the order in
// which they were walked, since both steps are stable: piles are walked in slice order, so this is the order of (input
// ordinal, position). Where the order must not depend on how the pile was read, the bytes of the records decide instead.
// Cost: two sequential passes over the entries, one random. Where many records share a key, they are sorted by their second
// keys first.

import { countDropped } from './duplicates';
import { compareStored } from './equal-records';
import { placeOf } from './key-window';
import { scaled } from './philox';
import { copyAndHash, recordHash } from './record-hash';
import { hasSecondKeys, headerBytes, placesValues, SECOND_KEY } from './stored-record';

let parentScale: u64 = 1;
let ownScale: u64 = 1;
let ownPile: u32 = 0;
let ownPileCount: u32 = 1;
let ordersTiesByBytes: bool = false;
let counts: usize = 0;
let bucketBits: u64 = 1;
let arrived: usize = 0;
let sorted: usize = 0;
let entryCapacity: u32 = 0;
export let walkedCount: u32 = 0;
/** The sum of the keys, and second keys, of all records walked since `prepareOrder`. */
export let walkedKeySum: u64 = 0;
/** The record at which the last walk ended that returned 0. */
export let walkedEnd: usize = 0;

export let gatheredByteLength: u32 = 0;
export let measuredByteLength: u64 = 0;
/** The multiset checksum of all records gathered or hashed since `prepareOrder`. */
export let orderChecksum: u64 = 0;

/**
 * Prepares for a pile of at most `capacity` records: `countsAt` holds 2^bits u32, `arrivedAt` and `sortedAt` hold
 * `capacity` u64 each. Keys, or their places in the window, must belong to pile `pile` of `pileCount` under `scaleOfParent`; bits
 * is 1 to 31. With `tiesByBytes`, records of equal keys come in the order of what equal records have in common: their bytes, or
 * values; else in the order in which they are walked.
 */
export function prepareOrder(
  countsAt: usize,
  bits: u32,
  arrivedAt: usize,
  sortedAt: usize,
  capacity: u32,
  pile: u32,
  pileCount: u32,
  scaleOfParent: u64,
  tiesByBytes: bool,
): void {
  counts = countsAt;
  bucketBits = bits;
  arrived = arrivedAt;
  sorted = sortedAt;
  entryCapacity = capacity;
  walkedCount = 0;
  walkedKeySum = 0;
  ownPile = pile;
  ownPileCount = pileCount;
  ordersTiesByBytes = tiesByBytes;
  parentScale = scaleOfParent;
  ownScale = scaleOfParent * (pileCount as u64);
  orderChecksum = 0;
  memory.fill(countsAt, 0, (4 as usize) << bits);
}

/**
 * Takes the complete stored records in [from, to), right after they were read, while they are in the cache. Returns the
 * address of the first incomplete one, or 0 when a record belongs to another pile or there are more than `capacity`.
 */
export function walkStored(from: usize, to: usize): usize {
  const shift = 64 - bucketBits;
  let p = from;
  let n = walkedCount;
  let keySum = walkedKeySum;
  const header = headerBytes;
  while (to - p >= header) {
    const byteLength = load<u32>(p, 8);
    if (byteLength > ((to - p) as u32) - header) break;
    const key = load<u64>(p);
    const second = hasSecondKeys ? load<u64>(p, SECOND_KEY) : 0;
    const position = placeOf(key, second);
    if (n == entryCapacity || scaled(position * parentScale, ownPileCount) != ownPile) {
      walkedCount = n;
      walkedEnd = p;
      return 0;
    }
    const place = position * ownScale;
    store<u64>(arrived + ((n as usize) << 3), (place & 0xffffffff00000000) | (p as u64));
    const slot = counts + (((place >> shift) as usize) << 2);
    store<u32>(slot, load<u32>(slot) + 1);
    keySum += key + second;
    n += 1;
    p += header + byteLength;
  }
  walkedCount = n;
  walkedKeySum = keySum;
  return p;
}

function comesAfter(a: u64, b: u64): bool {
  if (a >> 32 != b >> 32) return a > b;
  const storedA = a as u32 as usize;
  const storedB = b as u32 as usize;
  if (hasSecondKeys && !placesValues) {
    if (!bySecond && load<u64>(storedA) != load<u64>(storedB)) return load<u64>(storedA) > load<u64>(storedB);
    const secondA = load<u64>(storedA, SECOND_KEY);
    const secondB = load<u64>(storedB, SECOND_KEY);
    if (secondA != secondB || bySecond) return secondA > secondB;
  }
  const placeA = load<u64>(storedA) * ownScale;
  const placeB = load<u64>(storedB) * ownScale;
  if (placeA != placeB) return placeA > placeB;
  if (!ordersTiesByBytes) return false;
  return compareStored(storedA, storedB) > 0;
}

function placeWalked(): void {
  const shift = 64 - bucketBits;
  const bucketEnd = counts + ((4 as usize) << (bucketBits as usize));
  let sum: u32 = 0;
  for (let slot = counts; slot < bucketEnd; slot += 4) {
    const count = load<u32>(slot);
    store<u32>(slot, sum);
    sum += count;
  }
  const arrivedEnd = arrived + ((walkedCount as usize) << 3);
  for (let p = arrived; p < arrivedEnd; p += 8) {
    const entry = load<u64>(p);
    const slot = counts + (((entry >> shift) as usize) << 2);
    const index = load<u32>(slot);
    store<u32>(slot, index + 1);
    store<u64>(sorted + ((index as usize) << 3), entry);
  }
}

/** True while entries begin with the upper bits of second keys. */
let bySecond: bool = false;
/** With so many records in one range of the counting step, an insertion sort of it may take long. */
const CROWD: u32 = 64;

export function orderWalked(): void {
  if (hasSecondKeys && !placesValues && isCrowded()) {
    // Both steps are stable: what comes next puts records of one key where they belong, one after the other.
    bySecond = true;
    enterAgain(arrived);
    sortEntries();
    bySecond = false;
    enterAgain(sorted);
  }
  sortEntries();
}

function isCrowded(): bool {
  const countsEnd = counts + ((4 as usize) << (bucketBits as usize));
  for (let slot = counts; slot < countsEnd; slot += 4) {
    if (load<u32>(slot) > CROWD) return true;
  }
  return false;
}

/** Makes new entries of the records of others, in their order, as `walkStored` does. */
function enterAgain(entries: usize): void {
  const shift = 64 - bucketBits;
  memory.fill(counts, 0, (4 as usize) << (bucketBits as usize));
  for (let i: usize = 0; i < (walkedCount as usize) << 3; i += 8) {
    const stored = load<u64>(entries + i) as u32 as usize;
    const second = load<u64>(stored, SECOND_KEY);
    const place = bySecond ? second : placeOf(load<u64>(stored), second) * ownScale;
    store<u64>(arrived + i, (place & 0xffffffff00000000) | (stored as u64));
    const slot = counts + (((place >> shift) as usize) << 2);
    store<u32>(slot, load<u32>(slot) + 1);
  }
}

function sortEntries(): void {
  placeWalked();
  const sortedEnd = sorted + ((walkedCount as usize) << 3);
  let prefetchedEnd = ordersTiesByBytes ? sorted + 8 : sortedEnd;
  for (let p = sorted + 8; p < sortedEnd; p += 8) {
    if (p == prefetchedEnd) prefetchedEnd = prefetchEqualKeys(p, sortedEnd);
    const entry = load<u64>(p);
    let hole = p;
    while (hole > sorted && comesAfter(load<u64>(hole - 8), entry)) {
      store<u64>(hole, load<u64>(hole - 8));
      hole -= 8;
    }
    store<u64>(hole, entry);
  }
}

/** Marks the byte length of a stored record that is dropped. No record is as long. */
const DROPPED: u32 = 0x80000000;

/** Compares by key, then by what equal records have in common: below 0, above 0, or 0 if they are equal. */
function compareEntries(a: u64, b: u64): i32 {
  if (a >> 32 != b >> 32) return a > b ? 1 : -1;
  const storedA = a as u32 as usize;
  const storedB = b as u32 as usize;
  const placeA = load<u64>(storedA) * ownScale;
  const placeB = load<u64>(storedB) * ownScale;
  if (placeA != placeB) return placeA > placeB ? 1 : -1;
  return compareStored(storedA, storedB);
}

/**
 * Touches, as `prefetchRecords` does, the next entries that are as good as sure to be compared with one shortly before: the upper
 * bits of their keys are equal. Returns the address after the last entry.
 */
function prefetchEqualKeys(from: usize, end: usize): usize {
  const to = min<usize>(from + ((PREFETCHED_TOGETHER as usize) << 3), end);
  let seen: u32 = 0;
  for (let p = max<usize>(from, sorted + 16); p < to; p += 8) {
    const entry = load<u64>(p);
    let before = load<u64>(p - 8);
    if (entry >> 32 != before >> 32) {
      before = load<u64>(p - 16);
      if (entry >> 32 != before >> 32) continue;
    }
    const a = entry as u32 as usize;
    const b = before as u32 as usize;
    seen += load<u8>(a, 0) + load<u8>(b, 0) + load<u8>(a, 64) + load<u8>(b, 64) + load<u8>(a, 128) + load<u8>(b, 128);
  }
  prefetchSum += seen;
  return to;
}

/**
 * Sorts the walked records by key. Keeps the first of equal records, which was walked first; counts and marks the
 * others as dropped. Returns the number of records that stay. A dropped record is compared with no later one, so many equal
 * ones take no longer than many different ones.
 */
export function orderDistinct(): u32 {
  placeWalked();
  const arrivedEnd = sorted + ((walkedCount as usize) << 3);
  let end = sorted;
  let prefetchedEnd = sorted;
  for (let p = sorted; p < arrivedEnd; p += 8) {
    if (p == prefetchedEnd) prefetchedEnd = prefetchEqualKeys(p, arrivedEnd);
    const entry = load<u64>(p);
    let hole = end;
    let difference: i32 = 1;
    while (hole > sorted) {
      difference = compareEntries(entry, load<u64>(hole - 8));
      if (difference >= 0) break;
      hole -= 8;
    }
    if (difference == 0) {
      const stored = entry as u32 as usize;
      const byteLength = load<u32>(stored, 8);
      countDropped(stored + headerBytes, byteLength);
      store<u32>(stored, byteLength | DROPPED, 8);
      continue;
    }
    for (let moved = end; moved > hole; moved -= 8) store<u64>(moved, load<u64>(moved - 8));
    store<u64>(hole, entry);
    end += 8;
  }
  walkedCount = ((end - sorted) >> 3) as u32;
  return walkedCount;
}

/** Moves together the stored records that are not dropped. Returns the address after the last one. */
export function compactStored(from: usize, to: usize): usize {
  let target = from;
  while (from < to) {
    const byteLength = load<u32>(from, 8);
    const storedBytes = headerBytes + (byteLength & ~DROPPED);
    if ((byteLength & DROPPED) == 0) {
      if (target != from) memory.copy(target, from, storedBytes);
      target += storedBytes;
    }
    from += storedBytes;
  }
  return target;
}

// @ts-ignore: decorator
@inline
function storedAt(index: u32): usize {
  return load<u32>(sorted + ((index as usize) << 3)) as usize;
}

let prefetchSum: u32 = 0;

const PREFETCHED_TOGETHER: u32 = 24;

/**
 * Copies `count` records of the order, every `step`th from `index` on, to `out`, which has room for `capacity` bytes and 16
 * more. Stops before a record that does not fit, and before one that would start `startLimit` bytes or more after the first.
 * Writes the end of each record to `ends`, as u32, unless that is 0; the first record begins at `base`. Returns the number of
 * copied records; `gatheredByteLength` gives their bytes.
 */
export function gather(
  index: u32,
  step: u32,
  count: u32,
  out: usize,
  capacity: u32,
  startLimit: u64,
  ends: usize,
  base: u32,
): u32 {
  let fill: u32 = 0;
  let checksum = orderChecksum;
  const header = headerBytes;
  let k: u32 = 0;
  for (let prefetchedEnd: u32 = 0; k < count; k++, index += step) {
    if (k == prefetchedEnd) {
      const together = min<u32>(PREFETCHED_TOGETHER, count - k);
      prefetchRecords(index, step, together);
      prefetchedEnd = k + together;
    }
    const stored = storedAt(index);
    const byteLength = load<u32>(stored, 8);
    if (byteLength > capacity - fill || (fill as u64) >= startLimit) break;
    checksum += copyAndHash(out + fill, stored + header, byteLength);
    fill += byteLength;
    if (ends != 0) store<u32>(ends + ((k as usize) << 2), base + fill);
  }
  gatheredByteLength = fill;
  orderChecksum = checksum;
  return k;
}

/**
 * Records lie at random in the pile, so the first load of each cache line of a record is a miss. WebAssembly has no
 * prefetch instruction; plain loads of several records at once let their misses overlap. From the fifth line on, the
 * processor recognises the sequence. The loads go past the end of a short record; the tables lie after the last one.
 */
function prefetchRecords(index: u32, step: u32, count: u32): void {
  let seen: u32 = 0;
  for (let k: u32 = 0; k < count; k++) {
    const stored = storedAt(index + k * step);
    seen += load<u8>(stored, 0) + load<u8>(stored, 64) + load<u8>(stored, 128) + load<u8>(stored, 192);
  }
  prefetchSum += seen;
}

/**
 * Writes where `count` records of the order, from `index` on, begin and end: into a boundary table, as scanning does. Where they
 * have second keys, it takes those with the key `second` alone. Returns their number.
 */
export function markOrdered(index: u32, count: u32, second: u64, table: usize): u32 {
  let mark = table;
  for (let k: u32 = 0, prefetchedEnd: u32 = 0; k < count; k++) {
    if (k == prefetchedEnd) {
      const together = min<u32>(PREFETCHED_TOGETHER, count - k);
      prefetchRecords(index + k, 1, together);
      prefetchedEnd = k + together;
    }
    const stored = storedAt(index + k);
    if (hasSecondKeys && load<u64>(stored, SECOND_KEY) != second) continue;
    const start = (stored as u32) + headerBytes;
    store<u32>(mark, start);
    store<u32>(mark, start + load<u32>(stored, 8), 4);
    mark += 8;
  }
  return ((mark - table) >> 3) as u32;
}

/** Returns the address of the record at `index` of the order. */
export function recordAddress(index: u32): usize {
  return storedAt(index) + headerBytes;
}

export function recordByteLength(index: u32): u32 {
  return load<u32>(storedAt(index), 8);
}

/** Adds records to the checksum that are read in their places in the pile. */
export function hashInPlace(index: u32, endIndex: u32): void {
  for (; index < endIndex; index++) orderChecksum += recordHash(recordAddress(index), recordByteLength(index));
}

/** The bytes of the last unit, and of the longest one, that `measureUnits` passed over. */
export let lastUnitBytes: u64 = 0;
export let longestUnitBytes: u64 = 0;

const BY_RANK: u32 = 0;
const BY_KEY: u32 = 2;

/**
 * Passes over units of the order from `index` on, records or whole bundles, until they have `limit` records or bytes, or the
 * next one has the key `limit` or a greater one. Returns the index after them; `measuredByteLength` gives their bytes.
 */
export function measureUnits(index: u32, limit: u64, by: u32, areBundles: bool): u32 {
  const first = index;
  let bytes: u64 = 0;
  // Nearly always, the records of one key are one bundle. Their values are compared where the limit lies among them.
  let byValue = false;
  longestUnitBytes = 0;
  while (index < walkedCount && (by == BY_KEY ? load<u64>(storedAt(index)) : reached(index - first, bytes, by)) < limit) {
    const begin = index;
    const before = bytes;
    do {
      bytes += load<u32>(storedAt(index), 8) as u64;
      index += 1;
    } while (areBundles && index < walkedCount && isOfOneBundle(index, byValue));
    lastUnitBytes = bytes - before;
    longestUnitBytes = max(longestUnitBytes, lastUnitBytes);
    if (!areBundles || byValue || reached(index - first, bytes, by) < limit) continue;
    byValue = true;
    index = begin;
    bytes = before;
  }
  measuredByteLength = bytes;
  return index;
}

// @ts-ignore: decorator
@inline
function reached(records: u32, bytes: u64, by: u32): u64 {
  return by == BY_RANK ? (records as u64) : bytes;
}

/** Compares the record at `index` of the order with the one before it: by their keys, or also by their values. */
function isOfOneBundle(index: u32, byValue: bool): bool {
  const at = sorted + ((index as usize) << 3);
  if (byValue) return compareEntries(load<u64>(at - 8), load<u64>(at)) == 0;
  return load<u32>(at - 4) == load<u32>(at, 4) && load<u64>(storedAt(index - 1)) == load<u64>(storedAt(index));
}
