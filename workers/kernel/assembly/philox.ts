// Philox4x32-10: the counter-based generator that gives every record its key.
// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11; the
// constants and known-answer vectors are those of Random123.
// A key is the first two of the four output words, word 0 in the low half. A key as a fraction of 2^64, times a count,
// tells which of so many equal parts it lies in.

import { KEYS_PLACE, scratchAt } from './scratch';

const MULTIPLIER_0: u64 = 0xd2511f53;
const MULTIPLIER_1: u64 = 0xcd9e8d57;
const WEYL_0: u32 = 0x9e3779b9;
const WEYL_1: u32 = 0xbb67ae85;

/** Four words for a 128-bit counter and a 64-bit key, stored at `out` (16 bytes). */
export function philoxBlock(c0: u32, c1: u32, c2: u32, c3: u32, k0: u32, k1: u32, out: usize): void {
  for (let round = 0; round < 10; round++) {
    const product0 = MULTIPLIER_0 * (c0 as u64);
    const product1 = MULTIPLIER_1 * (c2 as u64);
    const next0 = ((product1 >> 32) as u32) ^ c1 ^ k0;
    const next2 = ((product0 >> 32) as u32) ^ c3 ^ k1;
    c1 = product1 as u32;
    c3 = product0 as u32;
    c0 = next0;
    c2 = next2;
    k0 += WEYL_0;
    k1 += WEYL_1;
  }
  store<u32>(out, c0, 0);
  store<u32>(out, c1, 4);
  store<u32>(out, c2, 8);
  store<u32>(out, c3, 12);
}

/** One key in each lane: record i has position `basePosition` + `offset`i. Stores four u64 keys at `out` (32 bytes). */
export function philoxKeys4(
  basePosition: u64,
  offset0: u32,
  offset1: u32,
  offset2: u32,
  offset3: u32,
  copy: u32,
  purpose: u32,
  inputKey: u64,
  out: usize,
): void {
  philoxLanes(
    basePosition + offset0,
    basePosition + offset1,
    basePosition + offset2,
    basePosition + offset3,
    copy,
    purpose,
    inputKey,
    out,
  );
}

/** Looks for the position that has this key among `count` of them, `step` apart from `first` on. Returns -1 if none has. */
export function findPosition(inputKey: u64, key: u64, first: u64, step: u32, count: u32): i64 {
  const keys = scratchAt(KEYS_PLACE);
  for (let i: u32 = 0; i < count; i += 4) {
    const position = first + (i as u64) * (step as u64);
    philoxKeys4(position, 0, step, 2 * step, 3 * step, 0, 0, inputKey, keys);
    const lanes = min<u32>(4, count - i);
    for (let l: u32 = 0; l < lanes; l++) {
      if (load<u64>(keys + ((l as usize) << 3)) == key) return (position + (l as u64) * (step as u64)) as i64;
    }
  }
  return -1;
}

/** Draws with replacement: writes to `out`, as f64, the rank below `records` of the record that each place of the output takes. */
export function drawRanks(drawKey: u64, firstPlace: u64, count: u32, records: u64, out: usize): void {
  const keys = scratchAt(KEYS_PLACE);
  for (let i: u32 = 0; i < count; i += 4) {
    philoxKeys4(firstPlace, i, i + 1, i + 2, i + 3, 0, 0, drawKey, keys);
    const lanes = min<u32>(4, count - i);
    for (let l: u32 = 0; l < lanes; l++) {
      const rank = highProduct(load<u64>(keys + ((l as usize) << 3)), records);
      store<f64>(out + (((i + l) as usize) << 3), rank as f64);
    }
  }
}

/** `philoxKeys4` for any four positions. */
// @ts-ignore: decorator
@inline
export function philoxLanes(
  position0: u64,
  position1: u64,
  position2: u64,
  position3: u64,
  copy: u32,
  purpose: u32,
  key: u64,
  out: usize,
): void {
  philoxCopies(position0, position1, position2, position3, i32x4.splat(copy), purpose, key, out);
}

/** Does what `philoxLanes` does, with a copy of its own in each lane. */
// @ts-ignore: decorator
@inline
export function philoxCopies(
  position0: u64,
  position1: u64,
  position2: u64,
  position3: u64,
  copies: v128,
  purpose: u32,
  key: u64,
  out: usize,
): void {
  let c0 = i32x4.splat(position0 as u32);
  c0 = i32x4.replace_lane(c0, 1, position1 as u32);
  c0 = i32x4.replace_lane(c0, 2, position2 as u32);
  c0 = i32x4.replace_lane(c0, 3, position3 as u32);
  let c1 = i32x4.splat((position0 >> 32) as u32);
  c1 = i32x4.replace_lane(c1, 1, (position1 >> 32) as u32);
  c1 = i32x4.replace_lane(c1, 2, (position2 >> 32) as u32);
  c1 = i32x4.replace_lane(c1, 3, (position3 >> 32) as u32);
  const multiplier0 = i32x4.splat(0xd2511f53);
  const multiplier1 = i32x4.splat(0xcd9e8d57);
  const weyl0 = i32x4.splat(WEYL_0);
  const weyl1 = i32x4.splat(WEYL_1);
  let c2 = copies;
  let c3 = i32x4.splat(purpose);
  let k0 = i32x4.splat(key as u32);
  let k1 = i32x4.splat((key >> 32) as u32);
  for (let round = 0; round < 10; round++) {
    const even0 = i64x2.extmul_low_i32x4_u(c0, multiplier0);
    const odd0 = i64x2.extmul_high_i32x4_u(c0, multiplier0);
    const even1 = i64x2.extmul_low_i32x4_u(c2, multiplier1);
    const odd1 = i64x2.extmul_high_i32x4_u(c2, multiplier1);
    const high0 = v128.shuffle<u32>(even0, odd0, 1, 3, 5, 7);
    const high1 = v128.shuffle<u32>(even1, odd1, 1, 3, 5, 7);
    c0 = v128.xor(v128.xor(high1, c1), k0);
    c2 = v128.xor(v128.xor(high0, c3), k1);
    c1 = v128.shuffle<u32>(even1, odd1, 0, 2, 4, 6);
    c3 = v128.shuffle<u32>(even0, odd0, 0, 2, 4, 6);
    k0 = i32x4.add(k0, weyl0);
    k1 = i32x4.add(k1, weyl1);
  }
  // key = word 0 in the low half, word 1 in the high half
  v128.store(out, v128.shuffle<u32>(c0, c1, 0, 4, 1, 5), 0);
  v128.store(out, v128.shuffle<u32>(c0, c1, 2, 6, 3, 7), 16);
}

/** floor(fraction * count / 2^64), exact for count <= 2^32. */
// @ts-ignore: decorator
@inline
export function scaled(fraction: u64, count: u64): u64 {
  return ((fraction >> 32) * count + (((fraction & 0xffffffff) * count) >> 32)) >> 32;
}

/** floor(a * b / 2^64). */
// @ts-ignore: decorator
@inline
export function highProduct(a: u64, b: u64): u64 {
  const a0 = a & 0xffffffff;
  const a1 = a >> 32;
  const b0 = b & 0xffffffff;
  const b1 = b >> 32;
  const middle = a1 * b0 + ((a0 * b0) >> 32);
  return a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & 0xffffffff)) >> 32);
}
