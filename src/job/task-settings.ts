/** Builds the settings that all tasks of a pass have in common, from the plan and the request of the job. */
import type { PileSettings, ScatterSettings, ShuffleSettings } from '../../workers/settings.js';
import type { Release } from '../floor/cleanup.js';
import { contentRuleOf } from '../keep/content-rule.js';
import type { ShuffleSpec } from '../spec.js';
import { threadsOfPass2 } from '../stages/between-passes.js';
import type { PilesWork } from '../stages/shuffle-work.js';
import type { OnProfile } from '../stages/task-pool.js';
import type { Threads } from '../stages/threads.js';
import type { WorkPlan } from './work-plan.js';

export type PileStorage = Required<Pick<PileSettings, 'layout' | 'ramPool' | 'tempZstdLevel'>>;

/** @param rest what depends on more than the spec. */
export function scatterSettings(
  { jobName, control }: Threads,
  { memory, memoryNeed }: WorkPlan,
  spec: ShuffleSpec,
  storage: PileStorage,
  rest: Pick<ScatterSettings, 'keepsPileSets' | 'isProfiled' | 'isSampled' | 'weighedField'>,
): ScatterSettings {
  const { pass1ArenaBytes: arenaBytes, readBytes, bufferBytes } = memory;
  return {
    jobName,
    control: control.buffer,
    arenaBytes,
    readBytes,
    bufferBytes,
    memoryNeed,
    read: spec.read,
    content: contentRuleOf(spec),
    ...storage,
    ...rest,
  };
}

export interface OpenedPiles {
  readonly work: PilesWork;
  readonly threads: Threads;
}

type OrderRule = Pick<
  ShuffleSettings,
  'framing' | 'tiesByBytes' | 'content' | 'hashesOutput' | 'rescatterTo' | 'isProfiled' | 'sampledKeys'
>;

/**
 * Opens piles for tasks that put them in order, with threads that fit their longest record: those of pass 1, if their
 * memory suffices.
 */
export async function openPiles(
  { piles, ...rest }: Omit<PilesWork, 'settings'>,
  rule: OrderRule,
  plan: WorkPlan,
  storage: PileStorage,
  pass1: Threads,
  onProfile: OnProfile,
  releases: Release[],
): Promise<OpenedPiles> {
  const { threads, ...bytes } = await threadsOfPass2(pass1, plan, storage.ramPool, piles, onProfile, releases);
  const { jobName, control } = threads;
  const { bufferBytes, readBytes, outputBytes } = plan.memory;
  const settings = {
    jobName,
    control: control.buffer,
    ...bytes,
    bufferBytes,
    readBytes,
    outputBytes,
    keyScale: piles.keyScale,
    ...storage,
    ...rule,
  };
  return { work: { piles, settings, ...rest }, threads };
}
