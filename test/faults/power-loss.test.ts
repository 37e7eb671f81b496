/**
 * The power fails, or the process is killed, after every single change that a job makes on its disks. In every state that
 * the disks may have then, a visible output is complete, and the job can be finished with the same bytes. After a job that succeeded, its output is on
 * disk; after a job that failed, the former output is on disk.
 */
import { describe, expect, it } from 'vitest';
import { type FileCalls, replaceFileCalls } from '#src/io/file-calls.js';
import { drawsFor } from '../fixtures/draws.js';
import { atScale, fromCi, isSlow, sampled } from '../fixtures/scale.js';
import { ALL_KEPT, ALL_LOST, DATA_KEPT, DiskModel, NAMES_KEPT, randomSurvival, type Survival } from './disk-model.js';
import { FaultyFileCalls } from './faulty-file-calls.js';
import { expectOwnerOfStaged } from './staged-owner.js';
import { killBefore, lastCall } from './stopped-attempt.js';
import { type Content, type Ending, type TinyJob, useTinyJobs } from './tiny-job.js';
import {
  ALIGNED_FILES,
  ALIGNED_SHARDS,
  CALL_AT,
  CONTINUING_JOBS,
  DISCARDING_JOB,
  FILE,
  REPLACED_SHARDS,
  RESUMABLE_JOBS,
  type TinyJobKind,
} from './tiny-job-kinds.js';
import type { FileCall } from './watched-file-calls.js';

interface PowerLoss {
  readonly name: string;
  readonly kind: TinyJobKind;
  /** Whether what the job does before its outputs move is much like what others do. */
  readonly beginsAlike?: boolean;
  /** The call that fails, so that the job takes back what it had moved; the last of which that is true. */
  readonly fails?: (call: FileCall) => boolean;
}

const isMarker = ({ name, to = '' }: FileCall) => name !== 'open' && to.endsWith('.complete.json');

const whole = (kind: TinyJobKind): PowerLoss => ({ name: kind.name, kind });
const takenBack = (kind: TinyJobKind): PowerLoss[] => [
  { name: `${kind.name}, the last move fails`, kind, beginsAlike: true, fails: CALL_AT['while outputs move'] },
  { name: `${kind.name}, the marker fails`, kind, beginsAlike: true, fails: isMarker },
];

const LOSSES: readonly PowerLoss[] = [
  ...[...RESUMABLE_JOBS, ...CONTINUING_JOBS].map(whole),
  { ...whole(DISCARDING_JOB), beginsAlike: true },
  ...takenBack(REPLACED_SHARDS),
  whole(ALIGNED_SHARDS),
  whole(ALIGNED_FILES),
];

const totals = { states: 0, resumed: 0 };

/** Random mixtures of what survives that are tried after each change. */
const mixtures = atScale(0, 1, 40);
/** The same while members of an aligned job move. */
const mixturesOfMoves = atScale(0, 2, 40);
/** Of the ways to end what was stopped, how many are tried in each state. */
const endings = atScale(1, 1, 2);
/** Of what many jobs do alike, every so many-th change is tried. */
const step = atScale(211, 97, 1);
/** Of all else every so many-th, but for the moves of outputs; which ones, differs from job to job. */
const stride = atScale(113, 41, 1);
/** The changes around the moment at which the output appears, and while the job removes its files. */
const LATE_CHANGES = 60;
const lateStep = atScale(14, 9, 1);

const jobs = useTinyJobs();

