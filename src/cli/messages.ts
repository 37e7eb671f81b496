/**
 * Warnings, the summary and failures, each one line on standard error: text for people (`pileshuf: ...`) or a JSON
 * object for programs. Library options in messages become flags. With DEBUG=pileshuf in the environment, the stack of a
 * failure follows it.
 */
import { PileshufError } from '../errors.js';
import { tooManyFilesError } from '../machine/open-file-limit.js';
import type { ResumeAdvice, ResumeAdviser } from './resume-command.js';
import type { MessageStream } from './standard-streams.js';
import type { NameFlags } from './typed-words.js';
import { jsonLine, oneLine } from './visible-text.js';

export interface Messages {
  warning(line: string): void;
  /** Writes a line for people alone. */
  hint(line: string): void;
  summary(line: string, fields: object): void;
  /** Prints nothing when the reader of the output went away: it knows. */
  failure(thrown: unknown, stopSignal: StopSignal | undefined): void;
}

/** @param adviseResume undefined: no job can have begun that can be resumed. */
export function createMessages(
  isJson: boolean,
  stream: MessageStream,
  adviseResume: ResumeAdviser | undefined,
  nameFlags: NameFlags,
): Messages {
  const describe = (thrown: unknown, stopSignal: StopSignal | undefined) =>
    describeFailure(thrown, stopSignal, adviseResume, nameFlags);
  if (isJson) {
    const write = (event: object) => stream.write(`${jsonLine(event)}\n`);
    return {
      warning: (line) => write({ event: 'warning', message: nameFlags(line) }),
      hint: () => {},
      summary: (_, fields) => write({ event: 'summary', ...fields }),
      failure(thrown, stopSignal) {
        const failure = describe(thrown, stopSignal);
        if (failure !== undefined) write({ event: 'error', ...failure });
      },
    };
  }
  const write = (message: string) => stream.write(`pileshuf: ${oneLine(message)}\n`);
  return {
    warning: (line) => write(`warning: ${nameFlags(line)}`),
    hint: write,
    summary: write,
    failure(thrown, stopSignal) {
      const failure = describe(thrown, stopSignal);
      if (failure === undefined) return;
      const { message, resume, stack } = failure;
      const resumeHint =
        resume &&
        `; finished work is kept in ${resume.directory}; ${nameFlags(wordsBefore(resume))}: ${resume.command}`;
      write(`${message}${resumeHint ?? ''}`);
      if (stack !== undefined) stream.write(`${stack.split('\n').map(oneLine).join('\n')}\n`);
    },
  };
}

interface Failure {
  readonly code: string;
  readonly message: string;
  /** The place of the finished work, and how to resume it. Undefined: no work is left. */
  readonly resume?: (ResumeAdvice & { readonly directory: string }) | undefined;
  readonly stack?: string | undefined;
}

function describeFailure(
  thrown: unknown,
  stopSignal: StopSignal | undefined,
  adviseResume: ResumeAdviser | undefined,
  nameFlags: NameFlags,
): Failure | undefined {
  const isDebugging = (process.env['DEBUG'] ?? '').split(',').includes('pileshuf');
  const stack = isDebugging && thrown instanceof Error ? thrown.stack : undefined;
  const few = tooManyFilesError(thrown);
  if (few !== undefined) return { code: few.code, message: few.message, stack };
  if (!(thrown instanceof PileshufError)) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    const advice = isDebugging ? '' : ' (DEBUG=pileshuf in the environment shows where)';
    return { code: 'ERR_INTERNAL', message: `internal error: ${reason}${advice}`, stack };
  }
  const { kind, code, message, unfinishedJob } = thrown;
  if (kind === 'closed-pipe') return undefined;
  const reason = kind === 'aborted' && stopSignal !== undefined ? `interrupted by ${stopSignal}: ` : '';
  return {
    code,
    message: reason + nameFlags(message),
    resume: unfinishedJob && adviseResume && { directory: unfinishedJob.directory, ...adviseResume(thrown) },
    stack,
  };
}

function wordsBefore({ change, needsSpace }: ResumeAdvice): string {
  if (needsSpace) return 'to resume when there is space';
  return change.length === 0 ? 'to resume' : `to resume with another ${change.join(' and ')}`;
}

/**
 * Scripts tell a wrong call, bad data and a full disk apart by these numbers: they are part of the interface, and
 * `--help` lists them. 129, 130, 141 and 143 are 128 + the signal that would have ended another program.
 */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  input: 3,
  verification: 4,
  SIGHUP: 129,
  SIGINT: 130,
  'closed-pipe': 141,
  SIGTERM: 143,
} as const;

export type StopSignal = 'SIGHUP' | 'SIGINT' | 'SIGTERM';

export function exitCodeOf(thrown: unknown, stopSignal: StopSignal | undefined): number {
  if (!(thrown instanceof PileshufError)) return exitCodes.failed;
  return { ...exitCodes, aborted: exitCodes[stopSignal ?? 'failed'] }[thrown.kind];
}
