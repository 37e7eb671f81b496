/**
 * The seed that a random source stands for: a digest of its first bytes. A source may be endless, and the order needs no
 * more bytes than a seed has.
 */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';

/** Bytes behind these change nothing. */
const MOST_SOURCE_BYTES = 1024;

/**
 * @param path as text, or as bytes.
 * @returns the SHA-256 of at most 1,024 bytes in hex; undefined if the source is empty.
 * @throws the error of the operating system
 */
export function seedOfSource(path: string | Buffer): string | undefined {
  const fd = openSync(path, 'r');
  try {
    const bytes = new Uint8Array(MOST_SOURCE_BYTES);
    let filled = 0;
    for (let count = 1; count > 0 && filled < bytes.byteLength; filled += count) {
      count = readSync(fd, bytes, filled, bytes.byteLength - filled, null);
    }
    return filled === 0 ? undefined : createHash('sha256').update(bytes.subarray(0, filled)).digest('hex');
  } finally {
    closeSync(fd);
  }
}
