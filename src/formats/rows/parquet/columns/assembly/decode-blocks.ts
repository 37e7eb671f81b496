// Decompresses Snappy (format_description.txt of google/snappy) and blocks of LZ4 (lz4_Block_format.md), also in the frames of
// Hadoop. All lengths and distances are checked before a byte moves.

import { copyLoosely } from './copy-bytes';
import { readVarint, varintEnd } from './decode-problem';

/** Repeats what lies `distance` bytes before. Writes up to 15 bytes beyond the end. */
// @ts-ignore: decorator
@inline
function repeat(target: usize, distance: usize, byteLength: u32): void {
  const to = target + byteLength;
  let step = distance;
  if (distance < 16) {
    // A multiple that a vector does not overlap repeats the same bytes.
    while (step < 16) step += distance;
    const first = min(to, target + step - distance);
    for (; target < first; target++) store<u8>(target, load<u8>(target - distance));
  }
  for (; target < to; target += 16) v128.store(target, v128.load(target - step));
}

/** Returns whether `from` to `to` decodes to exactly `byteLength` bytes. */
export function decodeSnappy(from: usize, to: usize, target: usize, byteLength: u32): bool {
  if (readVarint(from, to) != (byteLength as u64) || varintEnd == 0) return false;
  let at = varintEnd;
  let out = target;
  const end = target + byteLength;
  while (at < to) {
    const tag = load<u8>(at) as u32;
    at += 1;
    const kind = tag & 3;
    if (kind == 0) {
      let count = (tag >>> 2) + 1;
      if (count > 60) {
        const lengthBytes = count - 60;
        if ((lengthBytes as usize) > to - at) return false;
        // 4 bytes of ones make 0, which is refused.
        count = (load<u32>(at) & (((-1) as u32) >>> (32 - (lengthBytes << 3)))) + 1;
        at += lengthBytes;
      }
      if (count == 0 || (count as usize) > to - at || (count as usize) > end - out) return false;
      copyLoosely(out, at, count);
      at += count;
      out += count;
      continue;
    }
    const distanceBytes: usize = kind == 3 ? 4 : kind;
    if (distanceBytes > to - at) return false;
    let count: u32 = (tag >>> 2) + 1;
    let distance: u32;
    if (kind == 1) {
      count = ((tag >>> 2) & 7) + 4;
      distance = ((tag >>> 5) << 8) | (load<u8>(at) as u32);
    } else distance = kind == 2 ? (load<u16>(at) as u32) : load<u32>(at);
    at += distanceBytes;
    if (distance == 0 || (distance as usize) > out - target || (count as usize) > end - out) return false;
    repeat(out, distance, count);
    out += count;
  }
  return out == end;
}

/** The end of a decoded block. */
let blockEnd: usize = 0;

/** @returns false: damaged, or longer than `mostBytes`. */
function decodeBlock(from: usize, to: usize, target: usize, mostBytes: u32): bool {
  let at = from;
  let out = target;
  const end = target + mostBytes;
  while (at < to) {
    const token = load<u8>(at) as u32;
    at += 1;
    let count: u64 = token >>> 4;
    if (count == 15) {
      let byte: u8 = 255;
      while (byte == 255) {
        if (at >= to) return false;
        byte = load<u8>(at);
        at += 1;
        count += byte;
      }
    }
    if (count > ((to - at) as u64) || count > ((end - out) as u64)) return false;
    copyLoosely(out, at, count as u32);
    at += count as usize;
    out += count as usize;
    if (at == to) break;

    if (to - at < 2) return false;
    const distance = load<u16>(at) as usize;
    at += 2;
    count = (token & 15) + 4;
    if (count == 19) {
      let byte: u8 = 255;
      while (byte == 255) {
        if (at >= to) return false;
        byte = load<u8>(at);
        at += 1;
        count += byte;
      }
    }
    if (distance == 0 || distance > out - target || count > ((end - out) as u64)) return false;
    repeat(out, distance, count as u32);
    out += count as usize;
  }
  blockEnd = out;
  return true;
}

export function decodeLz4(from: usize, to: usize, target: usize, byteLength: u32): bool {
  return decodeBlock(from, to, target, byteLength) && blockEnd == target + byteLength;
}

/**
 * Frames of a u32 of decoded bytes and, until they are there, blocks of a u32 of stored bytes and these. Both numbers begin
 * with the highest byte.
 */
function decodeFrames(from: usize, to: usize, target: usize, byteLength: u32): bool {
  let at = from;
  let out = target;
  const end = target + byteLength;
  while (at < to) {
    if (to - at < 4) return false;
    const frameBytes = bswap<u32>(load<u32>(at)) as usize;
    at += 4;
    if (frameBytes > end - out) return false;
    const frameEnd = out + frameBytes;
    // A frame of no bytes may have a block.
    while (out < frameEnd || (frameBytes == 0 && at < to)) {
      if (to - at < 4) return false;
      const storedBytes = bswap<u32>(load<u32>(at)) as usize;
      at += 4;
      if (storedBytes > to - at) return false;
      if (!decodeBlock(at, at + storedBytes, out, (frameEnd - out) as u32)) return false;
      if (blockEnd == out && frameBytes > 0) return false;
      at += storedBytes;
      out = blockEnd;
    }
  }
  return out == end;
}

/** Old writers stored the block alone. */
export function decodeHadoopLz4(from: usize, to: usize, target: usize, byteLength: u32): bool {
  return decodeFrames(from, to, target, byteLength) || decodeLz4(from, to, target, byteLength);
}
