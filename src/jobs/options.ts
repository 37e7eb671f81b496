/**
 * What callers of the jobs ask for and get back: the types of the library's functions. Nothing here asks the machine
 * anything; `request.ts` fills in the defaults.
 */
import type { TaskName } from '../../workers/tasks.js';
import type { InputIdRule } from '../inputs/ids.js';
import type { NamedInput } from '../inputs/list-inputs.js';
import type { PhaseSeconds } from '../phase-clock.js';

/** How the output is cut into shards. Exactly one of the three. */
export type ShardRule =
  /** This many shards; their record counts differ by at most one. */
  | { readonly by: 'count'; readonly shardCount: number }
  /** This many records in each shard; the last one may hold fewer. */
  | { readonly by: 'records'; readonly recordsPerShard: number }
  /** Shards of nearly equal size, none above this many bytes, before they are compressed; no record is cut. */
  | { readonly by: 'bytes'; readonly maxShardBytes: number };

/** What a record is. Its bytes, delimiter or prefix included, are carried as they are. */
export type RecordKind =
  /** It ends in these bytes, 1 to 1024 of them; a string stands for its UTF-8. */
  | { readonly by: 'delimiter'; readonly delimiter: string | Uint8Array }
  /** It is so many lines. */
  | { readonly by: 'lines'; readonly linesPerRecord: number }
  /** It is text with the blank lines behind it. */
  | { readonly by: 'paragraphs' }
  /** It is a line, and newlines between double quotes belong to it (RFC 4180). */
  | { readonly by: 'csv' }
  /** It has so many bytes. */
  | { readonly by: 'size'; readonly recordBytes: number }
  /** It is a length and as many bytes; `varint` is LEB128, as of protocol buffers. */
  | { readonly by: 'length-prefix'; readonly prefix: 'u32le' | 'u32be' | 'u64le' | 'varint' }
  /** It is a TFRecord; both of its checksums are verified. */
  | { readonly by: 'tfrecord' }
  /** It is a row of the array of a .npy file; the output is one, and so is each shard. */
  | { readonly by: 'npy' }
  /** It is a sample of a tar file: the members that follow each other with one name up to its first dot. */
  | { readonly by: 'webdataset' };

/**
 * What stands at the beginning of every input, before its first record. All must have the same; the output, and each
 * shard, gets it once.
 */
export type HeaderKind =
  /** So many lines, which end as the records do; of CSV, so many records. */
  { readonly lines: number } | { readonly bytes: number };

/** Where a job stands. `bytesTotal` is undefined while it cannot be known (pipes). */
export interface ShuffleProgress {
  /** `scatter` is pass 1, `shuffle` is pass 2, `commit` makes the output durable and visible. */
  readonly phase: 'scatter' | 'shuffle' | 'commit';
  /** Bytes done in this phase: of the inputs as stored in pass 1, of the output in pass 2. */
  readonly bytesDone: number;
  readonly bytesTotal: number | undefined;
  /** Seconds since this phase began. */
  readonly phaseSeconds: number;
}

/**
 * How the output is compressed: as a sequence of gzip members or zstd frames of a few MiB. The level is 1 to 9 for
 * gzip, by default 6, and 1 to 22 for zstd, by default 3.
 */
export type OutputCompression = 'none' | { readonly codec: 'gzip' | 'zstd'; readonly level?: number | undefined };