it.each(
  sampled(
    LOSSES.map((loss, number) => ({ ...loss, number })),
    3,
  ),
)('$name', async (loss) => {
  const { name: lossName, kind, beginsAlike = false, fails, number } = loss;
  const job = jobs.of(kind);
  const expected = await job.expectedContent();
  job.prepare();
  const nth = fails === undefined ? undefined : await lastCall(fails, job.watches, () => job.run());
  job.prepare();
  const model = await runOnModel(job, nth);
  expect(model.changeCount).toBeGreaterThan(10);

  const movesBegin = Array.from({ length: model.changeCount }, (_, i) => model.describe(i)).indexOf('enter replaced');
  const hasTurn = (count: number) =>
    beginsAlike ? count % step === 0 : count % stride === number % stride || count === model.changeCount;
  const left = (count: number) => model.changeCount - count;
  const isLate = (count: number) => left(count) < LATE_CHANGES && left(count) % lateStep === 0;
  const isTried = (count: number) => hasTurn(count) || isLate(count) || (movesBegin >= 0 && count > movesBegin);
  const draw = drawsFor(lossName);
  // No later attempt cleans up after one whose members have appeared, unless it can be resumed. One that can be resumed has
  // moves within moves: few of their mixtures lose a member that was done.
  const mixturesAfter = (count: number) => {
    if (kind === ALIGNED_FILES) return 0;
    const isMoving = kind === ALIGNED_SHARDS && left(count) < LATE_CHANGES;
    return isMoving ? Math.max(mixtures, mixturesOfMoves) : mixtures;
  };
  const tried = new Set<string>();
  const problems: string[] = [];
  for (let count = 0; count <= model.changeCount; count++) {
    if (!isTried(count)) continue;
    const survivals: readonly (readonly [string, Survival])[] = [
      ['all is there, as when the process is killed', ALL_KEPT],
      ['all is lost that was not synced', ALL_LOST],
      ['names without data', NAMES_KEPT],
      ['data without names', DATA_KEPT],
      ...Array.from({ length: mixturesAfter(count) }, (_, i) => [`mixture ${i}`, randomSurvival(draw)] as const),
    ];
    for (const [name, survival] of survivals) {
      const state = model.stateAfter(count, survival);
      const { digest } = state;
      const isEnd = count === model.changeCount;
      if (tried.has(digest) && !isEnd) continue;
      tried.add(digest);
      const both: readonly Ending[] = tried.size % 2 === 0 ? ['--resume', '--force'] : ['--force', '--resume'];
      for (const ending of job.movesSeveral ? both.slice(0, endings) : ['--resume' as const]) {
        state.writeTo(job.root);
        job.disownLocks();
        const atEnd = isEnd ? (fails === undefined ? expected : job.former) : undefined;
        await expectSound(job, expected, atEnd, ending).catch((problem: Error) => {
          const where = `${count} changes, the last is ${model.describe(count - 1)}; ${name}, then ${ending}`;
          problems.push(`${where}: ${problem.message}`);
        });
      }
    }
  }
  expect(problems).toEqual([]);
  totals.states += tried.size;
});

it.runIf(fromCi)('a job that is killed again and again ends, for each attempt gets a bit further', async () => {
  const job = jobs.of(FILE);
  const expected = await job.expectedContent();
  job.prepare();
  let kills = 0;
  while (await killBefore(160 + 20 * kills, job.watches, () => job.run())) {
    job.disownLocks();
    kills += 1;
  }
  expect(job.content()).toEqual(expected);
  expect(job.leftovers()).toEqual([]);
  expect(kills).toBeGreaterThan(1);
});

describe('in total', () => {
  it('many states are tried, and some can be resumed', (context) => {
    if (totals.states < atScale(60, 100)) context.skip('not all of the tests were run');
    if (isSlow) console.info(`the power failed in ${totals.states} ways; ${totals.resumed} jobs went on`);
    expect(totals.resumed).toBeGreaterThan(totals.states / 10);
  });
});

/** @param failing number of the call that fails; undefined: none. */
async function runOnModel(job: TinyJob, failing: number | undefined): Promise<DiskModel> {
  const model = new DiskModel(job.root);
  const faulty = failing === undefined ? undefined : failingOn(model.calls, failing, job);
  const former = replaceFileCalls(faulty?.calls ?? model.calls);
  try {
    const error = await job.run().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (faulty?.struck === undefined && error !== undefined) throw error;
    expect(error !== undefined, 'the job failed').toBe(failing !== undefined);
  } finally {
    replaceFileCalls(former);
  }
  return model;
}

function failingOn(calls: FileCalls, nth: number, job: TinyJob): FaultyFileCalls {
  return new FaultyFileCalls({ kind: 'fails', errno: 'EIO' }, nth, job.watches, () => {}, calls);
}

/** @param atEnd what must be there when the job has ended. */
async function expectSound(job: TinyJob, expected: Content, atEnd: Content | undefined, ending: Ending): Promise<void> {
  if (atEnd !== undefined) expect(job.content(), 'when the job had ended').toEqual(atEnd);
  job.expectNothingHalf(expected);
  if (job.kind.resumable) expectOwnerOfStaged(job);

  const isResumed = ending === '--resume';
  const report = await (isResumed && job.kind.resumable ? job.finishQuietly(expected) : job.finish(expected, ending));
  if (report !== undefined) expect(report.records, 'records of the whole').toBe(job.records);
  if (report?.resumed !== undefined) totals.resumed += 1;
  expect(job.content(), 'when it had gone on').toEqual(expected);
  expect(job.leftovers(), 'when it had gone on').toEqual([]);
}
