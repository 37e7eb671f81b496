/** Writes to a stream. A write keeps to the pace of the reader, so a job can be stopped while its reader takes nothing. */

import type { JobControl } from '../floor/job-control.js';
import { Backoff } from '../floor/pause.js';
import { type OpenFile, writeSome } from '../io/files.js';

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
