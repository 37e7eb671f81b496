/** Bytes that hold no more memory than they have: what waits for its turn is counted by its length. */
import { freeBytes } from './free-bytes.js';

/**
 * @param bytes that nobody else needs.
 * @returns the same in a buffer that is no larger, in place of one that is.
 */
export function inOwnBuffer(bytes: Uint8Array): Uint8Array {
  if (bytes.byteLength === bytes.buffer.byteLength) return bytes;
  // What `slice` gives of a Buffer is another view, empty as soon as the buffer is freed.
  const own = new Uint8Array(bytes);
  freeBytes(bytes);
  return own;
}
