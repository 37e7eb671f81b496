// Pass 2: the records of one loaded pile, put in the order of their keys and gathered.
//
// Sort entries are u64: the upper 32 bits of the key's place in the pile, then the address of the
// stored record. One counting step puts each entry into one of 2^bits ranges (about two records
// each), one insertion sort over the nearly sorted whole does the rest. Equal upper bits are told
// apart by the whole key. Equal keys by address: piles are loaded in slice order, so that is the
// order of (input ordinal, position). Or by their bytes, where the order must not depend on how the
// pile was loaded. Cost: two sequential passes over the entries, one random.

import { scaleToIndex } from './scatter';
import { copyAndHash, recordHash } from './record-hash';
import { HEADER_BYTES } from './stored-record';

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
let entryCount: u32 = 0;

let gatheredBytes: u32 = 0;
let gatheredChecksum: u64 = 0;

/**
 * Prepares for a pile of at most `capacity` records: `countsAt` holds 2^bits u32, `arrivedAt` and
 * `sortedAt` hold `capacity` u64 each. Keys must belong to pile `pile` of `pileCount` under
 * `scaleOfParent`; bits is 1 to 31. Records of equal keys come in the order of their bytes, a record before those
 * that it begins, when `tiesByBytes`; else in that of their addresses.
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
  entryCount = 0;
  ownPile = pile;
  ownPileCount = pileCount;
  ordersTiesByBytes = tiesByBytes;
  parentScale = scaleOfParent;
  ownScale = scaleOfParent * (pileCount as u64);
  gatheredChecksum = 0;
  memory.fill(countsAt, 0, (4 as usize) << bits);
}

/**
 * Takes in the complete stored records in [from, to), right after they were read, while they are in
 * the cache. Returns the address of the first incomplete one, or 0 when a record does not belong to
 * this pile or there are more of them than announced.
 */
export function walkStored(from: usize, to: usize): usize {
  const shift = 64 - bucketBits;
  let p = from;
  let n = entryCount;
  while (to - p >= HEADER_BYTES) {
    const byteLength = load<u32>(p, 8);
    if (byteLength > ((to - p) as u32) - HEADER_BYTES) break;
    const key = load<u64>(p);
    if (n == entryCapacity || scaleToIndex(key * parentScale, ownPileCount) != ownPile) return 0;
    const place = key * ownScale;
    store<u64>(arrived + ((n as usize) << 3), (place & 0xffffffff00000000) | (p as u64));
    const slot = counts + (((place >> shift) as usize) << 2);
    store<u32>(slot, load<u32>(slot) + 1);
    n += 1;
    p += HEADER_BYTES + byteLength;
  }
  entryCount = n;
  return p;
}

/** Number of records walked since `prepareOrder`. */
export function walkedCount(): u32 {
  return entryCount;
}

function comesAfter(a: u64, b: u64): bool {
  if (a >> 32 != b >> 32) return a > b;
  const placeA = load<u64>(a as u32 as usize) * ownScale;
  const placeB = load<u64>(b as u32 as usize) * ownScale;
  if (placeA != placeB) return placeA > placeB;
  if (ordersTiesByBytes) {
    const difference = compareBytes(a as u32 as usize, b as u32 as usize);
    if (difference != 0) return difference > 0;
  }
  return (a as u32) > (b as u32);
}

/** Below, above or 0, as the bytes of the record stored at `a` come before, behind those at `b`, or are the same. */
function compareBytes(a: usize, b: usize): i32 {
  const lengthA = load<u32>(a, 8);
  const lengthB = load<u32>(b, 8);
  const difference = memory.compare(a + HEADER_BYTES, b + HEADER_BYTES, min<u32>(lengthA, lengthB));
  if (difference != 0) return difference;
  return (lengthA > lengthB ? 1 : 0) - (lengthA < lengthB ? 1 : 0);
}

/** Sorts the walked records by key. */
export function orderWalked(): void {
  const shift = 64 - bucketBits;
  const bucketEnd = counts + ((4 as usize) << (bucketBits as usize));
  let sum: u32 = 0;
  for (let slot = counts; slot < bucketEnd; slot += 4) {
    const count = load<u32>(slot);
    store<u32>(slot, sum);
    sum += count;
  }
  const arrivedEnd = arrived + ((entryCount as usize) << 3);
  for (let p = arrived; p < arrivedEnd; p += 8) {
    const entry = load<u64>(p);
    const slot = counts + (((entry >> shift) as usize) << 2);
    const index = load<u32>(slot);
    store<u32>(slot, index + 1);
    store<u64>(sorted + ((index as usize) << 3), entry);
  }
  const sortedEnd = sorted + ((entryCount as usize) << 3);
  for (let p = sorted + 8; p < sortedEnd; p += 8) {
    const entry = load<u64>(p);
    let hole = p;
    while (hole > sorted && comesAfter(load<u64>(hole - 8), entry)) {
      store<u64>(hole, load<u64>(hole - 8));
      hole -= 8;
    }
    store<u64>(hole, entry);
  }
}

