// The weights of records: that of their input, times the number that a selector finds in each, or that lies beside it. A weight
// is a number of whole copies, and the chance of one more, a part of 2^64.
//
//   weight   16 bytes: chance u64 | whole copies u32 | free u32

import { isTooLarge, partsOfNumber, wholeOfNumber } from './json-field';
import { highProduct, scaled } from './philox';
import { foundAt, foundEnd, NO_VALUE, NUMBER, readValue, useSelector } from './record-value';
import { WEIGHT_SELECTOR_PLACE, WEIGHTS_PLACE, scratchAt } from './scratch';

export const WEIGHT_BYTES: usize = 16;
const MOST_COPIES: u64 = 1_000_000;

/** 5^15: 10^15 is this times 2^15. */
const FIVES: u64 = 30_517_578_125;
/** floor(2^99 / 5^15) - 2^64 */
const RECIPROCAL: u64 = 2_322_443_360_429_758_898;

let inputCopies: u32 = 1;
let inputChance: u64 = 0;
let isByValue: bool = false;
/** The next number that lies beside records; 0: numbers are in the records. */
let nextNumber: usize = 0;
/** A larger number beside a record counts as this, which is above any cap. */
const MOST_NUMBER: f64 = 4_294_967_296.0;
let capCopies: u32 = 0;
let capChance: u64 = 0;
let isCapped: bool = false;
/** True if records have other weights than 1. */
export let isWeighed: bool = false;

/** The records since `setCopies`: their bytes, and the longest one, however often they come. */
export let weighedBytes: u64 = 0;
export let longestWeighed: u32 = 0;
/** The sums of the weights, and of the weights times the bytes of the records: their whole parts, and parts of 2^64. */
export let expectedRecords: u64 = 0;
export let expectedRecordParts: u64 = 0;
export let expectedBytes: u64 = 0;
export let expectedByteParts: u64 = 0;

/** The copies that were made of them, and their bytes. */
export let madeRecords: u64 = 0;
export let madeBytes: u64 = 0;

// @ts-ignore: decorator
@inline
export function countCopies(count: u32, byteLength: u32): void {
  madeRecords += count as u64;
  madeBytes += (count as u64) * (byteLength as u64);
}

/** The first record whose weight cannot be; 0: there is none. Records after it have no copies. */
export let unfitRecord: usize = 0;
/** The characters that are not a number from 0 to the limit. */
export let unfitAt: usize = 0;
export let unfitEnd: usize = 0;
/** Why the record cannot be taken: one of the next three. */
export let unfitReason: u32 = 0;
/** Its weight is not a number, or too large. */
const NO_WEIGHT: u32 = 0;
/** Its number fits, but not its product with the weight of the input. */
const NO_PRODUCT: u32 = 1;
/** What is added up is not a number. */
export const NO_NUMBER: u32 = 2;

/** Gives each record from now on `copies` copies, and one more with a chance of `chance` / 2^64, times its own number. */
export function setCopies(copies: u32, chance: u64): void {
  inputCopies = copies;
  inputChance = chance;
  isWeighed = isByValue || copies != 1 || chance != 0;
  weighedBytes = 0;
  longestWeighed = 0;
  expectedRecords = 0;
  expectedRecordParts = 0;
  expectedBytes = 0;
  expectedByteParts = 0;
  madeRecords = 0;
  madeBytes = 0;
}

/** Has records be weighed and counted that `setCopies` has given one copy, too. */
export function weighEach(): void {
  isWeighed = true;
}

export function weightSelectorAddress(): usize {
  return scratchAt(WEIGHT_SELECTOR_PLACE);
}

/** Has the doubles from an address on weigh records, one each. Their products with the weight of the input keep to the limit. */
export function takeNumbersAt(address: usize): void {
  nextNumber = address;
}

export function weighByNone(): void {
  isByValue = false;
  nextNumber = 0;
  unfitRecord = 0;
}

/**
 * Has the number that the selector finds in a record be its weight. One above `copies` + `chance` / 2^64 counts as that, if it
 * is a cap; else there must be none.
 */
export function weighByValue(copies: u32, chance: u64, isCap: bool): void {
  isByValue = true;
  isCapped = isCap;
  capCopies = copies;
  capChance = chance;
}

