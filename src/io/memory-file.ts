/**
 * A file that lies in memory and has no name, for bytes that all threads share. Writing to it costs
 * half of what the first touch of fresh memory does: the kernel neither clears its pages nor maps them.
 *
 * Trusts that /dev/shm is a tmpfs when statfs says so. Its pages count as memory of the control group
 * but not as resident memory of the process.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { join } from 'node:path';
import { fileCalls } from './file-calls.js';
import type { OpenFile } from './files.js';

const DIRECTORY = '/dev/shm';
const TMPFS_MAGIC = 0x01021994;

/** @returns undefined where there is no such file, or no room for one that may grow to `byteLength`. */
export function openMemoryFile(byteLength: number): OpenFile | undefined {
  const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  try {
    const { type, bavail, bsize } = fileCalls.statFileSystem(DIRECTORY);
    if (type !== TMPFS_MAGIC || bavail * bsize < byteLength) return undefined;
    const path = join(DIRECTORY, `.pileshuf-${randomUUID()}`);
    const fd = fileCalls.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      fileCalls.unlink(path);
      // Takes no memory, and fails where the process may not write so large a file.
      fileCalls.truncate(fd, byteLength);
    } catch {
      fileCalls.close(fd);
      return undefined;
    }
    return { fd, path, role: 'temp' };
  } catch {
    // Whatever the reason: there is other memory.
    return undefined;
  }
}
