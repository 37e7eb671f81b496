// Copies of records that have weights: the whole copies of each, and one more if its draw is below its chance. The key of a
// copy comes from the counter of the record with the number of the copy. The draw has the counter of the copy that it decides
// about, with another purpose. Entries come in the order of (record, copy).

import { ENTRY_BYTES, placesValues } from './stored-record';
import { useEquality } from './equal-records';
import { advanceOrdinals, BLOCK_RECORDS, basePositionOf, keepEntries, moveSecond, offsetOf, positionOf } from './keying';
import { philoxCopies } from './philox';
import { ENTRIES_PLACE, KEYS_PLACE, WEIGHTS_PLACE, scratchAt } from './scratch';
import { copiesFollow, findRange, keyInRange } from './split-keys';
import { countCopies, WEIGHT_BYTES, weighBlock } from './weigh';

/** The scratch has room for four entries more. */
const COPIES_TOGETHER: u32 = 128;
const DRAW: u32 = 1;

let block: usize = 0;
let count: u32 = 0;
let key: u64 = 0;
/** The record whose copies come next, and the first of them. */
let nextRecord: u32 = 0;
let nextCopy: u32 = 0;

/**
 * Weighs the records of a block and draws, so that `keyCopies` can make the entries of their copies. A record at address a
 * lies at the place `basePlace` + (a - `baseAt`). Reads up to 3 marks past the block.
 */
export function beginCopies(
  marks: usize,
  recordCount: u32,
  baseAt: usize,
  basePlace: u64,
  inputKey: u64,
): void {
  block = marks;
  count = recordCount;
  key = inputKey;
  nextRecord = 0;
  nextCopy = 0;
  weighBlock(marks, recordCount);
  const basePosition = basePositionOf(basePlace);
  const weights = scratchAt(WEIGHTS_PLACE);
  useEquality();
  for (let i: u32 = 0; i < recordCount; i += 4) {
    const weight = weights + (i as usize) * WEIGHT_BYTES;
    const lanes = min<u32>(4, recordCount - i);
    let chances: u64 = 0;
    for (let l: u32 = 0; l < lanes; l++) chances |= load<u64>(weight + (l as usize) * WEIGHT_BYTES);
    const position0 = positionOf(marks, i, recordCount, baseAt, basePosition);
    const position1 = positionOf(marks, i + 1, recordCount, baseAt, basePosition);
    const position2 = positionOf(marks, i + 2, recordCount, baseAt, basePosition);
    const position3 = positionOf(marks, i + 3, recordCount, baseAt, basePosition);
    if (chances != 0) draw(position0, position1, position2, position3, lanes, weight);
    // Of the weight, the copies are left.
    store<u64>(weight, position0);
    store<u64>(weight, position1, 16);
    store<u64>(weight, position2, 32);
    store<u64>(weight, position3, 48);
    for (let l: u32 = 0; l < lanes; l++) {
      const mark = marks + (((i + l) as usize) << 3);
      countCopies(load<u32>(weight + (l as usize) * WEIGHT_BYTES, 8), load<u32>(mark, 4) - load<u32>(mark));
    }
  }
}

/** Adds the drawn copies of four records to the whole ones. */
function draw(position0: u64, position1: u64, position2: u64, position3: u64, lanes: u32, weight: usize): void {
  const keys = scratchAt(KEYS_PLACE);
  let copies = i32x4.splat(load<u32>(weight, 8));
  copies = i32x4.replace_lane(copies, 1, load<u32>(weight, 8 + 16));
  copies = i32x4.replace_lane(copies, 2, load<u32>(weight, 8 + 32));
  copies = i32x4.replace_lane(copies, 3, load<u32>(weight, 8 + 48));
  philoxCopies(position0, position1, position2, position3, copies, DRAW, key, keys);
  for (let l: u32 = 0; l < lanes; l++) {
    const at = weight + (l as usize) * WEIGHT_BYTES;
    store<u32>(at, load<u32>(at, 8) + ((load<u64>(keys + ((l as usize) << 3)) < load<u64>(at)) as u32), 8);
  }
}

