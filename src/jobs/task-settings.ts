/** Builds the settings that all tasks of a pass have in common, from the plan and the request of the job. */
import type {
  PileSettings,
  ReadSettings,
  ScatterSettings,
  ShuffleSettings,
  SplitValues,
} from '../../workers/settings.js';
import { formatOf } from '../formats/record-format.js';
import type { Threads } from '../passes/threads.js';
import type { PileSetLayout, RescatterTarget } from '../pile-sets/pile-layout.js';
import type { RamPoolHandle } from '../pile-sets/ram-pool.js';
import type { InputRequest } from './request.js';
import type { WorkPlan } from './work-plan.js';

export interface PileStorage {
  readonly layout: PileSetLayout;
  readonly ramPool: RamPoolHandle | undefined;
  readonly tempZstdLevel: number | undefined;
}

export function scatterSettings(
  { jobName, control }: Threads,
  { memory, memoryNeed }: WorkPlan,
  {
    decompressProgram,
    igzip,
    maxRecordBytes,
    unique,
    uniqueBy,
    isSampled,
    weighedField,
    ...asked
  }: Omit<InputRequest, 'inputs' | 'fileChoice'> &
    Pick<ScatterSettings, 'unique' | 'uniqueBy' | 'isSampled' | 'weighedField'>,
  { layout, ramPool, tempZstdLevel }: PileStorage,
  keepsPileSets: boolean,
  isProfiled: boolean,
  splitBy?: SplitValues,
): ScatterSettings {
  const { pass1ArenaBytes: arenaBytes, readBytes, bufferBytes } = memory;
  const read: ReadSettings = {
    jobName,
    control: control.buffer,
    arenaBytes,
    isProfiled,
    isSampled,
    weighedField,
    ...formatOf(asked),
    decompressProgram,
    igzip,
    readBytes,
    maxRecordBytes,
    memoryNeed,
    splitBy,
    uniqueBy,
  };
  return { ...read, layout, ramPool, tempZstdLevel, bufferBytes, keepsPileSets, unique };
}

export function shuffleSettings(
  { jobName, control }: Threads,
  { memory }: WorkPlan,
  arenaBytes: number,
  { layout, ramPool, tempZstdLevel }: PileStorage,
  rest: Pick<
    ShuffleSettings,
    'keyScale' | 'framing' | 'tiesByBytes' | 'unique' | 'uniqueBy' | 'hashesOutput' | 'isProfiled' | 'sampledKeys'
  > & {
    readonly rescatterTo: RescatterTarget;
  },
): ShuffleSettings {
  const { bufferBytes, readBytes, outputBytes } = memory;
  const piles: PileSettings = {
    jobName,
    control: control.buffer,
    arenaBytes,
    layout,
    ramPool,
    tempZstdLevel,
    bufferBytes,
  };
  const { keyScale, framing, tiesByBytes, unique, uniqueBy, hashesOutput, isProfiled } = rest;
  const { rescatterTo, sampledKeys } = rest;
  const order = { keyScale, framing, tiesByBytes, unique, uniqueBy, hashesOutput, isProfiled };
  return { ...piles, ...order, rescatterTo, sampledKeys, readBytes, outputBytes };
}
