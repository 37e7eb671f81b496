// Products of a fraction of 2^64 and a count: which of so many equal parts a number lies in.

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
