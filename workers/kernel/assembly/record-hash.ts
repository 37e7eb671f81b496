// The hash of one record, alone or together with the copy of its bytes, and the same hash of bytes that come in pieces.
//
// The multiset checksum of a set of records is the sum of their hashes modulo 2^64, which does not depend on their
// order. Every byte is hashed twice and copied twice, so hash and copy share the loads. The mixing step is that of NH
// (Black et al., "UMAC", CRYPTO '99), plus the input with its halves exchanged, as in XXH3: where a factor is zero, or
// where the product changes by as much as the input, the sum of the other half still changes. WebAssembly has vector
// products of 32 x 32 -> 64 bits and none of 64 x 64 -> 128 bits, which decided for NH.
//
//     block i    16 bytes, the last one padded with zeros, as words w0 w1 w2 w3
//     key i      (KEY_0, KEY_1) + i * (STEP_0, STEP_1), as words k0 k1 k2 k3
//     x = w ^ k
//     sum_0 += x0 * x2 + (w2 + 2^32 w3)        sum_1 += x1 * x3 + (w0 + 2^32 w1)
//     hash = mix(sum_0 * PRIME_1 ^ rotl(sum_1, 29) * PRIME_2, length)

import { HASH_LANES_PLACE, scratchAt } from './scratch';

export const KEY_0: u64 = 0xbe4ba423396cfeb8;
export const KEY_1: u64 = 0x1cad21f72c81017c;
export const STEP_0: u64 = 0x9e3779b97f4a7c15;
export const STEP_1: u64 = 0xd1b54a32d192ed03;
const PRIME_1: u64 = 0x9e3779b185ebca87;
const PRIME_2: u64 = 0xc2b2ae3d27d4eb4f;
const PRIME_3: u64 = 0x165667b19e3779f9;

/** 16 bytes of ones, then 16 of zeros: the 16 bytes from 16 - n on are the mask of the first n bytes of a block. */
const LEADING_BYTE_MASKS: usize = memory.data<u64>([-1, -1, 0, 0], 16);

/** The part of a block's sum that its key goes into. */
// @ts-ignore: decorator
@inline
export function productOf(block: v128, key: v128): v128 {
  const x = v128.xor(block, key);
  return i64x2.extmul_low_i32x4_u(x, v128.shuffle<u32>(x, x, 2, 3, 0, 1));
}

/** Adds the other part, for one block or for the sum of several. */
// @ts-ignore: decorator
@inline
export function addPlain(sum: v128, block: v128): v128 {
  return i64x2.add(sum, v128.shuffle<u64>(block, block, 1, 0));
}

// @ts-ignore: decorator
@inline
export function addBlock(sum: v128, block: v128, key: v128): v128 {
  return addPlain(i64x2.add(sum, productOf(block, key)), block);
}

// @ts-ignore: decorator
@inline
function keyOf(blockIndex: u64): v128 {
  return i64x2.add(i64x2(KEY_0, KEY_1), i64x2.mul(i64x2.splat(blockIndex), i64x2(STEP_0, STEP_1)));
}

/** Adds the first `byteLength` bytes of the last block. */
// @ts-ignore: decorator
@inline
export function addLast(sum: v128, block: v128, byteLength: usize, key: v128): v128 {
  return addBlock(sum, v128.and(block, v128.load(LEADING_BYTE_MASKS + 16 - byteLength)), key);
}

// @ts-ignore: decorator
@inline
export function finish(sum: v128, byteLength: u64): u64 {
  // The lanes arrive as signed numbers, whose shifts would be arithmetic.
  const sum0 = i64x2.extract_lane(sum, 0) as u64;
  const sum1 = i64x2.extract_lane(sum, 1) as u64;
  let hash: u64 = (sum0 * PRIME_1) ^ (rotl<u64>(sum1, 29) * PRIME_2);
  hash += byteLength * PRIME_3;
  hash ^= hash >> 32;
  hash *= PRIME_2;
  hash ^= hash >> 29;
  hash *= PRIME_3;
  hash ^= hash >> 32;
  return hash;
}

/** The length from which on four places are read at the same time: the processor then prefetches at each. */
const LEAST_QUARTERED_BYTES: usize = 16384;

/** @param blockIndex of the first block. */
function addBlocks(sum: v128, start: usize, end: usize, blockIndex: u64): v128 {
  const step = i64x2(STEP_0, STEP_1);
  if (end - start >= LEAST_QUARTERED_BYTES) {
    const quarterBytes = ((end - start) >> 2) & ~15;
    const quarterBlocks = (quarterBytes >> 4) as u64;
    let key0 = keyOf(blockIndex);
    let key1 = keyOf(blockIndex + quarterBlocks);
    let key2 = keyOf(blockIndex + 2 * quarterBlocks);
    let key3 = keyOf(blockIndex + 3 * quarterBlocks);
    let sum1 = i64x2.splat(0);
    let sum2 = i64x2.splat(0);
    let sum3 = i64x2.splat(0);
    for (const quarterEnd = start + quarterBytes; start < quarterEnd; start += 16) {
      sum = addBlock(sum, v128.load(start), key0);
      sum1 = addBlock(sum1, v128.load(start + quarterBytes), key1);
      sum2 = addBlock(sum2, v128.load(start + 2 * quarterBytes), key2);
      sum3 = addBlock(sum3, v128.load(start + 3 * quarterBytes), key3);
      key0 = i64x2.add(key0, step);
      key1 = i64x2.add(key1, step);
      key2 = i64x2.add(key2, step);
      key3 = i64x2.add(key3, step);
    }
    start += 3 * quarterBytes;
    blockIndex += 4 * quarterBlocks;
    sum = i64x2.add(i64x2.add(sum, sum1), i64x2.add(sum2, sum3));
  }
  for (let key = keyOf(blockIndex); end - start >= 16; start += 16) {
    sum = addBlock(sum, v128.load(start), key);
    key = i64x2.add(key, step);
  }
  return sum;
}

