/**
 * Every error that pileshuf raises on purpose. A message is one line: what failed, where (file and position), what was
 * expected, what to do. `kind` decides the exit code of the command; `code` is stable, for programs.
 *
 * Structured cloning drops the class and fields: an error of a worker thread travels as the data of `encodeError`.
 */

/** The classes of errors that the exit codes tell apart. */
export type ErrorKind =
  /** The machine or its disks. Exit code 1. */
  | 'failed'
  /** The options or the arguments. Exit code 2. */
  | 'usage'
  /** The inputs. Exit code 3. */
  | 'input'
  /** The written records differ from the read ones. Exit code 4. */
  | 'verification'
  /** The AbortSignal of the caller stopped the job. The command ends with 129, 130 or 143. */
  | 'aborted'
  /** The reader of the output closed it. Exit code 141. */
  | 'closed-pipe';

type UsageCode =
  /** An option or an argument is wrong, or two of them contradict each other. */
  | 'ERR_OPTION'
  /** The output exists, or the report or the index. */
  | 'ERR_OUTPUT_EXISTS'
  /** The output cannot lie there: it is an input, a directory, a file of a store, or not on the right file system. */
  | 'ERR_OUTPUT_PLACE'
  /** The unfinished job began with other options or inputs. */
  | 'ERR_JOB_DIFFERS'
  /** Another job of the same output is at work, or cannot be seen from here. */
  | 'ERR_JOB_LOCKED'
  /** An unfinished job of this output can be resumed. Give `resume`, or `force` to discard it. */
  | 'ERR_JOB_UNFINISHED'
  /** Another version of pileshuf began the unfinished job. */
  | 'ERR_JOB_VERSION'
  /** The directory is not a pile store, or what is asked of it is no longer there. */
  | 'ERR_STORE'
  /** The store has another seed, id or number of piles. */
  | 'ERR_STORE_DIFFERS'
  /** Another version of pileshuf wrote the store. */
  | 'ERR_STORE_VERSION'
  /** The store has an input of this id, or the call gives it twice. */
  | 'ERR_INPUT_ID_TAKEN'
  /** Another version of pileshuf wrote the record index. */
  | 'ERR_INDEX_VERSION'
  /** The memory is too little for what is asked. */
  | 'ERR_MEMORY_BUDGET'
  /** A temp directory is missing. */
  | 'ERR_TEMP_DIR';
type InputCode =
  /** The inputs have no record to repeat, or no header. */
  | 'ERR_INPUT_EMPTY'
  /** An input does not exist, or a pattern matches none. */
  | 'ERR_INPUT_MISSING'
  /** An input may not be read, is not a file, or a disk cannot read it. */
  | 'ERR_INPUT_UNREADABLE'
  /** An input is damaged or cut off. */
  | 'ERR_INPUT_CORRUPT'
  /** An input is of another format than the call says. */
  | 'ERR_INPUT_FORMAT'
  /** An input changed during the job, or since its index was made. */
  | 'ERR_INPUT_CHANGED'
  /** Aligned files have different numbers of records. */
  | 'ERR_COUNTS_DIFFER'
  /** Aligned files have reads of other names. */
  | 'ERR_NAMES_DIFFER'
  /** Two samples of tar files have the same key. */
  | 'ERR_SAMPLE_KEY_REPEATED'
  /** A record is longer than `maxRecordBytes`, or than the memory allows. */
  | 'ERR_RECORD_TOO_LONG'
  /** A bundle of records has more bytes than a shard, or than the memory allows. */
  | 'ERR_BUNDLE_TOO_LARGE'
  /** There are fewer records than the splits ask for. */
  | 'ERR_TOO_FEW_RECORDS'
  /** A record lacks the value that the call selects. */
  | 'ERR_FIELD_MISSING'
  /** Too many different records have the same hash. Somebody has made them for that. */
  | 'ERR_RECORDS_COLLIDE'
  /** The values of `each` are too many, or cannot be names of directories. */
  | 'ERR_VALUES_UNFIT';
type SystemCode =
  /** A disk is full, or too small for the job. */
  | 'ERR_NO_SPACE'
  /** A temp directory is unusable. */
  | 'ERR_TEMP_DIR'
  /** A call on a file failed. */
  | 'ERR_IO'
  /** The system gave no more memory. */
  | 'ERR_OUT_OF_MEMORY'
  /** A thread could not start, or died. */
  | 'ERR_WORKER'
  /** Tasks on other machines must end first. */
  | 'ERR_NOT_READY'
  /** Slurm refused, or tasks failed there. */
  | 'ERR_SLURM';

