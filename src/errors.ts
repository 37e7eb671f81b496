/**
 * Every error that pileshuf raises on purpose. A message is one line: what failed, where (file and
 * position), what was expected, what to do. The `kind` decides the command's exit code; the `code`
 * is stable and meant for programs.
 *
 * An error raised in a worker thread crosses to the coordinator as the plain data of
 * `encodeError`, because structured cloning drops the class and its fields.
 */

/** What went wrong, in the coarse classes that the exit codes tell apart. */
export type ErrorKind =
  | 'failed' // exit 1: the machine or its disks
  | 'usage' // exit 2: what was asked for
  | 'input' // exit 3: what the inputs hold
  | 'verification' // exit 4: what was written is not what was read
  | 'aborted' // stopped by the caller's AbortSignal
  | 'closed-pipe'; // the reader of the output went away

export type ErrorCode =
  | 'ERR_OPTION'
  | 'ERR_OUTPUT_EXISTS'
  | 'ERR_OUTPUT_PLACE'
  | 'ERR_INPUT_MISSING'
  | 'ERR_INPUT_UNREADABLE'
  | 'ERR_INPUT_CORRUPT'
  | 'ERR_INPUT_CHANGED'
  | 'ERR_RECORD_TOO_LONG'
  | 'ERR_JOB_DIFFERS'
  | 'ERR_JOB_LOCKED'
  | 'ERR_JOB_UNFINISHED'
  | 'ERR_JOB_VERSION'
  | 'ERR_STORE'
  | 'ERR_STORE_DIFFERS'
  | 'ERR_STORE_VERSION'
  | 'ERR_INPUT_ID_TAKEN'
  | 'ERR_INDEX_VERSION'
  | 'ERR_MEMORY_BUDGET'
  | 'ERR_NO_SPACE'
  | 'ERR_TEMP_DIR'
  | 'ERR_IO'
  | 'ERR_OUT_OF_MEMORY'
  | 'ERR_WORKER'
  | 'ERR_VERIFICATION'
  | 'ERR_ABORTED'
  | 'ERR_CLOSED_PIPE';

/** A job that ended before its time and can be gone on with. */
export interface UnfinishedJob {
  /** The job directory, which holds what is needed for that. */
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
  /** Defined: what was done is kept, and the same call with `resume` goes on from there. */
  readonly unfinishedJob: UnfinishedJob | undefined = undefined;
  /** What failed while the job that ended with this error cleaned up, in that order. */
  readonly cleanupErrors: readonly unknown[] = [];
  /** The pile set whose files are damaged or cannot be read, where it is known to be one: it is to be made again. */
  readonly pileSetName: string | undefined;

  constructor(kind: ErrorKind, code: ErrorCode, message: string, options?: ErrorDetails) {
    super(message, options);
    this.name = new.target.name;
    this.kind = kind;
    this.code = code;
    this.pileSetName = options?.pileSetName;
  }
}

/** Says of an error that the job it ended can be gone on with. The job alone knows. */
export function setUnfinishedJob(error: PileshufError, unfinishedJob: UnfinishedJob): void {
  const writable: { unfinishedJob: UnfinishedJob | undefined } = error;
  writable.unfinishedJob = unfinishedJob;
}

/** Adds to an error what failed while cleaning up after it, so that it is told and hides nothing. */
export function addCleanupErrors(error: PileshufError, cleanupErrors: readonly unknown[]): void {
  const writable: { cleanupErrors: readonly unknown[] } = error;
  writable.cleanupErrors = [...error.cleanupErrors, ...cleanupErrors];
}

/** The call itself cannot be carried out: an option, or a pair of paths that contradict each other. */
export class UsageError extends PileshufError {
  constructor(
    message: string,
    code:
      | 'ERR_OPTION'
      | 'ERR_OUTPUT_EXISTS'
      | 'ERR_OUTPUT_PLACE'
      | 'ERR_JOB_DIFFERS'
      | 'ERR_JOB_LOCKED'
      | 'ERR_JOB_UNFINISHED'
      | 'ERR_JOB_VERSION'
      | 'ERR_STORE'
      | 'ERR_STORE_DIFFERS'
      | 'ERR_STORE_VERSION'
      | 'ERR_INPUT_ID_TAKEN'
      | 'ERR_INDEX_VERSION'
      | 'ERR_MEMORY_BUDGET' = 'ERR_OPTION',
  ) {
    super('usage', code, message);
  }
}

