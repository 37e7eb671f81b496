/**
 * Output that is written in place and in order: to standard output, or to a pipe or device given by name. The coordinator
 * opens it once for all threads. Tasks take turns: each loads and sorts when it likes, and writes after the tasks before
 * it. A write keeps to the pace of the reader, so a job can be stopped while its reader takes nothing. What was written
 * cannot be taken back, so a stream has nothing to make durable and nothing to commit.
 */
import { SystemError } from '../errors.js';
import { closeFile, type OpenFile, openStreamOutput, writeSome } from '../io/files.js';
import { STANDARD_OUTPUT_NAME } from '../io/io-error.js';
import type { JobControl } from '../job-control.js';
import { isClosedStream } from '../machine/closed-streams.js';
import { Backoff } from '../pause.js';
import { STANDARD_OUTPUT, STANDARD_OUTPUT_FD } from './output-target.js';

/** How often the job tries to open a pipe that has no reader yet. */
const RETRY_MILLISECONDS = 20;

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

export async function writeToStream(file: OpenFile, bytes: Uint8Array, control: JobControl): Promise<void> {
  const backoff = new Backoff();
  for (let done = 0; done < bytes.byteLength; ) {
    const count = writeSome(file, bytes, done, bytes.byteLength - done);
    done += count;
    if (count > 0) {
      backoff.reset();
      continue;
    }
    control.throwIfAborted();
    await backoff.pause();
  }
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
