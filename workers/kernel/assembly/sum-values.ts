// Adds up the number that a selector finds in each record, as a decimal with 15 digits after the point: of the records that are
// read, once and with all of their copies or times their weights, and of those that are gathered.
//
//   sums   of the records, of their whole copies, and times the chances of one more, parts of 2^64; 32 bytes each:
//          whole parts u128 | parts of 10^-15 u128

import { useEquality } from './equal-records';
import { partsOfNumber, wholeOfNumber } from './json-field';
import { BLOCK_RECORDS } from './keying';
import { recordByteLength } from './order';
import { highProduct } from './philox';
import { NO_VALUE, NUMBER, readValue, useSelector } from './record-value';
import { scratchAt, SUMS_PLACE, WEIGHTS_PLACE } from './scratch';
import { isWeighed, NO_NUMBER, refuse, WEIGHT_BYTES, weighBlock } from './weigh';

const OF_COPIES: usize = 32;
const OF_CHANCES: usize = 64;
const SUMS_BYTES: usize = 96;

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
  memory.fill(sumsAddress(), 0, SUMS_BYTES);
}

/** Adds a product to the u128 at `sum`. */
// @ts-ignore: decorator
@inline
function addProduct(sum: usize, number: u64, times: u64): void {
  const low = number * times;
  const before = load<u64>(sum);
  store<u64>(sum, before + low);
  store<u64>(sum, load<u64>(sum, 8) + highProduct(number, times) + (before + low < low ? 1 : 0), 8);
}

// @ts-ignore: decorator
@inline
function addNumber(sum: usize, whole: u64, parts: u64, times: u64): void {
  addProduct(sum, whole, times);
  addProduct(sum + 16, parts, times);
}

/**
 * Adds up the records of a block, which come as often as their `weights` say. 0: each comes once.
 * @param areDrawn whether the weights are numbers of copies alone.
 */
export function sumBlock(block: usize, count: u32, weights: usize, areDrawn: bool): void {
  const sums = sumsAddress();
  let whole: u64 = 0;
  let parts: u64 = 0;
  useSelector(selector);
  for (let i: usize = 0; i < (count as usize); i++) {
    const start = load<u32>(block + (i << 3)) as usize;
    const found = readValue(selector, start, load<u32>(block + (i << 3), 4) as usize);
    if (found == NO_VALUE) continue;
    if (found != NUMBER) {
      refuse(start, NO_NUMBER);
      break;
    }
    whole += wholeOfNumber;
    parts += partsOfNumber;
    if (weights == 0) continue;
    const weight = weights + i * WEIGHT_BYTES;
    addNumber(sums + OF_COPIES, wholeOfNumber, partsOfNumber, load<u32>(weight, 8));
    if (!areDrawn) addNumber(sums + OF_CHANCES, wholeOfNumber, partsOfNumber, load<u64>(weight));
  }
  addNumber(sums, whole, parts, 1);
  if (weights == 0) addNumber(sums + OF_COPIES, whole, parts, 1);
  useEquality();
}

/** Weighs the records of a boundary table, and adds up their numbers times their weights: exactly, nothing is drawn. */
export function weighRecords(table: usize, count: u32): void {
  if (!isWeighed && !isSummed) return;
  for (let i: u32 = 0; i < count; i += BLOCK_RECORDS) {
    const block = table + ((i as usize) << 3);
    const records = min<u32>(BLOCK_RECORDS, count - i);
    if (isWeighed) weighBlock(block, records);
    if (isSummed) sumBlock(block, records, isWeighed ? scratchAt(WEIGHTS_PLACE) : 0, false);
  }
}

/** Adds up the ordered records from `index` to `endIndex`, which lie one after the other from `at` on. Returns whether all have a number. */
export function sumGathered(index: u32, endIndex: u32, at: usize): bool {
  let areNumbers = true;
  useSelector(selector);
  for (; index < endIndex; index++) {
    const end = at + (recordByteLength(index) as usize);
    areNumbers = readValue(selector, at, end) == NUMBER && areNumbers;
    addNumber(sumsAddress(), wholeOfNumber, partsOfNumber, 1);
    at = end;
  }
  useEquality();
  return areNumbers;
}
