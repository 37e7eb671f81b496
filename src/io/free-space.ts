/**
 * How many bytes can still be written below a directory.
 *
 * Trusts statfs. Promises what an unprivileged process gets (the blocks kept for root are not
 * counted), as of now: others write too, and a quota may stop a writer earlier.
 */

import { join } from 'node:path';
import { fileCalls } from './file-calls.js';
import type { FileRole } from './io-error.js';
import { listNames, lstatPath, statPath } from './paths.js';

/**
 * @returns undefined where the file system does not say: network and FUSE file systems may have no
 *   count of blocks at all.
 * Throws what statfs throws, as when the directory does not exist.
 */
export function readFreeBytes(directory: string): number | undefined {
  const { blocks, bavail, bsize } = fileCalls.statFileSystem(directory);
  return blocks === 0 ? undefined : bavail * bsize;
}

/** Bytes that the files of a directory take on its device; 0 when there is none, or something else in its place. */
export function readStoredBytes(directory: string, role: FileRole): number {
  if (lstatPath(directory, role)?.isDirectory() !== true) return 0;
  return listNames(directory, role).reduce((sum, name) => {
    const stat = statPath(join(directory, name), role);
    return stat?.isFile() === true ? sum + 512 * Number(stat.blocks) : sum;
  }, 0);
}
