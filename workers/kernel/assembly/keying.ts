// Gives the records of the boundary table their keys, a block at a time, so that keys stay in the core's cache.
//
// With a limit, records with larger keys are left out: they cannot be among the first records of the order that the job
// asks for. A histogram of the keys that stay tells how far the limit may fall. It has a slot for each power of two and the
// 7 bits after the leading one, so a slot is less than 1/128 of its keys.

import { hashOfEqual, useEquality } from './equal-records';
import { philoxKeys4, philoxLanes } from './philox';
import { placeOfValue } from './record-value';
import { ENTRIES_PLACE, KEYS_PLACE, SECONDS_PLACE, scratchAt } from './scratch';
import { isSectioned, mapKeysToSections } from './section-keys';
import { mapKeysToSplits } from './split-keys';
import { ENTRY_BYTES, placesValues } from './stored-record';

/** Records that get their keys together: a multiple of 4. */
export const BLOCK_RECORDS: u32 = 128;

/** Bits of a key after its leading one that choose the slot. */
const SLOT_BITS: u64 = 7;

let limit: u64 = u64.MAX_VALUE;
let histogram: usize = 0;
let keptCount: u32 = 0;
/** The records left out since `keepAll`. */
export let leftOutRecords: u64 = 0;
export let leftOutBytes: u64 = 0;
export let longestLeftOut: u32 = 0;
let byOrdinal: bool = false;
let nextOrdinal: u64 = 0;
let bytesBefore: u64 = 0;

/** Has keys follow from the place of the first byte of a record, less `before`. */
export function keyByPlace(before: u32): void {
  byOrdinal = false;
  bytesBefore = before;
}

// @ts-ignore: decorator
@inline
export function positionAt(place: u64): u64 {
  return byOrdinal ? place : place - bytesBefore;
}

/** Returns the position to which the offsets of records are added. */
// @ts-ignore: decorator
@inline
export function basePositionOf(basePlace: u64): u64 {
  return byOrdinal ? nextOrdinal : positionAt(basePlace);
}

/** Returns the offset of the record that is the `index`-th of those that get their keys together, at `start`. */
// @ts-ignore: decorator
@inline
export function offsetOf(index: u32, start: u32, base: usize): u32 {
  return byOrdinal ? index : start - (base as u32);
}

/** Counts `count` more records. Call it when they have all of their copies. */
// @ts-ignore: decorator
@inline
export function advanceOrdinals(count: u32): void {
  nextOrdinal += count;
}

/** Has keys follow from the ordinal of a record: `first`, and one more for each record after it. */
export function keyByOrdinal(first: u64): void {
  byOrdinal = true;
  nextOrdinal = first;
}

export function keepAll(): void {
  limit = u64.MAX_VALUE;
  histogram = 0;
  leftOutRecords = 0;
  leftOutBytes = 0;
  longestLeftOut = 0;
}

/** Leaves out records with keys above `most`. Counts the others in the 8192 u32 at `histogramAt`. */
export function keepUpTo(most: u64, histogramAt: usize): void {
  limit = most;
  histogram = histogramAt;
}

export function takeKeptCount(): u32 {
  const count = keptCount;
  keptCount = 0;
  return count;
}

/**
 * Writes an entry for each record of a block that is kept. A record at address a has position `basePosition` + (a - `base`),
 * or its ordinal, unless keys follow the content. Reads up to 3 entries of the table past the block. Returns the number of
 * entries, which begin at `scratchAt(ENTRIES_PLACE)`.
 */
export function keyBlock(table: usize, count: u32, base: usize, basePosition: u64, inputKey: u64): u32 {
  const keys = scratchAt(KEYS_PLACE);
  let entry = scratchAt(ENTRIES_PLACE);
  if (keysFollowContent) useEquality();
  for (let i: u32 = 0; i < count; i += 4) {
    const marks = table + ((i as usize) << 3);
    if (keysFollowContent) contentKeys4(table, i, count, inputKey, keys);
    else if (byOrdinal) philoxKeys4(nextOrdinal, i, i + 1, i + 2, i + 3, 0, 0, inputKey, keys);
    else
      philoxKeys4(
        basePosition,
        load<u32>(marks, 0) - (base as u32),
        load<u32>(marks, 8) - (base as u32),
        load<u32>(marks, 16) - (base as u32),
        load<u32>(marks, 24) - (base as u32),
        0,
        0,
        inputKey,
        keys,
      );
    for (let l: usize = 0; l < 32; l += 8) {
      const mark = load<u64>(marks + l);
      const start = mark as u32;
      store<u64>(entry, load<u64>(keys + l));
      store<u32>(entry, start, 8);
      store<u32>(entry, ((mark >> 32) as u32) - start, 12);
      entry += ENTRY_BYTES;
    }
  }
  nextOrdinal += count;
  return keepEntries(count);
}

