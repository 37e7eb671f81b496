// Later epochs of a loader: gives the records of a pile a fresh order, and picks the records of one range of keys from a
// pile too large to be read at once.
//
//     key of the epoch = philox(epoch key; position = stored key, copy 0, purpose 0)
//
// It replaces the stored key in memory, so that sorting by key gives the order of the epoch. These keys spread over the
// whole key space, whatever the pile.

import { philoxLanes, scaled } from './philox';
import { ADDRESSES_PLACE, KEYS_PLACE, scratchAt } from './scratch';
import { HEADER_BYTES } from './stored-record';

/**
 * Gives the complete stored records in [from, to) their keys of the epoch. Returns the address of the first incomplete
 * record, or 0 when a record belongs to another pile.
 */
export function mixKeys(from: usize, to: usize, pile: u32, pileCount: u32, epochKey: u64): usize {
  const keys = scratchAt(KEYS_PLACE);
  const addresses = scratchAt(ADDRESSES_PLACE);
  let p = from;
  let count: u32 = 4;
  while (count == 4) {
    count = 0;
    while (count < 4 && to - p >= HEADER_BYTES) {
      const byteLength = load<u32>(p, 8);
      if (byteLength > ((to - p) as u32) - HEADER_BYTES) break;
      const key = load<u64>(p);
      if (scaled(key, pileCount) != pile) return 0;
      store<u64>(keys + ((count as usize) << 3), key);
      store<u32>(addresses + ((count as usize) << 2), p as u32);
      count += 1;
      p += HEADER_BYTES + byteLength;
    }
    philoxLanes(load<u64>(keys, 0), load<u64>(keys, 8), load<u64>(keys, 16), load<u64>(keys, 24), 0, 0, epochKey, keys);
    for (let i: u32 = 0; i < count; i++) {
      const address = load<u32>(addresses + ((i as usize) << 2)) as usize;
      store<u64>(address, load<u64>(keys + ((i as usize) << 3)));
    }
  }
  return p;
}

/** The address after the records of the range that were found so far. */
export let rangeEnd: usize = 0;
export let rangeRecords: u32 = 0;
/** The seen records that belong to earlier ranges. */
export let recordsBefore: u32 = 0;
export let recordsSeen: u32 = 0;

/** Begins a range, whose records `compactRange` moves to `target`. */
export function beginRange(target: usize): void {
  rangeEnd = target;
  rangeRecords = 0;
  recordsBefore = 0;
  recordsSeen = 0;
}

/**
 * Moves down the complete stored records in [from, to) whose place, `key * keyScale` as a fraction of 2^64, lies in range
 * `range` of `rangeCount`: next to those found before. Returns the address of the first incomplete one.
 */
export function compactRange(from: usize, to: usize, keyScale: u64, range: u32, rangeCount: u32): usize {
  let p = from;
  while (to - p >= HEADER_BYTES) {
    const byteLength = load<u32>(p, 8);
    if (byteLength > ((to - p) as u32) - HEADER_BYTES) break;
    const storedBytes = HEADER_BYTES + byteLength;
    const index = scaled(load<u64>(p) * keyScale, rangeCount);
    if (index == range) {
      memory.copy(rangeEnd, p, storedBytes);
      rangeEnd += storedBytes;
      rangeRecords += 1;
    } else if (index < range) {
      recordsBefore += 1;
    }
    recordsSeen += 1;
    p += storedBytes;
  }
  return p;
}
