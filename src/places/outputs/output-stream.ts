/**
 * Output that is written in place and in order: to standard output, or to a pipe or device given by name. The coordinator
 * opens it once for all threads. Tasks take turns: each loads and sorts when it likes, and writes after the tasks before
 * it. What was written cannot be taken back, so a stream has nothing to make durable and nothing to commit.
 */
import type { BigIntStats } from 'node:fs';
import { SystemError, UsageError } from '../../errors.js';
import type { JobControl } from '../../floor/job-control.js';
import { fileCalls } from '../../io/file-calls.js';
import { closeFile, type OpenFile, openStreamOutput } from '../../io/files.js';
import { STANDARD_OUTPUT_NAME, systemCall } from '../../io/io-error.js';
import { statPath } from '../../io/paths.js';
import { isClosedStream } from '../../machine/closed-streams.js';
import { STANDARD_OUTPUT, STANDARD_OUTPUT_FD } from '../../sinks/output-target.js';
import { inputName } from '../inputs/input-source.js';

/** How often the job tries to open a pipe that has no reader yet. */
const RETRY_MILLISECONDS = 20;

export const NAMES_OF_STANDARD_OUTPUT = new Set([STANDARD_OUTPUT, '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1']);

/** @param others what the caller may do instead of a redirection. */
export function requireOpenStandardOutput(others = ', or name an `output` (/dev/null to write nothing)'): void {
  if (!isClosedStream(STANDARD_OUTPUT_FD)) return;
  throw new SystemError(
    'ERR_IO',
    `standard output is closed, or /dev/null opened for reading and writing, so that the records would be lost; redirect it${others}`,
  );
}

export function standardOutput(): OpenFile {
  requireOpenStandardOutput();
  // If asked for its stream, Node makes a pipe non-blocking: a write that blocks could not be stopped.
  const fd = process.stdout.fd ?? STANDARD_OUTPUT_FD;
  return { fd, path: STANDARD_OUTPUT_NAME, role: 'output' };
}

/** Waits for the reader of a pipe. */
export async function openStream(path: string, control: JobControl): Promise<OpenFile> {
  if (path === STANDARD_OUTPUT) return standardOutput();
  for (;;) {
    const file = openStreamOutput(path);
    if (file !== undefined) return file;
    control.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS));
  }
}

export function closeStream(file: OpenFile): void {
  if (file.fd !== STANDARD_OUTPUT_FD) closeFile(file);
}

export interface FileIdentity {
  readonly path: string;
  /** Device and inode, as in the version of a file. */
  readonly identity: string;
}

/** @param output a pipe, a device or standard output. */
export function requireNotRead(output: string, read: Iterable<FileIdentity>): void {
  const stat = statOutput(output);
  // A terminal is often both, and gives nothing back.
  if (stat === undefined || !(stat.isFile() || stat.isFIFO())) return;
  const written = identityOf(stat);
  for (const { path, identity } of read) {
    if (identity !== written) continue;
    const [what, advice] =
      output === STANDARD_OUTPUT
        ? ['standard output', 'redirect it to another file (> empties a file before the command starts)']
        : [`the output ${output}`, 'name another'];
    throw new UsageError(
      `${what} is ${inputName(path)}, which the job reads, so it would read what it writes; ${advice}`,
    );
  }
}

function statOutput(output: string): BigIntStats | undefined {
  if (!NAMES_OF_STANDARD_OUTPUT.has(output)) return statPath(output, 'output');
  return systemCall('examine', 'output', 'standard output', () => fileCalls.statOpen(STANDARD_OUTPUT_FD));
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}
