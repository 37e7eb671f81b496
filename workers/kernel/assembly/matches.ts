/** One bit for each of the 64 bytes at `p` that equals the lanes of `needle`; those from `to` on are 0. */
// @ts-ignore: decorator
@inline
export function matches(p: usize, to: usize, needle: v128): u64 {
  const hits: u64 =
    (i8x16.bitmask(i8x16.eq(v128.load(p, 0), needle)) as u32 as u64) |
    ((i8x16.bitmask(i8x16.eq(v128.load(p, 16), needle)) as u32 as u64) << 16) |
    ((i8x16.bitmask(i8x16.eq(v128.load(p, 32), needle)) as u32 as u64) << 32) |
    ((i8x16.bitmask(i8x16.eq(v128.load(p, 48), needle)) as u32 as u64) << 48);
  return to - p < 64 ? hits & (((1 as u64) << ((to - p) as u64)) - 1) : hits;
}
