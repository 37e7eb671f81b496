/**
 * A cheap check that a file is still what it was: a hash of its first and last bytes.
 */
import { hash } from 'node:crypto';
import { openForRead, readAt, withFile } from './files.js';
import type { FileRole } from './io-error.js';

const END_BYTES = 4096;
const ends = new Uint8Array(2 * END_BYTES);

/** SHA-256 of the first and the last 4 KiB of a file of `byteLength` bytes. */
export function hashFileEnds(path: string, byteLength: number, role: FileRole): Buffer {
  return withFile(openForRead(path, role), (file) => {
    const headBytes = readAt(file, ends, 0, END_BYTES, 0);
    const tailBytes = readAt(file, ends, headBytes, END_BYTES, Math.max(0, byteLength - END_BYTES));
    // In one call: an object that hashes piece by piece holds memory that the collector does not see.
    return hash('sha256', ends.subarray(0, headBytes + tailBytes), 'buffer');
  });
}
