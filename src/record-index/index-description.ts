/**
 * What an index says of its file, as JSON: how the records lie in it, and by what it is known again.
 */

import { nullable, object, text, type ValueOf, wholeNumber } from '../io/json-shape.js';
import type { Remedy } from '../io/sealed-file.js';

/** Shape of what `describeFile` gives; the size, the time of the last change and the ends of the file. */
const fileMark = object({
  byteLength: wholeNumber(),
  /** Nanoseconds since 1970, in decimal digits. */
  modified: text,
  /** SHA-256 of the first and the last 4 KiB, in hex. */
  ends: text,
});

export type FileMark = ValueOf<typeof fileMark>;

export const indexDescription = object({
  file: fileMark,
  /** In words: `delimited 0a, header lines 1`. */
  format: text,
  /** Of the compressed file; null: plain bytes. */
  codec: nullable(text),
  /** Decoded bytes before the first record, and up to the end of the last one. */
  recordsStart: wholeNumber(),
  recordsEnd: wholeNumber(),
  /** What the last record lacks at its end, in hex. */
  missing: text,
});

export type IndexDescription = ValueOf<typeof indexDescription>;

/** @param file that is indexed. */
export function indexRemedy(file: string): Remedy {
  const again = `make it again with \`pileshuf index ${file}\``;
  return { ifDamaged: again, ifOtherVersion: again, otherVersionCode: 'ERR_INDEX_VERSION' };
}

/** What stands behind a file's name in that of its index. */
export const INDEX_SUFFIX = '.pileshuf-index';
