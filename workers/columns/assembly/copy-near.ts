/**
 * Reads and writes up to 15 bytes too far. Short pieces are the most frequent, and a call of the host's copy takes as long
 * as some 200 bytes.
 */
// @ts-ignore: decorator
@inline
export function copyNear(to: usize, from: usize, byteLength: u32): void {
  if (byteLength > 256) memory.copy(to, from, byteLength);
  else for (let done: usize = 0; done < (byteLength as usize); done += 16) v128.store(to + done, v128.load(from + done));
}
