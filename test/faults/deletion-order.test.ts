/**
 * The order of the calls of a job that can be resumed: the job deletes temp data only after the output made of it is
 * durable, and after the record of that output is durable.
 */
import { constants, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { replaceFileCalls } from '#src/io/file-calls.js';
import type { FinishedRange } from '#src/job-directory/finished-ranges.js';
import { type TinyJob, useTinyJobs } from './tiny-job.js';
import { RESUMABLE_JOBS } from './tiny-job-kinds.js';
import { type FileCall, watchFileCalls } from './watched-file-calls.js';

/** A call, and when it began and ended; of one that was not awaited the end is missing. */
interface TimedCall {
  readonly call: FileCall;
  readonly began: number;
  ended: number;
  /** Of the call that names a record of finished ranges: what it tells of. */
  readonly ranges: readonly FinishedRange[];
}

const isPileFile = (path: string) => path.endsWith('.pile');
const isStaged = (path: string) => path.endsWith('.part');
const isRecord = ({ name, to = '' }: FileCall) => name === 'link' && /^done-\d+$/.test(basename(to));
const isSync = ({ name }: FileCall) => name === 'syncAsync' || name === 'syncData' || name === 'syncDataAsync';
const isWrite = ({ name }: FileCall) => name === 'write' || name === 'writeAsync';
const isCreation = ({ name, flags = 0 }: FileCall) => name === 'open' && (flags & constants.O_CREAT) !== 0;

/** The ranges in a sealed record: one line, then JSON. */
function runsIn(path: string): readonly FinishedRange[] {
  const text = readFileSync(path, 'utf8');
  const { ranges }: { ranges: FinishedRange[] } = JSON.parse(text.slice(text.indexOf('\n') + 1));
  return ranges;
}

/** Whether what was written there belongs to the ranges; another task may be writing meanwhile. */
function concerns({ path, position, byteLength = 0 }: FileCall, ranges: readonly FinishedRange[]): boolean {
  const [start, shard] = [position ?? 0, Number.parseInt(basename(path), 10)];
  const regions = ranges.flatMap((run) => run.regions).filter((region) => region.shard === shard);
  return regions.some((region) => start < region.end && region.start < start + byteLength);
}

async function timedCalls(job: TinyJob): Promise<readonly TimedCall[]> {
  const calls: TimedCall[] = [];
  let clock = 0;
  const watched = watchFileCalls(job.watches, (call, make) => {
    const ranges = isRecord(call) ? runsIn(call.path) : [];
    const timed: TimedCall = { call, began: clock++, ended: Number.POSITIVE_INFINITY, ranges };
    calls.push(timed);
    const made = make();
    const end = () => {
      timed.ended = clock++;
    };
    if (made instanceof Promise) made.then(end, () => {});
    else end();
    return made;
  });
  const former = replaceFileCalls(watched);
  try {
    await job.run();
  } finally {
    replaceFileCalls(former);
  }
  return calls;
}

/** Expects that something of the kind was done after each call of `what`, and before that moment. */
function expectBetween(calls: readonly TimedCall[], what: TimedCall, then: (call: FileCall) => boolean, end: number) {
  const isDone = calls.some(({ call, began, ended }) => began > what.ended && ended < end && then(call));
  expect(isDone, `after ${what.call.name} ${what.call.path}`).toBe(true);
}

// The sizes are tiny as it is.
describe.each(RESUMABLE_JOBS)('$name', (kind) => {
  const jobs = useTinyJobs();

  it('deletes piles after their output and its record are durable', async () => {
    const job = jobs.of(kind);
    await job.expectedContent();
    job.prepare();
    const calls = await timedCalls(job);
    const records = calls.filter(({ call }) => isRecord(call));
    const deletions = calls.filter(({ call }) => call.name === 'unlink' && isPileFile(call.path));
    const { pileCount = 0, stripeCount = 1 } = kind.tuning;
    const pilesOfStripe = pileCount / stripeCount;
    expect(records.length).toBeGreaterThan(0);
    expect(new Set(deletions.map(({ call }) => call.path)).size).toBeGreaterThan(stripeCount);

    for (const record of records) {
      for (const before of calls.filter(({ began }) => began < record.began)) {
        const { call } = before;
        if (!isStaged(call.path)) continue;
        if (isWrite(call) && concerns(call, record.ranges))
          expectBetween(calls, before, (sync) => isSync(sync) && sync.path === call.path, record.began);
        const isOfDirectory = (sync: FileCall) => isSync(sync) && sync.path === dirname(call.path);
        if (isCreation(call)) expectBetween(calls, before, isOfDirectory, record.began);
      }
    }
    for (const { call, began } of deletions) {
      const stripe = Number(/\.(\d+)\.pile$/.exec(call.path)?.[1]);
      const isNamed = (record: TimedCall, pile: number) =>
        record.ended < began && record.ranges.some(({ first, end }) => first <= pile && pile < end);
      for (let pile = stripe * pilesOfStripe; pile < (stripe + 1) * pilesOfStripe; pile++) {
        const record = records.find((one) => isNamed(one, pile));
        expect(record, `pile ${pile}, of which ${call.path} holds records`).toBeDefined();
        const isOfDirectory = (sync: FileCall) => isSync(sync) && sync.path === dirname(record?.call.to ?? '');
        if (record !== undefined) expectBetween(calls, record, isOfDirectory, began);
      }
    }
  });
});
