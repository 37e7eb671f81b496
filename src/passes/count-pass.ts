/**
 * The pass before the others of a job whose groups of inputs have shares of the output: reads all inputs and counts. It
 * costs one reading of the inputs, and writes nothing.
 */
import type { ReadSettings } from '../../workers/settings.js';
import type { CountedRecords } from '../../workers/tasks/count-records.js';
import { inputPart, readBytesOf } from '../inputs/input-part.js';
import type { Weighing } from '../inputs/weigh-inputs.js';
import { type CutInputs, countBeforeRanges } from './count-before-ranges.js';
import { CoverageCheck } from './coverage-check.js';
import { type Amount, GroupAmounts } from './group-amounts.js';
import { runTasks, tasksAtOnce } from './run-tasks.js';
import type { Threads } from './threads.js';

export interface CountWork extends CutInputs {
  readonly settings: ReadSettings;
  /** In which each record comes once. */
  readonly weighing: Weighing;
}

/**
 * @returns what each group has.
 * @throws VerificationError if the tasks did not read every byte of every input once.
 */
export async function countGroups(work: CountWork, threads: Threads): Promise<readonly Amount[]> {
  const { inputs, slices, settings, weighing } = work;
  const countBefore = await countBeforeRanges(work, threads, () => false);
  const check = new CoverageCheck(inputs);
  const amounts = new GroupAmounts(weighing);
  let readBytes = 0;
  const count = (slice: readonly (typeof slices)[number][number][]): Promise<CountedRecords> => {
    // A count needs no key.
    const parts = slice.map((part) => inputPart(work, part, 0n, countBefore(part)));
    return threads.pool.run('count-records', { job: settings, parts, isPreparation: false });
  };
  const take = ({ coverage }: CountedRecords) => {
    for (const part of coverage) {
      check.add(part);
      amounts.add(part);
      readBytes += readBytesOf(part);
    }
  };
  await runTasks(slices, count, take, tasksAtOnce(threads), threads.stop);
  check.verify(readBytes);
  return amounts.amounts.map(({ read }) => read);
}
