/**
 * The seed that a random source stands for: a digest of its first bytes. A source may be endless, and the order needs no
 * more bytes than a seed has.
 */
import { createHash } from 'node:crypto';

/** Bytes behind these change nothing. */
const MOST_SOURCE_BYTES = 1024;

/**
 * @param read reads on into the bytes from a place; returns how many, 0 at the end.
 * @returns the SHA-256 of at most 1,024 bytes in hex; undefined if the source is empty.
 */
export async function seedOfSource(
  read: (bytes: Uint8Array, offset: number) => number | Promise<number>,
): Promise<string | undefined> {
  const bytes = new Uint8Array(MOST_SOURCE_BYTES);
  let filled = 0;
  for (let count = 1; count > 0 && filled < bytes.byteLength; filled += count) count = await read(bytes, filled);
  return filled === 0 ? undefined : createHash('sha256').update(bytes.subarray(0, filled)).digest('hex');
}
