/**
 * The process's own standard error and standard output, for messages. Errors on standard error are
 * dropped: a reader that went away must not end a job that writes its output elsewhere, and there is
 * nobody left to tell. What is printed on standard output was asked for, so there they count.
 */

import { ClosedPipeError, SystemError } from '../index.js';

const dropError = (): void => {};

/** Standard error, on which writing never fails. */
export function openStandardError(): NodeJS.WriteStream {
  if (!process.stderr.listeners('error').includes(dropError)) {
    process.stderr.on('error', dropError);
  }
  return process.stderr;
}

/** Prints the help or the version. Throws ClosedPipeError, SystemError (ERR_IO). */
export async function printToStandardOutput(text: string): Promise<void> {
  process.stdout.on('error', dropError); // Told through the callback as well.
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