/** An input is missing, unreadable, corrupt, changed during the job, or holds too long a record. */
export class InputError extends PileshufError {
  constructor(
    code:
      | 'ERR_INPUT_MISSING'
      | 'ERR_INPUT_UNREADABLE'
      | 'ERR_INPUT_CORRUPT'
      | 'ERR_INPUT_CHANGED'
      | 'ERR_RECORD_TOO_LONG',
    message: string,
    options?: { cause?: unknown },
  ) {
    super('input', code, message, options);
  }
}

/** A disk, a directory, a thread or the operating system refused. */
export class SystemError extends PileshufError {
  constructor(
    code: 'ERR_NO_SPACE' | 'ERR_TEMP_DIR' | 'ERR_IO' | 'ERR_OUT_OF_MEMORY' | 'ERR_WORKER',
    message: string,
    options?: ErrorDetails,
  ) {
    super('failed', code, message, options);
  }
}

/** What was written is not what was read; no output is kept. */
export class VerificationError extends PileshufError {
  constructor(message: string, options?: ErrorDetails) {
    super('verification', 'ERR_VERIFICATION', `verification failed: ${message}`, options);
  }
}

/** What an earlier run of the job wrote of the output is not there any more as it was, and cannot be made again. */
export class StagedOutputError extends VerificationError {
  /** @param problem what is wrong, and where. */
  constructor(problem: string) {
    super(`${problem}; give \`force\` without \`resume\` to begin anew`);
  }
}

const WHEN_STOPPED = {
  none: 'no output was written',
  incomplete: 'what was written to the output, if anything, is incomplete',
  garbage: 'what was not deleted yet is left to a later pileshuf gc',
};

/** The caller's AbortSignal stopped the job. */
export class AbortedError extends PileshufError {
  /** @param output what became of it; a stream may have got a part, and of garbage a part may be gone. */
  constructor(output: keyof typeof WHEN_STOPPED = 'none') {
    super('aborted', 'ERR_ABORTED', `stopped before the end; ${WHEN_STOPPED[output]}`);
  }
}

/** The reader of standard output (or of a pipe given as output) went away. */
export class ClosedPipeError extends PileshufError {
  constructor() {
    super('closed-pipe', 'ERR_CLOSED_PIPE', 'the reader of the output closed it before the end');
  }
}

/** A `PileshufError` as plain data that survives structured cloning. */
export interface EncodedError {
  readonly kind: ErrorKind;
  readonly code: ErrorCode;
  readonly message: string;
  readonly stack: string;
  readonly pileSetName: string | undefined;
  readonly cleanupErrors: readonly EncodedError[];
}

/** Turns any thrown value into plain data; what is no PileshufError becomes ERR_WORKER. */
export function encodeError(thrown: unknown): EncodedError {
  if (thrown instanceof PileshufError) {
    const { kind, code, message, stack = '', pileSetName } = thrown;
    return { kind, code, message, stack, pileSetName, cleanupErrors: thrown.cleanupErrors.map(encodeError) };
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const stack = thrown instanceof Error ? (thrown.stack ?? '') : '';
  const inTask = `a task failed: ${message}`;
  return { kind: 'failed', code: 'ERR_WORKER', message: inTask, stack, pileSetName: undefined, cleanupErrors: [] };
}

const classOfKind: Record<ErrorKind, { readonly prototype: PileshufError; readonly name: string }> = {
  failed: SystemError,
  usage: UsageError,
  input: InputError,
  verification: VerificationError,
  aborted: AbortedError,
  'closed-pipe': ClosedPipeError,
};

/** The inverse of `encodeError`: an instance of the class that `kind` names. */
export function decodeError(encoded: EncodedError): PileshufError {
  const { pileSetName } = encoded;
  const error = new PileshufError(encoded.kind, encoded.code, encoded.message, { pileSetName });
  Object.setPrototypeOf(error, classOfKind[encoded.kind].prototype);
  error.name = classOfKind[encoded.kind].name;
  error.stack = encoded.stack;
  addCleanupErrors(error, encoded.cleanupErrors.map(decodeError));
  return error;
}
