// Values that lie in a page as they are, or with their bytes apart (BYTE_STREAM_SPLIT).

import { CUT, fail, LENGTH_WRONG } from './decode-problem';

/** Returns whether `count` byte arrays, each with a u32 of its length, lie there. */
export function checkByteArrays(from: usize, to: usize, count: u32): bool {
  let at = from;
  for (let i: u32 = 0; i < count; i++) {
    const left = to - at;
    if (left < 4) return fail(CUT, at);
    const byteLength = load<u32>(at) as usize;
    if (byteLength > left - 4) return fail(LENGTH_WRONG, at);
    at += 4 + byteLength;
  }
  return true;
}

/** Notes the addresses of byte arrays in a table of u32. */
export function tabulateByteArrays(from: usize, to: usize, count: u32, table: usize): bool {
  if (!checkByteArrays(from, to, count)) return false;
  let at = from;
  for (let i: u32 = 0; i < count; i++) {
    store<u32>(table + ((i as usize) << 2), at as u32);
    at += 4 + (load<u32>(at) as usize);
  }
  return true;
}

// @ts-ignore: decorator
@inline
function evenBytes(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

// @ts-ignore: decorator
@inline
function oddBytes(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

/** The first bytes of all values, then the second ones, and so on. There may be more values than `count`. */
export function joinByteStreams(from: usize, to: usize, count: u32, width: u32, target: usize): bool {
  const streamBytes = (to - from) / width;
  if (streamBytes * width != to - from || streamBytes < count) return fail(CUT, to);
  let i: usize = 0;
  if (width == 4) {
    for (; i + 16 <= count; i += 16) {
      const at = from + i;
      const a = v128.load(at);
      const b = v128.load(at + streamBytes);
      const c = v128.load(at + 2 * streamBytes);
      const d = v128.load(at + 3 * streamBytes);
      // The bytes of each value are a, b, c, d.
      const ac0 = evenBytes(a, c);
      const ac1 = oddBytes(a, c);
      const bd0 = evenBytes(b, d);
      const bd1 = oddBytes(b, d);
      const to16 = target + (i << 2);
      v128.store(to16, evenBytes(ac0, bd0));
      v128.store(to16, oddBytes(ac0, bd0), 16);
      v128.store(to16, evenBytes(ac1, bd1), 32);
      v128.store(to16, oddBytes(ac1, bd1), 48);
    }
  } else if (width == 8) {
    for (; i + 16 <= count; i += 16) {
      const at = from + i;
      const to16 = target + (i << 3);
      // Streams that are 4 apart are joined first, so that the last step joins odd and even ones.
      const ae0 = pairAt(at, at + 4 * streamBytes, false);
      const ae1 = pairAt(at, at + 4 * streamBytes, true);
      const bf0 = pairAt(at + streamBytes, at + 5 * streamBytes, false);
      const bf1 = pairAt(at + streamBytes, at + 5 * streamBytes, true);
      const cg0 = pairAt(at + 2 * streamBytes, at + 6 * streamBytes, false);
      const cg1 = pairAt(at + 2 * streamBytes, at + 6 * streamBytes, true);
      const dh0 = pairAt(at + 3 * streamBytes, at + 7 * streamBytes, false);
      const dh1 = pairAt(at + 3 * streamBytes, at + 7 * streamBytes, true);
      store8(to16, evenBytes(ae0, cg0), evenBytes(bf0, dh0));
      store8(to16 + 32, oddBytes(ae0, cg0), oddBytes(bf0, dh0));
      store8(to16 + 64, evenBytes(ae1, cg1), evenBytes(bf1, dh1));
      store8(to16 + 96, oddBytes(ae1, cg1), oddBytes(bf1, dh1));
    }
  }
  for (; i < count; i++) {
    for (let k: usize = 0; k < width; k++) store<u8>(target + i * width + k, load<u8>(from + k * streamBytes + i));
  }
  return true;
}

// @ts-ignore: decorator
@inline
function pairAt(a: usize, b: usize, isOdd: bool): v128 {
  return isOdd ? oddBytes(v128.load(a), v128.load(b)) : evenBytes(v128.load(a), v128.load(b));
}

// @ts-ignore: decorator
@inline
function store8(target: usize, a: v128, b: v128): void {
  v128.store(target, evenBytes(a, b));
  v128.store(target, oddBytes(a, b), 16);
}
