// Compresses a block: Snappy, or LZ4 without a frame. Both replace what came before, at most 65,535 bytes ago, by its
// distance and length. Greedy, with one remembered place for each hash of 4 bytes; where nothing matches for long, more
// and more places are passed over.

import { copyLoosely } from './copy-bytes';
import { storeVarint } from './encode-hybrid';

const HASH_BITS: u32 = 14;
const TABLE_BYTES: usize = 4 << HASH_BITS;
const MOST_DISTANCE: usize = 65535;
/** LZ4 ends with literals, and its last match begins this far before the end. Snappy is held to it, too. */
const END_LITERALS: usize = 5;
const END_MARGIN: usize = 12;

export function blockTableBytes(): u32 {
  return TABLE_BYTES as u32;
}

/** The most bytes of a block in either format. */
export function blockBound(byteLength: u32): u32 {
  return byteLength + byteLength / 6 + 64;
}

/**
 * @param table `blockTableBytes` that it uses.
 * @returns the bytes that it writes. Reads and writes up to 16 bytes too far.
 */
export function encodeBlock(isSnappy: bool, from: usize, byteLength: u32, table: usize, to: usize): u32 {
  const end = from + (byteLength as usize);
  let out = isSnappy ? storeVarint(to, byteLength as u64) : to;
  let literals = from;
  if (byteLength as usize > END_MARGIN) {
    memory.fill(table, 0, TABLE_BYTES);
    const limit = end - END_MARGIN;
    const matchLimit = end - END_LITERALS;
    let p = from + 1;
    let steps: usize = 32;
    while (p <= limit) {
      const value = load<u32>(p);
      const slot = table + (((value * 2654435761) >> (32 - HASH_BITS)) << 2);
      let match = from + load<u32>(slot);
      store<u32>(slot, (p - from) as u32);
      if (load<u32>(match) != value || p - match > MOST_DISTANCE) {
        p += steps >> 5;
        steps += 1;
        continue;
      }
      let matchEnd = endOfMatch(p + 4, match + 4, matchLimit);
      const distance = p - match;
      while (p > literals && match > from && load<u8>(p - 1) == load<u8>(match - 1)) {
        p -= 1;
        match -= 1;
      }
      if (isSnappy) {
        out = storeSnappyCopy(distance, matchEnd - p, storeSnappyLiterals(literals, p, out));
      } else {
        out = storeLz4(literals, p, distance, matchEnd - p, out);
      }
      literals = matchEnd;
      p = matchEnd;
      steps = 32;
      if (p <= limit) {
        const before = load<u32>(p - 2);
        store<u32>(table + (((before * 2654435761) >> (32 - HASH_BITS)) << 2), (p - 2 - from) as u32);
      }
    }
  }
  out = isSnappy ? storeSnappyLiterals(literals, end, out) : storeLz4(literals, end, 0, 0, out);
  return (out - to) as u32;
}

/** Returns where two places of the same bytes end to be equal. */
function endOfMatch(p: usize, match: usize, limit: usize): usize {
  while (p + 8 <= limit) {
    const differs = load<u64>(p) ^ load<u64>(match);
    if (differs != 0) return p + ((ctz<u64>(differs) >> 3) as usize);
    p += 8;
    match += 8;
  }
  while (p < limit && load<u8>(p) == load<u8>(match)) {
    p += 1;
    match += 1;
  }
  return p;
}

function storeSnappyLiterals(from: usize, end: usize, out: usize): usize {
  const byteLength = (end - from) as u32;
  if (byteLength == 0) return out;
  const rest = byteLength - 1;
  if (rest < 60) {
    store<u8>(out, (rest << 2) as u8);
    out += 1;
  } else {
    const lengthBytes = (39 - clz<u32>(rest)) >> 3;
    store<u8>(out, ((59 + lengthBytes) << 2) as u8);
    store<u32>(out, rest, 1);
    out += 1 + lengthBytes;
  }
  copyLoosely(out, from, byteLength);
  return out + (byteLength as usize);
}

function storeSnappyCopy(distance: usize, byteLength: usize, out: usize): usize {
  // The last copy has at least 4 bytes.
  while (byteLength > 64) {
    const taken: usize = byteLength >= 68 ? 64 : 60;
    out = storeLongCopy(distance, taken, out);
    byteLength -= taken;
  }
  if (byteLength > 11 || distance > 2047) return storeLongCopy(distance, byteLength, out);
  store<u8>(out, (1 | ((byteLength - 4) << 2) | ((distance >> 8) << 5)) as u8);
  store<u8>(out, distance as u8, 1);
  return out + 2;
}

function storeLongCopy(distance: usize, byteLength: usize, out: usize): usize {
  store<u8>(out, (2 | ((byteLength - 1) << 2)) as u8);
  store<u16>(out, distance as u16, 1);
  return out + 3;
}

/** Literals and the match after them; none if `matched` is 0, at the end. */
function storeLz4(from: usize, end: usize, distance: usize, matched: usize, out: usize): usize {
  const byteLength = end - from;
  const more: usize = select<usize>(0, matched - 4, matched == 0);
  store<u8>(out, ((min<usize>(byteLength, 15) << 4) | min<usize>(more, 15)) as u8);
  out += 1;
  if (byteLength >= 15) out = storeLz4Length(byteLength - 15, out);
  copyLoosely(out, from, byteLength as u32);
  out += byteLength;
  if (matched == 0) return out;
  store<u16>(out, distance as u16);
  return more >= 15 ? storeLz4Length(more - 15, out + 2) : out + 2;
}

function storeLz4Length(rest: usize, out: usize): usize {
  for (; rest >= 255; rest -= 255, out += 1) store<u8>(out, 255);
  store<u8>(out, rest as u8);
  return out + 1;
}
