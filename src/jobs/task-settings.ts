/** Builds the settings that all tasks of a pass have in common, from the plan and the request of the job. */
import type { PileSettings, ScatterSettings, ShuffleSettings } from '../../workers/settings.js';
import type { Release } from '../cleanup.js';
import { formatOf } from '../formats/record-format.js';
import { threadsOfPass2 } from '../passes/between-passes.js';
import type { PilesWork } from '../passes/shuffle-work.js';
import type { OnProfile } from '../passes/task-pool.js';
import type { Threads } from '../passes/threads.js';
import type { ReadRule } from './request.js';
import type { WorkPlan } from './work-plan.js';

export type PileStorage = Required<Pick<PileSettings, 'layout' | 'ramPool' | 'tempZstdLevel'>>;

/** How inputs are read, without the inputs: every thread gets a copy. */
export function readRuleOf({ decompressProgram, igzip, maxRecordBytes, ...format }: ReadRule): ReadRule {
  return { ...formatOf(format), decompressProgram, igzip, maxRecordBytes };
}

export function scatterSettings(
  { jobName, control }: Threads,
  { memory, memoryNeed }: WorkPlan,
  request: ReadRule & Pick<ScatterSettings, 'unique' | 'uniqueBy'>,
  { layout, ramPool, tempZstdLevel }: PileStorage,
  rest: Pick<ScatterSettings, 'keepsPileSets' | 'isProfiled' | 'isSampled' | 'weighedField' | 'splitBy'>,
): ScatterSettings {
  const { pass1ArenaBytes: arenaBytes, readBytes, bufferBytes } = memory;
  const { unique, uniqueBy } = request;
  return {
    jobName,
    control: control.buffer,
    arenaBytes,
    readBytes,
    bufferBytes,
    memoryNeed,
    ...readRuleOf(request),
    unique,
    uniqueBy,
    layout,
    ramPool,
    tempZstdLevel,
    ...rest,
  };
}

export interface OpenedPiles {
  readonly work: PilesWork;
  readonly threads: Threads;
}

type OrderRule = Pick<
  ShuffleSettings,
  'framing' | 'tiesByBytes' | 'unique' | 'uniqueBy' | 'hashesOutput' | 'rescatterTo' | 'isProfiled' | 'sampledKeys'
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
  const { threads, arenaBytes } = await threadsOfPass2(pass1, plan, storage.ramPool, piles, onProfile, releases);
  const { jobName, control } = threads;
  const { bufferBytes, readBytes, outputBytes } = plan.memory;
  const settings = {
    jobName,
    control: control.buffer,
    arenaBytes,
    bufferBytes,
    readBytes,
    outputBytes,
    keyScale: piles.keyScale,
    ...storage,
    ...rule,
  };
  return { work: { piles, settings, ...rest }, threads };
}
