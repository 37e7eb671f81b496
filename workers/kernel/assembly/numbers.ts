// The numbers of a range in random order, as text.
//
// A number is the low end of its range plus an offset. Which offset stands at a place is decided in one of three ways
// (docs/ORDER.md):
//
//     sorted     a short range: the offsets ascend by keys, as records do
//     permuted   a long one: a Feistel network over rows x columns gives the offset of any place by itself
//     drawn      with replacement: a 128-bit fraction of the range for each place
//
// Each round of the network adds a function of one half to the other half. Where many places are asked for and a half has
// at most 2^16 values, the functions are looked up in tables: this takes a sixth of the time.

import { orderWalked, walkStored } from './order';
import { highProduct, philoxBlock, philoxLanes, philoxVectors, scaled } from './philox';
import { hashInCache, hashOfBlock } from './record-hash';
import { COLUMNS_PLACE, KEYS_PLACE, OFFSETS_PLACE, ROWS_PLACE, scratchAt } from './scratch';
import { HEADER_BYTES } from './stored-record';

/** The purpose of a round function, whose copy is the round. The keys of sorted offsets have purpose 0. */
const ROUND_PURPOSE: u32 = 1;
const DRAW_PURPOSE: u32 = 2;
const ROUNDS: u32 = 10;
const BATCH: u32 = 256;
const STORED_OFFSET_BYTES: usize = HEADER_BYTES + 4;

const IN_SIXTEEN: u64 = 10000000000000000;
const IN_EIGHT: u32 = 100000000;
/** The least number that fills a vector with its ending, or more. */
const IN_ONE_VECTOR: u64 = 1000000000000000;
const ASCII_0: i8 = 48;

const SORTED: u32 = 0;
const PERMUTED: u32 = 1;
const TABLED: u32 = 2;
const DRAWN: u32 = 3;

let low: u64 = 0;
let last: u64 = 0;
let key: u64 = 0;
let terminator: u32 = 0;
let way: u32 = SORTED;
/** The sort entries of all offsets, in their order. */
let sorted: usize = 0;
let rows: u64 = 1;
let columns: u64 = 1;
/** For each round, its function of all values of a half, as u16. */
let tables: usize = 0;
let tableBytes: usize = 0;

/** The sum of the numbers that the last `writeNumbers` wrote, modulo 2^64. */
export let numbersSum: u64 = 0;
export let numbersChecksum: u64 = 0;

/** Prepares for the numbers from `lowest` to `lowest + lastOffset`, each followed by the byte `ending`. */
export function prepareNumbers(lowest: u64, lastOffset: u64, rangeKey: u64, ending: u32): void {
  low = lowest;
  last = lastOffset;
  key = rangeKey;
  terminator = ending;
}

/**
 * Sorts the offsets by their keys, equal keys by offset: as records of 4 bytes, for which `prepareOrder` has made room.
 * `storedAt` has room for them as stored records and for 3 more; `sortedAt` is that of `prepareOrder`.
 */
export function sortOffsets(storedAt: usize, sortedAt: usize): void {
  way = SORTED;
  sorted = sortedAt;
  const count = (last + 1) as usize;
  const keys = scratchAt(KEYS_PLACE);
  let p = storedAt;
  for (let i: usize = 0; i < count; i += 4) {
    philoxLanes(i, i + 1, i + 2, i + 3, 0, 0, key, keys);
    for (let l: usize = 0; l < 4; l++) {
      store<u64>(p, load<u64>(keys + (l << 3)));
      store<u32>(p, 4, 8);
      store<u32>(p, (i + l) as u32, HEADER_BYTES);
      p += STORED_OFFSET_BYTES;
    }
  }
  walkStored(storedAt, storedAt + count * STORED_OFFSET_BYTES);
  orderWalked();
}

/**
 * Permutes the offsets by a network over `rowCount` x `columnCount` places, both at most 2^32. `tablesAt` has room for
 * `ROUNDS` tables of the larger count as u16, rounded up to 4 entries; 0: each function is computed each time.
 */
export function permuteOffsets(rowCount: u64, columnCount: u64, tablesAt: usize): void {
  way = tablesAt == 0 ? PERMUTED : TABLED;
  rows = rowCount;
  columns = columnCount;
  if (tablesAt == 0) return;
  tables = tablesAt;
  tableBytes = ((((max<u64>(rows, columns) + 3) as usize) >> 2) << 3);
  const keys = scratchAt(KEYS_PLACE);
  for (let round: u32 = 0; round < ROUNDS; round++) {
    const modulus = (round & 1) == 0 ? rows : columns;
    const table = tables + (round as usize) * tableBytes;
    for (let i: usize = 0; i < tableBytes >> 1; i += 4) {
      philoxLanes(i, i + 1, i + 2, i + 3, round, ROUND_PURPOSE, key, keys);
      for (let l: usize = 0; l < 4; l++) {
        store<u16>(table + ((i + l) << 1), scaled(load<u64>(keys + (l << 3)), modulus) as u16);
      }
    }
  }
}

