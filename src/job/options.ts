/** The public types of the jobs. `request.ts` fills in the defaults and refuses wrong values with ERR_OPTION. */

import type { RecordKind } from '../formats/framing-table.js';
import type { KeyRule } from '../keys.js';
import type { PhaseSeconds } from '../phase-clock.js';
import type { ShardRule } from '../plan/shard-cuts.js';
import type { SplitRule } from '../plan/splits.js';
import type { NamedInput } from '../sources/expand-names.js';
import type { InputIdRule } from '../sources/ids.js';
import type { ReportFacts } from './report/report-facts.js';

/** The header of every input, the same in all of them. The output, or each shard, begins with it once. */
export type HeaderKind =
  /** This many lines, 1 to 1,048,576, with the delimiter of the records. With CSV: this many rows. */
  | { readonly lines: number }
  /** The leading lines that begin with this text of 1 to 1024 bytes: `#` for VCF, `@` for SAM. */
  | { readonly prefix: string }
  /** This many bytes, 1 to 16 MiB. */
  | { readonly bytes: number };

/** A phase of a job; `ShuffleProgress.phase` says what each of them does. */
export type JobPhase = 'count' | 'scatter' | 'measure' | 'shuffle' | 'commit' | 'verify';

export interface PhaseBytes {
  readonly phase: JobPhase;
  /** An estimate until the phase begins. Undefined: the inputs have an unknown size, or the output has no end. */
  readonly bytes: number | undefined;
}

export interface ShuffleProgress {
  /**
   * `count` comes first if a `mix` has shares. `scatter` is pass 1, `shuffle` is pass 2. Between them, `measure` finds
   * which of equal records stay. `commit` makes the output durable and visible. `verify` reads what is to be checked.
   */
  readonly phase: JobPhase;
  /**
   * Bytes done in this phase: in pass 1 of the inputs as stored, in pass 2 of the output before compression, in
   * `verify` of the files as stored.
   */
  readonly bytesDone: number;
  /** The part of `bytesDone` that an earlier attempt did. This job does not do it again. */
  readonly bytesResumed: number;
  /** Undefined when the total is unknown: in pass 1 if an input is a stream, and in `commit`. */
  readonly bytesTotal: number | undefined;
  /** Seconds since this phase started. */
  readonly phaseSeconds: number;
  /** The member that is being shuffled, if the files are aligned. The other fields tell of its shuffle alone. */
  readonly member?: MemberProgress | undefined;
  /** All phases of the job, in their order. */
  readonly phases: readonly PhaseBytes[];
  /** The disks and network file systems that the job works on. File systems in memory are left out. */
  readonly disks: readonly DiskProgress[];
  /** Undefined for a job on other machines. */
  readonly memory:
    | {
        /** Of the whole process, as the system counts it. */
        readonly residentBytes: number;
        /** What the job plans with: `memoryBytes` or its default. Undefined for a job that plans with none. */
        readonly budgetBytes: number | undefined;
      }
    | undefined;
  /** The tasks of this phase that Slurm has, and in its words why some wait. Undefined for a job on this machine. */
  readonly tasks?:
    | { readonly running: number; readonly waiting: number; readonly reasons: readonly string[] }
    | undefined;
}

/** Which member of aligned files is being shuffled, and where its bytes lie among those of all members, from 0 to 1. */
export interface MemberProgress {
  readonly number: number;
  readonly of: number;
  readonly startShare: number;
  readonly endShare: number;
}

/** What a job, or its member, has done on a disk since it started. Written bytes may still be in the page cache. */
export interface DiskProgress {
  /** As the system calls it: `nvme0n1`, `server:/export`. A name may hold any characters. */
  readonly name: string;
  readonly bytesRead: number;
  readonly bytesWritten: number;
  /** Large reads and writes at this moment. */
  readonly callsUnderWay: number;
  /** The most at one time: by the class of the disk, or by `ioLimits`. A job on one thread has no limit. */
  readonly callLimit: number;
}

export interface InputWeight {
  /**
   * A path, or a glob pattern. As in .gitignore: a pattern with a slash is compared with the paths of inputs, as given
   * or found; a pattern without a slash is compared with each name in these paths. A directory stands for all files
   * below it.
   */
  readonly glob: string;
  /** A decimal number from 0 to 1,000,000, taken as it is written. */
  readonly factor: number | string;
}

/**
 * Groups of inputs, with weights or with shares of the output; examples/mix.schema.json describes the same. For shares,
 * the inputs are read twice: they are counted first.
 */
