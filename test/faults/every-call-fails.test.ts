/**
 * The whole job with its N-th file call failing, for N = 1, 2, 3, ... until no call is left. Each time, either the job
 * succeeds and its output is right to the byte, or one line says which call failed on which file, and the output is
 * unchanged, or in a pipe the beginning of the right one. No file stays open, and no file stays on disk that the message does not name. Then the job is resumed or
 * started anew, and succeeds.
 */
import { existsSync, readdirSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { PileshufError } from '#src/index.js';
import { replaceFileCalls } from '#src/io/file-calls.js';
import { atScale, fromCi, isSlow, sampled } from '../fixtures/scale.js';
import { expectErrorOf } from './error-of-fault.js';
import { type Fault, FaultyFileCalls } from './faulty-file-calls.js';
import { type Content, type TinyJob, useTinyJobs } from './tiny-job.js';
import {
  ALIGNED_FILES,
  ALIGNED_SHARDS,
  CONTINUING_JOBS,
  DISCARDING_JOB,
  FILE,
  LARGE_JOB,
  NEW_SHARDS,
  PIPED,
  REPLACED_SHARDS,
  SCATTERED_AGAIN,
  SECTIONS,
} from './tiny-job-kinds.js';

/** Together these reach every path: the others differ from the first by what the user reads. */
const KINDS_OF_FAULTS: readonly Fault[] = [
  { kind: 'fails', errno: 'EIO' },
  { kind: 'is done and reported as failed', errno: 'EIO' },
  { kind: 'fails from then on', errno: 'ENOSPC' },
  { kind: 'fails', errno: 'EINTR' },
  { kind: 'is short', part: 'half' },
];

const FURTHER_FAULTS: readonly Fault[] = [
  { kind: 'fails', errno: 'ENOSPC' },
  { kind: 'fails', errno: 'EDQUOT' },
  { kind: 'fails', errno: 'EMFILE' },
  { kind: 'fails', errno: 'EACCES' },
  { kind: 'fails', errno: 'EPERM' },
  { kind: 'fails', errno: 'EROFS' },
  { kind: 'fails', errno: 'ESTALE' },
  { kind: 'fails', errno: 'ENOTSUP' },
  { kind: 'is short', part: 'byte' },
];

const FAULTS = isSlow ? [...KINDS_OF_FAULTS, ...FURTHER_FAULTS] : KINDS_OF_FAULTS;

/** Of these, more calls are tried. */
const ALWAYS_ALL: readonly Fault[] = FAULTS.slice(0, 2);

const WRITE_FAULTS: readonly Fault[] = [
  { kind: 'fails', errno: 'EINVAL' },
  { kind: 'fails', errno: 'ENOSPC' },
  { kind: 'fails', errno: 'EIO' },
  { kind: 'fails', errno: 'EINTR' },
  { kind: 'is short', part: 'byte' },
  { kind: 'is short', part: 'half' },
  { kind: 'is short', part: 'half in blocks' },
];

const nameOf = (fault: Fault) => `${fault.kind}: ${'errno' in fault ? fault.errno : fault.part}`;
const named = (faults: readonly Fault[]) => faults.map((fault, i) => ({ name: nameOf(fault), fault, i }));

/** What all loops together came to. */
const totals = { faults: 0, jobsThatEndedWell: 0 };

/** One job after the other. */
const jobs = useTinyJobs();

/** Of the faults that are much like others, only every so many-th call is tried. */
const step = atScale(360, 300, 1);

/** Much like others, but for their past or their output. */
const SPECIAL_JOBS = [...CONTINUING_JOBS, DISCARDING_JOB, ALIGNED_SHARDS, ALIGNED_FILES, PIPED, SECTIONS];

describe.each([...sampled([FILE, REPLACED_SHARDS, SCATTERED_AGAIN], 3, 1), ...sampled(SPECIAL_JOBS, 2, 1)])(
  '$name',
  (kind) => {
    let prepared: Promise<Prepared> | undefined;
    const isSpecial = !isSlow && SPECIAL_JOBS.includes(kind);
    it.for(named(isSpecial ? FAULTS.slice(0, 3) : FAULTS))('a call $name', async ({ fault, i }) => {
      const stride = ALWAYS_ALL.includes(fault) && !isSpecial ? Math.ceil(step / 5) : step;
      prepared ??= prepare(jobs.of(kind));
      const { job, expected } = await prepared;
      const tried = await expectSoundAfterEach(job, expected, fault, 1 + (i % stride), stride, job.watches);
      // Links are made for outputs that must not replace anything.
      expect(tried > 0 || nameOf(fault).endsWith('ENOTSUP')).toBe(true);
    });
  },
);

/** After each of them others of the output's names and bytes are durable. */
describe.runIf(fromCi).each([FILE, NEW_SHARDS, REPLACED_SHARDS])('$name', (kind) => {
  it('a sync at the output fails', async () => {
    const { job, expected } = await prepare(jobs.of(kind));
    const fault: Fault = { kind: 'fails', errno: 'EIO', syncsOnly: true };
    const isOfOutput = (path: string) => path.startsWith(job.outputDirectory);
    expect(await expectSoundAfterEach(job, expected, fault, 1, 1, isOfOutput)).toBeGreaterThan(3);
  });
});

it('a call on a pipe fails, its close included', async () => {
  const { job, expected } = await prepare(jobs.of(PIPED));
  const fault: Fault = { kind: 'fails', errno: 'EIO' };
  const isPipe = (path: string) => path === job.output;
  expect(await expectSoundAfterEach(job, expected, fault, 1, 1, isPipe)).toBeGreaterThan(3);
});

it('directories that cannot be removed are told, and the job ends well', async () => {
  const { job, expected } = await prepare(jobs.of(FILE));
  const fault: Fault = { kind: 'fails from then on', errno: 'EIO', removalsOnly: true };
  expect(await runWithFault(job, fault, 1, job.watches, expected)).toBe('done');
  expect(job.leftovers().length).toBeGreaterThan(0);
});

describe(LARGE_JOB.name, () => {
  let prepared: Promise<Prepared> | undefined;
  it.each(sampled(named(WRITE_FAULTS), 4, 2))('a call on its output $name', async ({ fault }) => {
    prepared ??= prepare(jobs.of(LARGE_JOB));
    const { job, expected } = await prepared;
    const isStaged = (path: string) => path.startsWith(`${job.root}/out/`) && path.endsWith('.part');
    const isDirect = nameOf(fault).endsWith('EINVAL');
    const tried = await expectSoundAfterEach(job, expected, fault, 1, isDirect ? 1 : atScale(60, 9, 1), isStaged);
    // Not every file system has direct writes, or takes as much in one call.
    expect(tried > 0 || isDirect).toBe(true);
  });
});

it('the number of failed calls', (context) => {
  if (isSlow) console.info(`${totals.faults} calls failed, ${totals.jobsThatEndedWell} jobs ended well nevertheless`);
  else if (totals.faults < 200) context.skip('not all of the tests were run');
});

/** A job, and what it makes when nothing is wrong: the same for all faults. */
interface Prepared {
  readonly job: TinyJob;
  readonly expected: Content;
}

const prepare = async (job: TinyJob): Promise<Prepared> => ({ job, expected: await job.expectedContent() });

/** Lets call `first`, `first + stride`, ... go wrong, until there is none. @returns how many did. */
async function expectSoundAfterEach(
  job: TinyJob,
  expected: Content,
  fault: Fault,
  first: number,
  stride: number,
  watches: (path: string) => boolean,
): Promise<number> {
  const problems: string[] = [];
  let tried = 0;
  for (let nth = first; ; nth += stride) {
    const run = runWithFault(job, fault, nth, watches, expected);
    const outcome = await run.catch((problem: Error) => problem.message);
    if (outcome === 'not reached') break;
    tried += 1;
    if (outcome === 'done') totals.jobsThatEndedWell += 1;
    else if (outcome !== 'failed') problems.push(outcome);
    // When something is wrong without a fault, it is wrong for ever.
    if (problems.length > 20) break;
  }
  expect(problems).toEqual([]);
  totals.faults += tried;
  return tried;
}

/** @returns 'not reached': the job has fewer such calls, and nothing happened to it. */
async function runWithFault(
  job: TinyJob,
  fault: Fault,
  nth: number,
  watches: (path: string) => boolean,
  expected: Content,
): Promise<'done' | 'failed' | 'not reached'> {
  job.prepare();
  const former = job.content();
  const leftBefore = new Set(job.leftovers());
  let visibleAtFault: Content | undefined;
  let wasStaged = false;
  let wasEnding: boolean | undefined;
  const faulty = new FaultyFileCalls(fault, nth, watches, () => {
    visibleAtFault ??= job.content();
    wasStaged ||= job.isStaged;
    wasEnding ??= job.isEnding;
  });
  const openBefore = countOpenFiles();
  const { error, leftOpen } = await runWith(job, faulty);
  const { struck } = faulty;
  const what = `call ${nth} that can, ${struck?.name} ${struck?.path} ${struck?.to ?? ''}, ${nameOf(fault)}`;

  expect(leftOpen, `${what}: files left open`).toEqual([]);
  expect(countOpenFiles(), `${what}: open files`).toBe(openBefore);
  const told = [...job.warnings, ...(error?.cleanupErrors ?? []).map(String)];
  const untold = job
    .leftovers()
    .filter((path) => !leftBefore.has(path) && !told.some((line) => namesAbove(line, path, job)));
  const content = job.content();
  if (struck === undefined) {
    expect({ error: error?.message, untold }, 'without a fault').toEqual({ error: undefined, untold: [] });
    expect(content, 'without a fault').toEqual(expected);
    return 'not reached';
  }
  if (error === undefined) {
    const wasVisible = isDeepStrictEqual(visibleAtFault, expected);
    const wasOutside = !wasStaged || !struck.path.startsWith(job.outputDirectory);
    // The job of each aligned file ends by itself, before any output can be seen: its own output is durable when it notes
    // that, and what it cannot remove from then on is only told, for the removal of all members follows.
    const wasDone = wasEnding === true ? wasVisible || job.kind.isAligned === true : wasVisible && wasOutside;
    expect(faulty.isFatal && !wasDone, `${what}: the job ended well`).toBe(false);
    expect(untold, what).toEqual([]);
    expect(content, what).toEqual(expected);
    return 'done';
  }
  expectErrorOf(fault, struck, error, job, what);
  if (error.unfinishedJob === undefined) expect(untold, what).toEqual([]);
  else expect(existsSync(error.unfinishedJob.directory), what).toBe(true);
  if (job.kind.isPiped) {
    job.expectNothingHalf(expected);
    return 'failed';
  }
  // Shards that replace others and can neither all move nor all move back do so when the job is resumed. So do those
  // that an earlier attempt had started to move.
  const wasMoving = job.kind.before?.at === 'while outputs move';
  const isMoving = error.unfinishedJob !== undefined && fault.kind === 'fails from then on';
  if (wasMoving || (job.movesSeveral && isMoving)) {
    job.expectNothingHalf(expected);
  } else {
    // Once a new output can be seen, a failure may leave it, whole.
    const hasAppeared = JSON.stringify(visibleAtFault) !== JSON.stringify(former);
    expect(hasAppeared ? [former, expected] : [former], what).toContainEqual(content);
  }

  await job.finish(expected);
  expect(job.content(), `${what}, then done to its end`).toEqual(expected);
  expect(job.leftovers(), `${what}, then done to its end`).toEqual([]);
  return 'failed';
}

/** @returns the error of the job, if any, and what was open when it ended. */
async function runWith(
  job: TinyJob,
  faulty: FaultyFileCalls,
): Promise<{ readonly error: PileshufError | undefined; readonly leftOpen: readonly string[] }> {
  const former = replaceFileCalls(faulty.calls);
  try {
    const error = await job.run().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    const leftOpen = faulty.openPaths;
    await faulty.settle();
    if (error === undefined || error instanceof PileshufError) return { error, leftOpen };
    throw new Error(`no error of pileshuf: ${error}, call ${JSON.stringify(faulty.struck)}`, { cause: error });
  } finally {
    replaceFileCalls(former);
  }
}

/** Whether the line names the leftover, or a directory of the job above it. */
function namesAbove(line: string, leftover: string, job: TinyJob): boolean {
  const parts = leftover.split('/');
  // Temp directories and that of the output are not the job's own; one that is named for it is.
  const own = parts[0] === 'job-dir' ? 0 : 1;
  return parts.some((_, i) => i >= own && line.includes(`${job.root}/${parts.slice(0, i + 1).join('/')}`));
}

function countOpenFiles(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0;
}
