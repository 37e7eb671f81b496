// Records in memory: they stay where they were read, and only entries move.
//
//   entry       key u64 | address u32 | byteLength u32
//   block       2^n bytes of entries of one pile; its last entry is a link: the address of the next block, u32
//   directory   of one slice, pile j at directory + 32 * j:
//               0 address of the next entry u32 | 4 first block u32 | 8 records u64 | 16 record bytes u64 | 24 checksum u64
//
// Pass 1 puts the entries of a slice on its piles, in the order in which the records lie in the slice. Pass 2 takes the
// entries of a pile slice by slice, so they arrive in the order of (input ordinal, position); every step of the sort
// keeps the order of equal keys. One counting step puts an entry into one of 2^bits ranges (one or two entries each), then
// an insertion sort finishes the nearly sorted whole. All of this stays in the core's cache; the one step that does not
// is the copy of the records, which lie anywhere in memory.

import { COPIES_TOGETHER, copyRounds, keyRecords, recordsTogether } from './copies';
import { countDropped } from './duplicates';
import { ENTRY_BYTES } from './entry';
import { compareRecords } from './equal-records';
import { copyAndHash, hashInCache, recordHash } from './record-hash';
import { scaleToIndex } from './scatter';
import { ENTRIES_PLACE, scratchAt } from './scratch';
import { HEADER_BYTES } from './stored-record';

let directory: usize = 0;
let pileCount: u32 = 0;
let blockBytes: u32 = 0;
let nextBlock: usize = 0;
let blocksEnd: usize = 0;
let furtherBlock: usize = 0;
let furtherEnd: usize = 0;
let longest: u32 = 0;

/** Prepares for the records of a slice; `directoryAt` has room for 32 bytes a pile, and `bytesPerBlock` is a power of 2. */
export function prepareHold(count: u32, directoryAt: usize, bytesPerBlock: u32): void {
  pileCount = count;
  directory = directoryAt;
  blockBytes = bytesPerBlock;
  longest = 0;
  memory.fill(directoryAt, 0, (count as usize) << 5);
}

/** Gives whole blocks, aligned to their size. Those of the call before the last one must be used up. */
export function addBlocks(from: usize, to: usize): void {
  furtherBlock = from;
  furtherEnd = to;
}

/** The number of blocks that are not used yet. */
export function blocksLeft(): u32 {
  return ((blocksEnd - nextBlock + (furtherEnd - furtherBlock)) as u32) / blockBytes;
}

/** The byte length of the longest record since `prepareHold`. */
export function longestHeld(): u32 {
  return longest;
}

/** The address for an entry of this pile, in a new block. */
function beginBlock(pile: usize, link: usize): usize {
  if (nextBlock == blocksEnd) {
    nextBlock = furtherBlock;
    blocksEnd = furtherEnd;
    furtherBlock = furtherEnd;
  }
  const block = nextBlock;
  nextBlock += blockBytes;
  if (link == 0) store<u32>(pile, block as u32, 4);
  else store<u32>(link, block as u32);
  return block;
}

/**
 * Holds the `count` records of the boundary table, for which there must be as many blocks as their copies may need. A record at address a has
 * position `basePosition` + (a - `base`). The table must have 3 entries of slack behind it.
 */
export function holdRecords(table: usize, count: u32, base: usize, basePosition: u64, inputKey: u64): void {
  const entries = scratchAt(ENTRIES_PLACE);
  const together = recordsTogether();
  const copies = copyRounds();
  for (let i: u32 = 0; i < count; i += together) {
    const block = table + ((i as usize) << 3);
    for (let copy: u32 = 0; copy < copies; copy += COPIES_TOGETHER) {
      const kept = keyRecords(block, min<u32>(together, count - i), copy, base, basePosition, inputKey);
      holdEntries(entries, entries + ((kept as usize) << 4));
    }
  }
}

/** Puts the entries in [from, to) on their piles. */
// @ts-ignore: decorator
@inline
function holdEntries(from: usize, to: usize): void {
  const linkOffset = blockBytes - (ENTRY_BYTES as u32);
  for (let entry = from; entry < to; entry += ENTRY_BYTES) {
    const start = load<u32>(entry, 8);
    const byteLength = load<u32>(entry, 12);
    const pile = directory + ((scaleToIndex(load<u64>(entry), pileCount) as usize) << 5);
    store<u64>(pile, load<u64>(pile, 8) + 1, 8);
    store<u64>(pile, load<u64>(pile, 16) + (byteLength as u64), 16);
    store<u64>(pile, load<u64>(pile, 24) + hashInCache(start, byteLength), 24);
    longest = max<u32>(longest, byteLength);
    let target = load<u32>(pile) as usize;
    if (target == 0 || ((target as u32) & (blockBytes - 1)) == linkOffset) target = beginBlock(pile, target);
    v128.store(target, v128.load(entry));
    store<u32>(pile, (target + ENTRY_BYTES) as u32);
  }
}

