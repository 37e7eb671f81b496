/**
 * What every task of a job is told, as plain data and shared memory, and what a thread makes of it
 * once: its control words, its view of the memory pool, its arena.
 */
import type { DecoderMemory } from '../../src/formats/codec.js';
import type { DecompressProgram } from '../../src/formats/codec-table.js';
import { openZstdPacker } from '../../src/formats/codecs/zstd-writer.js';
import type { RecordFormat } from '../../src/formats/record-format.js';
import { JobControl } from '../../src/job-control.js';
import type { StoreLayout } from '../../src/pile-sets/pile-layout.js';
import { RamPool, type RamPoolShare } from '../../src/pile-sets/ram-pool.js';
import type { SegmentCompressor } from '../../src/pile-sets/segment-compressor.js';
import type { MemoryNeed } from '../../src/plan/memory-plan.js';
import { Arena } from '../piles/arena.js';
import { KernelHasher } from '../piles/kernel-hasher.js';
import { decoderMemory } from '../read/decoder-memory.js';

/** What all tasks are told. */
export interface TaskShare {
  /** Unlike that of any other job of this process. */
  readonly jobName: string;
  readonly control: SharedArrayBuffer;
  /** What a thread's arena may grow to without asking for spare memory. */
  readonly arenaBytes: number;
  /** Whether tasks say where their time went. */
  readonly isProfiled?: boolean | undefined;
}

/** What tasks that read inputs are told. */
export interface ReadShare extends TaskShare, RecordFormat {
  /** Absent: none is asked for. */
  readonly decompressProgram?: DecompressProgram;
  readonly readBytes: number;
  readonly maxRecordBytes: number;
  /** For advice in messages. */
  readonly memoryNeed: MemoryNeed;
}

/** What tasks that put records of inputs on piles are told. */
export interface ScatterShare extends ReadShare {
  readonly layout: StoreLayout;
  /** Absent: all goes to disk. */
  readonly ramPool?: RamPoolShare | undefined;
  /** Whether pile sets are there for another run of the job, too, so that their indexes say all of them. */
  readonly keepsPileSets: boolean;
  /** Level of zstd for segments that go to disk; absent: they are not compressed. */
  readonly tempZstdLevel?: number | undefined;
  readonly bufferBytes: number;
}

/** What tasks of a job that does both passes are told. */
export interface JobShare extends ScatterShare {
  /** Where piles are split again; absent: where the others lie. */
  readonly rescatterPlaces?: RescatterPlaces | undefined;
  /** Whether records of equal keys come in the order of their bytes, in place of that in which they were read. */
  readonly tiesByBytes: boolean;
  readonly outputBytes: number;
}

/** What tasks that load piles of a store are told. */
export interface LoadShare extends TaskShare {
  readonly layout: StoreLayout;
}

/** What lies there is removed when its pile is done. */
export type RescatterPlaces = Pick<StoreLayout, 'tempPlaces' | 'indexDirectory'>;

/** What a thread keeps from task to task of one job. */
export interface ThreadState {
  readonly control: JobControl;
  readonly arena: Arena;
  readonly hasher: KernelHasher;
  /** Of what is written, while segments are read. */
  readonly outputHasher: KernelHasher;
}

/** The same of tasks that read inputs. */
export interface ReadState extends ThreadState {
  readonly decoderMemory: DecoderMemory;
}

/** The same of tasks that put records on piles, or read such piles. */
export interface PileState extends ThreadState {
  readonly ramPool: Promise<RamPool> | undefined;
  /** Of segments that go to disk. */
  readonly compressor: SegmentCompressor | undefined;
}

const statesOfJobs = new Map<string, ThreadState>();
const readStatesOfJobs = new Map<string, ReadState>();
const pileStatesOfJobs = new Map<string, PileState>();

export function threadStateOf(job: TaskShare): ThreadState {
  const state = keptState(statesOfJobs, job, () => {
    const control = new JobControl(job.control);
    const arena = new Arena(control);
    return {
      control,
      arena,
      hasher: new KernelHasher(arena.kernel, 'segments'),
      outputHasher: new KernelHasher(arena.kernel, 'output'),
    };
  });
  state.arena.allow(job.arenaBytes);
  return state;
}

export function readStateOf(job: ReadShare): ReadState {
  const state = threadStateOf(job);
  return keptState(readStatesOfJobs, job, () => ({
    ...state,
    decoderMemory: decoderMemory(state.control, job.memoryNeed),
  }));
}

export function pileStateOf(job: ScatterShare): PileState {
  const state = threadStateOf(job);
  return keptState(pileStatesOfJobs, job, () => ({
    ...state,
    ramPool: job.ramPool === undefined ? undefined : RamPool.open(job.ramPool, state.control),
    compressor: job.tempZstdLevel === undefined ? undefined : openZstdPacker(job.tempZstdLevel),
  }));
}

/** Found by the job's name: a shared buffer arrives as another object with each task. */
function keptState<State>(states: Map<string, State>, { jobName }: TaskShare, make: () => State): State {
  const known = states.get(jobName);
  if (known !== undefined) return known;
  const state = make();
  states.set(jobName, state);
  return state;
}

/** Lets go of a job's state in this thread; threads that end with their job need not. */
export function forgetJob(jobName: string): void {
  for (const states of [statesOfJobs, readStatesOfJobs, pileStatesOfJobs]) states.delete(jobName);
}
