/**
 * The caches of Hugging Face repositories. Such a directory holds every version that was loaded, and each file twice: as a
 * blob, and as a link to it in a snapshot.
 */
import { basename, join, resolve } from 'node:path';
import type { Entry } from '../io/list-files.js';
import { statPath } from '../io/paths.js';
import { readHead } from '../io/small-file.js';

const NAME = /^(?:datasets|models|spaces)--/;
const LONGEST_REVISION_BYTES = 256;

/** Which of its directories to name; undefined: `folder` is no such cache. */
export function adviceOnHubCache(folder: string, entries: readonly Entry[]): string | undefined {
  const holds = (name: string) => entries.some((entry) => entry.name === name && entry.isDirectory());
  if (!(NAME.test(basename(resolve(folder))) && holds('blobs') && holds('snapshots'))) return undefined;
  const snapshots = join(folder, 'snapshots');
  const main = join(folder, 'refs', 'main');
  const hasMain = statPath(main, 'input')?.isFile() === true;
  const newest = hasMain && join(snapshots, readHead(main, 'input', LONGEST_REVISION_BYTES).toString().trim());
  return newest !== false && statPath(newest, 'input')?.isDirectory() === true
    ? `name its newest snapshot, ${newest}`
    : `name one of those in ${snapshots}`;
}
