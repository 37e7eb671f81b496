/**
 * The small text files in which Linux publishes what it knows: /proc, /sys and the cgroup trees.
 *
 * Everything that reads them takes a `ReadText`, so that tests give a literal tree. A file that is
 * missing or unreadable is `undefined`, never an error: other systems have none of these files, and
 * containers hide some of them.
 */

import { readFileSync, readlinkSync } from 'node:fs';

/** The text of a file, or undefined when it cannot be read for whatever reason. */
export type ReadText = (path: string) => string | undefined;

/** Reads the text of the real file. */
export const readKernelText: ReadText = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

/** Where a symbolic link leads, as it stands there, or undefined when it cannot be read for whatever reason. */
export function readKernelLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
