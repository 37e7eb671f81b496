/** A call of `memory.copy` takes longer than this many bytes in vectors. */
const MOST_IN_VECTORS: u32 = 512;

/** Writes not a byte beyond the end. */
// @ts-ignore: decorator
@inline
export function copyExactly(target: usize, source: usize, byteLength: u32): void {
  if (byteLength >= 16) {
    if (byteLength > MOST_IN_VECTORS) {
      memory.copy(target, source, byteLength);
      return;
    }
    const last = (byteLength - 16) as usize;
    for (let i: usize = 0; i < last; i += 16) v128.store(target + i, v128.load(source + i));
    v128.store(target + last, v128.load(source + last));
  } else if (byteLength >= 8) {
    const last = (byteLength - 8) as usize;
    const first = load<u64>(source);
    store<u64>(target + last, load<u64>(source + last));
    store<u64>(target, first);
  } else if (byteLength >= 4) {
    const last = (byteLength - 4) as usize;
    const first = load<u32>(source);
    store<u32>(target + last, load<u32>(source + last));
    store<u32>(target, first);
  } else {
    for (let i: u32 = 0; i < byteLength; i++) store<u8>(target + i, load<u8>(source + i));
  }
}

/** Writes up to 15 bytes beyond the end. */
// @ts-ignore: decorator
@inline
export function copyLoosely(target: usize, source: usize, byteLength: u32): void {
  if (byteLength > MOST_IN_VECTORS) {
    memory.copy(target, source, byteLength);
    return;
  }
  for (let i: usize = 0; i < (byteLength as usize); i += 16) v128.store(target + i, v128.load(source + i));
}
