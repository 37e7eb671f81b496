/**
 * What the tasks of a job are told, as plain data and shared memory: the same for all tasks of one kind. Each kind is
 * told only what it needs.
 */
import type { DecompressProgram } from '../src/formats/codec-table.js';
import type { RecordFormat } from '../src/formats/record-format.js';
import type { PileSetLayout, RescatterTarget } from '../src/pile-sets/pile-layout.js';
import type { RamPoolShare } from '../src/pile-sets/ram-pool.js';
import type { MemoryNeed } from '../src/plan/memory-plan.js';

/** What every task is told. */
export interface TaskShare {
  /** No other job of this process has the same. */
  readonly jobName: string;
  readonly control: SharedArrayBuffer;
  /** A thread's arena may grow to this size without asking for spare memory. */
  readonly arenaBytes: number;
  /** Whether tasks measure where their time goes. */
  readonly isProfiled?: boolean | undefined;
}

/** What tasks that read inputs are told. */
export interface ReadShare extends TaskShare, RecordFormat {
  /** Absent: inputs are recognised by their first bytes. */
  readonly decompressProgram?: DecompressProgram;
  readonly readBytes: number;
  readonly maxRecordBytes: number;
  /** For advice in messages. */
  readonly memoryNeed: MemoryNeed;
}

/** What tasks that write or read piles of a job are told. */
export interface PileShare extends TaskShare {
  readonly layout: PileSetLayout;
  /** Absent: all segments go to disk. */
  readonly ramPool?: RamPoolShare | undefined;
  /** Level of zstd for segments that go to disk; absent: they are not compressed. */
  readonly tempZstdLevel?: number | undefined;
  readonly bufferBytes: number;
}

/** What tasks of the scatter pass are told. */
export interface ScatterShare extends ReadShare, PileShare {
  /** Whether a pile set outlives the job: then its index is a file and holds the report of its slice. */
  readonly keepsPileSets: boolean;
}

/** What tasks of the shuffle pass are told. */
export interface ShuffleShare extends PileShare {
  readonly readBytes: number;
  readonly outputBytes: number;
  /** Whether records of equal keys come in the order of their bytes, instead of the order in which they were read. */
  readonly tiesByBytes: boolean;
  /** Whether regions get a checksum, so that a later attempt can verify them. */
  readonly hashesOutput: boolean;
  readonly rescatterTo: RescatterTarget;
}

/** What tasks that load piles of a store are told. */
export interface LoadShare extends TaskShare {
  readonly layout: PileSetLayout;
}
