// Draws with replacement: each place of the output takes the record of a random rank.

import { philoxKeys4 } from './philox';
import { KEYS_PLACE, scratchAt } from './scratch';

/** floor(fraction * count / 2^64). */
// @ts-ignore: decorator
@inline
function scaleToRank(fraction: u64, count: u64): u64 {
  const low = (fraction & 0xffffffff) * (count & 0xffffffff);
  const middle = (fraction >> 32) * (count & 0xffffffff) + (low >> 32);
  const other = (fraction & 0xffffffff) * (count >> 32) + (middle & 0xffffffff);
  return (fraction >> 32) * (count >> 32) + (middle >> 32) + (other >> 32);
}

/** Writes to `out`, as f64, the rank below `records` that each place takes. */
export function drawRanks(drawKey: u64, firstPlace: u64, count: u32, records: u64, out: usize): void {
  const keys = scratchAt(KEYS_PLACE);
  for (let i: u32 = 0; i < count; i += 4) {
    philoxKeys4(firstPlace, i, i + 1, i + 2, i + 3, 0, 0, drawKey, keys);
    const lanes = min<u32>(4, count - i);
    for (let l: u32 = 0; l < lanes; l++) {
      const rank = scaleToRank(load<u64>(keys + ((l as usize) << 3)), records);
      store<f64>(out + (((i + l) as usize) << 3), rank as f64);
    }
  }
}