let walked: usize = 0;
let walkedLeft: u64 = 0;

/** Prepares to walk the entries of a pile of the slice with this directory. */
export function beginWalk(directoryAt: usize, pile: u32, bytesPerBlock: u32): void {
  blockBytes = bytesPerBlock;
  const slot = directoryAt + ((pile as usize) << 5);
  walked = load<u32>(slot, 4);
  walkedLeft = load<u64>(slot, 8);
}

/** The address of the entry that comes next; 0: there is none. */
export function nextWalked(): usize {
  return walkedLeft == 0 ? 0 : walked;
}

// @ts-ignore: decorator
@inline
function walkOn(linkOffset: usize): void {
  walked += ENTRY_BYTES;
  walkedLeft -= 1;
  if ((walked & (linkOffset | (ENTRY_BYTES - 1))) == linkOffset && walkedLeft != 0) walked = load<u32>(walked);
}

/** Passes over the entry that comes next. */
export function passWalked(): void {
  walkOn((blockBytes as usize) - ENTRY_BYTES);
}

/**
 * Writes the next records of the walk as stored records to `out`, which has room for `capacity` bytes and 16 more. Stops
 * before a record that does not fit. Returns the bytes written.
 */
export function storeWalked(out: usize, capacity: u32): u32 {
  const linkOffset: usize = (blockBytes as usize) - ENTRY_BYTES;
  let fill: u32 = 0;
  let touchedLeft = walkedLeft;
  while (walkedLeft != 0) {
    if (walkedLeft == touchedLeft) touchedLeft = touchWalked(linkOffset);
    const byteLength = load<u32>(walked, 12);
    if (byteLength > capacity - fill || HEADER_BYTES > capacity - fill - byteLength) break;
    const target = out + fill;
    const record = load<u32>(walked, 8) as usize;
    store<u64>(target, load<u64>(walked));
    store<u32>(target, byteLength, 8);
    for (let i: u32 = 0; i < byteLength; i += 16) v128.store(target + HEADER_BYTES + i, v128.load(record + i));
    fill += HEADER_BYTES + byteLength;
    walkOn(linkOffset);
  }
  return fill;
}

/** Touches the records that come next. Returns how many are left behind them. */
function touchWalked(linkOffset: usize): u64 {
  const first = walked;
  const left = walkedLeft;
  let seen: u32 = 0;
  for (let i: u32 = 0; i < TOUCHED_TOGETHER && walkedLeft != 0; i++) {
    seen += touchRecord(load<u32>(walked, 8));
    walkOn(linkOffset);
  }
  touched += seen;
  const behind = walkedLeft;
  walked = first;
  walkedLeft = left;
  return behind;
}

let counts: usize = 0;
let bucketBits: u64 = 1;
let sorted: usize = 0;
let sortedCount: u32 = 0;
let ownPile: u32 = 0;
let ordersTiesByBytes: bool = false;

/**
 * Prepares to order pile `pile` of `count`: `countsAt` holds 2^bits u32, `sortedAt` as many entries as the pile has; bits
 * is 1 to 31. With `tiesByBytes`, records of equal keys come in the order of their bytes, a prefix first; else in the
 * order of their slices.
 */
export function prepareHeldOrder(
  countsAt: usize,
  bits: u32,
  sortedAt: usize,
  pile: u32,
  count: u32,
  bytesPerBlock: u32,
  tiesByBytes: bool,
): void {
  counts = countsAt;
  bucketBits = bits;
  sorted = sortedAt;
  sortedCount = 0;
  ownPile = pile;
  pileCount = count;
  blockBytes = bytesPerBlock;
  ordersTiesByBytes = tiesByBytes;
  gatheredChecksum = 0;
  memory.fill(countsAt, 0, (4 as usize) << bits);
}

/** Counts the entries of a slice. Returns whether all belong to the pile. */
export function countHeld(directoryAt: usize): bool {
  const linkOffset: usize = (blockBytes as usize) - ENTRY_BYTES;
  const shift = 64 - bucketBits;
  beginWalk(directoryAt, ownPile, blockBytes);
  sortedCount += walkedLeft as u32;
  while (walkedLeft != 0) {
    const key = load<u64>(walked);
    if (scaleToIndex(key, pileCount) != ownPile) return false;
    const slot = counts + ((((key * (pileCount as u64)) >> shift) as usize) << 2);
    store<u32>(slot, load<u32>(slot) + 1);
    walkOn(linkOffset);
  }
  return true;
}

