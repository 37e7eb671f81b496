// Finding record boundaries. A framing fills the boundary table: one (start, end) pair of u32
// addresses a record, `end` past the delimiter. Scatter reads the table and knows no framing.

/** Scans 64 bytes a step; reads up to 63 bytes past `to`, which the read buffer's slack allows. */
export function scanDelimiter(
  from: usize,
  to: usize,
  recordStart: usize,
  delimiter: u32,
  table: usize,
  maxCount: u32,
): u32 {
  const needle = i8x16.splat(delimiter as i8);
  let count: u32 = 0;
  let start = recordStart;
  for (let p = from; p < to; p += 64) {
    let hits: u64 =
      (i8x16.bitmask(i8x16.eq(v128.load(p, 0), needle)) as u32 as u64) |
      ((i8x16.bitmask(i8x16.eq(v128.load(p, 16), needle)) as u32 as u64) << 16) |
      ((i8x16.bitmask(i8x16.eq(v128.load(p, 32), needle)) as u32 as u64) << 32) |
      ((i8x16.bitmask(i8x16.eq(v128.load(p, 48), needle)) as u32 as u64) << 48);
    if (to - p < 64) hits &= ((1 as u64) << ((to - p) as u64)) - 1;
    while (hits != 0) {
      const end = p + (ctz<u64>(hits) as usize) + 1;
      hits &= hits - 1;
      const entry = table + ((count as usize) << 3);
      store<u32>(entry, start as u32, 0);
      store<u32>(entry, end as u32, 4);
      start = end;
      count += 1;
      if (count == maxCount) return count;
    }
  }
  return count;
}
