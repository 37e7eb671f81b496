/**
 * Builds the shares: the part of a task that all tasks of a pass have in common, from the plan and the request of the job.
 */
import type { PileShare, ReadShare, ScatterShare, ShuffleShare } from '../../workers/shares.js';
import type { Threads } from '../passes/threads.js';
import type { PileSetLayout, RescatterTarget } from '../pile-sets/pile-layout.js';
import type { RamPoolShare } from '../pile-sets/ram-pool.js';
import type { InputRequest } from './request.js';
import type { WorkPlan } from './work-plan.js';

/** How a job stores its piles. */
export interface PileSetting {
  readonly layout: PileSetLayout;
  readonly ramPool: RamPoolShare | undefined;
  /** Undefined: segments are not compressed. */
  readonly tempZstdLevel: number | undefined;
}

export function scatterShareOf(
  { jobName, control }: Threads,
  { memory, memoryNeed }: WorkPlan,
  { framing, header, decompressProgram, maxRecordBytes }: InputRequest,
  { layout, ramPool, tempZstdLevel }: PileSetting,
  keepsPileSets: boolean,
  isProfiled: boolean,
): ScatterShare {
  const { pass1ArenaBytes: arenaBytes, readBytes, bufferBytes } = memory;
  const read: ReadShare = {
    jobName,
    control: control.buffer,
    arenaBytes,
    isProfiled,
    framing,
    header,
    decompressProgram,
    readBytes,
    maxRecordBytes,
    memoryNeed,
  };
  return { ...read, layout, ramPool, tempZstdLevel, bufferBytes, keepsPileSets };
}

export function shuffleShareOf(
  { jobName, control }: Threads,
  { memory }: WorkPlan,
  arenaBytes: number,
  { layout, ramPool, tempZstdLevel }: PileSetting,
  rest: Pick<ShuffleShare, 'tiesByBytes' | 'hashesOutput' | 'isProfiled'> & { readonly rescatterTo: RescatterTarget },
): ShuffleShare {
  const { bufferBytes, readBytes, outputBytes } = memory;
  const piles: PileShare = {
    jobName,
    control: control.buffer,
    arenaBytes,
    layout,
    ramPool,
    tempZstdLevel,
    bufferBytes,
  };
  return { ...piles, ...rest, readBytes, outputBytes };
}
