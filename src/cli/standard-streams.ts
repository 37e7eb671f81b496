/**
 * Standard error and standard output of the process, for messages. Errors on standard error are ignored: a closed
 * standard error must not end a job that writes its output elsewhere. Errors on standard output count, because the user
 * asked for what is printed there.
 */

import { type BigIntStats, fstatSync, statSync } from 'node:fs';
import { ClosedPipeError, SystemError } from '../index.js';

const [STANDARD_INPUT_FD, STANDARD_OUTPUT_FD] = [0, 1];

const dropError = (): void => {};

/** Standard error, on which writing never fails. */
export function openStandardError(): NodeJS.WriteStream {
  if (!process.stderr.listeners('error').includes(dropError)) {
    process.stderr.on('error', dropError);
  }
  return process.stderr;
}

/** Prints the help, the version or a report. Throws ClosedPipeError, SystemError (ERR_IO). */
export async function printToStandardOutput(text: string): Promise<void> {
  process.stdout.on('error', dropError); // The callback reports it as well.
  const error = await new Promise<Error | null | undefined>((resolve) => {
    process.stdout.write(text, resolve);
  });
  if (!error) {
    return;
  }
  throw 'code' in error && error.code === 'EPIPE'
    ? new ClosedPipeError()
    : new SystemError('ERR_IO', `cannot write to standard output: ${error.message}`, { cause: error });
}

/**
 * Whether a file is the one that standard output is redirected to, under any name.
 * @param path a file, or `-` for standard input.
 */
export function isStandardOutput(path: string): boolean {
  const written = fstatSync(STANDARD_OUTPUT_FD, { bigint: true });
  const read = statOf(path);
  return written.isFile() && read?.dev === written.dev && read.ino === written.ino;
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return path === '-' ? fstatSync(STANDARD_INPUT_FD, { bigint: true }) : statSync(path, { bigint: true });
  } catch {
    // Who opens it says why it cannot be read.
    return undefined;
  }
}
