/** Builds the settings that all tasks of a pass have in common, from the plan and the request of the job. */
import type { PileSettings, ScatterSettings, ShuffleSettings } from '../../workers/settings.js';
import { counted, InputError } from '../errors.js';
import type { Release } from '../floor/cleanup.js';
import type { JobControl } from '../floor/job-control.js';
import { contentRuleOf } from '../keep/content-rule.js';
import { partsOf, type RamPoolHandle, retiredBytes, retireParts, takenBytes } from '../piles/ram-pool.js';
import type { MemoryNeed, MemoryPlan } from '../plan/memory-plan.js';
import { bytesOfColumns, memoryFor, type Pass2Memory, planPass2 } from '../plan/pass2-memory.js';
import type { ShuffleSpec } from '../spec.js';
import type { PilesWork, ScatteredPiles } from './shuffle-work.js';
import type { OnProfile } from './task-pool.js';
import { startThreads, type Threads } from './threads.js';

/** The machine that a job may use: the same for all of its stages. */
export interface MachinePlan {
  readonly memory: MemoryPlan;
  readonly memoryNeed: MemoryNeed;
  /** True if the calling thread does all the work, because that is faster than starting threads. */
  readonly inline: boolean;
}

export type PileStorage = Required<Pick<PileSettings, 'layout' | 'ramPool' | 'tempZstdLevel'>>;

/** @param rest what depends on more than the spec. */
export function scatterSettings(
  { jobName, control }: Threads,
  { memory, memoryNeed }: MachinePlan,
  spec: ShuffleSpec,
  storage: PileStorage,
  rest: Pick<ScatterSettings, 'commitsPileSets' | 'isProfiled' | 'isSampled'>,
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

/** The state that a scatter leaves beside the piles. */
export interface ScatteredState {
  readonly storage: PileStorage;
  /** How tasks put the piles in order. */
  readonly order: OrderRule;
  /** The later stages take them over if their memory suffices. */
  readonly threads: Threads;
}

export interface OpenedPiles {
  readonly work: PilesWork;
  readonly threads: Threads;
}

export type OrderRule = Pick<
  ShuffleSettings,
  'framing' | 'tiesByBytes' | 'content' | 'hashesOutput' | 'rescatterTo' | 'isProfiled' | 'sampledKeys'
>;

interface Pass1Memory extends Pick<MachinePlan, 'memory' | 'memoryNeed'> {
  readonly ramPool: RamPoolHandle | undefined;
  readonly control: JobControl;
}

interface FittedMemory extends Pick<Pass2Memory, 'workers' | 'arenaBytes' | 'columnBytes'> {
  readonly needsNewThreads: boolean;
}

/**
 * Fits the memory of pass 2 to the longest record. If pass 2 has room for fewer threads than planned, or arenas have
 * grown in pass 1, the threads must end to free their memory, and as many new ones start as the budget allows. Sets the
 * spare memory of the job.
 */
export function fitPass2(
  { memory, memoryNeed, ramPool, control }: Pass1Memory,
  { longestRecordBytes }: ScatteredPiles,
): FittedMemory {
  const { workers: plannedWorkers, pass1ArenaBytes, pass1SpareBytes, pass2ArenaBytes } = memory;
  const poolBytes = ramPool === undefined ? 0 : takenBytes(ramPool);
  const grownBytes = pass1SpareBytes - poolBytes - control.spareBytes;
  const planBeside = (takenBytes: number) => planPass2(memory, memoryNeed.budgetBytes, takenBytes, longestRecordBytes);
  const canStay = ({ workers, arenaBytes, columnBytes }: Pass2Memory) =>
    // What pass 1 took for columns is there for those of pass 2.
    grownBytes <= workers * columnBytes && workers === plannedWorkers && arenaBytes >= pass2ArenaBytes;
  let fitted = planBeside(poolBytes);
  const parts = ramPool && partsOf(ramPool);
  if (
    ramPool !== undefined &&
    parts !== undefined &&
    !(fitted && canStay(fitted) && fitted.arenaBytes <= parts.arenaBytes)
  ) {
    retireParts(ramPool, pass1ArenaBytes + Math.max(0, grownBytes));
  }
  const asideBytes = ramPool === undefined ? 0 : retiredBytes(ramPool);
  // The plan promises room for a long record, although retired parts hold some of it.
  if (asideBytes > 0) fitted = planBeside(poolBytes + asideBytes) ?? fitted;
  if (fitted === undefined) {
    const beside =
      memory.columnBytes === 0
        ? ''
        : ` beside ${counted(Math.ceil(bytesOfColumns(memory, longestRecordBytes)), 'byte')} for pages of columns`;
    throw new InputError(
      'ERR_RECORD_TOO_LONG',
      `the longest record has ${counted(longestRecordBytes, 'byte')} and does not fit the memory budget${beside}; expected \`memoryBytes\` of at least ${memoryFor(memoryNeed, { recordBytes: longestRecordBytes, decoderBytes: 0 })}`,
    );
  }
  const { workers, arenaBytes, columnBytes, spareBytes } = fitted;
  control.setSpare(spareBytes);
  return { workers, arenaBytes, columnBytes, needsNewThreads: !canStay(fitted) };
}

/**
 * Opens piles for tasks that put them in order, with threads that fit their longest record: those of the scatter, if their
 * memory suffices.
 */
export async function openPiles(
  { piles, ...rest }: Omit<PilesWork, 'settings'>,
  { storage, order, threads: first }: ScatteredState,
  plan: MachinePlan,
  onProfile: OnProfile,
  releases: Release[],
): Promise<OpenedPiles> {
  const { ramPool } = storage;
  const { workers, needsNewThreads, ...bytes } = fitPass2({ ...plan, ramPool, control: first.control }, piles);
  if (needsNewThreads) await first.pool.destroy();
  const threadCount = plan.inline ? 0 : workers;
  const size = { threadCount, startCount: threadCount };
  const threads = needsNewThreads ? await startThreads(size, first, onProfile, releases) : first;
  const { jobName, control } = threads;
  const { bufferBytes, readBytes, outputBytes, memberBytes } = plan.memory;
  const ofPass = { jobName, control: control.buffer, ...bytes, bufferBytes, readBytes, outputBytes, memberBytes };
  const settings = { ...ofPass, keyScale: piles.keyScale, ...storage, ...order };
  return { work: { piles, settings, ...rest }, threads };
}
