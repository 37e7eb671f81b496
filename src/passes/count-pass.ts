/**
 * The pass before the others of a job whose groups of inputs have shares of the output: reads all inputs and counts. It
 * costs one reading of the inputs, and writes nothing.
 */

import type { ReadSettings } from '../../workers/settings.js';
import type { CountedRecords } from '../../workers/tasks/count-records.js';
import type { NumberField } from '../formats/selector.js';
import { inputPart, readBytesOf } from '../inputs/input-part.js';
import type { Weighing } from '../inputs/weigh-inputs.js';
import type { Slice } from '../plan/slices.js';
import { type CutInputs, countBeforeRanges } from './before-ranges.js';
import { CoverageCheck } from './coverage-check.js';
import { type Amount, GroupAmounts } from './group-amounts.js';
import { runTasks, tasksAtOnce } from './run-tasks.js';
import type { Threads } from './threads.js';

export interface CountWork extends CutInputs {
  readonly settings: ReadSettings;
  /** The weighing in which each record comes once. */
  readonly weighing: Weighing;
  /** The field to add up; undefined: records and bytes are enough. */
  readonly field: NumberField | undefined;
}

export interface CountedGroup extends Amount {
  /** The sum of the field, in parts of 10^-15; 0 without one. */
  readonly sum: bigint;
}

export async function countGroups(work: CountWork, threads: Threads): Promise<readonly CountedGroup[]> {
  const { inputs, slices, settings, weighing, field } = work;
  const countBefore = await countBeforeRanges(work, threads, () => false);
  const check = new CoverageCheck(inputs);
  const amounts = new GroupAmounts(weighing);
  const sums = weighing.groups.map(() => 0n);
  let readBytes = 0;
  const count = (slice: Slice): Promise<CountedRecords> => {
    // A count needs no key.
    const parts = slice.map((part) => inputPart(work, part, 0n, countBefore(part)));
    return threads.pool.run('count-records', { job: settings, parts, field, isPreparation: false });
  };
  const take = ({ coverage, sums: ofParts }: CountedRecords) => {
    for (const [i, part] of coverage.entries()) {
      check.add(part);
      amounts.add(part);
      readBytes += readBytesOf(part);
      const group = weighing.groupOf[part.inputOrdinal] ?? 0;
      sums[group] = (sums[group] ?? 0n) + (ofParts[i] ?? 0n);
    }
  };
  await runTasks(slices, count, take, tasksAtOnce(threads), threads.stop);
  check.verify(readBytes);
  return amounts.amounts.map(({ read }, group) => ({ ...read, sum: sums[group] ?? 0n }));
}
