/** The public types of a preview. `examples/plan.schema.json` describes the same as JSON. */
import type { PreviewedSplit } from '../keep/splits.js';
import type { MemoryOfPass1, MemoryOfPass2 } from '../plan/memory-plan.js';
import type { Expected } from '../plan/sampled-records.js';

/** The needs of a job, as far as they are known before it. Fields of unknown values are absent. */
export interface ShufflePreview {
  readonly inputs: {
    readonly count: number;
    /** The bytes as stored. Absent: an input is a stream. */
    readonly bytes?: number | undefined;
    /** How many of each codec; `plain` for those that are not compressed, `stream` for those of unknown content. */
    readonly codecs: Readonly<Record<string, number>>;
    readonly records?: Expected | undefined;
    /** Bytes of these records. */
    readonly recordBytes?: Expected | undefined;
  };
  /** Tasks of pass 1. */
  readonly slices: number;
  readonly workers: number;
  readonly piles: {
    readonly count: number;
    /** How often each record is put on a pile. */
    readonly levels: number;
    /** True if the records are expected to stay in memory. */
    readonly stayInMemory: boolean;
  };
  readonly memory: {
    readonly budgetBytes: number;
    readonly pass1: MemoryOfPass1;
    readonly pass2: MemoryOfPass2;
  };
  readonly temp: {
    /** All bytes that are written to them. */
    readonly bytes?: Expected | undefined;
    readonly directories: readonly string[];
  };
  readonly output: {
    readonly kind: 'file' | 'shards' | 'stream';
    /** The path of the output. Absent: standard output. */
    readonly path?: string | undefined;
    /** Codec and level, as in `zstd 3`; of Parquet, that of its pages. */
    readonly compression?: string | undefined;
    readonly records?: Expected | undefined;
    /** Bytes of these records. */
    readonly recordBytes?: Expected | undefined;
    /** The bytes as written: compressed, and with headers. Absent: Parquet gets another codec than the inputs have. */
    readonly bytes?: Expected | undefined;
    /** The number of files. Absent: shards are cut by bytes, of which too little is known. */
    readonly files?: number | undefined;
    readonly splits?: readonly PreviewedSplit[] | undefined;
    /** The row groups of Parquet. Absent also where the number of files is. */
    readonly rowGroups?: PreviewedRowGroups | undefined;
  };
  readonly openFiles: {
    readonly most: number;
    /** The limit. Absent: there is none. */
    readonly limit?: number | undefined;
  };
  readonly devices: readonly PreviewedDevice[];
  /** The job resumes an earlier attempt, which has done this much. */
  readonly resumed?: { readonly pileSets: number; readonly outputBytes: number } | undefined;
  /** True if the job can be resumed if it is interrupted. */
  readonly isResumable: boolean;
  readonly advice: readonly Advice[];
  /** The warnings that the job gives before it starts. */
  readonly warnings: readonly string[];
}

export interface PreviewedRowGroups {
  /** The number in all files together, about. */
  readonly count: number;
  /** The records in each, about. */
  readonly records: number;
  /** The bytes that these take before they are encoded. */
  readonly recordBytes: number;
}

/** The needs of a job of aligned files: its members are shuffled one after the other. */
export interface TogetherPreview {
  /** Each as a shuffle by itself. The outputs lie beside each other; memory and temp data make way for the next. */
  readonly members: readonly MemberPreview[];
  /** The warnings that the job gives before it starts. */
  readonly warnings: readonly string[];
}

export interface MemberPreview extends ShufflePreview {
  /** The name of its output. */
  readonly name: string;
}

export interface PreviewedDevice {
  readonly id: string;
  readonly name: string;
  readonly class: 'rotating' | 'solid-state' | 'virtual' | 'memory' | 'network' | 'unknown';
  readonly uses: readonly ('inputs' | 'temp' | 'output')[];
  /** Large reads and writes at one time. Absent: no limit. */
  readonly calls?: number | undefined;
  /** Free for this user. Absent for a device with inputs alone. */
  readonly freeBytes?: number | undefined;
}

export interface Advice {
  readonly about: 'input' | 'decoder' | 'disk' | 'levels' | 'memory' | 'open files';
  /** One line. */
  readonly text: string;
}