/** Reads up to 15 bytes past the end. */
export function recordHash(start: usize, byteLength: u32): u64 {
  let sum = addBlocks(i64x2.splat(0), start, start + byteLength, 0);
  const rest = byteLength & 15;
  if (rest != 0) sum = addLast(sum, v128.load(start + byteLength - rest), rest, keyOf(byteLength >> 4));
  return finish(sum, byteLength);
}

/** The `recordHash` of bytes that are in the core's cache. */
// @ts-ignore: decorator
@inline
export function hashInCache(start: usize, byteLength: u32): u64 {
  let sum = i64x2.splat(0);
  let key = i64x2(KEY_0, KEY_1);
  const whole = byteLength & ~15;
  for (let i: u32 = 0; i < whole; i += 16) {
    sum = addBlock(sum, v128.load(start + i), key);
    key = i64x2.add(key, i64x2(STEP_0, STEP_1));
  }
  const rest = byteLength & 15;
  if (rest != 0) sum = addLast(sum, v128.load(start + whole), rest, key);
  return finish(sum, byteLength);
}

const QUOTE: u8 = 0x22;

/** The `recordHash` of a quote and the bytes at `start`. Reads the byte before them, too. */
export function hashAfterQuote(start: usize, byteLength: u32): u64 {
  const total = byteLength + 1;
  const first = i8x16.replace_lane(v128.load(start - 1), 0, QUOTE);
  const key = i64x2(KEY_0, KEY_1);
  if (total < 16) return finish(addLast(i64x2.splat(0), first, total, key), total);
  const end = start + byteLength;
  let sum = addBlocks(addBlock(i64x2.splat(0), first, key), start + 15, end, 1);
  const rest = total & 15;
  if (rest != 0) sum = addLast(sum, v128.load(end - rest), rest, keyOf(total >> 4));
  return finish(sum, total);
}

/**
 * Copies bytes and hashes them. It reads and writes up to 16 bytes past the ends: every buffer of records has that much
 * slack.
 */
// @ts-ignore: decorator
@inline
export function copyAndHash(target: usize, source: usize, byteLength: u32): u64 {
  let sum = i64x2.splat(0);
  let key = i64x2(KEY_0, KEY_1);
  const whole = byteLength & ~15;
  for (let i: u32 = 0; i < whole; i += 16) {
    const block = v128.load(source + i);
    v128.store(target + i, block);
    sum = addBlock(sum, block, key);
    key = i64x2.add(key, i64x2(STEP_0, STEP_1));
  }
  const rest = byteLength & 15;
  const block = v128.load(source + whole);
  v128.store(target + whole, block);
  if (rest != 0) sum = addLast(sum, block, rest, key);
  return finish(sum, byteLength);
}

/** Each of the two lanes has 48 bytes: the sum so far, the bytes after the last whole block, and the number of bytes. */
const LANE_BYTES: usize = 48;
const CARRY: usize = 16;
const TAKEN: usize = 32;

// @ts-ignore: decorator
@inline
function laneAt(lane: u32): usize {
  return scratchAt(HASH_LANES_PLACE) + (lane as usize) * LANE_BYTES;
}

/** Begins to hash pieces. Each lane has one such hash at a time. */
export function beginHash(lane: u32): void {
  memory.fill(laneAt(lane), 0, LANE_BYTES);
}

export function addToHash(lane: u32, from: usize, to: usize): void {
  const state = laneAt(lane);
  let sum = v128.load(state);
  let taken = load<u64>(state, TAKEN);
  const carried = (taken & 15) as usize;
  taken += (to - from) as u64;
  store<u64>(state, taken, TAKEN);
  if (carried != 0) {
    const count = min<usize>(16 - carried, to - from);
    memory.copy(state + CARRY + carried, from, count);
    if (carried + count < 16) return;
    from += count;
    sum = addBlock(sum, v128.load(state + CARRY), keyOf(((taken - (to - from)) >> 4) - 1));
  }
  v128.store(state, addBlocks(sum, from, to, (taken - (to - from)) >> 4));
  const rest = (to - from) & 15;
  memory.copy(state + CARRY, to - rest, rest);
}

export function hashOfPieces(lane: u32): u64 {
  const state = laneAt(lane);
  const taken = load<u64>(state, TAKEN);
  const rest = (taken & 15) as usize;
  let sum = v128.load(state);
  if (rest != 0) sum = addLast(sum, v128.load(state + CARRY), rest, keyOf(taken >> 4));
  return finish(sum, taken);
}
