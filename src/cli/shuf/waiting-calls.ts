/**
 * Calls on files that wait for the other end, as those of a C program do. Standard input and output may be set not to
 * wait: by a terminal's other programs, or by the program that made the pipe.
 */
import { readSync, writeSync } from 'node:fs';
import { errnoOf, reasonOf, ShufError } from './shuf-error.js';

const PAUSE_MILLISECONDS = 5;

/** The reader of the output closed it. */
export class ClosedOutput extends Error {}

/** @returns bytes read; 0 at the end of the file. @throws ShufError */
export function readSome(fd: number, bytes: Uint8Array, offset: number): number {
  try {
    return patiently(() => readSync(fd, bytes, offset, bytes.byteLength - offset, null));
  } catch (error) {
    throw new ShufError(`read error: ${reasonOf(error)}`);
  }
}

/** @throws ShufError, ClosedOutput */
export function writeAll(fd: number, bytes: Uint8Array): void {
  try {
    for (let done = 0; done < bytes.byteLength; ) {
      done += patiently(() => writeSync(fd, bytes, done));
    }
  } catch (error) {
    throw errnoOf(error) === 'EPIPE' ? new ClosedOutput() : new ShufError(`write error: ${reasonOf(error)}`);
  }
}

function patiently(call: () => number): number {
  for (;;) {
    try {
      return call();
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'EAGAIN') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MILLISECONDS);
      else if (errno !== 'EINTR') throw error;
    }
  }
}
