/** Plans a job as tasks, whichever of the three it is. */
import type { Tuning } from '../plan/memory-plan.js';
import { type ClusterPlanOptions, type ClusterPlanReport, planShuffleTasks } from './make-plan.js';
import { type ClusterAppendOptions, planAppendTasks } from './plan-append.js';
import { type ClusterStoreShuffleOptions, planStoreShuffleTasks } from './plan-store-shuffle.js';
import { ADVICE_OF_PLANS, adviseInError, warningsWith } from './task-advice.js';
import { ARRAY_KINDS, type ArrayKind } from './task-arrays.js';

/** The options of a shuffle of inputs, of an append of inputs to a store, or of a shuffle of a store. */
export type ClusterJobOptions = ClusterPlanOptions | ClusterAppendOptions | ClusterStoreShuffleOptions;

/**
 * Plans a job as tasks for several machines, and writes the plan to the job directory.
 * @throws PileshufError as the local job does before it starts; UsageError for what tasks cannot do.
 */
export async function planCluster(
  options: ClusterJobOptions,
  tuning: Partial<Tuning> = {},
): Promise<ClusterPlanReport> {
  try {
    return await planAny(options, tuning);
  } catch (error) {
    adviseInError(error, ADVICE_OF_PLANS);
    throw error;
  }
}

function planAny(options: ClusterJobOptions, tuning: Partial<Tuning>): Promise<ClusterPlanReport> {
  if (isAppend(options)) return planAppendTasks(warningsWith(options, ADVICE_OF_PLANS), tuning);
  if (isStoreShuffle(options)) return planStoreShuffleTasks(warningsWith(options, ADVICE_OF_PLANS), tuning);
  return planShuffleTasks(warningsWith(options, ADVICE_OF_PLANS), tuning);
}

/** Which arrays of tasks such a job has, besides its commit, and verify tasks: only a plan knows how large the output is. */
export function arrayKindsOf(options: ClusterJobOptions): readonly ArrayKind[] {
  // It writes no output.
  if (isAppend(options)) return ['scatter'];
  // The piles are there.
  if (isStoreShuffle(options)) return ['shuffle'];
  const { unique, uniqueBy, repeat } = options;
  const without: readonly (ArrayKind | false)[] = [
    unique !== true && uniqueBy === undefined && 'measure',
    repeat !== true && 'draw',
    'verify',
  ];
  return ARRAY_KINDS.filter((kind) => !without.includes(kind));
}

export function isAppend<Options extends object>(options: Options): options is Extract<Options, { append: string }> {
  return has(options, 'append');
}

export function isStoreShuffle<Options extends object>(
  options: Options,
): options is Extract<Options, { shuffleStore: string }> {
  return has(options, 'shuffleStore');
}

/** Callers without types may pass anything. */
function has(options: unknown, name: string): boolean {
  return typeof options === 'object' && options !== null && Object.hasOwn(options, name);
}
