// The numbers of a range at the places of a random order, as text (docs/ORDER.md). The number at each place is computed by
// itself: with replacement it is a draw, and without, ten rounds of a Feistel network over rows x columns permute the
// offsets from the lowest number on. Four places pass through the rounds together.

import { highProduct, philoxBlock, philoxLanes } from './philox';
import { recordHash } from './record-hash';
import { KEYS_PLACE, NUMBERS_PLACE, scratchAt } from './scratch';

const ROUNDS: u32 = 10;
const ROUND_PURPOSE: u32 = 1;
const DRAW_PURPOSE: u32 = 2;
/** Four offsets; after them their rows, and their columns. */
const LANES_BYTES: usize = 32;
const ASCII_0: u32 = 48;
/** The digits of 2^64 - 1. */
const MOST_DIGITS: usize = 20;

let low: u64 = 0;
let last: u64 = 0;
let key: u64 = 0;
let rows: u64 = 0;
let columns: u64 = 1;
let ending: u32 = 0;

/** The sum of the hashes of what the last `writeNumbers` wrote. */
export let numbersChecksum: u64 = 0;

/** The numbers from `lowest` on have offsets up to `lastOffset`. Without rows, each place has a draw of its own. */
export function prepareNumbers(
  lowest: u64,
  lastOffset: u64,
  orderKey: u64,
  rowCount: u64,
  columnCount: u64,
  endByte: u32,
): void {
  low = lowest;
  last = lastOffset;
  key = orderKey;
  rows = rowCount;
  columns = columnCount;
  ending = endByte;
}

/** Writes the numbers of `count` places, each with its end. Returns the address after them. */
export function writeNumbers(first: u64, count: u32, out: usize): usize {
  const offsets = scratchAt(NUMBERS_PLACE);
  numbersChecksum = 0;
  for (let i: u32 = 0; i < count; i += 4) {
    const together = min<u32>(4, count - i) << 3;
    for (let lane: u32 = 0; lane < 4; lane++) {
      const place = first + i + lane;
      store<u64>(offsets + (lane << 3), rows == 0 ? drawnOffset(place) : min<u64>(place, last));
    }
    if (rows > 0) permute(offsets);
    for (let lane: u32 = 0; lane < together; lane += 8) {
      const start = out;
      out = putDecimal(out, low + load<u64>(offsets + lane));
      store<u8>(out, ending);
      out += 1;
      numbersChecksum += recordHash(start, (out - start) as u32);
    }
  }
  return out;
}

/** floor(draw * count / 2^128), for the count of all offsets, which may be 2^64. */
function drawnOffset(place: u64): u64 {
  const draw = scratchAt(KEYS_PLACE);
  philoxBlock(place as u32, (place >> 32) as u32, 0, DRAW_PURPOSE, key as u32, (key >> 32) as u32, draw);
  const high = load<u64>(draw, 8);
  if (last == u64.MAX_VALUE) return high;
  const count = last + 1;
  const carried = highProduct(load<u64>(draw), count);
  return highProduct(high, count) + (high * count + carried < carried ? 1 : 0);
}

/** Permutes four offsets in their place. */
function permute(offsets: usize): void {
  skipThrough(offsets);
  // Rows and columns may have a few places more than there are offsets: such a place leads to another one.
  const again = offsets + 3 * LANES_BYTES;
  for (let lane: usize = 0; lane < LANES_BYTES; lane += 8) {
    while (load<u64>(offsets + lane) > last) {
      for (let other: usize = 0; other < LANES_BYTES; other += 8) {
        store<u64>(again + other, load<u64>(offsets + lane));
      }
      skipThrough(again);
      store<u64>(offsets + lane, load<u64>(again));
    }
  }
}

function skipThrough(offsets: usize): void {
  const row = offsets + LANES_BYTES;
  const column = row + LANES_BYTES;
  for (let lane: usize = 0; lane < LANES_BYTES; lane += 8) {
    const offset = load<u64>(offsets + lane);
    const quotient = offset / columns;
    store<u64>(row + lane, quotient);
    store<u64>(column + lane, offset - quotient * columns);
  }
  for (let round: u32 = 0; round < ROUNDS; round += 2) {
    addRound(row, column, round, rows);
    addRound(column, row, round + 1, columns);
  }
  for (let lane: usize = 0; lane < LANES_BYTES; lane += 8) {
    store<u64>(offsets + lane, load<u64>(row + lane) * columns + load<u64>(column + lane));
  }
}

/** Adds the function of each `other` half to its half, modulo `modulus`. */
function addRound(half: usize, other: usize, round: u32, modulus: u64): void {
  const keys = scratchAt(KEYS_PLACE);
  philoxLanes(
    load<u64>(other),
    load<u64>(other, 8),
    load<u64>(other, 16),
    load<u64>(other, 24),
    round,
    ROUND_PURPOSE,
    key,
    keys,
  );
  for (let lane: usize = 0; lane < LANES_BYTES; lane += 8) {
    const moved = load<u64>(half + lane) + highProduct(load<u64>(keys + lane), modulus);
    store<u64>(half + lane, moved < modulus ? moved : moved - modulus);
  }
}

/** Returns the address after the digits. */
function putDecimal(out: usize, value: u64): usize {
  let end = out + 1;
  for (let bound: u64 = 10; value >= bound && end < out + MOST_DIGITS; bound *= 10) end += 1;
  let at = end;
  while (value > u32.MAX_VALUE) {
    const rest = value / 10;
    store<u8>(--at, ASCII_0 + ((value - rest * 10) as u32));
    value = rest;
  }
  let short = value as u32;
  while (at > out) {
    store<u8>(--at, ASCII_0 + (short % 10));
    short /= 10;
  }
  return end;
}