export function drawOffsets(): void {
  way = DRAWN;
}

/** Writes each number in decimal, with the ending. Writes up to 16 bytes too far. Returns the address after them. */
export function writeNumbers(first: u64, count: u32, out: usize): usize {
  const offsets = scratchAt(OFFSETS_PLACE);
  numbersSum = 0;
  numbersChecksum = 0;
  for (let done: u32 = 0; done < count; done += BATCH) {
    const together = min<u32>(BATCH, count - done);
    if (way == SORTED) takeSorted((first + done) as usize, together, offsets);
    else if (way == DRAWN) draw(first + done, together, offsets);
    else permute(first + done, together, offsets);
    out = putNumbers(offsets, together, out);
  }
  return out;
}

function takeSorted(first: usize, count: u32, offsets: usize): void {
  for (let i: usize = 0; i < count; i++) {
    const stored = load<u64>(sorted + ((first + i) << 3)) as u32 as usize;
    store<u64>(offsets + (i << 3), load<u32>(stored, HEADER_BYTES));
  }
}

function draw(first: u64, count: u32, offsets: usize): void {
  const block = scratchAt(KEYS_PLACE);
  for (let i: usize = 0; i < count; i++) {
    const place = first + i;
    philoxBlock(place as u32, (place >> 32) as u32, 0, DRAW_PURPOSE, key as u32, (key >> 32) as u32, block);
    store<u64>(offsets + (i << 3), fractionOf(load<u64>(block, 8), load<u64>(block)));
  }
}

/** All places of a batch pass through a round together: they do not wait for each other, and its table stays in the cache. */
function permute(first: u64, count: u32, offsets: usize): void {
  const row = scratchAt(ROWS_PLACE);
  const column = scratchAt(COLUMNS_PLACE);
  // Four places go through together. Where there are fewer, the last one goes several times.
  const padded = (count + 3) & ~3;
  let r = first / columns;
  let c = first - r * columns;
  for (let i: usize = 0; i < padded; i++) {
    store<u32>(row + (i << 2), r as u32);
    store<u32>(column + (i << 2), c as u32);
    if (i + 1 >= count) continue;
    c += 1;
    if (c == columns) {
      c = 0;
      r += 1;
    }
  }
  passThrough(row, column, padded);
  const rowAgain = row + ((BATCH as usize) << 2);
  const columnAgain = column + ((BATCH as usize) << 2);
  for (let i: usize = 0; i < count; i++) {
    let offset = (load<u32>(row + (i << 2)) as u64) * columns + (load<u32>(column + (i << 2)) as u64);
    // Rows and columns may have a few places more than there are offsets: such a place leads to another one.
    while (offset > last) {
      v128.store(rowAgain, i32x4.splat((offset / columns) as u32));
      v128.store(columnAgain, i32x4.splat((offset % columns) as u32));
      passThrough(rowAgain, columnAgain, 4);
      offset = (load<u32>(rowAgain) as u64) * columns + (load<u32>(columnAgain) as u64);
    }
    store<u64>(offsets + (i << 3), offset);
  }
}

function passThrough(row: usize, column: usize, count: u32): void {
  for (let round: u32 = 0; round < ROUNDS; round += 2) {
    addRound(row, column, count, round, rows);
    addRound(column, row, count, round + 1, columns);
  }
}

/** Adds the function of each `other` half to its half, modulo `modulus`. */
function addRound(half: usize, other: usize, count: u32, round: u32, modulus: u64): void {
  const end = half + ((count as usize) << 2);
  if (way == TABLED) {
    const table = tables + (round as usize) * tableBytes;
    const m = modulus as u32;
    for (; half < end; half += 4, other += 4) {
      const moved = load<u32>(half) + load<u16>(table + ((load<u32>(other) as usize) << 1));
      store<u32>(half, select<u32>(moved - m, moved, moved >= m));
    }
    return;
  }
  const keys = scratchAt(KEYS_PLACE);
  const m = i32x4.splat(modulus as u32);
  for (; half < end; half += 16, other += 16) {
    philoxVectors(v128.load(other), i32x4.splat(0), round, ROUND_PURPOSE, key, keys);
    const words01 = v128.load(keys);
    const words23 = v128.load(keys, 16);
    const word0 = v128.shuffle<u32>(words01, words23, 0, 2, 4, 6);
    const word1 = v128.shuffle<u32>(words01, words23, 1, 3, 5, 7);
    let f = word1;
    if (modulus >> 32 == 0) {
      const low01 = i64x2.shr_u(i64x2.extmul_low_i32x4_u(word0, m), 32);
      const low23 = i64x2.shr_u(i64x2.extmul_high_i32x4_u(word0, m), 32);
      const high01 = i64x2.add(i64x2.extmul_low_i32x4_u(word1, m), low01);
      const high23 = i64x2.add(i64x2.extmul_high_i32x4_u(word1, m), low23);
      f = v128.shuffle<u32>(high01, high23, 1, 3, 5, 7);
    }
    // A sum may have 33 bits: what is missing up to the modulus has 32.
    const h = v128.load(half);
    const missing = i32x4.sub(m, f);
    v128.store(half, v128.bitselect(i32x4.sub(h, missing), i32x4.add(h, f), i32x4.ge_u(h, missing)));
  }
}