export interface Mix {
  /** Of several groups whose `inputs` name an input, the last one has it. */
  readonly groups: readonly MixGroup[];
  /** What the shares are shares of: `records`, `bytes`, or the sum of a field of JSON records, as in `.n_tokens`. */
  readonly unit?: string | undefined;
  /** About how much the output has, in the unit. Default: as many as the shares and `max_epochs` allow. */
  readonly total?: number | undefined;
  /** How often each record of a group comes, at most. Default 1. */
  readonly max_epochs?: number | string | undefined;
}

/** A group has a weight or a share, as all groups of its mix. */
export interface MixGroup {
  readonly name: string;
  /** Paths or glob patterns, as in `InputWeight`. */
  readonly inputs: string | readonly string[];
  /** As the factor of an `InputWeight`. */
  readonly weight?: number | string | undefined;
  /** In relation to the shares of the other groups, more than 0. */
  readonly share?: number | string | undefined;
  /** For this group, instead of the `max_epochs` of the mix. */
  readonly max_epochs?: number | string | undefined;
}

/** What a job read and wrote of the inputs of one weight or group. */
export interface GroupReport {
  /** The glob, or the name in the mix. Undefined: the inputs that are in no group. */
  readonly name: string | undefined;
  /** How often each record comes. */
  readonly factor: number;
  readonly inputCount: number;
  readonly read: { readonly records: number; readonly bytes: number };
  /** The factor times what was read. */
  readonly expected: { readonly records: number; readonly bytes: number };
  /** In the output; with `headCount` or `repeat`, what the output was taken from. */
  readonly weighed: { readonly records: number; readonly bytes: number };
  /** How often its records came on average: those of `weighed`, divided by those of `read`. */
  readonly epochs: number;
  /**
   * `read`, `expected` and `weighed` in the unit of a mix with shares, such as the sum of a field, if that was counted.
   */
  readonly unit:
    | { readonly name: string; readonly read: number; readonly expected: number; readonly weighed: number }
    | undefined;
}

/**
 * How the output is compressed: as a sequence of gzip members or zstd frames of a few MiB. Levels are 1 to 9 for gzip
 * (default 6) and 1 to 22 for zstd (default 3).
 */
export type OutputCompression = 'none' | { readonly codec: 'gzip' | 'zstd'; readonly level?: number | undefined };

/** Another number of shards for each split, by its name. A split without a number has one shard. */
export interface SplitShards {
  readonly by: 'count';
  readonly shardCount: Readonly<Record<string, number>>;
}

