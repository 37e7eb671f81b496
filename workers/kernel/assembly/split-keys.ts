// Keys of records whose split is chosen by the value of a field: all records of one value get keys in the range of one
// split. A hash of the value is the position of a draw that chooses the split; the record's own key is then mapped into the
// range of that split, so that the order in each split stays uniform.
//
//   place of the field   bounds: where all splits but the first begin, u64, ascending | path, as json-field.ts has it

import { fieldHash, hasField, seekField } from './json-field';
import { ENTRY_BYTES } from './entry';
import { philoxBlock } from './philox';
import { KEYS_PLACE, SPLIT_FIELD_PLACE, scratchAt } from './scratch';

let bounds: usize = 0;
let boundCount: u32 = 0;
let splitKey: u64 = 0;
let missing: usize = 0;
let missingHash: u64 = 0;
let takesMissing: bool = false;
let isByField: bool = false;

/** Keys follow from records alone from now on. */
export function splitByNone(): void {
  isByField = false;
}

/** The place of the field: the host puts the bounds there, and the path behind them. */
export function splitFieldPlace(): usize {
  return scratchAt(SPLIT_FIELD_PLACE);
}

/**
 * From now on the value of the field at the path in the place of the field, behind `count` bounds, chooses the split of a
 * record. `key` is the key of the draws. A record without the field counts as one of the value with the hash `hashOfMissing`,
 * if `allowsMissing`; else `missingRecord` tells where it is.
 */
export function splitByField(count: u32, key: u64, allowsMissing: bool, hashOfMissing: u64): void {
  bounds = splitFieldPlace();
  seekField(bounds + ((count as usize) << 3));
  boundCount = count;
  splitKey = key;
  takesMissing = allowsMissing;
  missingHash = hashOfMissing;
  missing = 0;
  isByField = true;
}

/** The address of the first record without the field since `splitByField`; 0: all had it. */
export function missingRecord(): usize {
  return missing;
}

/** floor(a * b / 2^64). */
// @ts-ignore: decorator
@inline
function highProduct(a: u64, b: u64): u64 {
  const a0 = a & 0xffffffff;
  const a1 = a >> 32;
  const b0 = b & 0xffffffff;
  const b1 = b >> 32;
  const middle = a1 * b0 + ((a0 * b0) >> 32);
  return a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & 0xffffffff)) >> 32);
}

/** Maps the keys of `count` entries at `first` into the ranges of their splits. */
// @ts-ignore: decorator
@inline
export function splitEntries(first: usize, count: u32): void {
  if (isByField) mapEntries(first, count);
}

function mapEntries(first: usize, count: u32): void {
  const draw = scratchAt(KEYS_PLACE);
  const end = first + ((count as usize) << 4);
  for (let entry = first; entry < end; entry += ENTRY_BYTES) {
    const start = load<u32>(entry, 8) as usize;
    let hash = fieldHash(start, start + (load<u32>(entry, 12) as usize));
    if (!hasField()) {
      if (!takesMissing && missing == 0) missing = start;
      hash = missingHash;
    }
    philoxBlock(hash as u32, (hash >> 32) as u32, 0, 0, splitKey as u32, (splitKey >> 32) as u32, draw);
    const place = load<u64>(draw);
    let lowest: u64 = 0;
    // 0 stands for 2^64, the end of the last range.
    let behind: u64 = 0;
    for (let i: u32 = 0; i < boundCount; i++) {
      const bound = load<u64>(bounds + ((i as usize) << 3));
      if (place < bound) {
        behind = bound;
        break;
      }
      lowest = bound;
    }
    const width = behind - lowest;
    const key = load<u64>(entry);
    store<u64>(entry, width == 0 ? key : lowest + highProduct(key, width));
  }
}
