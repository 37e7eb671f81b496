/** The file that `sha256sum -c` reads: SHA-256 and name of each output. */
import { basename } from 'node:path';
import { SUMS_ENDING, SUMS_NAME } from '../../io/own-files.js';
import type { Destination } from './destination.js';

/** @param names of the shards, below their directory; none for one file. @param digests of the outputs, in hex. */
export function sumsFile(to: Destination, names: readonly string[], digests: readonly string[]) {
  const base = basename(to.path);
  const listed = names.length === 0 ? [base] : names;
  const lines = listed.map((name, shard) => {
    // A backslash before the line says that the name is escaped.
    const escaped = name.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
    return `${escaped === name ? '' : '\\'}${digests[shard]}  ${escaped}\n`;
  });
  return { name: names.length === 0 ? base + SUMS_ENDING : SUMS_NAME, text: lines.join('') };
}
