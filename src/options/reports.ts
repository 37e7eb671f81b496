/** The facts that a caller is told of a job when it has succeeded. */
import type { PhaseSeconds } from '../floor/phase-clock.js';
import type { ReportFacts } from './report-facts.js';

/** The amounts that a job read and wrote of the inputs of one weight or group. */
export interface GroupReport {
  /** The glob, or the name in the mix. Undefined: the inputs that are in no group. */
  readonly name: string | undefined;
  /** How often each record comes. */
  readonly factor: number;
  readonly inputCount: number;
  readonly read: { readonly records: number; readonly bytes: number };
  /** The factor times what was read. */
  readonly expected: { readonly records: number; readonly bytes: number };
  /** The amount in the output; with `headCount` or `repeat`, that from which the output was taken. */
  readonly weighed: { readonly records: number; readonly bytes: number };
  /** How often its records came on average: those of `weighed`, divided by those of `read`. */
  readonly epochs: number;
  /**
   * `read`, `expected` and `weighed` in the unit of a mix with shares, such as the sum of a field, if that was counted.
   * Numbers of `weightBy` multiply what is `read`.
   */
  readonly unit:
    | { readonly name: string; readonly read: number; readonly expected: number; readonly weighed: number }
    | undefined;
  /** `read` and `weighed` as exact sums, in decimal. Undefined without `sum`. */
  readonly sum?: { readonly read: string; readonly weighed: string } | undefined;
}

/** The data of a report; examples/report.schema.json describes the same. */
export interface JobReport extends ReportFacts {
  /** The result of `shuffle`. */
  readonly result: ShuffleReport;
  /** The profile as `onProfile` tells it. */
  readonly profile: JobProfile;
}

/** The place of a report, and what it says of the call. */
export interface ReportFile {
  readonly file: string;
  /** The command that repeats the job, with this seed. */
  readonly commandOf?: ((seed: string) => string) | undefined;
  /** Makes the text of the file, such as `reportPage`. Default: JSON, in a file whose name ends in `.json`. */
  readonly textOf?: ((report: JobReport) => string | Promise<string>) | undefined;
}

/** The amounts that a shuffle read and wrote. */
export interface ShuffleReport {
  /**
   * True if an earlier call had finished the job, so that this one, with `resume`, did nothing. Undefined: it did not.
   */
  readonly wasFinished?: true | undefined;
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
  /** The exact sum that `sum` asks for, in decimal, over all records of the output, copies included. Undefined without it. */
  readonly sum?: { readonly of: string; readonly total: string } | undefined;
  /** The path or address of the output. Null: standard output. */
  readonly output: string | null;
  /** The most memory that the process had, in RAM, since it started. */
  readonly peakMemoryBytes: number;
  /** Elapsed time. `total` includes preparation and cleanup. */
  readonly seconds: {
    readonly total: number;
    readonly pass1: number;
    readonly pass2: number;
    readonly commit: number;
  };
  readonly inputCount: number;
  /**
   * The records that `headCount` left out. Undefined without it, and if an earlier attempt had written all of the
   * output.
   */
  readonly leftOut: { readonly records: number; readonly bytes: number } | undefined;
  /**
   * The records that `skipBlank` left out. Undefined without it, and if an earlier attempt had written all of the
   * output.
   */
  readonly blank: { readonly records: number; readonly bytes: number } | undefined;
  /**
   * The amounts read and written of each weight or group, and of the inputs without one. Undefined without `weights`
   * and `mix`, and if an earlier attempt had written all of the output.
   */
  readonly groups: readonly GroupReport[] | undefined;
  /**
   * The records that `unique` or `uniqueBy` dropped. Undefined without them, and if an earlier attempt had written all
   * output.
   */
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
  /** The sections, by the names of their directories. Absent without `each`. */
  readonly sections?: readonly SplitReport[] | undefined;
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
  /** Its part of the sum, in decimal. Undefined without `sum`. */
  readonly sum?: string | undefined;
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
  /** Equals the field of `ShuffleReport`. */
  readonly decoders: Readonly<Record<string, number>>;
  /** Elapsed time. */
  readonly seconds: {
    /** The time from the start of the process to the start of the job: loading Node and the modules of the command. */
    readonly start: number;
    /** The time until pass 1 starts: inputs, plan, directories, threads. */
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
  /** The tasks in the order in which they ended. */
  readonly tasks: readonly {
    readonly kind:
      | 'count'
      | 'count-records'
      | 'digest'
      | 'find-records'
      | 'load'
      | 'measure'
      | 'measure-distinct'
      | 'note'
      | 'order-piles'
      | 'read-back'
      | 'sample-windows'
      | 'scatter'
      | 'scatter-piles'
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

export interface MemberReport extends Pick<ShuffleReport, 'bytes' | 'checksum'> {
  readonly name: string;
  /** Paths of its shards in order, or of its one file. */
  readonly files: readonly string[];
  /** How many of its shards have no record. Undefined: none. */
  readonly emptyShards?: number | undefined;
  /** The part of the member in each split, if there are splits. `files` lists these shards, too. */
  readonly splits?: readonly SplitReport[] | undefined;
}

export interface ShuffleTogetherReport extends Pick<ShuffleReport, 'records' | 'seed'> {
  readonly members: readonly MemberReport[];
  /** True as in `ShuffleReport`. */
  readonly wasFinished?: true | undefined;
  /** Members that an earlier attempt had shuffled. */
  readonly resumedMembers: number;
  /** Elapsed time. */
  readonly seconds: { readonly total: number };
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

export interface IndexReport {
  readonly records: number;
  readonly index: string;
  readonly indexBytes: number;
  /** Elapsed time. */
  readonly seconds: number;
}