/** The entries of all slices are counted: the counts become the places of the ranges. */
export function placeRanges(): void {
  const end = counts + ((4 as usize) << (bucketBits as usize));
  let sum: u32 = 0;
  for (let slot = counts; slot < end; slot += 4) {
    const count = load<u32>(slot);
    store<u32>(slot, sum);
    sum += count;
  }
}

/** Puts the entries of a slice into their ranges. Call it for the slices in their order. */
export function takeHeld(directoryAt: usize): void {
  const linkOffset: usize = (blockBytes as usize) - ENTRY_BYTES;
  const shift = 64 - bucketBits;
  beginWalk(directoryAt, ownPile, blockBytes);
  while (walkedLeft != 0) {
    const entry = v128.load(walked);
    const place = (load<u64>(walked) * (pileCount as u64)) >> shift;
    const slot = counts + ((place as usize) << 2);
    const index = load<u32>(slot);
    store<u32>(slot, index + 1);
    v128.store(sorted + ((index as usize) << 4), entry);
    walkOn(linkOffset);
  }
}

// @ts-ignore: decorator
@inline
function keyAt(entry: usize): u64 {
  return load<u64>(entry);
}

function comesAfter(a: usize, b: usize): bool {
  if (keyAt(a) != keyAt(b)) return keyAt(a) > keyAt(b);
  return ordersTiesByBytes && compareBytes(a, b) > 0;
}

/** Compares the bytes of two records: below 0, above 0, or 0 if they are equal. */
function compareBytes(a: usize, b: usize): i32 {
  const lengthA = load<u32>(a, 12);
  const lengthB = load<u32>(b, 12);
  const difference = memory.compare(load<u32>(a, 8), load<u32>(b, 8), min<u32>(lengthA, lengthB));
  if (difference != 0) return difference;
  return (lengthA > lengthB ? 1 : 0) - (lengthA < lengthB ? 1 : 0);
}

/** Finishes the order. Returns the number of records. */
export function orderHeld(): u32 {
  const end = sorted + ((sortedCount as usize) << 4);
  for (let p = sorted + ENTRY_BYTES; p < end; p += ENTRY_BYTES) {
    if (keyAt(p - ENTRY_BYTES) < keyAt(p) || !comesAfter(p - ENTRY_BYTES, p)) continue;
    // The slot of the link of a block, so to say: behind the last entry there is room for one more.
    v128.store(end, v128.load(p));
    let hole = p;
    while (hole > sorted && comesAfter(hole - ENTRY_BYTES, end)) {
      v128.store(hole, v128.load(hole - ENTRY_BYTES));
      hole -= ENTRY_BYTES;
    }
    v128.store(hole, v128.load(end));
  }
  return sortedCount;
}

/** Compares two different entries by key, then by what is equal in equal records: below 0, above 0, or 0 if they are equal. */
function compareEntries(a: usize, b: usize): i32 {
  if (keyAt(a) != keyAt(b)) return keyAt(a) > keyAt(b) ? 1 : -1;
  return compareRecords(load<u32>(a, 8), load<u32>(a, 12), load<u32>(b, 8), load<u32>(b, 12));
}

/** Touches those of the next records that have the key of one shortly before: they will be compared. Returns the address behind. */
function touchAlike(from: usize, end: usize): usize {
  const to = min<usize>(from + ((TOUCHED_TOGETHER as usize) << 4), end);
  let seen: u32 = 0;
  for (let p = max<usize>(from, sorted + 2 * ENTRY_BYTES); p < to; p += ENTRY_BYTES) {
    let before = p - ENTRY_BYTES;
    if (keyAt(p) != keyAt(before)) {
      before -= ENTRY_BYTES;
      if (keyAt(p) != keyAt(before)) continue;
    }
    seen += touchRecord(load<u32>(p, 8)) + touchRecord(load<u32>(before, 8));
  }
  touched += seen;
  return to;
}

/**
 * As `orderHeld`, with ties by the bytes of what is equal in equal records. Of these it keeps the one of the first slice, and
 * there the first one, and counts the others as dropped.
 */
