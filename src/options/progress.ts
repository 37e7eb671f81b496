/** The facts that a caller is told while a job runs. */

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
        /** The memory of the whole process, as the system counts it. */
        readonly residentBytes: number;
        /**
         * The memory that the job plans with: `memoryBytes` or its default. Undefined for a job that plans with none.
         */
        readonly budgetBytes: number | undefined;
      }
    | undefined;
  /** The tasks of this phase that Slurm has, and in its words why some wait. Undefined for a job on this machine. */
  readonly tasks?:
    | { readonly running: number; readonly waiting: number; readonly reasons: readonly string[] }
    | undefined;
}

/**
 * The member of aligned files that is being shuffled, and where its bytes lie among those of all members, from 0 to 1.
 */
export interface MemberProgress {
  readonly number: number;
  readonly of: number;
  readonly startShare: number;
  readonly endShare: number;
}

/** The traffic of a job, or its member, on a disk since it started. Written bytes may still be in the page cache. */
export interface DiskProgress {
  /** The name that the system has for it: `nvme0n1`, `server:/export`. A name may hold any characters. */
  readonly name: string;
  readonly bytesRead: number;
  readonly bytesWritten: number;
  /** Large reads and writes at this moment. */
  readonly callsUnderWay: number;
  /** The most at one time: by the class of the disk, or by `ioLimits`. A job on one thread has no limit. */
  readonly callLimit: number;
}