export interface ShuffleOptions {
  /**
   * Files, directories (all regular files below, sorted by path bytes), glob patterns (sorted
   * likewise), or `-` for standard input. `{ path }` is never taken for a pattern. Their order is part
   * of what the seed means.
   */
  readonly inputs: readonly NamedInput[];
  /**
   * The ids of the inputs, no two alike: keys of records are derived from them, and the order of the inputs means
   * nothing. `path`: as given or found; `name`: the last part of that; an array: one for each input, in their order.
   * Default `ordinal`: the place in the list.
   */
  readonly inputIds?: InputIdRule | undefined;
  /** A file; a directory when `shards` is given; `-` or absent: standard output. */
  readonly output?: string | undefined;
  readonly shards?: ShardRule | undefined;
  /**
   * Default: for one output by its name (`.gz`, `.gzip`, `.zst`, `.zstd`); none for shards. What the seed promises
   * are the bytes that come out when it is read again.
   */
  readonly compress?: OutputCompression | undefined;
  /** First part of each shard's name; default `shard`. */
  readonly shardPrefix?: string | undefined;
  /** Any string. Absent: one is drawn, and is in the report. */
  readonly seed?: string | undefined;
  /** Memory for pile buffers, pile bytes and sort entries, in bytes. Default: half of what is available. */
  readonly memoryBytes?: number | undefined;
  /** Default: `$TMPDIR`, else the output's directory, for standard output /var/tmp. */
  readonly tempDirs?: readonly string[] | undefined;
  /**
   * Compress what goes to the temp directories, which pays where they are slow (docs/PERFORMANCE.md). Level 1 to
   * 22, by default 1. Changes nothing of the output; another run that goes on with the job may do otherwise.
   */
  readonly tempCompress?: { readonly codec: 'zstd'; readonly level?: number | undefined } | undefined;
  /** Worker threads. Default: the CPUs that this process may use. */
  readonly workers?: number | undefined;
  /** Path to the number of large I/O calls at one time on the device that holds it. */
  readonly ioLimits?: Readonly<Record<string, number>> | undefined;
  /** Default: lines. */
  readonly records?: RecordKind | undefined;
  /** Records end in NUL, in and out, in place of newline. */
  readonly zeroTerminated?: boolean | undefined;
  readonly header?: HeaderKind | undefined;
  /**
   * A program and its arguments that all inputs go through, whatever they begin with: each is given to it on
   * standard input, and its standard output is what the input holds. No shell is involved. Default: gzip and zstd are
   * recognised, and bzip2, xz and lz4 given to the programs of these names.
   */
  readonly decompressProgram?: readonly string[] | undefined;
  /** Longest record accepted, in bytes with its terminator. Default 1 GiB. */
  readonly maxRecordBytes?: number | undefined;
  /** Allow existing outputs to be replaced. */
  readonly force?: boolean | undefined;
  /**
   * Go on with the unfinished job of this output; without one, begin a job that can be resumed. Needs an
   * output that is no stream, and inputs that can be read again.
   */
  readonly resume?: boolean | undefined;
  /**
   * Where the job keeps what it needs to go on; it can then be resumed. Default: derived from the output,
   * beside the temp files.
   */
  readonly jobDir?: string | undefined;
  /** Keep the job directory and the temp data after success. Needs an output that is no stream. */
  readonly keepTemp?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ShuffleProgress) => void) | undefined;
  /** Called with one line for each thing the user should know and that is no error. */
  readonly onWarning?: ((line: string) => void) | undefined;
  /** Called at the end of a job that succeeded, with where its time went; without it nothing is measured. */
  readonly onProfile?: ((profile: JobProfile) => void) | undefined;
}

export interface ShuffleReport {
  readonly records: number;
  /** Bytes of all records of the output, before it is compressed and without headers and trailers. */
  readonly bytes: number;
  readonly seed: string;
  /**
   * Multiset checksum of the output: the sum modulo 2^64 of the hashes (docs/ORDER.md) of all records
   * with their terminators, as 16 hex digits. The same for every order of the same records.
   */
  readonly checksum: string;
  readonly seconds: {
    readonly total: number;
    readonly pass1: number;
    readonly pass2: number;
    readonly commit: number;
  };
  readonly inputCount: number;
  readonly workers: number;
  readonly piles: number;
  /** Bytes that went through the temp directories; 0 when the job ran in memory. */
  readonly tempBytes: number;
  /** Paths of the shards in order; empty when the output is one file or standard output. */
  readonly shards: readonly string[];
  /** What was taken over from an interrupted job; undefined when there was none. */
  readonly resumed:
    | {
        /** Slices that were not read again. */
        readonly pileSets: number;
        /** Bytes of records that were not written again. */
        readonly outputBytes: number;
      }
    | undefined;
}