// @ts-ignore: decorator
@inline
function storedAt(index: u32): usize {
  return load<u32>(sorted + ((index as usize) << 3)) as usize;
}

let touched: u32 = 0;

/** Records looked at together before they are copied. */
const TOUCHED_TOGETHER: u32 = 24;

/**
 * Records lie at random in the pile, so that the first look at each line of one is a cache miss. WebAssembly has
 * no prefetch instruction; plain loads of several records at once let their misses overlap. Behind the fourth line
 * the processor sees a sequence. Short records are looked beyond; behind the last one lie the tables.
 */
function touchAhead(index: u32, endIndex: u32): void {
  const end = min<u32>(index + TOUCHED_TOGETHER, endIndex);
  let seen: u32 = 0;
  for (let i = index; i < end; i++) {
    const stored = storedAt(i);
    seen += load<u8>(stored, 0) + load<u8>(stored, 64) + load<u8>(stored, 128) + load<u8>(stored, 192);
  }
  touched += seen;
}

/**
 * Copies records [index, endIndex) of the order to `out`, which has room for `capacity` bytes and 16
 * more. Stops before a record that does not fit, and before the first one that would start at
 * `startLimit` or later (bytes from the beginning of this call). Returns the index it stopped at;
 * `gatheredByteLength` tells the bytes copied.
 */
export function gather(index: u32, endIndex: u32, out: usize, capacity: u32, startLimit: u64): u32 {
  let fill: u32 = 0;
  let checksum = gatheredChecksum;
  let touchedEnd = index;
  while (index < endIndex) {
    if (index == touchedEnd) {
      touchAhead(index, endIndex);
      touchedEnd = index + TOUCHED_TOGETHER;
    }
    const stored = storedAt(index);
    const byteLength = load<u32>(stored, 8);
    if (byteLength > capacity - fill || (fill as u64) >= startLimit) break;
    checksum += copyAndHash(out + fill, stored + HEADER_BYTES, byteLength);
    fill += byteLength;
    index += 1;
  }
  gatheredBytes = fill;
  gatheredChecksum = checksum;
  return index;
}

/**
 * The same look at every `step`th record: they lie just as far apart.
 */
function touchEvery(index: u32, step: u32, count: u32): void {
  let seen: u32 = 0;
  for (let k: u32 = 0; k < count; k++) {
    const stored = storedAt(index + k * step);
    seen += load<u8>(stored, 0) + load<u8>(stored, 64) + load<u8>(stored, 128) + load<u8>(stored, 192);
  }
  touched += seen;
}

/**
 * Copies `count` records of the order, every `step`th from `index` on, to `out`, which has room for `capacity` bytes
 * and 16 more. Stops before one that does not fit. Puts at `ends` where each ends, as u32, the first one beginning at
 * `base`. Returns how many were copied; `gatheredByteLength` tells their bytes.
 */
export function gatherEvery(
  index: u32,
  step: u32,
  count: u32,
  out: usize,
  capacity: u32,
  ends: usize,
  base: u32,
): u32 {
  let fill: u32 = 0;
  let checksum = gatheredChecksum;
  let k: u32 = 0;
  for (let touchedEnd: u32 = 0; k < count; k++) {
    if (k == touchedEnd) {
      const together = min<u32>(TOUCHED_TOGETHER, count - k);
      touchEvery(index + k * step, step, together);
      touchedEnd = k + together;
    }
    const stored = storedAt(index + k * step);
    const byteLength = load<u32>(stored, 8);
    if (byteLength > capacity - fill) break;
    checksum += copyAndHash(out + fill, stored + HEADER_BYTES, byteLength);
    fill += byteLength;
    store<u32>(ends + ((k as usize) << 2), base + fill);
  }
  gatheredBytes = fill;
  gatheredChecksum = checksum;
  return k;
}

/** Bytes copied by the last `gather` or `gatherEvery`. */
export function gatheredByteLength(): u32 {
  return gatheredBytes;
}

/** Multiset checksum of all records gathered or hashed since `prepareOrder`. */
export function orderChecksum(): u64 {
  return gatheredChecksum;
}

/** Address of the bytes of the record at `index`, for one too long to be gathered. */
export function recordAddress(index: u32): usize {
  return storedAt(index) + HEADER_BYTES;
}

/** Byte length of the record at `index`. */
export function recordByteLength(index: u32): u32 {
  return load<u32>(storedAt(index), 8);
}

/** Adds the record at `index`, written from where it lies, to the checksum. */
export function hashInPlace(index: u32): void {
  gatheredChecksum += recordHash(recordAddress(index), recordByteLength(index));
}

/**
 * Bytes of the records before the first one, in order, whose index is `rankLimit` or that starts at
 * byte `startLimit` or later: where a shard is cut inside this pile.
 */
export function measureUpTo(rankLimit: u32, startLimit: u64): u64 {
  let bytes: u64 = 0;
  const end = min<u32>(rankLimit, entryCount);
  for (let index: u32 = 0; index < end && bytes < startLimit; index++) bytes += load<u32>(storedAt(index), 8) as u64;
  return bytes;
}