export type ErrorCode =
  | UsageCode
  | InputCode
  | SystemCode
  /** Bytes that were written differ from those that were read, or data on disk is damaged. */
  | 'ERR_VERIFICATION'
  /** The AbortSignal of the caller stopped the job. */
  | 'ABORT_ERR'
  /** The reader of the output closed it. */
  | 'ERR_CLOSED_PIPE';

/** A job that ended early and can be resumed. */
export interface UnfinishedJob {
  /** The job directory, with everything needed to resume. */
  readonly directory: string;
}

interface ErrorDetails {
  readonly cause?: unknown;
  readonly pileSetName?: string | undefined;
}

/** Base of all errors raised on purpose; `message` is one line meant for a person. */
export class PileshufError extends Error {
  readonly kind: ErrorKind;
  readonly code: ErrorCode;
  /** Defined: finished work is kept, and the same call with `resume` continues from there. */
  readonly unfinishedJob: UnfinishedJob | undefined = undefined;
  /** Failures of the cleanup after this error, in their order. */
  readonly cleanupErrors: readonly unknown[] = [];
  /** The pile set whose files are damaged or unreadable, if there is one: a resumed job makes it again. */
  readonly pileSetName: string | undefined;

  constructor(kind: ErrorKind, code: ErrorCode, message: string, options?: ErrorDetails) {
    super(message, options);
    this.name = new.target.name;
    this.kind = kind;
    this.code = code;
    this.pileSetName = options?.pileSetName;
  }
}

export function setUnfinishedJob(error: PileshufError, unfinishedJob: UnfinishedJob): void {
  const writable: { unfinishedJob: UnfinishedJob | undefined } = error;
  writable.unfinishedJob = unfinishedJob;
}

/** Adds errors of a cleanup, so that they are reported and do not hide the error before them. */
export function addCleanupErrors(error: PileshufError, cleanupErrors: readonly unknown[]): void {
  const writable: { cleanupErrors: readonly unknown[] } = error;
  writable.cleanupErrors = [...error.cleanupErrors, ...cleanupErrors];
}

/** The call itself is wrong: an option, or a pair of paths that contradict each other. */
export class UsageError extends PileshufError {
  constructor(message: string, code: UsageCode = 'ERR_OPTION') {
    super('usage', code, message);
  }
}

/** @param option as the message names it: an option in backquotes. */
export function requireWhole(option: string, value: number, least: number, most = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw new UsageError(`${option} is ${inDigits(value)}; expected a whole number from ${least} to ${most}`);
}

/** `1 byte`, `2 bytes`. */
export function counted(count: number | bigint, noun: string): string {
  return `${count} ${noun}${Number(count) === 1 ? '' : 's'}`;
}

/** All digits of a whole number: from 2^53 on, `String` rounds. */
export function inDigits(value: number): string {
  return Number.isInteger(value) ? String(BigInt(value)) : String(value);
}

/** An input is missing, unreadable, corrupt or not as the options say, or it changed during the job. */
export class InputError extends PileshufError {
  constructor(code: InputCode, message: string, options?: { cause?: unknown }) {
    super('input', code, message, options);
  }
}

/** A record fits the memory, but not beside what others hold of it. */
export class RecordOverMemoryError extends InputError {
  constructor(message: string) {
    super('ERR_RECORD_TOO_LONG', message);
  }
}

/** The window of a decoder fits the memory, but not beside what others hold of it. */
export class WindowOverMemoryError extends UsageError {
  constructor(message: string) {
    super(message, 'ERR_MEMORY_BUDGET');
  }
}

/** @param problem begins with the place. */
export function corruptInputError(path: string, problem: string, options?: { cause?: unknown }): InputError {
  return new InputError('ERR_INPUT_CORRUPT', `${path}: ${problem}`, options);
}

/** A disk, a directory, a thread or the operating system refused. */
export class SystemError extends PileshufError {
  constructor(code: SystemCode, message: string, options?: ErrorDetails) {
    super('failed', code, message, options);
  }
}

const VERIFICATION_FAILED = 'verification failed: ';

/** The written records differ from the read ones; no output appears. */
export class VerificationError extends PileshufError {
  constructor(problem: string, options?: ErrorDetails) {
    super('verification', 'ERR_VERIFICATION', `${VERIFICATION_FAILED}${problem}`, options);
  }

  /** The message without its first words. */
  get problem(): string {
    return this.message.slice(VERIFICATION_FAILED.length);
  }
}

/** The advice of messages after `longer than`. */
export const RECORD_LIMIT_ADVICE = '`maxRecordBytes` allows; raise it';

export const START_ANEW_ADVICE = 'give `force` without `resume` to start anew';

/** The staged output of an earlier attempt of the job was changed or removed, and cannot be made again. */
export class StagedOutputError extends VerificationError {
  constructor(problem: string) {
    super(`${problem}; ${START_ANEW_ADVICE}`);
  }
}

