/**
 * The settings that all tasks of one kind in a job have in common, as plain data and shared memory. Each kind gets only
 * the settings that it needs.
 */
import type { DecompressProgram } from '../src/formats/codec-table.js';
import type { FramingSpec } from '../src/formats/framing-table.js';
import type { RecordFormat } from '../src/formats/record-format.js';
import type { NumberField, Selector } from '../src/formats/selector.js';
import type { PileSetLayout, RescatterTarget } from '../src/pile-sets/pile-layout.js';
import type { RamPoolHandle } from '../src/pile-sets/ram-pool.js';
import type { MemoryNeed } from '../src/plan/memory-plan.js';
import type { NumberWay } from '../src/plan/number-range.js';

/** The settings of every task. */
export interface TaskSettings {
  /** Unique among the jobs of this process. */
  readonly jobName: string;
  readonly control: SharedArrayBuffer;
  /** A thread's arena may grow to this size without asking for spare memory. */
  readonly arenaBytes: number;
  /** Whether tasks measure their phases. */
  readonly isProfiled?: boolean | undefined;
}

/** How the value of a record is found. */
export interface ValueRule {
  readonly selector: Selector;
  /** The value of records without one; absent: there must be none. */
  readonly missing?: string | undefined;
  /** Of the records; undefined: their header declares it. */
  readonly framing: FramingSpec | undefined;
}

/** How the values of records choose their splits. */
export interface SplitValues extends ValueRule {
  /** Keys at which all splits but the first begin. */
  readonly bounds: BigUint64Array;
  /** The key of the draws that choose splits. */
  readonly key: bigint;
}

/** The settings of tasks that read inputs. */
export interface ReadSettings extends TaskSettings, RecordFormat {
  /** Absent: no value of a record chooses its split. */
  readonly splitBy?: SplitValues | undefined;
  /** Absent: records are equal if all of their bytes are. */
  readonly uniqueBy?: ValueRule | undefined;
  /** The field whose sum decided about weights: what its sum lacks of undrawn copies is added up. Absent: none did. */
  readonly weighedField?: NumberField | undefined;
  /** Absent: the first bytes of an input decide. */
  readonly decompressProgram?: DecompressProgram;
  /** Whether igzip may decode gzip. Absent: `node:zlib` does. */
  readonly igzip?: boolean;
  /** Whether records are sampled for a report. Absent: no. */
  readonly isSampled?: boolean | undefined;
  readonly readBytes: number;
  readonly maxRecordBytes: number;
  /** For the advice in error messages. */
  readonly memoryNeed: MemoryNeed;
}

/** The settings of tasks that write or read piles of a job. */
export interface PileSettings extends TaskSettings {
  readonly layout: PileSetLayout;
  /** A key times this, modulo 2^64, is its place among the piles, as a fraction of 2^64. Absent: 1. */
  readonly keyScale?: bigint | undefined;
  /** Absent: all segments go to disk. */
  readonly ramPool?: RamPoolHandle | undefined;
  /** The zstd level of segments that go to disk; absent: they are not compressed. */
  readonly tempZstdLevel?: number | undefined;
  readonly bufferBytes: number;
  /** Whether keys follow the content of records, and of equal records one is kept. Absent: no. */
  readonly unique?: boolean | undefined;
  /** The value that they follow; absent: they follow all bytes. */
  readonly uniqueBy?: ValueRule | undefined;
}

/** The settings of tasks of the scatter pass. */
export interface ScatterSettings extends ReadSettings, PileSettings {
  /** Whether pile sets outlive the process: then an index is a file and holds the report of its slice. */
  readonly keepsPileSets: boolean;
  /** A `HeadLimit`: the output is the head of the order. Absent: it has all records. */
  readonly headLimit?: SharedArrayBuffer | undefined;
}

/** The settings of tasks of the shuffle pass. */
export interface ShuffleSettings extends PileSettings {
  readonly readBytes: number;
  readonly outputBytes: number;
  /** Whether records of equal keys come in the order of their bytes, not in the order in which they were read. */
  readonly tiesByBytes: boolean;
  /** The framing of the records; undefined: a store has them, which keeps none whose neighbours must differ. */
  readonly framing: FramingSpec | undefined;
  /** Whether regions get a checksum, so that a later attempt can verify them. */
  readonly hashesOutput: boolean;
  readonly rescatterTo: RescatterTarget;
  /** The ascending keys of the records whose places a report tells. Absent: the job has no report. */
  readonly sampledKeys?: BigUint64Array | undefined;
}

/** The settings of tasks that write the numbers of a range. */
export interface NumberSettings extends TaskSettings {
  readonly low: bigint;
  /** The highest number less `low`. */
  readonly lastOffset: bigint;
  readonly key: bigint;
  /** The byte behind each number. */
  readonly terminator: number;
  readonly way: NumberWay;
  readonly outputBytes: number;
}

/** The settings of tasks that load piles of a store. */
export interface LoadSettings extends TaskSettings {
  readonly layout: PileSetLayout;
}
