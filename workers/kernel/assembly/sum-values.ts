// Adds up the number that a selector finds in each record, as a decimal with 15 digits after the point: of the records that are
// read, once and with all of their copies, and of those that are gathered.
//
//   sums   of the records, and of their copies, 32 bytes each: whole parts u128 | parts of 10^-15 u128

import { useEquality } from './equal-records';
import { partsOfNumber, wholeOfNumber } from './json-field';
import { recordByteLength } from './order';
import { highProduct } from './philox';
import { NO_VALUE, NUMBER, readValue, useSelector } from './record-value';
import { scratchAt, SUMS_PLACE } from './scratch';
import { NO_NUMBER, refuse, WEIGHT_BYTES } from './weigh';

const OF_COPIES: usize = 32;

/** Finds the numbers, as record-value.ts has it. */
let selector: usize = 0;
/** True if pass 1 adds up a number of each record. */
export let isSummed: bool = false;

export function sumsAddress(): usize {
  return scratchAt(SUMS_PLACE);
}

/** Adds up the numbers that a selector finds; 0: none. */
export function sumByValue(selectorAt: usize): void {
  selector = selectorAt;
  isSummed = selectorAt != 0;
}

export function clearSums(): void {
  memory.fill(sumsAddress(), 0, 2 * OF_COPIES);
}

/** Adds a product to the u128 at `sum`. */
// @ts-ignore: decorator
@inline
export function addProduct(sum: usize, number: u64, times: u64): void {
  const low = number * times;
  const before = load<u64>(sum);
  store<u64>(sum, before + low);
  store<u64>(sum, load<u64>(sum, 8) + highProduct(number, times) + (before + low < low ? 1 : 0), 8);
}

// @ts-ignore: decorator
@inline
function addNumber(sum: usize, times: u64): void {
  addProduct(sum, wholeOfNumber, times);
  addProduct(sum + 16, partsOfNumber, times);
}

/** Adds up the records of a block, which come as often as their `weights` say. 0: each comes once. */
export function sumBlock(block: usize, count: u32, weights: usize): void {
  const sums = sumsAddress();
  useSelector(selector);
  for (let i: usize = 0; i < (count as usize); i++) {
    const start = load<u32>(block + (i << 3)) as usize;
    const found = readValue(selector, start, load<u32>(block + (i << 3), 4) as usize);
    if (found == NO_VALUE) continue;
    if (found != NUMBER) {
      refuse(start, NO_NUMBER);
      break;
    }
    addNumber(sums, 1);
    addNumber(sums + OF_COPIES, weights == 0 ? 1 : load<u32>(weights + i * WEIGHT_BYTES, 8));
  }
  useEquality();
}

/** Adds up the ordered records from `index` to `endIndex`, which lie one after the other from `at` on. Returns whether all have a number. */
export function sumGathered(index: u32, endIndex: u32, at: usize): bool {
  let areNumbers = true;
  useSelector(selector);
  for (; index < endIndex; index++) {
    const end = at + (recordByteLength(index) as usize);
    areNumbers = readValue(selector, at, end) == NUMBER && areNumbers;
    addNumber(sumsAddress(), 1);
    at = end;
  }
  useEquality();
  return areNumbers;
}
