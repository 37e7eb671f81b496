/**
 * Warnings, the summary and failures, each one line on standard error: as text for people
 * (`pileshuf: ...`) or as one JSON object for programs. The seed is always in the summary, because it
 * may have been drawn and is needed to get the same order again.
 * With DEBUG=pileshuf in the environment a failure's stack follows it.
 */

import { PileshufError, type ShuffleReport } from '../index.js';
import type { StopSignal } from './exit-code.js';
import { oneLine } from './one-line.js';
import type { MessageStream } from './progress-display.js';
import { formatBytes, formatCount, formatSeconds } from './quantity.js';

export interface Messages {
  warning(line: string): void;
  /** What was done: as a line, and the same as fields. */
  summary(line: string, fields: object): void;
  /** Says nothing when the reader of the output went away: it knows. */
  failure(thrown: unknown, stopSignal: StopSignal | undefined): void;
}

/** @param resumeCommand goes on with the job that ended, if what it did is kept. */
export function textMessages(stream: MessageStream, resumeCommand: string | undefined): Messages {
  const write = (message: string): void => {
    stream.write(`pileshuf: ${oneLine(message)}\n`);
  };
  return {
    warning: (line) => write(`warning: ${line}`),
    summary: (line) => write(line),
    failure(thrown, stopSignal) {
      const failure = describeFailure(thrown, stopSignal, resumeCommand);
      if (failure !== undefined) {
        const { message, resume } = failure;
        const goOn = resume && `what is done is kept in ${resume.directory}; to go on: ${resume.command}`;
        write(goOn === undefined ? message : `${message}; ${goOn}`);
        if (failure.stack !== undefined) {
          stream.write(`${failure.stack}\n`);
        }
      }
    },
  };
}

/** @param resumeCommand as of `textMessages`. */
export function jsonMessages(stream: MessageStream, resumeCommand: string | undefined): Messages {
  const write = (event: object): void => {
    stream.write(`${JSON.stringify(event)}\n`);
  };
  return {
    warning: (message) => write({ event: 'warning', message }),
    summary: (_, fields) => write({ event: 'summary', ...fields }),
    failure(thrown, stopSignal) {
      const failure = describeFailure(thrown, stopSignal, resumeCommand);
      if (failure !== undefined) {
        write({ event: 'error', ...failure });
      }
    },
  };
}

interface Failure {
  readonly code: string;
  readonly message: string;
  /** Where what was done is kept, and the command that goes on; undefined when nothing is. */
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
  if (kind === 'closed-pipe') {
    return undefined;
  }
  const isStopped = kind === 'aborted' && stopSignal !== undefined;
  return {
    code,
    message: isStopped ? `interrupted by ${stopSignal}: ${message}` : message,
    resume: unfinishedJob && resumeCommand ? { directory: unfinishedJob.directory, command: resumeCommand } : undefined,
    stack,
  };
}

/** `12 records, 1.20 GB (1,204,000,000 bytes) in 6.1 s, 197 MB/s, seed 42, checksum 0123456789abcdef` */
export function describeReport({ records, bytes, seconds, seed, checksum, resumed }: ShuffleReport): string {
  const exactBytes = `${formatCount(bytes)} ${bytes === 1 ? 'byte' : 'bytes'}`;
  const size = bytes < 1000 ? exactBytes : `${formatBytes(bytes)} (${exactBytes})`;
  return [
    `${formatCount(records)} ${records === 1 ? 'record' : 'records'}`,
    `${size} in ${formatSeconds(seconds.total)}`,
    ...(seconds.total > 0 ? [`${formatBytes(bytes / seconds.total)}/s`] : []),
    // Quoted where its end could not be seen otherwise.
    `seed ${/^[\w.:+-]+$/.test(seed) ? seed : JSON.stringify(seed)}`,
    `checksum ${checksum}`,
    ...(resumed === undefined ? [] : [describeResumed(resumed)]),
  ].join(', ');
}

/** `went on from 12 slices and 3.20 GB of output` */
function describeResumed({ pileSets, outputBytes }: NonNullable<ShuffleReport['resumed']>): string {
  const slices = `${formatCount(pileSets)} ${pileSets === 1 ? 'slice' : 'slices'}`;
  return `went on from ${slices} and ${formatBytes(outputBytes)} of output`;
}