/** floor((high * 2^64 + low) * count / 2^128), for the count of all offsets, which may be 2^64. */
function fractionOf(high: u64, lower: u64): u64 {
  if (last == u64.MAX_VALUE) return high;
  const count = last + 1;
  const carried = highProduct(lower, count);
  const rest = high * count + carried;
  return highProduct(high, count) + (rest < carried ? 1 : 0);
}

function putNumbers(offsets: usize, count: u32, out: usize): usize {
  let numbers = numbersSum;
  let hashes = numbersChecksum;
  const lowest = low;
  const ending = i8x16.splat(terminator as i8);
  for (let p = offsets, end = p + ((count as usize) << 3); p < end; p += 8) {
    const value = lowest + load<u64>(p);
    numbers += value;
    if (value < IN_ONE_VECTOR) {
      const digits = sixteenDigits(value);
      const length = 16 - leadingZeros(digits);
      const text = v128.or(leftAligned(digits, length), v128.and(i8x16.eq(i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), i8x16.splat(length as i8)), ending));
      v128.store(out, text);
      out += length + 1;
      hashes += hashOfBlock(text, length + 1);
    } else {
      const start = out;
      out = putLong(out, value);
      store<u8>(out, terminator as u8);
      out += 1;
      hashes += hashInCache(start, (out - start) as u32);
    }
  }
  numbersSum = numbers;
  numbersChecksum = hashes;
  return out;
}

function putLong(out: usize, value: u64): usize {
  const top = value / IN_SIXTEEN;
  if (top > 0) {
    const digits = sixteenDigits(top);
    const length = 16 - leadingZeros(digits);
    v128.store(out, leftAligned(digits, length));
    out += length;
    v128.store(out, i8x16.add(sixteenDigits(value - top * IN_SIXTEEN), i8x16.splat(ASCII_0)));
    return out + 16;
  }
  const digits = sixteenDigits(value);
  const length = 16 - leadingZeros(digits);
  v128.store(out, leftAligned(digits, length));
  return out + length;
}

/** The last digit is no leading zero. */
// @ts-ignore: decorator
@inline
function leadingZeros(digits: v128): u32 {
  return ctz<i32>(i8x16.bitmask(i8x16.ne(digits, i8x16.splat(0))) | 0x8000);
}

/** The last `length` of sixteen digits as text, from the first lane on, with zero bytes after them. */
// @ts-ignore: decorator
@inline
function leftAligned(digits: v128, length: u32): v128 {
  // A lane from 16 on does not exist, and gives zero.
  const from = i8x16.add(i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), i8x16.splat((16 - length) as i8));
  return i8x16.swizzle(i8x16.add(digits, i8x16.splat(ASCII_0)), from);
}

/** The 16 digits of a number below 10^16, one in each lane, the highest first. */
// @ts-ignore: decorator
@inline
function sixteenDigits(value: u64): v128 {
  let upper: u32 = 0;
  let lower = value as u32;
  if (value >= (IN_EIGHT as u64)) {
    if (value >> 32 == 0) {
      upper = lower / IN_EIGHT;
    } else {
      upper = (value / (IN_EIGHT as u64)) as u32;
    }
    lower = (value - (upper as u64) * (IN_EIGHT as u64)) as u32;
  }
  const upperTop = upper / 10000;
  const lowerTop = lower / 10000;
  // Four digits in each lane of 32 bits, then two in each of 16, then one in each of 8.
  let fours = i32x4.splat(upperTop);
  fours = i32x4.replace_lane(fours, 1, upper - upperTop * 10000);
  fours = i32x4.replace_lane(fours, 2, lowerTop);
  fours = i32x4.replace_lane(fours, 3, lower - lowerTop * 10000);
  const hundreds = i32x4.shr_u(i32x4.mul(fours, i32x4.splat(5243)), 19);
  const rest = i32x4.sub(fours, i32x4.mul(hundreds, i32x4.splat(100)));
  const twos = v128.or(hundreds, i32x4.shl(rest, 16));
  const tens = i16x8.shr_u(i16x8.mul(twos, i16x8.splat(103)), 10);
  const ones = i16x8.sub(twos, i16x8.mul(tens, i16x8.splat(10)));
  return v128.or(tens, i16x8.shl(ones, 8));
}
