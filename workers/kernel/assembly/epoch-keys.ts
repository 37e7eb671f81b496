// Later epochs of a loader: the records of a pile in a fresh order, and of a pile too large to be read at once the
// records of one range of keys.
//
//     key of the epoch = philox(epoch key; position = stored key, copy 0, purpose 0)
//
// It takes the place of the stored key where the record lies in memory, so that whatever orders records by their keys
// orders them for the epoch. Such keys are spread over the whole key space, whatever pile a record is in.

import { philoxLanes } from './philox';
import { scaleToIndex } from './scatter';
import { HEADER_BYTES } from './stored-record';

/** Four keys, then the addresses of the records that they belong to. */
const KEYS: usize = memory.data(32, 16);
const ADDRESSES: usize = memory.data(16, 16);

/**
 * Gives the complete stored records in [from, to), all of pile `pile` of `pileCount`, their keys of the epoch. Returns
 * the address of the first incomplete one, or 0 when a record belongs to another pile.
 */
export function mixKeys(from: usize, to: usize, pile: u32, pileCount: u32, epochKey: u64): usize {
  let p = from;
  let count: u32 = 4;
  while (count == 4) {
    count = 0;
    while (count < 4 && to - p >= HEADER_BYTES) {
      const byteLength = load<u32>(p, 8);
      if (byteLength > ((to - p) as u32) - HEADER_BYTES) break;
      const key = load<u64>(p);
      if (scaleToIndex(key, pileCount) != pile) return 0;
      store<u64>(KEYS + ((count as usize) << 3), key);
      store<u32>(ADDRESSES + ((count as usize) << 2), p as u32);
      count += 1;
      p += HEADER_BYTES + byteLength;
    }
    philoxLanes(load<u64>(KEYS, 0), load<u64>(KEYS, 8), load<u64>(KEYS, 16), load<u64>(KEYS, 24), 0, 0, epochKey, KEYS);
    for (let i: u32 = 0; i < count; i++) {
      const address = load<u32>(ADDRESSES + ((i as usize) << 2)) as usize;
      store<u64>(address, load<u64>(KEYS + ((i as usize) << 3)));
    }
  }
  return p;
}

let keptEnd: usize = 0;
let keptCount: u32 = 0;
let countBefore: u32 = 0;
let countSeen: u32 = 0;

/** Begins to keep the records of one range of keys, from address `target` on. */
export function beginKeeping(target: usize): void {
  keptEnd = target;
  keptCount = 0;
  countBefore = 0;
  countSeen = 0;
}

/**
 * Of the complete stored records in [from, to) those stay whose place, `key * keyScale` as a fraction of 2^64, lies in
 * range `range` of `rangeCount`: they move down behind those that were kept before. Returns the address of the first
 * incomplete record.
 */
export function keepRange(from: usize, to: usize, keyScale: u64, range: u32, rangeCount: u32): usize {
  let p = from;
  while (to - p >= HEADER_BYTES) {
    const byteLength = load<u32>(p, 8);
    if (byteLength > ((to - p) as u32) - HEADER_BYTES) break;
    const storedBytes = HEADER_BYTES + byteLength;
    const index = scaleToIndex(load<u64>(p) * keyScale, rangeCount);
    if (index == range) {
      memory.copy(keptEnd, p, storedBytes);
      keptEnd += storedBytes;
      keptCount += 1;
    } else if (index < range) {
      countBefore += 1;
    }
    countSeen += 1;
    p += storedBytes;
  }
  return p;
}

/** Address behind the records that were kept. */
export function endOfKept(): usize {
  return keptEnd;
}

/** How many records were kept. */
export function keptRecords(): u32 {
  return keptCount;
}

/** How many records of the ranges before were seen. */
export function recordsBefore(): u32 {
  return countBefore;
}

/** How many records were seen, kept or not. */
export function recordsSeen(): u32 {
  return countSeen;
}
