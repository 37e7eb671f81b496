/** What the library offers to make an index. */
import type { Tuning } from '../plan/memory-plan.js';
import { runIndexJob } from './index-file.js';
import type { IndexOptions, IndexReport } from './index-options.js';

/**
 * Makes the record index of a file, with which `openIndexed` reads its records in any order. A former index is replaced
 * when the new one is complete.
 *
 * @param tuning sizes that only tests have a reason to change.
 * @throws PileshufError one of its subclasses, with a `code` and a one-line message.
 */
export function indexFile(
  file: string,
  options: IndexOptions = {},
  tuning: Partial<Tuning> = {},
): Promise<IndexReport> {
  return runIndexJob(file, options, tuning);
}
