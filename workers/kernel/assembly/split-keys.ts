// Keys of records whose split is chosen by their value: all records of one value get keys in the range of one split. A hash
// of the value is the position of a draw that chooses the split. The record's own key is then mapped into the range of that
// split, so that the order in each split stays uniform. Where no value chooses, copies follow the first one of their record
// into its split.
//
//   place of the splits   bounds: where all splits but the first begin, u64, ascending | selectors, as record-value.ts has them

import { ENTRY_BYTES } from './stored-record';
import { highProduct, philoxLanes } from './philox';
import { useSelector, valueHash } from './record-value';
import { KEYS_PLACE, SPLITS_PLACE, scratchAt } from './scratch';

let bounds: usize = 0;
let boundCount: u32 = 0;
let selector: usize = 0;
let splitKey: u64 = 0;
let isByValue: bool = false;
/** True if the copies of a record are in the split of the first one. */
export let copiesFollow: bool = false;
/** The range of keys of the split that `findRange` found last; a width of 0 stands for all keys. */
let rangeStart: u64 = 0;
let rangeWidth: u64 = 0;

export function splitByNone(): void {
  isByValue = false;
  copiesFollow = false;
}

/** Has the key of its first copy choose the split of a record, among the splits after `count` bounds. */
export function splitByFirstCopy(count: u32): void {
  bounds = splitsAddress();
  boundCount = count;
  copiesFollow = true;
}

/** Returns where the host puts the bounds, and selectors after them. */
export function splitsAddress(): usize {
  return scratchAt(SPLITS_PLACE);
}

/** Has the value of a record, which `selectorAt` finds, choose its split. `key` is the key of the draws. */
export function splitByValue(count: u32, selectorAt: usize, key: u64): void {
  bounds = splitsAddress();
  boundCount = count;
  selector = selectorAt;
  splitKey = key;
  isByValue = true;
}

// @ts-ignore: decorator
@inline
export function mapKeysToSplits(first: usize, count: u32): void {
  if (isByValue) mapEntries(first, count);
}

function mapEntries(first: usize, count: u32): void {
  const draws = scratchAt(KEYS_PLACE);
  const end = first + ((count as usize) << 4);
  useSelector(selector);
  for (let entry = first; entry < end; entry += 4 * ENTRY_BYTES) {
    philoxLanes(
      hashOf(entry, end),
      hashOf(entry + ENTRY_BYTES, end),
      hashOf(entry + 2 * ENTRY_BYTES, end),
      hashOf(entry + 3 * ENTRY_BYTES, end),
      0,
      0,
      splitKey,
      draws,
    );
    const lanesEnd = min<usize>(entry + 4 * ENTRY_BYTES, end);
    for (let lane = entry; lane < lanesEnd; lane += ENTRY_BYTES) {
      mapKey(lane, load<u64>(draws + ((lane - entry) >> 1)));
    }
  }
}

/** The hash of the value of a record; 0 after the last entry. */
// @ts-ignore: decorator
@inline
function hashOf(entry: usize, end: usize): u64 {
  if (entry >= end) return 0;
  const start = load<u32>(entry, 8) as usize;
  return valueHash(selector, start, start + (load<u32>(entry, 12) as usize));
}

// @ts-ignore: decorator
@inline
function mapKey(entry: usize, draw: u64): void {
  findRange(draw);
  store<u64>(entry, keyInRange(load<u64>(entry)));
}

/** Finds the range of the split that holds a key. */
export function findRange(key: u64): void {
  rangeStart = 0;
  // 0 stands for 2^64, the end of the last range.
  let behind: u64 = 0;
  for (let i: u32 = 0; i < boundCount; i++) {
    const bound = load<u64>(bounds + ((i as usize) << 3));
    if (key < bound) {
      behind = bound;
      break;
    }
    rangeStart = bound;
  }
  rangeWidth = behind - rangeStart;
}

/** Returns the key mapped into the range that was found last. */
// @ts-ignore: decorator
@inline
export function keyInRange(key: u64): u64 {
  return rangeWidth == 0 ? key : rangeStart + highProduct(key, rangeWidth);
}
