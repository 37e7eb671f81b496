// Copies of record bytes. A short copy goes in steps of 16 bytes and may write up to 15 bytes past
// the end of the destination and read as far past the source: every buffer that records are copied
// into or out of has that much slack behind it. `memory.copy` calls out of the compiled code, which
// costs more than the copy itself below a few hundred bytes.

const LONGEST_SHORT_COPY: u32 = 512;

// @ts-ignore: decorator
@inline
export function copyRecord(target: usize, source: usize, byteLength: u32): void {
  if (byteLength > LONGEST_SHORT_COPY) {
    memory.copy(target, source, byteLength);
    return;
  }
  for (let i: u32 = 0; i < byteLength; i += 16) {
    v128.store(target + i, v128.load(source + i));
  }
}
