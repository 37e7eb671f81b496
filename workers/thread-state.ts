/** The state that a thread makes from the first task of a job and keeps for the job's other tasks. */
import type { DecoderMemory } from '../src/formats/codec.js';
import { openZstdPacker } from '../src/formats/codecs/zstd-writer.js';
import { JobControl } from '../src/job-control.js';
import { type PoolMemoryHandle, RamPool, slabsOf } from '../src/pile-sets/ram-pool.js';
import type { SegmentCompressor } from '../src/pile-sets/segments.js';
import type { MemoryNeed } from '../src/plan/memory-plan.js';
import { mayHaveRoomFor, memoryFor } from '../src/plan/pass2-memory.js';
import { Arena } from './arena.js';
import { KernelHasher } from './kernel/kernel.js';
import { NumberWriter } from './number-writer.js';
import type { NumberSettings, PileSettings, ReadSettings, TaskSettings } from './settings.js';

export interface ThreadState {
  readonly control: JobControl;
  readonly arena: Arena;
  readonly hasher: KernelHasher;
  /** For the output, which is written while segments are read. */
  readonly outputHasher: KernelHasher;
}

export interface NumberState {
  readonly control: JobControl;
  readonly writer: NumberWriter;
}

export interface ReadState extends ThreadState {
  readonly decoderMemory: ThreadDecoderMemory;
}

export interface ThreadDecoderMemory extends DecoderMemory {
  readonly reservedBytes: number;
}

export interface PileState extends ThreadState {
  readonly ramPool: Promise<RamPool> | undefined;
  readonly compressor: SegmentCompressor | undefined;
}

const statesOfJobs = new Map<string, ThreadState>();
const readStatesOfJobs = new Map<string, ReadState>();
const pileStatesOfJobs = new Map<string, PileState>();
const numberStatesOfJobs = new Map<string, NumberState>();
const orderedSlabsOfJobs = new Map<string, Promise<readonly Uint8Array[]>>();

export function threadStateOf(job: TaskSettings): ThreadState {
  const state = keptState(statesOfJobs, job, () => {
    const control = new JobControl(job.control);
    const arena = new Arena(control);
    return {
      control,
      arena,
      hasher: new KernelHasher(arena, 'segments'),
      outputHasher: new KernelHasher(arena, 'output'),
    };
  });
  state.arena.allow(job.arenaBytes);
  return state;
}

export function readStateOf(job: ReadSettings): ReadState {
  const state = threadStateOf(job);
  return keptState(readStatesOfJobs, job, () => ({
    ...state,
    decoderMemory: decoderMemory(state.control, job.memoryNeed, () => state.arena.allowanceBytes - job.arenaBytes),
  }));
}

export function pileStateOf(job: PileSettings): PileState {
  const state = threadStateOf(job);
  return keptState(pileStatesOfJobs, job, () => ({
    ...state,
    ramPool: job.ramPool === undefined ? undefined : RamPool.open(job.ramPool, state.control),
    compressor: job.tempZstdLevel === undefined ? undefined : openZstdPacker(job.tempZstdLevel),
  }));
}

export function numberStateOf(job: NumberSettings): NumberState {
  const { control, arena } = threadStateOf(job);
  return keptState(numberStatesOfJobs, job, () => ({ control, writer: new NumberWriter(arena, job) }));
}

/** The memory for records in their order, which a job with draws opens after its piles. */
export function orderedSlabsOf(job: TaskSettings, memory: PoolMemoryHandle): Promise<readonly Uint8Array[]> {
  return keptState(orderedSlabsOfJobs, job, () => slabsOf(memory, threadStateOf(job).control));
}

/** By the name of the job: a shared buffer arrives as another object with each task. */
function keptState<State>(states: Map<string, State>, { jobName }: TaskSettings, make: () => State): State {
  const known = states.get(jobName);
  if (known !== undefined) return known;
  const state = make();
  states.set(jobName, state);
  return state;
}

/** A thread that ends with its job need not call it. */
export function forgetJob(jobName: string): void {
  const all = [statesOfJobs, readStatesOfJobs, pileStatesOfJobs, numberStatesOfJobs, orderedSlabsOfJobs];
  for (const states of all) states.delete(jobName);
}

/** Takes memory for large windows from the budget. Each job counts it anew: a thread keeps its decoders over several jobs. */
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
    budgetFor: (byteLength) => memoryFor(memoryNeed, withDecoder(byteLength)),
    mayFitAlone: (byteLength) => mayHaveRoomFor(memoryNeed, withDecoder(byteLength)),
  };
}
