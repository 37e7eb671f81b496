/**
 * The whole job with its N-th file call failing, for N = 1, 2, 3, ... until no call is left to fail. After
 * each: either the job ended well and its output is right to the byte, or it said in one line what failed
 * and where, and the output is what it was before. Nothing stays open, and nothing stays on the disks of
 * which the user was not told. Then the job is done to its end.
 */
import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PileshufError } from '#src/index.js';
import { replaceFileCalls } from '#src/io/file-calls.js';
import { type Fault, FaultyFileCalls, isFatal } from './faulty-file-calls.js';
import { type Content, finishesWhatIsLeft, TINY_JOBS, type TinyJob, useTinyJobs } from './tiny-job.js';
import type { FileCall } from './watched-file-calls.js';

const FAULTS: readonly Fault[] = [
  { kind: 'fails', errno: 'EIO' },
  { kind: 'is done and reported as failed', errno: 'EIO' },
  { kind: 'fails from then on', errno: 'ENOSPC' },
  { kind: 'fails', errno: 'ENOSPC' },
  { kind: 'fails', errno: 'EDQUOT' },
  { kind: 'fails', errno: 'EMFILE' },
  { kind: 'fails', errno: 'EACCES' },
  { kind: 'fails', errno: 'EPERM' },
  { kind: 'fails', errno: 'EROFS' },
  { kind: 'fails', errno: 'ESTALE' },
  { kind: 'fails', errno: 'ENOTSUP' },
  { kind: 'fails', errno: 'EINTR' },
  { kind: 'is short', part: 'half' },
  { kind: 'is short', part: 'byte' },
];

/** Of these, every call is tried in every tier. */
const ALWAYS_ALL: readonly Fault[] = FAULTS.slice(0, 2);

const nameOf = (fault: Fault) => `${fault.kind}: ${'errno' in fault ? fault.errno : fault.part}`;

/** @param step of the faults that are much like others, only every so many-th call is tried. */
export function testEveryCallFails(step: number): void {
  const jobs = useTinyJobs();
  let faultsInAll = 0;
  let jobsThatEndedWell = 0;

  describe.each(TINY_JOBS)('$name', (kind) => {
    it.each(FAULTS.map((fault, i) => ({ name: nameOf(fault), fault, i })))('a call $name', async ({ fault, i }) => {
      const job = jobs.of(kind);
      const expected = await job.expectedContent();
      const stride = ALWAYS_ALL.includes(fault) ? 1 : step;
      const problems: string[] = [];
      let tried = 0;
      for (let nth = 1 + (i % stride); ; nth += stride) {
        const outcome = await runWithFault(job, fault, nth, expected).catch((problem: Error) => problem.message);
        if (outcome === 'not reached') break;
        tried += 1;
        faultsInAll += 1;
        if (outcome === 'done') jobsThatEndedWell += 1;
        else if (outcome !== 'failed') problems.push(outcome);
      }
      expect(problems).toEqual([]);
      // Only jobs in which nothing is linked or read has no call that could suffer it.
      expect(tried > 0 || nameOf(fault).endsWith('ENOTSUP')).toBe(true);
    });
  });

  it('is what was tested', (context) => {
    if (step === 1) console.info(`${faultsInAll} calls failed, ${jobsThatEndedWell} jobs ended well all the same`);
    else if (faultsInAll < 1000) context.skip('only some of the tests were run');
  });
}

/** @returns 'not reached': the job has fewer such calls, and nothing happened to it. */
async function runWithFault(
  job: TinyJob,
  fault: Fault,
  nth: number,
  expected: Content,
): Promise<'done' | 'failed' | 'not reached'> {
  job.prepare();
  const former = job.content();
  let visibleAtFault: Content | undefined;
  const faulty = new FaultyFileCalls(fault, nth, job.watches, () => {
    visibleAtFault ??= job.content();
  });
  const openBefore = countOpenFiles();
  const error = await runWith(job, faulty);
  const { struck } = faulty;
  const what = `call ${nth} that can, ${struck?.name} ${struck?.path} ${struck?.to ?? ''}, ${nameOf(fault)}`;

  expect(faulty.closeAll(), `${what}: files left open`).toEqual([]);
  expect(countOpenFiles(), `${what}: open files`).toBe(openBefore);
  const told = [...job.warnings, ...(error?.cleanupErrors ?? []).map(String)];
  const untold = job.leftovers().filter((path) => !told.some((line) => namesAbove(line, path, job)));
  const content = job.content();
  if (struck === undefined) {
    expect({ error: error?.message, untold }, 'without a fault').toEqual({ error: undefined, untold: [] });
    expect(content, 'without a fault').toEqual(expected);
    return 'not reached';
  }
  if (error === undefined) {
    expect(isFatal(struck, fault), `${what}: the job ended well`).toBe(false);
    expect(untold, what).toEqual([]);
    expect(content, what).toEqual(expected);
    return 'done';
  }
  expectUsefulError(error, job, struck, what);
  if (error.unfinishedJob === undefined) expect(untold, what).toEqual([]);
  else expect(existsSync(error.unfinishedJob.directory), what).toBe(true);
  // What could be seen when the call failed may stay, if it was complete.
  expect([former, visibleAtFault].map((one) => JSON.stringify(one)), what).toContain(JSON.stringify(content));
  expect([former, expected].map((one) => JSON.stringify(one)), what).toContain(JSON.stringify(content));

  const leftBefore = job.leftovers();
  await job.finish();
  expect(job.content(), `${what}, then done to its end`).toEqual(expected);
  if (finishesWhatIsLeft) {
    const told = leftBefore.filter((path) => !untold.includes(path));
    expect(job.leftovers().filter((path) => !told.includes(path)), `${what}, then done to its end`).toEqual([]);
  }
  return 'failed';
}

async function runWith(job: TinyJob, faulty: FaultyFileCalls): Promise<PileshufError | undefined> {
  const former = replaceFileCalls(faulty.calls);
  try {
    await job.run();
    return undefined;
  } catch (error) {
    if (error instanceof PileshufError) return error;
    throw new Error(`no error of pileshuf: ${error}, call ${JSON.stringify(faulty.struck)}`, { cause: error });
  } finally {
    replaceFileCalls(former);
  }
}

function expectUsefulError(error: PileshufError, job: TinyJob, struck: FileCall, what: string): void {
  const { message, code } = error;
  const line = `${what}: ${code} ${message}`;
  expect(message.includes('\n'), line).toBe(false);
  // What no part of the program has put into words.
  expect(code === 'ERR_WORKER' || message.includes('made up'), line).toBe(false);
  const names = [job.root, ...job.inputs, struck.path];
  expect(names.some((name) => message.includes(name)), line).toBe(true);
}

/** Whether the line names the leftover, or a directory above it. */
function namesAbove(line: string, leftover: string, job: TinyJob): boolean {
  const parts = leftover.split('/');
  return parts.some((_, i) => i > 0 && line.includes(`${job.root}/${parts.slice(0, i + 1).join('/')}`));
}

function countOpenFiles(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0;
}