/** The same part of the work was done twice, from the same temp data, and came out wrong both times. */
export class WrongTwiceError extends VerificationError {
  constructor(second: VerificationError) {
    const { problem, pileSetName, cleanupErrors } = second;
    super(`twice in a row: ${problem}`, { cause: second, pileSetName });
    addCleanupErrors(this, cleanupErrors);
  }
}

/** Wrong records that a stream has received already: they cannot be made again. */
export class WrongStreamError extends VerificationError {
  constructor(wrong: VerificationError) {
    super(`${wrong.problem}; the output has received a part of them`, { cause: wrong, pileSetName: wrong.pileSetName });
  }
}

const WHEN_STOPPED = {
  none: 'no output was written',
  discarded: 'no output was written; a job started with `resume` keeps its finished work',
  incomplete: 'the output may be incomplete',
  left: 'what can be resumed is kept, and temp files stay',
  garbage: 'a later pileshuf gc deletes the rest',
};

/** The caller's AbortSignal stopped the job. Its name, its code and its cause are those of Node's own AbortError. */
export class AbortError extends PileshufError {
  constructor(reason?: unknown, output: keyof typeof WHEN_STOPPED = 'none') {
    super('aborted', 'ABORT_ERR', `stopped before the end; ${WHEN_STOPPED[output]}`, causedBy(reason));
  }
}

function causedBy(reason: unknown): ErrorDetails {
  return reason === undefined ? {} : { cause: reason };
}

/** Gives the error of a stopped job the reason of the signal: threads see only that they must stop. */
export function setAbortReason(error: unknown, signal: AbortSignal | undefined): void {
  if (!(error instanceof AbortError) || signal?.aborted !== true) return;
  Object.defineProperty(error, 'cause', { value: signal.reason, configurable: true, writable: true });
}

/** The reader of standard output (or of a pipe given as output) closed it. */
export class ClosedPipeError extends PileshufError {
  constructor() {
    super('closed-pipe', 'ERR_CLOSED_PIPE', 'the reader of the output closed it before the end');
  }
}

/** The classes that `kind` does not tell. The names travel, since a bundler may rename classes. */
const subclasses = {
  'record over memory': RecordOverMemoryError,
  'staged output': StagedOutputError,
  'wrong twice': WrongTwiceError,
  'wrong stream': WrongStreamError,
  'window over memory': WindowOverMemoryError,
} as const;

type Subclass = keyof typeof subclasses;

const subclassNames: readonly Subclass[] = [
  'record over memory',
  'staged output',
  'wrong twice',
  'wrong stream',
  'window over memory',
];

/** A `PileshufError` as plain data that survives structured cloning. */
export interface EncodedError {
  /** The subclass. Undefined: the kind alone tells the class. */
  readonly subclass: Subclass | undefined;
  readonly kind: ErrorKind;
  readonly code: ErrorCode;
  readonly message: string;
  readonly stack: string;
  readonly pileSetName: string | undefined;
  readonly cleanupErrors: readonly EncodedError[];
}

/** Turns any thrown value into plain data; anything but a PileshufError becomes ERR_WORKER. */
export function encodeError(thrown: unknown): EncodedError {
  if (thrown instanceof PileshufError) {
    const { kind, code, message, stack = '', pileSetName } = thrown;
    const subclass = subclassNames.find((name) => thrown instanceof subclasses[name]);
    return { subclass, kind, code, message, stack, pileSetName, cleanupErrors: thrown.cleanupErrors.map(encodeError) };
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const stack = thrown instanceof Error ? (thrown.stack ?? '') : '';
  const inTask = `a task failed: ${message}`;
  const details = { subclass: undefined, pileSetName: undefined, cleanupErrors: [] };
  return { kind: 'failed', code: 'ERR_WORKER', message: inTask, stack, ...details };
}

type ErrorClass = { readonly prototype: PileshufError; readonly name: string };

const classOfKind: Record<ErrorKind, ErrorClass> = {
  failed: SystemError,
  usage: UsageError,
  input: InputError,
  verification: VerificationError,
  aborted: AbortError,
  'closed-pipe': ClosedPipeError,
};

/** Gives an instance of the class that was encoded. */
export function decodeError(encoded: EncodedError): PileshufError {
  const { pileSetName } = encoded;
  const error = new PileshufError(encoded.kind, encoded.code, encoded.message, { pileSetName });
  const { prototype, name }: ErrorClass =
    encoded.subclass === undefined ? classOfKind[encoded.kind] : subclasses[encoded.subclass];
  Object.setPrototypeOf(error, prototype);
  error.name = name;
  error.stack = encoded.stack;
  addCleanupErrors(error, encoded.cleanupErrors.map(decodeError));
  return error;
}