/** Writes the weights of the `count` records of a block, and adds them up. */
export function weighBlock(block: usize, count: u32): void {
  if (isByValue && nextNumber == 0) useSelector(scratchAt(WEIGHT_SELECTOR_PLACE));
  const end = block + ((count as usize) << 3);
  let weight = scratchAt(WEIGHTS_PLACE);
  for (let mark = block; mark < end; mark += 8, weight += WEIGHT_BYTES) {
    const start = load<u32>(mark) as usize;
    const recordEnd = load<u32>(mark, 4) as usize;
    const byteLength = (recordEnd - start) as u32;
    copies = inputCopies;
    chance = inputChance;
    if (isByValue && !weighByNumber(start, recordEnd)) {
      copies = 0;
      chance = 0;
    }
    store<u64>(weight, chance);
    store<u32>(weight, copies, 8);
    weighedBytes += byteLength as u64;
    longestWeighed = max<u32>(longestWeighed, byteLength);
    expectedRecordParts += chance;
    expectedRecords += (copies as u64) + (expectedRecordParts < chance ? 1 : 0);
    const parts = chance * (byteLength as u64);
    expectedByteParts += parts;
    expectedBytes +=
      (copies as u64) * (byteLength as u64) +
      scaled(chance, byteLength as u64) +
      (expectedByteParts < parts ? 1 : 0);
  }
}

/** The weight of the last record. */
let copies: u32 = 0;
let chance: u64 = 0;

/** Sets the weight of a record by its number. Returns whether it has one that fits. */
function weighByNumber(start: usize, end: usize): bool {
  if (unfitRecord != 0) return false;
  let whole = u64.MAX_VALUE;
  if (nextNumber != 0) whole = takeNumber();
  else {
    const found = readValue(scratchAt(WEIGHT_SELECTOR_PLACE), start, end);
    if (found == NO_VALUE) return false;
    const isNumber = found == NUMBER;
    if (!isNumber && !isTooLarge) return refuse(start, NO_WEIGHT);
    if (isNumber) whole = wholeOfNumber;
    chance = isNumber ? partsOfTwo(partsOfNumber) : 0;
  }
  if (whole > (capCopies as u64) || (whole == (capCopies as u64) && chance > capChance)) {
    if (!isCapped) return refuse(start, NO_WEIGHT);
    copies = capCopies;
    chance = capChance;
  } else copies = whole as u32;
  if (inputCopies == 1 && inputChance == 0) return true;
  return multiplyByInput() || nextNumber != 0 || refuse(start, NO_PRODUCT);
}

/** Returns the whole part of the next number beside records, and sets the chance. Both steps are exact. */
function takeNumber(): u64 {
  const number = min<f64>(load<f64>(nextNumber), MOST_NUMBER);
  nextNumber += 8;
  const whole = floor<f64>(number);
  chance = ((number - whole) * 18446744073709551616.0) as u64;
  return whole as u64;
}

export function refuse(start: usize, reason: u32): bool {
  if (unfitRecord != 0) return false;
  unfitRecord = start;
  unfitAt = foundAt;
  unfitEnd = foundEnd;
  unfitReason = reason;
  return false;
}

/** Multiplies the weight by that of the input, rounded down to a part of 2^64. Returns whether it keeps to the limit. */
function multiplyByInput(): bool {
  const a = copies as u64;
  const b = inputCopies as u64;
  const first = a * inputChance;
  const second = b * chance;
  let parts = first + second;
  let whole = a * b + highProduct(a, inputChance) + highProduct(b, chance) + (parts < first ? 1 : 0);
  const third = highProduct(chance, inputChance);
  parts += third;
  if (parts < third) whole += 1;
  copies = whole as u32;
  chance = parts;
  return whole < MOST_COPIES || (whole == MOST_COPIES && parts == 0);
}

/** floor(parts * 2^64 / 10^15), for less than 10^15 parts. */
// @ts-ignore: decorator
@inline
function partsOfTwo(parts: u64): u64 {
  // 10^15 parts are 2^15 * 5^15, so this is floor(parts * 2^49 / 5^15).
  const high = parts << 14;
  const quotient = high + highProduct(high, RECIPROCAL);
  const rest = (parts << 49) - quotient * FIVES;
  // The reciprocal and the high product each make the quotient less than 1 too small: together it is off by 0 or 1.
  return quotient + ((rest >= FIVES) as u64);
}
