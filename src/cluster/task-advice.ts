/**
 * The checks, the passes and the outputs of tasks are those of a local job, and their errors advise what helps one:
 * `resume`, `tempDirs`, `force`. Here a task is run again, or the job is planned again.
 */
import { PileshufError, START_ANEW_ADVICE } from '../errors.js';
import { FULL_DISK_ADVICE, FULL_TEMP_ADVICE } from '../io/io-error.js';
import { REPLACE_ADVICE } from '../io/rename-and-sync.js';
import { JOB_REMEDY } from '../io/sealed-file.js';
import { TEMP_SHORTAGE_ADVICE } from '../job/disk-space.js';
import { OTHER_JOB_ADVICE } from '../job/earlier-attempt.js';
import { READ_ONCE } from '../job/prepare-shuffle.js';
import { PILE_SET_ADVICE } from '../piles/pile-set-file.js';
import { CLUSTER_REMEDY } from './cluster-plan.js';

/** Pairs of what a local job says and what stands for it here. */
type Advice = readonly (readonly [ofLocalJob: string, ofTasks: string])[];

const PLAN_AGAIN = CLUSTER_REMEDY.ifDamaged;
const RUN_AGAIN_WITH_SPACE = 'free some space and run the task again';
const CHECK_DISK = `check the disk, ${PLAN_AGAIN}`;

export const ADVICE_OF_PLANS: Advice = [
  [START_ANEW_ADVICE, 'give `force` to start anew'],
  [OTHER_JOB_ADVICE, 'finish it, or remove that directory and give `force`'],
  [READ_ONCE, 'is a stream, which tasks cannot share: name a file'],
  [TEMP_SHORTAGE_ADVICE, 'free some space or name a place on another disk with `jobDir`'],
  [FULL_TEMP_ADVICE, 'free some space or name a place on another disk with `jobDir`'],
  ['`tempDirs` or `jobDir`', '`jobDir`'],
];

export const ADVICE_OF_TASKS: Advice = [
  [REPLACE_ADVICE, 'move it elsewhere and run the commit again'],
  [START_ANEW_ADVICE, PLAN_AGAIN],
  [PILE_SET_ADVICE.temp, CHECK_DISK],
  [JOB_REMEDY.ifDamaged, CLUSTER_REMEDY.ifDamaged],
  [JOB_REMEDY.ifOtherVersion, CLUSTER_REMEDY.ifOtherVersion],
  [FULL_TEMP_ADVICE, RUN_AGAIN_WITH_SPACE],
  [TEMP_SHORTAGE_ADVICE, RUN_AGAIN_WITH_SPACE],
  [FULL_DISK_ADVICE, RUN_AGAIN_WITH_SPACE],
  ['expected `memoryBytes` of at least', 'plan the job again with `memoryBytes` of at least'],
  // The rest is about the one temp directory of a task.
  ['`tempDirs`', '`scratchDir`'],
];

export function adviseInWarnings<Options extends { readonly onWarning?: ((line: string) => void) | undefined }>(
  options: Options,
  advice: Advice,
): Options {
  const { onWarning } = options;
  return onWarning === undefined ? options : { ...options, onWarning: (line) => onWarning(inWordsOf(line, advice)) };
}

/** Puts the message of an error, and of those of its cleanup, into words of tasks. */
export function adviseInError(error: unknown, advice: Advice): void {
  if (!(error instanceof PileshufError)) return;
  error.message = inWordsOf(error.message, advice);
  for (const each of error.cleanupErrors) adviseInError(each, advice);
}

/**
 * Puts advice into words of tasks. Where two pairs begin at one place, the first of the list stands. A replaced text is
 * not looked at again.
 */
function inWordsOf(message: string, advice: Advice): string {
  const words = new Map(advice);
  const patterns = advice.map(([ofLocalJob]) => ofLocalJob.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return message.replace(new RegExp(patterns.join('|'), 'g'), (found) => words.get(found) ?? found);
}
