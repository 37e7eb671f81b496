/**
 * Recognises what pileshuf makes beside data: completion markers, record indexes, locks, directories of jobs, pile
 * stores. Name and content together tell such a file; one that only has the name is data. The listing of a directory
 * leaves these files out. An input that the caller names is refused when it is one of them.
 */
import { basename, join } from 'node:path';
import { readHead } from '../io/atomic-files.js';
import type { Entry } from '../io/list-files.js';
import {
  CARD_NAME,
  FIRST_BYTES_OF_CARDS,
  FIRST_BYTES_OF_RECORD_INDEXES,
  INDEX_ATTEMPT_KIND,
  INDEX_SUFFIX,
  LOCK_KIND,
  LONGEST_MARKER_BYTES,
  MARKER_TEXT,
  prefixOfMarker,
  STORE_SETTINGS_NAME,
  SUMS_ENDING,
  SUMS_NAME,
  SUMS_TEXT,
} from '../io/own-files.js';
import { kindOfSealed, LONGEST_FIRST_LINE_BYTES } from '../io/sealed-file.js';
import { MANIFEST_NAME } from '../job-directory/job-manifest.js';
import { isJobDirectory } from '../job-directory/job-paths.js';
import { parseOwnerName } from '../machine/file-owner.js';
import { FIRST_BYTES_OF_INDEXES } from '../piles/pile-set-index.js';

/** The first bytes of a file that tell whether it is one of these. */
export const OWN_HEAD_BYTES = Math.max(LONGEST_MARKER_BYTES, LONGEST_FIRST_LINE_BYTES);

interface OwnFile {
  readonly what: string;
  readonly isName: (name: string) => boolean;
  readonly isBeginning: (head: Buffer) => boolean;
}

const beginsWith = (first: Buffer) => (head: Buffer) => head.subarray(0, first.byteLength).equals(first);
const beginsAsIndex = beginsWith(FIRST_BYTES_OF_RECORD_INDEXES);
/** The header of a record index is written last. */
const MISSING_HEADER_BYTES = 64;

const OWN_FILES: readonly OwnFile[] = [
  {
    what: 'the marker of complete shards',
    isName: (name) => prefixOfMarker(name) !== undefined,
    isBeginning: (head) => MARKER_TEXT.test(head.toString('latin1')),
  },
  { what: 'a dataset card', isName: (name) => name === CARD_NAME, isBeginning: beginsWith(FIRST_BYTES_OF_CARDS) },
  {
    what: 'the SHA-256 of outputs',
    isName: (name) => name === SUMS_NAME || name.endsWith(SUMS_ENDING),
    isBeginning: (head) => SUMS_TEXT.test(head.toString('latin1')),
  },
  { what: 'a record index', isName: (name) => name.endsWith(INDEX_SUFFIX), isBeginning: beginsAsIndex },
  {
    what: 'an unfinished record index',
    isName: (name) => parseOwnerName(INDEX_ATTEMPT_KIND, name) !== undefined,
    isBeginning: (head) => beginsAsIndex(head) || head.subarray(0, MISSING_HEADER_BYTES).every((byte) => byte === 0),
  },
  {
    what: 'the lock of a job',
    isName: (name) => parseOwnerName(LOCK_KIND, name) !== undefined,
    isBeginning: (head) => head.byteLength === 0,
  },
  {
    what: 'the index of a pile set',
    isName: (name) => name.endsWith('.index'),
    isBeginning: beginsWith(FIRST_BYTES_OF_INDEXES),
  },
  {
    what: 'a file of a job or of a pile store',
    // Its first line has a checksum: no other file begins so.
    isName: () => true,
    isBeginning: (head) => kindOfSealed(head) !== undefined,
  },
];

/**
 * Returns what a file is, as messages call it; undefined for data.
 * @param head the first `OWN_HEAD_BYTES` of the file, or all of it.
 */
export function ownFileAt(path: string, head: Buffer): string | undefined {
  const name = basename(path);
  return OWN_FILES.find(({ isName, isBeginning }) => isName(name) && isBeginning(head))?.what;
}

/** Returns the prefixes of the markers among these files. */
export function completeSetsIn(path: string, entries: readonly Pick<Entry, 'name'>[]): string[] {
  return entries.flatMap(({ name }) => {
    const prefix = prefixOfMarker(name);
    if (prefix === undefined) return [];
    const text = readHead(join(path, name), 'input', LONGEST_MARKER_BYTES).toString('latin1');
    return MARKER_TEXT.test(text) ? [prefix] : [];
  });
}

/** Returns what a directory is, as messages call it; undefined for one that may hold data. */
export function ownDirectoryAt(path: string, entries: readonly Entry[]): string | undefined {
  const names = entries.map(({ name }) => name);
  if (isJobDirectory(basename(path), names)) return 'the directory of a job';
  const holdsSealed = (name: string, kind: string) =>
    entries.some((entry) => entry.name === name && entry.isFile()) &&
    kindOfSealed(readHead(join(path, name), 'input', LONGEST_FIRST_LINE_BYTES)) === kind;
  if (holdsSealed(STORE_SETTINGS_NAME, 'store')) return 'a pile store';
  return holdsSealed(MANIFEST_NAME, 'job') ? 'the directory of a job' : undefined;
}
