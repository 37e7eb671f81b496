/** Writes to a pipe or device at the pace of its reader, so that a job whose reader is silent can be stopped. */
import { type OpenFile, writeSome } from '../io/files.js';
import type { JobControl } from '../job-control.js';
import { Backoff } from '../pause.js';

/** Writes all of `bytes`. @throws AbortedError when the job is stopped while its reader takes nothing. */
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
