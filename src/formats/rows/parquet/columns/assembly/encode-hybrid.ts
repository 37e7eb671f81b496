// Small numbers as runs of equal ones, and packed bit by bit, whichever is shorter: levels, and indexes of dictionaries.
//
//     run      varint: length << 1 | 0; the number, in as many bytes as its width takes
//     packed   varint: groups << 1 | 1; groups of 8 numbers of `width` bits, the lowest first

/** A shorter run would end packed numbers for little. */
const LEAST_RUN: usize = 32;

export function storeVarint(out: usize, value: u64): usize {
  for (; value > 0x7f; out += 1, value >>= 7) store<u8>(out, (value as u8) | 0x80);
  store<u8>(out, value as u8);
  return out + 1;
}

/** Returns the most bytes that the encoding takes. */
export function hybridBound(count: u32, width: u32): u32 {
  return ((count + 7) >> 3) * (width + 1) + 16;
}

/** @returns the end of what it writes: up to 8 bytes more are overwritten. */
export function encodeHybrid<T>(from: usize, count: u32, width: u32, out: usize): usize {
  const end = from + (count as usize) * sizeof<T>();
  let packedFrom = from;
  let p = from;
  while (p < end) {
    const runEnd = endOfRun<T>(p, end);
    const run = (runEnd - p) / sizeof<T>();
    if (run >= LEAST_RUN || (runEnd == end && (run >= 8 || p == packedFrom))) {
      out = storePacked<T>(packedFrom, p, width, out);
      out = storeVarint(out, (run as u64) << 1);
      store<u32>(out, load<T>(p) as u32);
      out += (width + 7) >> 3;
      p = runEnd;
      packedFrom = p;
    } else {
      // Groups that a run fills are packed, too: it is short.
      p = min<usize>(p + 8 * sizeof<T>() * max<usize>(run >> 3, 1), end);
    }
  }
  return storePacked<T>(packedFrom, end, width, out);
}

function endOfRun<T>(p: usize, end: usize): usize {
  const value = load<T>(p);
  p += sizeof<T>();
  if (p < end && load<T>(p) != value) return p;
  if (sizeof<T>() == 1) {
    const all = i8x16.splat(value as i8);
    while (p + 16 <= end && i8x16.all_true(i8x16.eq(v128.load(p), all))) p += 16;
  } else {
    const all = i32x4.splat(value as i32);
    while (p + 16 <= end && i32x4.all_true(i32x4.eq(v128.load(p), all))) p += 16;
  }
  while (p < end && load<T>(p) == value) p += sizeof<T>();
  return p;
}

function storePacked<T>(from: usize, end: usize, width: u32, out: usize): usize {
  if (from == end) return out;
  const count = ((end - from) / sizeof<T>()) as u32;
  out = storeVarint(out, ((((count + 7) >> 3) as u64) << 1) | 1);
  return pack<T>(from, count, width, out);
}

/** Fills the last group with zeros. Writes up to 7 bytes too far. */
export function pack<T>(from: usize, count: u32, width: u32, out: usize): usize {
  const end = out + (((count + 7) >> 3) as usize) * (width as usize);
  let bits: u64 = 0;
  let bitCount: u64 = 0;
  for (let i: usize = 0; i < (count as usize); i++) {
    const value = load<T>(from + i * sizeof<T>()) as u64;
    bits |= value << bitCount;
    bitCount += width as u64;
    if (bitCount >= 64) {
      store<u64>(out, bits);
      out += 8;
      bitCount -= 64;
      // A shift by 64 would be one by 0.
      bits = bitCount == 0 ? 0 : value >> ((width as u64) - bitCount);
    }
  }
  for (; out < end; out += 8, bits = 0) store<u64>(out, bits);
  return end;
}

/** PLAIN booleans. Reads up to 7 bytes too far. */
export function packBooleans(from: usize, count: u32, out: usize): usize {
  const end = out + (((count + 7) >> 3) as usize);
  for (; out < end; out += 1, from += 8) {
    // Moves the lowest bit of each byte next to that of the byte before. What lies after the last value may be anything.
    store<u8>(out, (((load<u64>(from) & 0x0101010101010101) * 0x0102040810204080) >> 56) as u8);
  }
  const rest = count & 7;
  const mask: u32 = (<u32>1 << rest) - 1;
  if (rest != 0) store<u8>(end - 1, (load<u8>(end - 1) as u32) & mask);
  return end;
}
