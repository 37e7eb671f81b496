// Tallies sets of records that are compared with each other.
//
// Each record gets two hashes, which share the loads of its bytes: the published one of `record-hash.ts`, whose sum is the
// multiset checksum, and the same function with keys that are drawn for one comparison. Nobody knows these keys before, so
// nobody can make another set of records with the same sums. The keyed hash chooses the slot of a record, so equal records
// of both sets are tallied in the same slot.
//
//     slots   for each of 2^16: records u64 | sum of their keyed hashes u64

import { addBlock, addLast, addPlain, finish, KEY_0, KEY_1, productOf, STEP_0, STEP_1 } from './record-hash';

/** The upper bits of a keyed hash, which choose the slot. */
const SLOT_SHIFT: u64 = 48;

let drawnKey: v128 = i64x2.splat(0);
let drawnStep: v128 = i64x2.splat(0);
export let talliedBytes: u64 = 0;
export let talliedChecksum: u64 = 0;
export let longestTallied: u32 = 0;

/** Counts from 0 again. */
export function resetTally(key0: u64, key1: u64, step0: u64, step1: u64): void {
  drawnKey = i64x2(key0, key1);
  drawnStep = i64x2(step0, step1);
  talliedBytes = 0;
  talliedChecksum = 0;
  longestTallied = 0;
}

/** Reads up to 15 bytes past the end of the last record. */
export function tallyRecords(table: usize, count: u32, slots: usize): void {
  const firstKey = i64x2(KEY_0, KEY_1);
  const step = i64x2(STEP_0, STEP_1);
  const firstDrawn = drawnKey;
  const stepDrawn = drawnStep;
  let sum = talliedChecksum;
  for (let mark = table, end = table + ((count as usize) << 3); mark < end; mark += 8) {
    const start = load<u32>(mark) as usize;
    const byteLength = load<u32>(mark, 4) - (start as u32);
    const whole = byteLength & ~15;
    let key = firstKey;
    let drawn = firstDrawn;
    let published = i64x2.splat(0);
    let keyed = i64x2.splat(0);
    let plain = i64x2.splat(0);
    for (let i: u32 = 0; i < whole; i += 16) {
      const block = v128.load(start + i);
      published = i64x2.add(published, productOf(block, key));
      keyed = i64x2.add(keyed, productOf(block, drawn));
      plain = i64x2.add(plain, block);
      key = i64x2.add(key, step);
      drawn = i64x2.add(drawn, stepDrawn);
    }
    published = addPlain(published, plain);
    keyed = addPlain(keyed, plain);
    const rest = byteLength & 15;
    if (rest != 0) {
      const block = v128.load(start + whole);
      published = addLast(published, block, rest, key);
      keyed = addLast(keyed, block, rest, drawn);
    }
    sum += finish(published, byteLength);
    const hash = finish(keyed, byteLength);
    const slot = slots + (((hash >> SLOT_SHIFT) as usize) << 4);
    v128.store(slot, i64x2.add(v128.load(slot), i64x2(1, hash)));
    talliedBytes += byteLength as u64;
    longestTallied = max<u32>(longestTallied, byteLength);
  }
  talliedChecksum = sum;
}

/** Writes to `out` the indexes, as u32, of the records with a wanted slot. @param wanted a bit for each slot. */
export function selectRecords(table: usize, count: u32, wanted: usize, out: usize): u32 {
  let found: usize = 0;
  for (let index: u32 = 0; index < count; index++) {
    const mark = table + ((index as usize) << 3);
    const start = load<u32>(mark) as usize;
    const byteLength = load<u32>(mark, 4) - (start as u32);
    const whole = byteLength & ~15;
    let drawn = drawnKey;
    let keyed = i64x2.splat(0);
    for (let i: u32 = 0; i < whole; i += 16) {
      keyed = addBlock(keyed, v128.load(start + i), drawn);
      drawn = i64x2.add(drawn, drawnStep);
    }
    const rest = byteLength & 15;
    if (rest != 0) keyed = addLast(keyed, v128.load(start + whole), rest, drawn);
    const slot = (finish(keyed, byteLength) >> SLOT_SHIFT) as u32;
    store<u32>(out + (found << 2), index);
    found += (load<u8>(wanted + (slot >> 3)) >> (slot & 7)) & 1;
  }
  return found as u32;
}