/** Only `inputs` is required. */
export interface ShuffleOptions {
  /**
   * Files, directories, glob patterns, or `-` for standard input. `{ records }` is an input in memory: each record gets
   * the delimiter after it, as in a file. A directory means all regular files below it, except hidden ones and those
   * that pileshuf made beside data. Files of a directory or pattern are sorted by the bytes of their paths. `{ path }`
   * is never a pattern. With the default `inputIds`, the output depends on the order of the inputs.
   */
  readonly inputs: readonly NamedInput[];
  /**
   * Takes hidden names of directories, too: those that begin with a dot, and those that programs give to what they keep
   * beside data, such as `_SUCCESS` (docs/FORMATS.md). Default false.
   */
  readonly hidden?: boolean | undefined;
  /**
   * Takes those files of directories that one of these globs matches. A glob without a slash is compared with the name,
   * others with the path below the directory. Default: all files, which must be of one kind (docs/FORMATS.md).
   */
  readonly include?: readonly string[] | undefined;
  /** Leaves out the files and directories below directories that one of these globs matches. Default: none. */
  readonly exclude?: readonly string[] | undefined;
  /**
   * The ids of the inputs; no two may be equal. The order of the records depends on the seed and these ids. `ordinal`:
   * the place in the list. `path`: the path as given or found. `name`: the last part of the path. An array: the id of
   * each, in order. With any rule but `ordinal`, the order of the inputs does not matter. Default `ordinal`.
   */
  readonly inputIds?: InputIdRule | undefined;
  /**
   * What decides the key of a record, beside the seed and the input. `position`: the place of its first byte.
   * `ordinal`: its number in its input. With `ordinal`, files with equal numbers of records get the same order; large
   * files may be read once more, to count their records. Default `position`.
   */
  readonly keys?: KeyRule | undefined;
  /** A file, or a directory if `shards` is given. Default `-`, which means standard output. */
  readonly output?: string | undefined;
  /**
   * How often the records of an input come. 2.5: each record twice, and a random half of them a third time. 0.1: a
   * random tenth. 0: not at all; the input is not even read. Of several globs that name an input, the last one counts.
   * Default: each record once.
   */
  readonly weights?: readonly InputWeight[] | undefined;
  /** Weights of groups of inputs, or their shares of the output. Cannot be combined with `weights`. Default: none. */
  readonly mix?: Mix | undefined;
  /** The output has only this many records: the first records of the order. Default: all. */
  readonly headCount?: number | undefined;
  /**
   * Draws each record of the output from all records, with replacement: `headCount` records, at most 2^32. Without it,
   * the output has no end: it must be a stream, which ends when its reader leaves or `signal` fires. Default false.
   */
  readonly repeat?: boolean | undefined;
  /**
   * Keeps one of equal records. Records are equal if all of their bytes are, delimiters included. The order then
   * depends only on the seed and the different records, not on the inputs that hold them (docs/CHOOSING-RECORDS.md).
   * `headCount` and `repeat` apply to the kept records. Cannot be combined with `inputIds` or samples of tar files.
   * Default false.
   */
  readonly unique?: boolean | undefined;
  /**
   * Keeps the first of the records with equal values, in the order of the inputs. Selects and compares values as
   * `splitBy` does. The order depends on the seed and the values. Cannot be combined with `unique`, `inputIds` or
   * `splitBy`. Default: none.
   */
  readonly uniqueBy?: string | undefined;
  /**
   * Cuts the order into splits: disjoint parts of the records, such as `train` and `validation`. Each has shards of its
   * own, `NAME-00007-of-00128.EXT`, all in the directory `output`. Default: one part.
   */
  readonly splits?: readonly SplitRule[] | undefined;
  /**
   * Keeps records with equal values in one split, such as all documents of one site. The text selects the value: a
   * field of a JSON object (`.metadata.site`), a column (`csv:site`, `csv:3`, `tsv:site`), the key of a sample in a tar
   * file or a part of it (`key`, `key:/^(p\d+)/`), or the first group of an expression (`/^(\w+)\t/`). Only with
   * shares. Default: each record for itself.
   */
  readonly splitBy?: string | undefined;
  /** The value of records in which `splitBy` or `uniqueBy` finds none. Default: an error, ERR_FIELD_MISSING. */
  readonly missing?: string | undefined;
  /** Cuts the output into several files. Default: one output, or one shard for each of `splits`. */
  readonly shards?: ShardRule | SplitShards | undefined;
  /**
   * How the output is compressed. Default for one output: by its name (`.gz`, `.gzip`, `.zst`, `.zstd`). Default for
   * shards: `none`. The seed fixes the decompressed bytes of the output, not the compressed bytes.
   */
  readonly compress?: OutputCompression | undefined;
  /** First part of each shard's name, without `/`. Default `shard`. */
  readonly shardPrefix?: string | undefined;
  /** Any well-formed string. Default: drawn at random; the report has it. */
  readonly seed?: string | undefined;
  /**
   * Bytes of memory for pile buffers, piles and sort entries. Default: half of the available memory. If the machine has
   * less memory, pileshuf warns and uses the memory of the machine.
   */
  readonly memoryBytes?: number | undefined;
  /**
   * Existing directories for temp data. Default: `jobDir` if it is given, else `$TMPDIR`, else the directory of the
   * output, or /var/tmp for a stream.
   */
  readonly tempDirs?: readonly string[] | undefined;
  /**
   * Compresses temp data, which saves time if the temp disks are slow (docs/SCALE.md). Levels are 1 to 22, default 1.
   * The output does not depend on it. You may change it when you resume a job. Default: no compression.
   */
  readonly tempCompress?: { readonly codec: 'zstd'; readonly level?: number | undefined } | undefined;
  /** Worker threads, 1 to 1024. Default: the number of CPUs that this process may use. */
  readonly workers?: number | undefined;
  /** For a path, the most concurrent I/O calls on its device, 1 to 65,536. Default: by the kind of the device. */
  readonly ioLimits?: Readonly<Record<string, number>> | undefined;
  /**
   * What a record is. Default: each line is a record, and an input that is clearly of another format is an error,
   * ERR_INPUT_FORMAT. With `{ by: 'lines' }` every input is shuffled line by line.
   */
  readonly records?: RecordKind | undefined;
  /** Records end with a NUL byte instead of a newline. Cannot be combined with `records`. Default false. */
  readonly zeroTerminated?: boolean | undefined;
  /** Leaves out records that are empty or white space (ASCII). The report counts them. Default false. */
  readonly skipBlank?: boolean | undefined;
  /** The header of each input. Default: none, but records of `npy` and `webdataset` have headers of their own. */
  readonly header?: HeaderKind | undefined;
  /**
   * A program and its arguments to decompress every input. pileshuf starts it without a shell, writes the input to its
   * standard input, and reads the records from its standard output. `none`: no input is decoded, whatever it begins
   * with. Default: pileshuf recognises compressed inputs by their first bytes. It decodes gzip and zstd itself, and
   * starts the programs bzip2, xz and lz4 for their formats.
   */
  readonly decompressProgram?: readonly string[] | 'none' | undefined;
  /** Whether igzip, if on PATH, decodes large gzip files: in a third of the time, to the same bytes. Default true. */
  readonly igzip?: boolean | undefined;
  /** Longest accepted record, in bytes with its delimiter, at most 2,080,374,784. Default 1 GiB. */
  readonly maxRecordBytes?: number | undefined;
  /** Replaces existing outputs. Without `resume`, also discards an unfinished job of this output. Default false. */
  readonly force?: boolean | undefined;
  /**
   * Resumes the unfinished job of this output. If there is none, starts a job that can be resumed. The output must be a
   * file or a directory, and every input a file. A job that is expected to use 32 GiB of temp space or more can be
   * resumed even without this option. Default false.
   */
  readonly resume?: boolean | undefined;
  /**
   * Directory with everything needed to resume the job; its parent must exist. The job can then be resumed, as with
   * `resume`. Default: a name derived from the output, in the first of the temp directories.
   */
  readonly jobDir?: string | undefined;
  /** Keeps the job directory and temp data after success. The output must be a file or a directory. Default false. */
  readonly keepTemp?: boolean | undefined;
  /** Stops the job, which then throws an AbortError. */
  readonly signal?: AbortSignal | undefined;
  /** Called about five times a second. If it throws, the job stops and throws the same. */
  readonly onProgress?: ((progress: ShuffleProgress) => void) | undefined;
  /** Called with each warning, which is one line. */
  readonly onWarning?: ((line: string) => void) | undefined;
  /** Called when the job has succeeded. Without it, the job does not measure its phases. */
  readonly onProfile?: ((profile: JobProfile) => void) | undefined;
  /**
   * Reports on the job when it has succeeded (docs/CHECKING.md). A path names a new file of JSON. An object such as
   * `{ file: 'x.html', textOf: reportPage }` writes a page. A function is called with the same data. If the report
   * fails, a warning says so, and the output stays. Default: no report.
   */
  readonly report?: string | ReportFile | ((report: JobReport) => void) | undefined;
}

