/** The state that a thread makes from the first task of a job and reuses for the job's other tasks. */

import { JobControl } from '../src/floor/job-control.js';
import type { DecoderMemory } from '../src/formats/codec.js';
import { openZstdPacker } from '../src/formats/codecs/zstd-writer.js';
import { loadRowFormat } from '../src/formats/rows/registry.js';
import type { RowThread } from '../src/formats/rows/row-format.js';
import type { MemoryPart } from '../src/piles/linear-memory.js';
import { type PoolMemoryHandle, RamPool, slabsOf } from '../src/piles/ram-pool.js';
import type { SegmentCompressor } from '../src/piles/segments.js';
import type { MemoryNeed } from '../src/plan/memory-plan.js';
import { mayHaveRoomFor, memoryFor } from '../src/plan/pass2-memory.js';
import { MemberBuffers } from '../src/sinks/member-cutter.js';
import { Arena } from './arena.js';
import { KernelHasher } from './kernel/kernel.js';
import type { PileSettings, ReadSettings, TaskSettings } from './settings.js';

export interface ThreadState {
  readonly control: JobControl;
  readonly arena: Arena;
  readonly hasher: KernelHasher;
  /** The hasher for the output, which is written while segments are read. */
  readonly outputHasher: KernelHasher;
  readonly memberBuffers: MemberBuffers;
}

export interface ReadState extends ThreadState {
  readonly decoderMemory: ThreadDecoderMemory;
}

export interface ThreadDecoderMemory extends DecoderMemory {
  readonly reservedBytes: number;
}

export interface PileState extends ThreadState {
  readonly ramPool: RamPool | undefined;
  readonly compressor: SegmentCompressor | undefined;
}

const threadStates = new Map<string, ThreadState>();
const allStates: Map<string, unknown>[] = [threadStates];

export function threadStateOf(job: TaskSettings): ThreadState {
  const known = threadStates.get(job.jobName);
  const state = known ?? makeThreadState(job);
  if (known === undefined) threadStates.set(job.jobName, state);
  state.arena.allow(job.arenaBytes);
  return state;
}

function makeThreadState(job: TaskSettings): ThreadState {
  return threadStateIn(new JobControl(job.control));
}

/** @param part where the arena lies. Absent: in a memory of its own. */
function threadStateIn(control: JobControl, part?: MemoryPart): ThreadState {
  const arena = new Arena(control, part);
  return {
    control,
    arena,
    hasher: new KernelHasher(arena, 'segments'),
    outputHasher: new KernelHasher(arena, 'output'),
    memberBuffers: new MemberBuffers(),
  };
}

/**
 * Returns what `make` made of the first task of a job, for the others, too.
 * @returns a function that gives it, by the name of the job: a shared buffer arrives as another object with each task.
 */
export function memoizedByJob<Settings extends TaskSettings, State, More extends readonly unknown[]>(
  make: (job: Settings, thread: ThreadState, ...more: More) => State,
): (job: Settings, ...more: More) => State {
  const states = new Map<string, State>();
  allStates.push(states);
  return (job, ...more) => {
    const thread = threadStateOf(job);
    const state = states.get(job.jobName) ?? make(job, thread, ...more);
    states.set(job.jobName, state);
    return state;
  };
}

/** Forgets what this thread holds for a job. A thread that ends with its job need not call it. */
export function forgetJob(jobName: string): void {
  for (const states of allStates) states.delete(jobName);
}

export const readStateOf = memoizedByJob(
  (job: ReadSettings, thread): ReadState => ({
    ...thread,
    decoderMemory: decoderMemory(thread.control, job.memoryNeed, () => thread.arena.allowanceBytes - job.arenaBytes),
  }),
);

/** Reads and makes rows. Their format is loaded only here. */
export const rowThreadOf = memoizedByJob(
  async (_: TaskSettings, { control }, rows: { readonly format: string }): Promise<RowThread> =>
    (await loadRowFormat(rows)).openThread(control),
);

const pileStatesOf = memoizedByJob(async (job: PileSettings, thread) => {
  const ramPool = job.ramPool && (await RamPool.open(job.ramPool, thread.control));
  const compressor = job.tempZstdLevel === undefined ? undefined : openZstdPacker(job.tempZstdLevel);
  const own: PileState = { ...thread, ramPool, compressor };
  const part = ramPool?.part;
  const inPool: PileState | undefined = part && { ...own, ...threadStateIn(thread.control, part) };
  return { own, inPool };
});

/** Gives the arena that works on the pool, as long as the job has such arenas. */
export async function pileStateOf(job: PileSettings): Promise<PileState> {
  const { own, inPool } = await pileStatesOf(job);
  if (inPool?.ramPool?.part === undefined) return own;
  inPool.arena.allow(job.arenaBytes);
  return inPool;
}

/** The memory for records in their order, which a job with draws opens after its piles. */
export const orderedSlabsOf = memoizedByJob((_: TaskSettings, { control }, memory: PoolMemoryHandle) =>
  slabsOf(memory, control),
);

/** Takes memory for large windows from the budget. Each job counts it anew: the decoders of a thread outlive a job. */
export function decoderMemory(
  control: JobControl,
  memoryNeed: MemoryNeed,
  recordBytes: () => number = () => 0,
): ThreadDecoderMemory {
  let reservedBytes = 0;
  const withDecoder = (decoderBytes: number) => ({ recordBytes: recordBytes(), decoderBytes });
  return {
    get reservedBytes() {
      return reservedBytes;
    },
    reserve: (byteLength) => {
      if (byteLength <= reservedBytes) return true;
      if (!control.takeSpare(byteLength - reservedBytes)) return false;
      reservedBytes = byteLength;
      return true;
    },
    budgetFor: (byteLength, longestBytes = 0) => {
      const { decoderBytes, ...known } = withDecoder(byteLength);
      return memoryFor(memoryNeed, { decoderBytes, recordBytes: Math.max(known.recordBytes, longestBytes) });
    },
    mayFitAlone: (byteLength) => mayHaveRoomFor(memoryNeed, withDecoder(byteLength)),
  };
}