/** Returns whether `keyCopies` has more to do. When all copies are made, it counts the records of the block. */
export function hasCopies(): bool {
  const weights = scratchAt(WEIGHTS_PLACE);
  while (nextRecord < count && nextCopy == load<u32>(weights + (nextRecord as usize) * WEIGHT_BYTES, 8)) {
    nextRecord += 1;
    nextCopy = 0;
  }
  if (nextRecord < count) return true;
  advanceOrdinals(count);
  return false;
}

/** Writes the entries of the next copies, as `keyBlock` does for records. Returns how many of them are kept. */
export function keyCopies(): u32 {
  const weights = scratchAt(WEIGHTS_PLACE);
  const first = scratchAt(ENTRIES_PLACE);
  const entriesEnd = first + (COPIES_TOGETHER as usize) * ENTRY_BYTES;
  let entry = first;
  while (nextRecord < count && entry < entriesEnd) {
    const copies = load<u32>(weights + (nextRecord as usize) * WEIGHT_BYTES, 8);
    const mark = load<u64>(block + ((nextRecord as usize) << 3));
    const start = mark as u32;
    const byteLength = ((mark >> 32) as u32) - start;
    if (copies <= 2 && nextCopy == 0) {
      // Writes two entries, and keeps those that count: a branch on a random number is often predicted wrongly.
      const place = (start as u64) | ((byteLength as u64) << 32);
      store<u64>(entry, nextRecord as u64);
      store<u64>(entry, place, 8);
      store<u64>(entry, (nextRecord as u64) | (1 << 32), 16);
      store<u64>(entry, place, 24);
      entry += (copies as usize) * ENTRY_BYTES;
      nextRecord += 1;
      continue;
    }
    for (; nextCopy < copies && entry < entriesEnd; nextCopy++, entry += ENTRY_BYTES) {
      store<u32>(entry, nextRecord);
      store<u32>(entry, nextCopy, 4);
      store<u32>(entry, start, 8);
      store<u32>(entry, byteLength, 12);
    }
    if (nextCopy < copies) break;
    nextRecord += 1;
    nextCopy = 0;
  }
  keyEntries(first, entry);
  return keepEntries(((entry - first) >> 4) as u32);
}

/** The place of the weight has the position since the draw. The index may be of no record: then the result counts for nothing. */
// @ts-ignore: decorator
@inline
function positionAtIndex(index: u32): u64 {
  return load<u64>(scratchAt(WEIGHTS_PLACE) + ((index & (BLOCK_RECORDS - 1)) as usize) * WEIGHT_BYTES);
}

/** Puts the keys of copies into entries that hold the numbers of their records in the block and their own. */
function keyEntries(first: usize, end: usize): void {
  const keys = scratchAt(KEYS_PLACE);
  for (let entry = first; entry < end; entry += 4 * ENTRY_BYTES) {
    let copies = i32x4.splat(load<u32>(entry, 4));
    copies = i32x4.replace_lane(copies, 1, load<u32>(entry, 4 + 16));
    copies = i32x4.replace_lane(copies, 2, load<u32>(entry, 4 + 32));
    copies = i32x4.replace_lane(copies, 3, load<u32>(entry, 4 + 48));
    philoxCopies(
      positionAtIndex(load<u32>(entry)),
      positionAtIndex(load<u32>(entry, 16)),
      positionAtIndex(load<u32>(entry, 32)),
      positionAtIndex(load<u32>(entry, 48)),
      copies,
      0,
      key,
      keys,
    );
    const lanesEnd = min<usize>(entry + 4 * ENTRY_BYTES, end);
    for (let lane = entry; lane < lanesEnd; lane += ENTRY_BYTES) {
      const ofCopy = load<u64>(keys + ((lane - entry) >> 1));
      // Records of bundles have at most one copy.
      if (placesValues) moveSecond(load<u32>(lane), (lane - first) >> 4);
      // The range stays that of the record while its copies come.
      if (copiesFollow && load<u32>(lane, 4) == 0) findRange(ofCopy);
      store<u64>(lane, copiesFollow && load<u32>(lane, 4) != 0 ? keyInRange(ofCopy) : ofCopy);
    }
  }
}
