// DELTA_BINARY_PACKED: differences of neighbours, less the least of their block, in the bits that each 32 of them need.

import { pack, storeVarint } from './encode-hybrid';

const BLOCK: u32 = 128;
const MINIBLOCK: u32 = 32;
const MINIBLOCKS: u32 = 4;

/** Room for the differences of a block. */
const differences: usize = memory.data(1024, 16);

export function deltaBound(count: u32, width: u32): u32 {
  return (count + BLOCK) * width + ((count >> 7) + 1) * 16 + 48;
}

// @ts-ignore: decorator
@inline
function zigzag(value: i64): u64 {
  return ((value << 1) ^ (value >> 63)) as u64;
}

/** @param T i32 or i64: differences wrap around. Writes up to 8 bytes too far. */
export function encodeDelta<T>(from: usize, count: u32, out: usize): usize {
  out = storeVarint(out, BLOCK as u64);
  out = storeVarint(out, MINIBLOCKS as u64);
  out = storeVarint(out, count as u64);
  let before = count == 0 ? <T>0 : load<T>(from);
  out = storeVarint(out, zigzag(before as i64));
  let p = from + sizeof<T>();
  for (let left = max<u32>(count, 1) - 1; left != 0; ) {
    const taken = min<u32>(left, BLOCK);
    let least = (load<T>(p) - before) as T;
    for (let i: usize = 0; i < (taken as usize); i++, p += sizeof<T>()) {
      const value = load<T>(p);
      const difference = (value - before) as T;
      store<T>(differences + i * sizeof<T>(), difference);
      least = min<T>(least, difference);
      before = value;
    }
    out = storeVarint(out, zigzag(least as i64));
    out = storeBlock<T>(taken, least, out);
    left -= taken;
  }
  return out;
}

function storeBlock<T>(count: u32, least: T, out: usize): usize {
  const widths = out;
  store<u32>(widths, 0);
  out += 4;
  for (let first: u32 = 0; first < count; first += MINIBLOCK) {
    const at = differences + (first as usize) * sizeof<T>();
    const taken = min<u32>(count - first, MINIBLOCK);
    let all: u64 = 0;
    for (let i: usize = 0; i < (MINIBLOCK as usize); i++) {
      const place = at + i * sizeof<T>();
      const rest: T = i < (taken as usize) ? load<T>(place) - least : 0;
      store<T>(place, rest);
      all |= sizeof<T>() == 4 ? ((rest as u32) as u64) : (rest as u64);
    }
    const width = (64 - clz<u64>(all)) as u32;
    store<u8>(widths + ((first / MINIBLOCK) as usize), width as u8);
    if (width != 0) out = sizeof<T>() == 4 ? pack<u32>(at, MINIBLOCK, width, out) : pack<u64>(at, MINIBLOCK, width, out);
  }
  return out;
}
