/**
 * What every task of a job is told, as plain data and shared memory, and what a thread makes of it
 * once: its control words, its view of the memory pool, its arena.
 */
import type { DecoderMemory } from '../src/formats/codec.js';
import type { DecompressProgram } from '../src/formats/codec-table.js';
import { openZstdPacker } from '../src/formats/codecs/zstd-packer.js';
import type { RecordFormat } from '../src/formats/record-format.js';
import { JobControl } from '../src/io/job-control.js';
import { RamPool, type RamPoolShare } from '../src/pile-store/ram-pool.js';
import type { SegmentCompressor } from '../src/pile-store/segment-compressor.js';
import type { StoreLayout } from '../src/pile-store/store-layout.js';
import type { MemoryNeed } from '../src/plan/memory-plan.js';
import { Arena } from './arena.js';
import { decoderMemory } from './decoder-memory.js';
import { KernelHasher } from './kernel-hasher.js';

/** What tasks that read inputs are told. */
export interface ReadShare extends RecordFormat {
  /** Unlike that of any other job of this process. */
  readonly jobName: string;
  readonly control: SharedArrayBuffer;
  readonly decompressProgram: DecompressProgram;
  readonly readBytes: number;
  /** What a thread's arena may grow to without asking for spare memory. */
  readonly arenaBytes: number;
  readonly maxRecordBytes: number;
  /** Whether tasks say where their time went. */
  readonly isProfiled: boolean;
  /** For advice in messages. */
  readonly memoryNeed: MemoryNeed;
}

export interface JobShare extends ReadShare {
  readonly layout: StoreLayout;
  /** Where piles are split again; absent: where the others lie. */
  readonly splitPlaces?: SplitPlaces | undefined;
  readonly ramPool: RamPoolShare | undefined;
  /** Whether pile sets are there for another run of the job, too, so that their indexes say all of them. */
  readonly keepsPileSets: boolean;
  /** Level of zstd for segments that go to disk; undefined: they are not compressed. */
  readonly tempZstdLevel: number | undefined;
  /** Whether records of equal keys come in the order of their bytes, in place of that in which they were read. */
  readonly tiesByBytes: boolean;
  readonly bufferBytes: number;
  readonly outputBytes: number;
}

/** Of what only those jobs have that put records on piles. */
type Storing = Pick<JobShare, 'ramPool' | 'tempZstdLevel'>;

/** What lies there is removed when its pile is done. */
export type SplitPlaces = Pick<StoreLayout, 'tempPlaces' | 'indexDirectory'>;

export interface ThreadState {
  readonly control: JobControl;
  readonly ramPool: Promise<RamPool> | undefined;
  readonly arena: Arena;
  readonly decoderMemory: DecoderMemory;
  /** Of segments that go to disk. */
  readonly compressor: SegmentCompressor | undefined;
  readonly hasher: KernelHasher;
  /** Of what is written, while segments are read. */
  readonly outputHasher: KernelHasher;
}

const statesOfJobs = new Map<string, ThreadState>();

/**
 * The state that this thread keeps from task to task of one job. Found by the job's name: a shared
 * buffer arrives as another object with each task.
 */
export function threadStateOf(job: ReadShare & { readonly [Field in keyof Storing]?: Storing[Field] }): ThreadState {
  let state = statesOfJobs.get(job.jobName);
  if (state === undefined) {
    const control = new JobControl(job.control);
    const arena = new Arena(control);
    state = {
      control,
      ramPool: job.ramPool === undefined ? undefined : RamPool.open(job.ramPool, control),
      arena,
      decoderMemory: decoderMemory(control, job.memoryNeed),
      compressor: job.tempZstdLevel === undefined ? undefined : openZstdPacker(job.tempZstdLevel),
      hasher: new KernelHasher(arena.kernel, 'segments'),
      outputHasher: new KernelHasher(arena.kernel, 'output'),
    };
    statesOfJobs.set(job.jobName, state);
  }
  state.arena.allow(job.arenaBytes);
  return state;
}

/** Lets go of a job's state in this thread; threads that end with their job need not. */
export function forgetJob(jobName: string): void {
  statesOfJobs.delete(jobName);
}
