/** A tiny job that stops in pass 2 and keeps its work. */
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect } from 'vitest';
import { systemFileCalls } from '#src/io/file-calls.js';
import { failWith, type ReplacedFileCalls, useFileCalls } from '../fixtures/replaced-file-calls.js';
import { type Content, type TinyJob, useTinyJobs } from './tiny-job.js';
import type { TinyJobKind } from './tiny-job-kinds.js';

/** What is stopped once, and lies there as it was left when a test begins. */
export interface StoppedJob {
  readonly job: TinyJob;
  /** What it makes when nothing is wrong, and the same decoded. */
  readonly expected: Content;
  readonly decoded: Content;
  readonly fileCalls: ReplacedFileCalls;
  /** Makes all files as they were when the job had stopped. */
  restore(): void;
}

/**
 * Registers with the surrounding `describe`.
 * @param stop leaves the job stopped; default: so late that it has a record of finished ranges.
 */
export function useStoppedJob(kind: TinyJobKind, stop = stopWithFinishedRanges): () => StoppedJob {
  const jobs = useTinyJobs();
  const fileCalls = useFileCalls();
  let stopped: StoppedJob | undefined;
  beforeAll(async () => {
    const job = jobs.of(kind);
    const expected = await job.expectedContent();
    const decoded = job.decodedContent();
    await stop(job, fileCalls);
    const copy = `${job.root}-stopped`;
    cpSync(job.root, copy, { recursive: true });
    const restore = () => {
      rmSync(job.root, { recursive: true });
      cpSync(copy, job.root, { recursive: true });
    };
    stopped = { job, expected, decoded, fileCalls, restore };
  });
  beforeEach(() => {
    stopped?.restore();
    stopped?.job.warnings.splice(0);
  });
  return () => stopped ?? expect.fail('no job was stopped');
}

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
async function stopWithFinishedRanges(job: TinyJob, fileCalls: ReplacedFileCalls): Promise<void> {
  for (let nth = 2; nth < 40; nth++) {
    await stopAtOutput(job, fileCalls, nth);
    if (existsSync(join(jobDirectoryOf(job), 'done-000001'))) return;
  }
  expect.fail('no range was finished');
}
