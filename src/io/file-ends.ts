/**
 * A cheap check that a file is still what it was: a hash of its first and last bytes.
 */
import { createHash } from 'node:crypto';
import { openForRead, readAt, withFile } from './files.js';
import type { FileRole } from './io-error.js';

const END_BYTES = 4096;

/** SHA-256 of the first and the last 4 KiB of a file of `byteLength` bytes. */
export function hashFileEnds(path: string, byteLength: number, role: FileRole): Buffer {
  const hash = createHash('sha256');
  return withFile(openForRead(path, role), (file) => {
    const bytes = new Uint8Array(END_BYTES);
    for (const position of [0, Math.max(0, byteLength - END_BYTES)]) {
      hash.update(bytes.subarray(0, readAt(file, bytes, 0, END_BYTES, position)));
    }
    return hash.digest();
  });
}