/** The data of a report; examples/report.schema.json describes the same. */
export interface JobReport extends ReportFacts {
  /** What `shuffle` returns. */
  readonly result: ShuffleReport;
  /** What `onProfile` tells. */
  readonly profile: JobProfile;
}

/** Where a report goes, and what it says of the call. */
export interface ReportFile {
  readonly file: string;
  /** The command that repeats the job, with this seed. */
  readonly commandOf?: ((seed: string) => string) | undefined;
  /** Makes the text of the file, such as `reportPage`. Default: JSON, in a file whose name ends in `.json`. */
  readonly textOf?: ((report: JobReport) => string | Promise<string>) | undefined;
}

/** What a shuffle read and wrote. */
export interface ShuffleReport {
  /** Number of records of the output. */
  readonly records: number;
  /** Bytes of all records of the output, before compression, without headers and trailers. */
  readonly bytes: number;
  /** The seed of the job, given or drawn. */
  readonly seed: string;
  /**
   * Multiset checksum of the output: the sum modulo 2^64 of the hashes (docs/ORDER.md) of all records with their
   * delimiters, as 16 hex digits. It does not depend on the order of the records.
   */
  readonly checksum: string;
  /** Elapsed time. `total` includes preparation and cleanup. */
  readonly seconds: {
    readonly total: number;
    readonly pass1: number;
    readonly pass2: number;
    readonly commit: number;
  };
  readonly inputCount: number;
  /** What `headCount` left out. Undefined without it, and if an earlier attempt had written all of the output. */
  readonly leftOut: { readonly records: number; readonly bytes: number } | undefined;
  /** What `skipBlank` left out. Undefined without it, and if an earlier attempt had written all of the output. */
  readonly blank: { readonly records: number; readonly bytes: number } | undefined;
  /**
   * What was read and written of each weight or group, and of the inputs without one. Undefined without `weights` and
   * `mix`, and if an earlier attempt had written all of the output.
   */
  readonly groups: readonly GroupReport[] | undefined;
  /** What `unique` or `uniqueBy` dropped. Undefined without them, and if an earlier attempt had written all output. */
  readonly duplicates: { readonly records: number; readonly bytes: number } | undefined;
  readonly workers: number;
  readonly piles: number;
  /** Bytes written to the temp directories; 0 if all piles stayed in memory. */
  readonly tempBytes: number;
  /**
   * The libraries and programs that decoded compressed inputs, such as `igzip` and `node:zlib`, each with the number of
   * inputs, or of parts of large inputs. Work of an earlier attempt is left out.
   */
  readonly decoders: Readonly<Record<string, number>>;
  /** Paths of the shards in order; empty if the output is one file or a stream. */
  readonly shards: readonly string[];
  /** How many of them have no record: readers may fail at these. Undefined: none. */
  readonly emptyShards?: number | undefined;
  /** The splits in order. Undefined without `splits`. */
  readonly splits: readonly SplitReport[] | undefined;
  /** The work of an earlier attempt that the job reused; undefined if the job started anew. */
  readonly resumed:
    | {
        /** Number of slices that pass 1 did not read again. */
        readonly pileSets: number;
        /** Bytes of records that pass 2 did not write again. */
        readonly outputBytes: number;
      }
    | undefined;
}

