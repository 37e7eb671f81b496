// Whoever drops a record because an equal one stays counts it here, so that the records that stay and those that are
// dropped can be compared with what was read.

import { recordHash } from './record-hash';

/** The counts of this kernel only rise: the difference of two tells what happened between. */
export let droppedRecords: u64 = 0;
export let droppedBytes: u64 = 0;
export let droppedChecksum: u64 = 0;

/** Reads nothing but the bytes to compare. */
// @ts-ignore: decorator
@inline
export function haveSameBytes(a: usize, b: usize, byteLength: u32): bool {
  const end = a + byteLength;
  for (; a + 16 <= end; a += 16, b += 16) {
    if (v128.any_true(v128.xor(v128.load(a), v128.load(b)))) return false;
  }
  const rest = byteLength & 15;
  let differs: u64 = 0;
  if (rest & 8) {
    differs = load<u64>(a) ^ load<u64>(b);
    a += 8;
    b += 8;
  }
  if (rest & 4) {
    differs |= (load<u32>(a) ^ load<u32>(b)) as u64;
    a += 4;
    b += 4;
  }
  if (rest & 2) {
    differs |= (load<u16>(a) ^ load<u16>(b)) as u64;
    a += 2;
    b += 2;
  }
  if (rest & 1) differs |= (load<u8>(a) ^ load<u8>(b)) as u64;
  return differs == 0;
}

/** Returns a number below 0, above 0, or 0 if they are the same; a prefix comes first. */
// @ts-ignore: decorator
@inline
export function compareBytes(a: usize, lengthA: u32, b: usize, lengthB: u32): i32 {
  const difference = memory.compare(a, b, min<u32>(lengthA, lengthB));
  if (difference != 0) return difference;
  return (lengthA > lengthB ? 1 : 0) - (lengthA < lengthB ? 1 : 0);
}

/** Reads up to 15 bytes past the end of the record. */
export function countDropped(start: usize, byteLength: u32): void {
  droppedRecords += 1;
  droppedBytes += byteLength as u64;
  droppedChecksum += recordHash(start, byteLength);
}
