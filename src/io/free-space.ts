/**
 * How many bytes can still be written below a directory.
 *
 * Trusts statfs. Promises what an unprivileged process gets (the blocks kept for root are not
 * counted), as of now: others write too, and a quota may stop a writer earlier.
 */

import { fileCalls } from './file-calls.js';

/**
 * @returns undefined where the file system does not say: network and FUSE file systems may have no
 *   count of blocks at all.
 * Throws what statfs throws, as when the directory does not exist.
 */
export function readFreeBytes(directory: string): number | undefined {
  const { blocks, bavail, bsize } = fileCalls.statFileSystem(directory);
  return blocks === 0 ? undefined : bavail * bsize;
}
