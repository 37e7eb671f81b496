// The sum of a field of records, each number times a weight: exactly, as four sums of 128 bits.
//
//   sums   16 bytes each: whole parts of numbers times whole copies | parts of 10^-15 times whole copies |
//          whole parts times chances, parts of 2^64 | parts of 10^-15 times chances

import { partsOfSum, recordWithoutNumber, setFieldPath, sumOfField } from './json-field';
import { ENTRIES_PLACE, scratchAt, WEIGHTS_PLACE } from './scratch';
import { addProduct } from './sum-values';
import { WEIGHT_BYTES } from './weigh';

/** Behind the path of a field, where entries are not needed. */
const SUMS: usize = 2048;

/** Returns the address of the sums, which the host sets to 0 before the first record. */
export function weighedSumsAddress(): usize {
  return scratchAt(ENTRIES_PLACE) + SUMS;
}

/** Returns the address of the weights of the last block: each a chance u64 and a number of copies u32, in 16 bytes. */
export function weightsAddress(): usize {
  return scratchAt(WEIGHTS_PLACE);
}

/** Adds the field of the `count` records of a block, times their weights. Stops at a record without a number, as `sumOfField`. */
export function addWeighed(block: usize, count: u32, path: usize, delimiterBytes: u32): void {
  setFieldPath(path, delimiterBytes);
  const sums = weighedSumsAddress();
  let weight = weightsAddress();
  for (let i: u32 = 0; i < count; i++, weight += WEIGHT_BYTES) {
    const whole = sumOfField(block + ((i as usize) << 3), 1);
    if (recordWithoutNumber != 0) return;
    const copies = load<u32>(weight, 8) as u64;
    const chance = load<u64>(weight);
    addProduct(sums, whole, copies);
    addProduct(sums + 16, partsOfSum, copies);
    addProduct(sums + 32, whole, chance);
    addProduct(sums + 48, partsOfSum, chance);
  }
}
