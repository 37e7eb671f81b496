/**
 * Warnings, the summary and failures, each one line on standard error: as text for people (`pileshuf: ...`) or as one
 * JSON object for programs. The library names its options in messages; here they become flags. With DEBUG=pileshuf in the
 * environment, the stack of a failure follows it.
 */

import { PileshufError } from '../index.js';
import type { StopSignal } from './exit-code.js';
import { nameFlags } from './option-table.js';
import type { MessageStream } from './progress-displays.js';

export interface Messages {
  warning(line: string): void;
  /** What was done: as a line, and the same as fields. */
  summary(line: string, fields: object): void;
  /** Prints nothing when the reader of the output went away: it knows. */
  failure(thrown: unknown, stopSignal: StopSignal | undefined): void;
}

/** @param resumeCommand resumes the job that ended, if its work is kept. */
export function textMessages(stream: MessageStream, resumeCommand: string | undefined): Messages {
  const write = (message: string): void => {
    stream.write(`pileshuf: ${oneLine(message)}\n`);
  };
  return {
    warning: (line) => write(`warning: ${nameFlags(line)}`),
    summary: (line) => write(line),
    failure(thrown, stopSignal) {
      const failure = describeFailure(thrown, stopSignal, resumeCommand);
      if (failure === undefined) return;
      const { message, resume, stack } = failure;
      write(
        resume === undefined
          ? message
          : `${message}; finished work is kept in ${resume.directory}; to resume: ${resume.command}`,
      );
      if (stack !== undefined) stream.write(`${stack}\n`);
    },
  };
}

/** @param resumeCommand as in `textMessages`. */
export function jsonMessages(stream: MessageStream, resumeCommand: string | undefined): Messages {
  const write = (event: object): void => {
    stream.write(`${JSON.stringify(event)}\n`);
  };
  return {
    warning: (line) => write({ event: 'warning', message: nameFlags(line) }),
    summary: (_, fields) => write({ event: 'summary', ...fields }),
    failure(thrown, stopSignal) {
      const failure = describeFailure(thrown, stopSignal, resumeCommand);
      if (failure !== undefined) write({ event: 'error', ...failure });
    },
  };
}

interface Failure {
  readonly code: string;
  readonly message: string;
  /** Where finished work is kept, and the command that resumes it. Undefined: nothing is kept. */
  readonly resume?: { readonly directory: string; readonly command: string } | undefined;
  readonly stack?: string | undefined;
}

function describeFailure(
  thrown: unknown,
  stopSignal: StopSignal | undefined,
  resumeCommand: string | undefined,
): Failure | undefined {
  const isDebugging = (process.env['DEBUG'] ?? '').split(',').includes('pileshuf');
  const stack = isDebugging && thrown instanceof Error ? thrown.stack : undefined;
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
    resume: unfinishedJob && resumeCommand ? { directory: unfinishedJob.directory, command: resumeCommand } : undefined,
    stack,
  };
}

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\0': '\\0' };

/**
 * `text` with control characters and line separators written as escapes. File names may hold newlines and terminal
 * escapes, which must fool neither a program that counts lines nor a terminal.
 */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.charCodeAt(0);
    const digits = code < 0x100 ? `x${code.toString(16).padStart(2, '0')}` : `u${code.toString(16).padStart(4, '0')}`;
    return escapes[character] ?? `\\${digits}`;
  });
}
