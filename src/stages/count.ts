/**
 * The pass before the others of a job whose groups of inputs have shares of the output: reads all inputs and counts. It
 * costs one reading of the inputs, and writes nothing.
 */

import type { ReadSettings } from '../../workers/settings.js';
import type { CountedRecords } from '../../workers/tasks/count-records.js';
import type { CountedGroup } from '../keep/mix.js';
import { ONCE } from '../keep/weights.js';
import type { Slice } from '../plan/slices.js';
import { announceReadingOrder, inputPart, readBytesOf } from '../sources/input-part.js';
import { CoverageCheck } from './coverage-check.js';
import { runTasks, tasksAtOnce } from './run-tasks.js';
import { findStartStates, type SlicedInputs } from './start-states.js';
import type { Threads } from './threads.js';

export interface CountWork extends SlicedInputs {
  readonly settings: ReadSettings;
  /** The group of each input. */
  readonly groupOf: readonly number[];
  readonly groupCount: number;
}

export async function countGroups(work: CountWork, threads: Threads): Promise<readonly CountedGroup[]> {
  const { inputs, slices, settings, groupOf, groupCount } = work;
  const before = await findStartStates(work, threads, () => false);
  const check = new CoverageCheck(inputs);
  const isByNumber = settings.content?.limit !== undefined;
  const groups = Array.from({ length: groupCount }, () => {
    const weighed = isByNumber ? { records: 0n, bytes: 0n, sum: 0n } : undefined;
    return { records: 0, bytes: 0, sum: 0n, weighed };
  });
  let readBytes = 0;
  const count = (slice: Slice): Promise<CountedRecords> => {
    // A count needs no key.
    const parts = slice.map((part) => {
      const { count, records } = before(part);
      return { ...inputPart(work, part, 0n, count, records), weight: ONCE };
    });
    return threads.pool.run('count-records', { job: settings, parts, isPreparation: false });
  };
  const take = ({ coverage, sums: ofParts }: CountedRecords) => {
    for (const [i, part] of coverage.entries()) {
      // A count makes no copies.
      check.add({ ...part, weighed: undefined });
      const group = groups[groupOf[part.inputOrdinal] ?? -1];
      if (group === undefined) throw new RangeError(`input ${part.inputOrdinal} has no group`);
      group.records += part.weighed?.records ?? 0;
      group.bytes += readBytesOf(part);
      readBytes += readBytesOf(part);
      const { read, made, chances } = ofParts[i] ?? { read: 0n, made: 0n, chances: 0n };
      group.sum += read;
      if (group.weighed === undefined) continue;
      const { records, bytes } = part.weighed?.expected ?? { records: 0, bytes: 0 };
      group.weighed.records += BigInt(records);
      group.weighed.bytes += BigInt(bytes);
      group.weighed.sum += (made << 64n) + chances;
    }
  };
  await announceReadingOrder(work);
  await runTasks(slices, count, take, tasksAtOnce(threads), threads.stop);
  check.verify(readBytes);
  return groups;
}
