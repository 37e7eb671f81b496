/**
 * How many files this process may have open at one time: the soft limit as it is now. Node raises
 * the soft limit to the hard one at start, so `ulimit -n` in the shell often shows less than this.
 *
 * Trusts /proc/self/limits; promises a positive number on every system.
 */

import { type ReadText, readKernelText } from './kernel-text.js';

/** The soft limit of macOS, the lowest among the systems in use. */
const unknownOpenFileLimit = 256;

export function readOpenFileLimit(readText: ReadText = readKernelText): number {
  const soft = /^Max open files\s+(\S+)/m.exec(readText('/proc/self/limits') ?? '')?.[1];
  if (soft === 'unlimited') return Infinity;
  const limit = Number(soft);
  return limit > 0 ? limit : unknownOpenFileLimit;
}