export interface SplitReport {
  readonly name: string;
  readonly records: number;
  /** Bytes of its records, as in `ShuffleReport`. */
  readonly bytes: number;
  readonly checksum: string;
  /** Paths of its shards in order. */
  readonly shards: readonly string[];
  /** How many of them have no record. Undefined: none. */
  readonly emptyShards?: number | undefined;
}

/** Seconds of all threads together in one pass. `idle` is workers times elapsed time, minus all phases. */
export type PassSeconds = PhaseSeconds & { readonly idle: number };

export interface JobProfile {
  readonly workers: number;
  readonly records: number;
  readonly bytes: number;
  /** As in `ShuffleReport`. */
  readonly decoders: Readonly<Record<string, number>>;
  /** Elapsed time. */
  readonly seconds: {
    /** From the start of the process to the start of the job: loading Node and the modules of the command. */
    readonly start: number;
    /** Until pass 1 starts: inputs, plan, directories, threads. */
    readonly prepare: number;
    readonly pass1: number;
    readonly between: number;
    readonly pass2: number;
    readonly commit: number;
    /** Removing temp data, and releasing threads and locks. */
    readonly release: number;
  };
  readonly pass1: PassSeconds;
  readonly pass2: PassSeconds;
  /** In the order in which they ended. */
  readonly tasks: readonly {
    readonly kind:
      | 'count'
      | 'count-records'
      | 'find-records'
      | 'load'
      | 'measure'
      | 'measure-distinct'
      | 'measure-parts'
      | 'note'
      | 'order-piles'
      | 'read-back'
      | 'sample-windows'
      | 'scatter'
      | 'tally-records'
      | 'verify'
      | 'write'
      | 'write-draws'
      | 'write-numbers';
    /** 0 is the calling thread. */
    readonly thread: number;
    /** Seconds from the start of the job to the start of the task. */
    readonly beganSeconds: number;
    readonly seconds: PhaseSeconds;
  }[];
}

export type TalkOptions = Pick<ShuffleOptions, 'signal' | 'onProgress' | 'onWarning'>;
export type MachineOptions = Pick<ShuffleOptions, 'memoryBytes' | 'workers' | 'ioLimits'>;
type DecodingOptions = Pick<ShuffleOptions, 'decompressProgram' | 'igzip'>;
type FormatOptions = Pick<ShuffleOptions, 'records' | 'zeroTerminated' | 'header' | 'maxRecordBytes'>;
/** How records are read, and what the call may use. */
export type ReadOptions = FormatOptions & DecodingOptions & MachineOptions & TalkOptions;
export type FileChoiceOptions = Pick<ShuffleOptions, 'hidden' | 'include' | 'exclude'>;
export type InputOptions = Pick<ShuffleOptions, 'inputs' | 'skipBlank'> &
  FileChoiceOptions &
  FormatOptions &
  DecodingOptions;
