/**
 * A job that writes to a pipe, with its N-th file call failing. Written bytes cannot be taken back: after a failure the
 * reader has the beginning of the output, and the exit code says that it is incomplete.
 */

import { closeSync, constants, existsSync, openSync, readSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PileshufError } from '#src/index.js';
import { replaceFileCalls } from '#src/io/file-calls.js';
import { makePipe } from '../fixtures/make-pipe.js';
import { atScale, isSlow } from '../fixtures/scale.js';
import { expectErrorOf } from './error-of-fault.js';
import { type Fault, FaultyFileCalls } from './faulty-file-calls.js';
import { type TinyJob, useTinyJobs } from './tiny-job.js';
import { FILE } from './tiny-job-kinds.js';

const FAULTS: readonly Fault[] = [
  { kind: 'fails', errno: 'EIO' },
  { kind: 'fails', errno: 'ENOSPC' },
  { kind: 'is done and reported as failed', errno: 'EIO' },
  { kind: 'fails', errno: 'EINTR' },
  { kind: 'is short', part: 'half' },
];

const totals = { faults: 0 };

/** Every so many-th call is tried. */
const step = atScale(13, 5, 1);

describe('a job that writes into a pipe', () => {
  const kind = { ...FILE, resumable: false };
  const jobs = useTinyJobs();

  it.each(FAULTS)('says so when a call $kind: $errno $part', async (fault) => {
    const job = jobs.of(kind);
    await job.expectedContent();
    const pipe = `${job.root}-pipe`;
    if (!existsSync(pipe)) makePipe(pipe);
    const undisturbed = await runInto(pipe, job, undefined);
    expect(undisturbed.error).toBe(undefined);
    const problems: string[] = [];
    for (let nth = 1; problems.length < 10; nth += step) {
      const faulty = new FaultyFileCalls(fault, nth, (path) => path === pipe || job.watches(path));
      const { error, received } = await runInto(pipe, job, faulty);
      const { struck } = faulty;
      if (struck === undefined) break;
      totals.faults += 1;
      const what = `call ${nth} that can, ${struck.name} ${struck.path}`;
      try {
        if (error === undefined) expect(received.equals(undisturbed.received), what).toBe(true);
        else expect(undisturbed.received.subarray(0, received.length).equals(received), what).toBe(true);
        if (error !== undefined) expectErrorOf(fault, struck, error, job, what);
        const told = [...job.warnings, ...(error?.cleanupErrors ?? []).map(String)].join('\n');
        const untold = job.leftovers().filter((path) => !told.includes(path.split('/').slice(0, 2).join('/')));
        expect(untold, what).toEqual([]);
      } catch (problem) {
        problems.push(String(problem));
      }
    }
    expect(problems).toEqual([]);
    expect(totals.faults).toBeGreaterThan(0);
  });

  it('the number of failed calls', (context) => {
    if (isSlow) console.info(`${totals.faults} calls of a job that writes into a pipe failed`);
    else if (totals.faults < 5) context.skip('not all of the tests were run');
  });
});

interface PipedRun {
  readonly error: PileshufError | undefined;
  /** What came out of the pipe, which holds more than all of the output. */
  readonly received: Buffer;
}

async function runInto(pipe: string, job: TinyJob, faulty: FaultyFileCalls | undefined): Promise<PipedRun> {
  job.prepare();
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const former = faulty === undefined ? undefined : replaceFileCalls(faulty.calls);
  try {
    const error: unknown = await job.run({ output: pipe }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    await faulty?.settle();
    if (error !== undefined && !(error instanceof PileshufError)) throw error;
    const bytes = Buffer.alloc(2 ** 16);
    const pieces: Buffer[] = [];
    for (let count = readSync(reader, bytes); count > 0; count = readSync(reader, bytes)) {
      pieces.push(Buffer.from(bytes.subarray(0, count)));
    }
    return { error, received: Buffer.concat(pieces) };
  } finally {
    if (former !== undefined) replaceFileCalls(former);
    closeSync(reader);
  }
}
