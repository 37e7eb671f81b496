/**
 * Errors on standard error are ignored: a closed standard error must not end a job that writes its output elsewhere.
 * Errors on standard output count, because the user asked for what is printed there.
 */

import { fstatSync, statSync } from 'node:fs';
import { isatty } from 'node:tty';
import { ClosedPipeError, SystemError } from '../errors.js';
import { errnoOf, FULL_DISK_ADVICE, isFull, reasonOf } from '../io/io-error.js';
import { jsonLine, oneLine } from './visible-text.js';

export type MessageStream = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

const STANDARD_INPUT_FD = 0;
const STANDARD_OUTPUT_FD = 1;
const STANDARD_ERROR_FD = 2;

const dropError = (): void => {};

function ignoreErrorsOf(stream: NodeJS.WriteStream): void {
  if (!stream.listeners('error').includes(dropError)) stream.on('error', dropError);
}

export function openStandardError(): NodeJS.WriteStream {
  ignoreErrorsOf(process.stderr);
  return process.stderr;
}

export function readsFromTerminal(): boolean {
  return isatty(STANDARD_INPUT_FD);
}

/**
 * Returns whether records may come out on the terminal of standard error, also from a program at the other end of a
 * pipe.
 */
export function mayReachTerminal(output: string): boolean {
  const stat = statOf(() => (output === '-' ? fstatSync(STANDARD_OUTPUT_FD) : statSync(output)));
  if (stat === undefined) return false;
  const terminal = statOf(() => fstatSync(STANDARD_ERROR_FD));
  return stat.isFIFO() || stat.isSocket() || (stat.isCharacterDevice() && stat.rdev === terminal?.rdev);
}

/** Returns what `read` says of a stream. Undefined: the stream is closed, or the file is not there yet. */
function statOf<Stat>(read: () => Stat): Stat | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

export async function printToStandardOutput(text: string): Promise<void> {
  ignoreErrorsOf(process.stdout); // The callback reports them as well.
  const error = await new Promise<Error | null | undefined>((resolve) => {
    process.stdout.write(text, resolve);
  });
  if (!error) {
    return;
  }
  if (errnoOf(error) === 'EPIPE') throw new ClosedPipeError();
  const advice = isFull(error) ? `; ${FULL_DISK_ADVICE}` : '';
  const message = `cannot write to standard output: ${reasonOf(error)}${advice}`;
  throw new SystemError(isFull(error) ? 'ERR_NO_SPACE' : 'ERR_IO', message, { cause: error });
}

/** `quiet` silences the lines, not the JSON. @param lines for people; may hold hidden characters. */
export async function printReport(
  report: object,
  lines: readonly string[],
  { json, quiet }: { readonly json?: true | undefined; readonly quiet?: true | undefined },
): Promise<void> {
  const shown = json === true ? [jsonLine(report)] : quiet === true ? [] : lines.map(oneLine);
  await printToStandardOutput(shown.map((line) => `${line}\n`).join(''));
}

/** Returns whether reading a file takes bytes away from standard input: both are one pipe or terminal. */
export function isStandardInput(path: string): boolean {
  const read = statOf(() => statSync(path, { bigint: true }));
  const standard = statOf(() => fstatSync(STANDARD_INPUT_FD, { bigint: true }));
  return read?.isFile() === false && read.dev === standard?.dev && read.ino === standard.ino && !read.isDirectory();
}

/**
 * Returns whether a file, or `-` for standard input, is the one that standard output is redirected to, under any name.
 */
export function isStandardOutput(path: string): boolean {
  const written = fstatSync(STANDARD_OUTPUT_FD, { bigint: true });
  // Who opens the file says why it cannot be read.
  const read = statOf(() =>
    path === '-' ? fstatSync(STANDARD_INPUT_FD, { bigint: true }) : statSync(path, { bigint: true }),
  );
  return written.isFile() && read?.dev === written.dev && read.ino === written.ino;
}