/** Maps keys into the ranges of their splits or sections, and leaves out keys above the limit. Returns how many entries stay. */
export function keepEntries(count: u32): u32 {
  mapKeysToSplits(scratchAt(ENTRIES_PLACE), count);
  if (isSectioned) mapKeysToSections(scratchAt(ENTRIES_PLACE), count);
  return histogram == 0 ? count : keepUpToLimit(count);
}

function keepUpToLimit(count: u32): u32 {
  const first = scratchAt(ENTRIES_PLACE);
  const end = first + ((count as usize) << 4);
  let kept = first;
  let bytes: u64 = 0;
  for (let entry = first; entry < end; entry += ENTRY_BYTES) {
    const key = load<u64>(entry);
    if (key > limit) {
      const byteLength = load<u32>(entry, 12);
      bytes += byteLength as u64;
      longestLeftOut = max<u32>(longestLeftOut, byteLength);
      continue;
    }
    v128.store(kept, v128.load(entry));
    kept += ENTRY_BYTES;
    const slot = histogram + ((slotOfKey(key) as usize) << 2);
    store<u32>(slot, load<u32>(slot) + 1);
  }
  const stay = ((kept - first) >> 4) as u32;
  keptCount += stay;
  leftOutRecords += (count - stay) as u64;
  leftOutBytes += bytes;
  return stay;
}

/** 0 to 8191, ascending with the key. */
// @ts-ignore: decorator
@inline
function slotOfKey(key: u64): u32 {
  const whole = key | 1;
  const zeros = clz<u64>(whole);
  // The bits after the leading one, at the top.
  const rest = (whole << zeros) << 1;
  return (((63 - zeros) << SLOT_BITS) | (rest >> (64 - SLOT_BITS))) as u32;
}

/**
 * Returns the key of the first copy of the record at `mark` in the boundary table. It changes no state and counts nothing, so
 * the host may ask for any record that has been taken.
 */
export function keyOfRecord(mark: usize, position: u64, inputKey: u64): u64 {
  const keys = scratchAt(KEYS_PLACE);
  const entry = scratchAt(ENTRIES_PLACE);
  if (keysFollowContent) {
    useEquality();
    contentKeys4(mark, 0, 1, inputKey, keys);
  } else philoxKeys4(positionAt(position), 0, 0, 0, 0, 0, 0, inputKey, keys);
  const start = load<u32>(mark);
  store<u64>(entry, load<u64>(keys));
  store<u32>(entry, start, 8);
  store<u32>(entry, load<u32>(mark, 4) - start, 12);
  mapKeysToSplits(entry, 1);
  return load<u64>(entry);
}

/**
 * True if keys follow from the content of a record, so that equal records have equal keys wherever they come from. The
 * position of such a record is the hash of what must be equal in it: the whole record, or the value of a field.
 */
let keysFollowContent: bool = false;

export function keyByContent(isOn: bool): void {
  keysFollowContent = isOn;
}

/** Returns the position of the record at `index` of a block, from which its keys come. Reads up to 3 marks past the block. */
// @ts-ignore: decorator
@inline
export function positionOf(block: usize, index: u32, count: u32, base: usize, basePosition: u64): u64 {
  if (keysFollowContent) return contentHash(block, index, count);
  return basePosition + offsetOf(index, load<u32>(block + ((index as usize) << 3)), base);
}

/** Returns the hash that replaces the position of the record at `index` of the boundary table; 0 after the last one. */
// @ts-ignore: decorator
@inline
function contentHash(table: usize, index: u32, count: u32): u64 {
  if (index >= count) return 0;
  const mark = load<u64>(table + ((index as usize) << 3));
  const start = mark as u32;
  const hash = hashOfEqual(start, ((mark >> 32) as u32) - start);
  if (placesValues) store<u64>(scratchAt(SECONDS_PLACE) + ((index as usize) << 3), placeOfValue);
  return hash;
}

/** Gives the entry at `to` the second key of the record at `from` of the block. */
// @ts-ignore: decorator
@inline
export function moveSecond(from: usize, to: usize): void {
  const seconds = scratchAt(SECONDS_PLACE);
  store<u64>(seconds + (to << 3), load<u64>(seconds + (from << 3)));
}

/** Stores the keys of four records, from `first` on, at `out` (32 bytes). `count`: of the whole table. */
export function contentKeys4(table: usize, first: u32, count: u32, contentKey: u64, out: usize): void {
  philoxLanes(
    contentHash(table, first, count),
    contentHash(table, first + 1, count),
    contentHash(table, first + 2, count),
    contentHash(table, first + 3, count),
    0,
    0,
    contentKey,
    out,
  );
}