/** Seconds of all threads together in one pass. `idle` is what is left of workers times elapsed time. */
export type PassSeconds = PhaseSeconds & { readonly idle: number };

/** Where the time of a job went. */
export interface JobProfile {
  readonly workers: number;
  readonly records: number;
  readonly bytes: number;
  /** Elapsed time. */
  readonly seconds: {
    /** From the start of the process to that of the job: Node, and the modules of the command. */
    readonly start: number;
    /** Up to pass 1: inputs, plan, directories, threads. */
    readonly prepare: number;
    readonly pass1: number;
    /** Between the passes. */
    readonly between: number;
    readonly pass2: number;
    readonly commit: number;
    /** Giving back what the job took. */
    readonly release: number;
  };
  readonly pass1: PassSeconds;
  readonly pass2: PassSeconds;
  /** As they ended. */
  readonly tasks: readonly {
    readonly kind: TaskName;
    /** 0 is the calling thread. */
    readonly thread: number;
    /** Since the job began. */
    readonly beganSeconds: number;
    readonly seconds: PhaseSeconds;
  }[];
}

export interface AppendOptions
  extends Pick<
    ShuffleOptions,
    | 'inputs'
    | 'inputIds'
    | 'records'
    | 'zeroTerminated'
    | 'decompressProgram'
    | 'maxRecordBytes'
    | 'memoryBytes'
    | 'workers'
    | 'ioLimits'
    | 'signal'
    | 'onProgress'
    | 'onWarning'
  > {
  /** What the inputs are a part of. Default: the date, in UTC. */
  readonly generation?: string | undefined;
  /** Whether former commits of the same inputs are replaced; else an id that the store has is refused. */
  readonly replace?: boolean | undefined;
  /** That of the store. Absent: the one that it has, or one is drawn. */
  readonly seed?: string | undefined;
  /** How many the store has. Absent: as many as it has, or as `expectedBytes` say. */
  readonly piles?: number | undefined;
  /** What the store is expected to hold at most, for its number of piles. Default: four times these inputs. */
  readonly expectedBytes?: number | undefined;
}

export interface AppendReport extends Pick<ShuffleReport, 'records' | 'bytes' | 'checksum' | 'inputCount'> {
  /** Of the store. */
  readonly seed: string;
  /** Of the store. */
  readonly piles: number;
  readonly generation: string;
  /** Number of the state of the store that has them. */
  readonly state: number;
  /** Bytes that the store grew by. */
  readonly storedBytes: number;
  readonly workers: number;
  readonly seconds: Pick<ShuffleReport['seconds'], 'total' | 'pass1' | 'commit'>;
}

export interface ShuffleStoreOptions
  extends Pick<
    ShuffleOptions,
    | 'output'
    | 'shards'
    | 'compress'
    | 'shardPrefix'
    | 'force'
    | 'memoryBytes'
    | 'tempDirs'
    | 'tempCompress'
    | 'workers'
    | 'ioLimits'
    | 'signal'
    | 'onProgress'
    | 'onWarning'
    | 'onProfile'
  > {}

export interface IndexOptions
  extends Pick<
    ShuffleOptions,
    | 'records'
    | 'zeroTerminated'
    | 'header'
    | 'maxRecordBytes'
    | 'memoryBytes'
    | 'workers'
    | 'ioLimits'
    | 'signal'
    | 'onProgress'
    | 'onWarning'
  > {
  /** Where the index goes. Default: beside the file, named `FILE.pileshuf-index`. */
  readonly index?: string | undefined;
}

export interface IndexReport {
  readonly records: number;
  /** Path of the index. */
  readonly index: string;
  readonly indexBytes: number;
  readonly seconds: number;
}
