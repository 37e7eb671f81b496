// Draws with replacement: each place of the output takes the record of a random rank. The records of a pile are in order
// in memory (order.ts); copies of the drawn ones leave as stored records whose key is their place.
//
//   draw   place u32, in the low half | rank u32: counted from the first place and the first rank of a task

import { philoxKeys4 } from './philox';
import { recordAddress, recordByteLength } from './order';
import { copyAndHash } from './record-hash';
import { KEYS_PLACE, scratchAt } from './scratch';
import { HEADER_BYTES } from './stored-record';

/** floor(fraction * count / 2^64). */
// @ts-ignore: decorator
@inline
function scaleToRank(fraction: u64, count: u64): u64 {
  const low = (fraction & 0xffffffff) * (count & 0xffffffff);
  const middle = (fraction >> 32) * (count & 0xffffffff) + (low >> 32);
  const other = (fraction & 0xffffffff) * (count >> 32) + (middle & 0xffffffff);
  return (fraction >> 32) * (count >> 32) + (middle >> 32) + (other >> 32);
}

/**
 * Draws a rank below `records` for each of the `count` places from `firstPlace` + `from` on. Writes the draws whose ranks
 * lie in [low, high) to `out`, which has room for `count` of them and three more. Returns their number.
 */
export function drawRanks(
  drawKey: u64,
  firstPlace: u64,
  from: u32,
  count: u32,
  records: u64,
  low: u64,
  high: u64,
  out: usize,
): u32 {
  const keys = scratchAt(KEYS_PLACE);
  let draw = out;
  for (let i: u32 = 0; i < count; i += 4) {
    philoxKeys4(firstPlace + (from as u64), i, i + 1, i + 2, i + 3, 0, 0, drawKey, keys);
    const lanes = min<u32>(4, count - i);
    for (let l: u32 = 0; l < lanes; l++) {
      const rank = scaleToRank(load<u64>(keys + ((l as usize) << 3)), records);
      store<u64>(draw, ((rank - low) << 32) | ((from + i + l) as u64));
      draw += rank >= low && rank < high ? 8 : 0;
    }
  }
  return ((draw - out) >> 3) as u32;
}

let storedBytes: u32 = 0;
let storedChecksum: u64 = 0;

/**
 * Copies the records of the `count` draws at `draws` to `out`, which has room for `capacity` bytes and 16 more, as stored
 * records. The record of index 0 in the order has the rank `firstRank`. Stops before a record that does not fit. Returns the
 * number of draws that are done; `storedDrawBytes` gives the bytes.
 */
export function storeDraws(draws: usize, count: u32, firstRank: u32, out: usize, capacity: u32): u32 {
  let fill: u32 = 0;
  let checksum: u64 = 0;
  let i: u32 = 0;
  for (; i < count; i++) {
    const draw = load<u64>(draws + ((i as usize) << 3));
    const index = ((draw >> 32) as u32) - firstRank;
    const byteLength = recordByteLength(index);
    if (byteLength > capacity - fill || HEADER_BYTES > capacity - fill - byteLength) break;
    store<u64>(out + fill, draw & 0xffffffff);
    store<u32>(out + fill, byteLength, 8);
    checksum += copyAndHash(out + fill + HEADER_BYTES, recordAddress(index), byteLength);
    fill += HEADER_BYTES + byteLength;
  }
  storedBytes = fill;
  storedChecksum = checksum;
  return i;
}

/** The bytes that the last `storeDraws` wrote. */
export function storedDrawBytes(): u32 {
  return storedBytes;
}

/** The sum of the hashes of the records that the last `storeDraws` copied. */
export function storedDrawChecksum(): u64 {
  return storedChecksum;
}