export function orderHeldDistinct(): u32 {
  const arrivedEnd = sorted + ((sortedCount as usize) << 4);
  let end = sorted;
  let touchedEnd = sorted;
  for (let p = sorted; p < arrivedEnd; p += ENTRY_BYTES) {
    if (p == touchedEnd) touchedEnd = touchAlike(p, arrivedEnd);
    let hole = end;
    let difference: i32 = 1;
    while (hole > sorted) {
      difference = compareEntries(p, hole - ENTRY_BYTES);
      if (difference >= 0) break;
      hole -= ENTRY_BYTES;
    }
    if (difference == 0) {
      countDropped(load<u32>(p, 8), load<u32>(p, 12));
      continue;
    }
    const entry = v128.load(p);
    for (let moved = end; moved > hole; moved -= ENTRY_BYTES) v128.store(moved, v128.load(moved - ENTRY_BYTES));
    v128.store(hole, entry);
    end += ENTRY_BYTES;
  }
  sortedCount = ((end - sorted) >> 4) as u32;
  return sortedCount;
}

let gatheredBytes: u32 = 0;
let gatheredChecksum: u64 = 0;
let measuredBytes: u64 = 0;
let touched: u32 = 0;

/**
 * The number of records touched together before they are copied: see `order.ts`. They lie anywhere in memory, so most
 * need a walk of page tables, too.
 */
const TOUCHED_TOGETHER: u32 = 48;

/** Loads a byte of each of the first cache lines of some records, so that their misses overlap. */
function touchAhead(index: u32, endIndex: u32): void {
  const from = sorted + ((index as usize) << 4);
  const to = sorted + ((min<u32>(index + TOUCHED_TOGETHER, endIndex) as usize) << 4);
  let seen: u32 = 0;
  for (let entry = from; entry < to; entry += ENTRY_BYTES) seen += touchRecord(load<u32>(entry, 8));
  touched += seen;
}

// @ts-ignore: decorator
@inline
function touchRecord(record: usize): u32 {
  return load<u8>(record, 0) + load<u8>(record, 64) + load<u8>(record, 128) + load<u8>(record, 192);
}

/**
 * Copies records [index, endIndex) of the order to `out`, which has room for `capacity` bytes and 16 more. Stops before
 * a record that does not fit, and before the first record that would start at `startLimit` or later (bytes from the
 * beginning of this call). Returns the index where it stopped; `heldByteLength` gives the bytes copied.
 */
export function gatherHeld(index: u32, endIndex: u32, out: usize, capacity: u32, startLimit: u64): u32 {
  let fill: u32 = 0;
  let checksum = gatheredChecksum;
  let touchedEnd = index;
  while (index < endIndex) {
    if (index == touchedEnd) {
      touchAhead(index, endIndex);
      touchedEnd = index + TOUCHED_TOGETHER;
    }
    const entry = sorted + ((index as usize) << 4);
    const byteLength = load<u32>(entry, 12);
    if (byteLength > capacity - fill || (fill as u64) >= startLimit) break;
    checksum += copyAndHash(out + fill, load<u32>(entry, 8), byteLength);
    fill += byteLength;
    index += 1;
  }
  gatheredBytes = fill;
  gatheredChecksum = checksum;
  return index;
}

/** The bytes copied by the last `gatherHeld`. */
export function heldByteLength(): u32 {
  return gatheredBytes;
}

/** The multiset checksum of all records gathered or hashed since `prepareHeldOrder`. */
export function heldChecksum(): u64 {
  return gatheredChecksum;
}

/** The address of the entry of the record at `index` of the order. */
export function heldEntry(index: u32): usize {
  return sorted + ((index as usize) << 4);
}

/** Adds the records [index, endIndex), which are read where they lie, to the checksum. */
export function hashHeld(index: u32, endIndex: u32): void {
  for (; index < endIndex; index++) {
    const entry = heldEntry(index);
    gatheredChecksum += recordHash(load<u32>(entry, 8), load<u32>(entry, 12));
  }
}

/**
 * Passes over the ordered records from `index` on, up to the first whose index is `endIndex`, or that starts `startLimit`
 * bytes or more behind the first. Returns its index; `measuredHeld` gives the bytes of those before it.
 */
export function measureHeld(index: u32, endIndex: u32, startLimit: u64): u32 {
  let bytes: u64 = 0;
  const end = min<u32>(endIndex, sortedCount);
  for (; index < end && bytes < startLimit; index++) bytes += load<u32>(heldEntry(index), 12) as u64;
  measuredBytes = bytes;
  return index;
}

/** The bytes that the last `measureHeld` passed over. */
export function measuredHeld(): u64 {
  return measuredBytes;
}
