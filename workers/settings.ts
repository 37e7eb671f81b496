/** The settings that all tasks of one kind in a job have in common, as plain data and shared memory. */
import type { FramingSpec } from '../src/formats/framing-table.js';
import type { ContentRule } from '../src/keep/content-rule.js';
import type { PileSetLayout, RescatterTarget } from '../src/piles/pile-layout.js';
import type { RamPoolHandle } from '../src/piles/ram-pool.js';
import type { MemoryNeed } from '../src/plan/memory-plan.js';
import type { ReadSpec } from '../src/spec.js';

export interface TaskSettings {
  /** No other job of this process has it. */
  readonly jobName: string;
  readonly control: SharedArrayBuffer;
  /** A thread's arena may grow to this size without asking for spare memory. */
  readonly arenaBytes: number;
  readonly isProfiled?: boolean | undefined;
}

export interface ReadSettings extends TaskSettings {
  readonly read: ReadSpec;
  /** The rule of the content. Absent: the content of records decides nothing. */
  readonly content?: ContentRule | undefined;
  readonly isSampled?: boolean | undefined;
  readonly readBytes: number;
  readonly memoryNeed: MemoryNeed;
}

export interface PileSettings extends TaskSettings {
  readonly layout: PileSetLayout;
  /** A key times this, modulo 2^64, is its place among the piles, as a fraction of 2^64. Absent: 1. */
  readonly keyScale?: bigint | undefined;
  /** The pool of memory. Absent: all segments go to disk. */
  readonly ramPool?: RamPoolHandle | undefined;
  /** The zstd level of segments that go to disk; absent: they are not compressed. */
  readonly tempZstdLevel?: number | undefined;
  readonly bufferBytes: number;
  /** The rule of the content. Absent: keys follow from places alone, and equal records stay. */
  readonly content?: ContentRule | undefined;
}

export interface PileSetSettings extends PileSettings {
  readonly readBytes: number;
  /** True if pile sets outlive the process: then an index is a file and holds the report of its slice. */
  readonly commitsPileSets: boolean;
  /** A `HeadLimit`: the output is the head of the order. Absent: it has all records. */
  readonly headLimit?: SharedArrayBuffer | undefined;
}

export interface ScatterSettings extends ReadSettings, PileSetSettings {}

export interface ShuffleSettings extends PileSettings {
  readonly readBytes: number;
  readonly outputBytes: number;
  /** See `MEMBER_BYTES`. */
  readonly memberBytes: number;
  /** The bytes that pages of columns may take beside the arena; 0: there are no columns. */
  readonly columnBytes: number;
  /** True if records of equal keys come in the order of their bytes, not in the order in which they were read. */
  readonly tiesByBytes: boolean;
  /** The framing of the records; undefined: a store has them, and no record of a store must differ from its neighbours. */
  readonly framing: FramingSpec | undefined;
  /** True if regions get a checksum, so that a later attempt can verify them. */
  readonly hashesOutput: boolean;
  readonly rescatterTo: RescatterTarget;
  /** The ascending keys of the records whose places a report tells. Absent: the job has no report. */
  readonly sampledKeys?: BigUint64Array | undefined;
}

export interface LoadSettings extends TaskSettings {
  readonly layout: PileSetLayout;
}
