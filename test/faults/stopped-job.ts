/** A tiny job that stops in pass 2 and keeps its work. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { systemFileCalls } from '#src/io/file-calls.js';
import { failWith, type ReplacedFileCalls } from '../fixtures/replaced-file-calls.js';
import type { TinyJob } from './tiny-job.js';

/** Starts the job anew; from its N-th write or sync of an output on, the disk is full. */
export async function stopAtOutput(job: TinyJob, fileCalls: ReplacedFileCalls, nth: number): Promise<void> {
  job.prepare();
  const staged = new Set<number>();
  let calls = 0;
  const isReached = (fd: number) => {
    if (staged.has(fd)) calls += 1;
    return staged.has(fd) && calls >= nth;
  };
  fileCalls.replace({
    open: (path, ...how) => {
      const fd = systemFileCalls.open(path, ...how);
      if (path.endsWith('.part')) staged.add(fd);
      else staged.delete(fd);
      return fd;
    },
    write: (fd, ...what) => (isReached(fd) ? failWith('ENOSPC')() : systemFileCalls.write(fd, ...what)),
    syncAsync: async (fd) => (isReached(fd) ? failWith('ENOSPC')() : systemFileCalls.syncAsync(fd)),
  });
  await expect(job.run()).rejects.toMatchObject({ code: 'ERR_NO_SPACE', unfinishedJob: {} });
  fileCalls.replace({});
}

/** The directory in which the job keeps what it has done. */
export function jobDirectoryOf(job: TinyJob): string {
  const temp = join(job.root, 'temp-0');
  const name = readdirSync(temp).find((entry) => entry.endsWith('.job')) ?? expect.fail('nothing is kept');
  return join(temp, name);
}

/** Stops the job so late that it has a record of finished ranges. */
export async function stopWithFinishedRanges(job: TinyJob, fileCalls: ReplacedFileCalls): Promise<string> {
  for (let nth = 2; nth < 40; nth++) {
    await stopAtOutput(job, fileCalls, nth);
    const record = join(jobDirectoryOf(job), 'done-000001');
    if (existsSync(record)) return record;
  }
  return expect.fail('no range was finished');
}