export type OutputOptions = Pick<
  ShuffleOptions,
  'output' | 'headCount' | 'splits' | 'shards' | 'compress' | 'shardPrefix' | 'force' | 'tempDirs' | 'tempCompress'
>;

export interface ShuffleTogetherOptions
  extends ReadOptions,
    Pick<ShuffleOptions, 'headCount' | 'splits' | 'seed' | 'tempDirs' | 'tempCompress'> {
  /**
   * Tuples of files, all of the same length: `[['a_R1.fq', 'a_R2.fq'], ['b_R1.fq', 'b_R2.fq']]`. All files of a tuple
   * have the same number of records, and record i of each belongs together. The files at one place of all tuples are a
   * member of the output, named like the first of them. `.npy`, `.tfrecord` and `.tar` files have the records that
   * their names say, and FASTQ four lines each unless `records` says otherwise.
   */
  readonly together: readonly (readonly string[])[];
  /** A directory that is new or empty. All members appear in it at once. */
  readonly output: string;
  /** By count or by records. Default: one file for each member, or one shard for each of `splits`. */
  readonly shards?: ShuffleOptions['shards'];
  /** Default for one file: by its name. Default for shards and splits: `none`. */
  readonly compress?: OutputCompression | undefined;
  /** Discards an unfinished job of this output. It never replaces a directory that holds something. Default false. */
  readonly force?: boolean | undefined;
  /** Resumes the unfinished job of this output. If there is none, starts a job that can be resumed. Default false. */
  readonly resume?: boolean | undefined;
}

export interface MemberReport extends Pick<ShuffleReport, 'bytes' | 'checksum'> {
  readonly name: string;
  /** Paths of its shards in order, or of its one file. */
  readonly files: readonly string[];
  /** How many of its shards have no record. Undefined: none. */
  readonly emptyShards?: number | undefined;
  /** What the member has of each split, if there are splits. `files` lists these shards, too. */
  readonly splits?: readonly SplitReport[] | undefined;
}

export interface ShuffleTogetherReport extends Pick<ShuffleReport, 'records' | 'seed'> {
  readonly members: readonly MemberReport[];
  /** Members that an earlier attempt had shuffled. */
  readonly resumedMembers: number;
  /** Elapsed time. */
  readonly seconds: { readonly total: number };
}

export interface AppendOptions extends Omit<InputOptions, 'header'>, MachineOptions, TalkOptions {
  /** As in `ShuffleOptions`, except for the default: `path`. The ids must be unique in the store. */
  readonly inputIds?: InputIdRule | undefined;
  /** The generation that the inputs belong to: 1 to 200 printable characters. Default: today's date in UTC. */
  readonly generation?: string | undefined;
  /**
   * Replaces the former commits of these inputs; the inputs must include all inputs of such a commit. Otherwise an
   * input id that the store already has is an error, ERR_INPUT_ID_TAKEN. Default false.
   */
  readonly replace?: boolean | undefined;
  /** The seed of the store. An existing store must have the same. Default: a new store draws one at random. */
  readonly seed?: string | undefined;
  /** Number of piles of the store, 1 to 65,536. An existing store must have the same. Default: by `expectedBytes`. */
  readonly piles?: number | undefined;
  /** Bytes of records that you expect a new store to hold at most. Default: four times these inputs. */
  readonly expectedBytes?: number | undefined;
}

export interface AppendReport extends Pick<ShuffleReport, 'records' | 'bytes' | 'checksum' | 'inputCount' | 'blank'> {
  readonly seed: string;
  readonly piles: number;
  readonly generation: string;
  /** Number of the store's first state with these records. */
  readonly state: number;
  /** Bytes of the new data files. */
  readonly storedBytes: number;
  readonly workers: number;
  readonly seconds: Pick<ShuffleReport['seconds'], 'total' | 'pass1' | 'commit'>;
}

export interface ShuffleStoreOptions
  extends OutputOptions,
    MachineOptions,
    TalkOptions,
    Pick<ShuffleOptions, 'onProfile'> {}

export interface IndexOptions extends FormatOptions, MachineOptions, TalkOptions {
  /** Path of the index. Default: `FILE.pileshuf-index`, beside the file. */
  readonly index?: string | undefined;
}

export interface IndexReport {
  readonly records: number;
  readonly index: string;
  readonly indexBytes: number;
  /** Elapsed time. */
  readonly seconds: number;
}
