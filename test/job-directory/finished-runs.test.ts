/**
 * Records of finished runs: all of them come back in order, and none can be missing, damaged or of another
 * format without being told.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { UsageError, VerificationError } from '#src/errors.js';
import { NameTakenError } from '#src/io/durable.js';
import {
  type FinishedRun,
  finishedRunNames,
  readFinishedRuns,
  writeFinishedRuns,
} from '#src/job-directory/finished-runs.js';
import { seal } from '#src/job-directory/sealed-file.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const path = (...names: string[]) => directory.path('job', ...names);
const read = () => readFinishedRuns(path());

function run(first: number, end: number): FinishedRun {
  return { first, end, regions: [{ shard: first, start: 0, end: 2 ** 50 }] };
}

beforeEach(() => mkdirSync(path()));

describe('finished runs', () => {
  it('are those of all records, in order', async () => {
    expect(read()).toEqual({ runs: [], recordCount: 0 });
    await writeFinishedRuns(path(), 1, [run(4, 6), run(0, 1)]);
    await writeFinishedRuns(path(), 2, [{ first: 1, end: 2, regions: [] }]);
    await writeFinishedRuns(path(), 3, [run(2, 4)]);
    expect(readdirSync(path()).toSorted()).toEqual(['done-000001', 'done-000002', 'done-000003']);
    expect(statSync(path('done-000001')).mode & 0o777).toBe(0o600);
    writeFileSync(path('done-000004.0123456789abcdef.attempt'), 'of a run that was killed');
    expect(read()).toEqual({
      runs: [run(4, 6), run(0, 1), { first: 1, end: 2, regions: [] }, run(2, 4)],
      recordCount: 3,
    });
  });

  it('never change', async () => {
    await writeFinishedRuns(path(), 1, [run(0, 1)]);
    await expect(writeFinishedRuns(path(), 1, [run(0, 2)])).rejects.toThrow(NameTakenError);
    expect(read().runs).toEqual([run(0, 1)]);
  });

  it('have names in the order of their numbers, however many there are', () => {
    for (const name of ['done-1000000', 'done-999999', 'done-000002', 'manifest', 'done-1', 'done-000003x']) {
      writeFileSync(path(name), '');
    }
    expect(finishedRunNames(path())).toEqual(['done-000002', 'done-999999', 'done-1000000']);
  });

  it.each([1, 2])('are not read with a gap: record %d', async (missing) => {
    for (const number of [1, 2, 3]) await writeFinishedRuns(path(), number, [run(number, number + 1)]);
    rmSync(path(`done-00000${missing}`));
    expect(read).toThrow(VerificationError);
    expect(read).toThrow(
      new RegExp(`/done-00000${missing} is damaged: it is missing, expected 2 records; give --force`),
    );
  });

  it('are told to be damaged when any byte is not what it was', async () => {
    for (const number of [1, 2]) await writeFinishedRuns(path(), number, [run(number, number + 1)]);
    const bytes = readFileSync(path('done-000002'));
    for (let index = 0; index < bytes.byteLength; index++) {
      for (const bit of [1, 128]) {
        const damaged = Buffer.from(bytes);
        damaged[index] = (damaged[index] ?? 0) ^ bit;
        writeFileSync(path('done-000002'), damaged);
        expect(read).toThrow(VerificationError);
        expect(read).toThrow(/\/done-000002 is damaged: /);
      }
    }
    for (let byteLength = 0; byteLength < bytes.byteLength; byteLength += 7) {
      writeFileSync(path('done-000002'), bytes.subarray(0, byteLength));
      expect(read).toThrow(VerificationError);
    }
  });

  it('of another version, or of another shape, are not taken', () => {
    writeFileSync(path('done-000001'), seal('runs', 2, { runs: [] }));
    expect(read).toThrow(UsageError);
    expect(read).toThrow(expect.objectContaining({ code: 'ERR_JOB_VERSION' }));
    for (const [value, problem] of [
      [{}, /: runs: expected a list, got nothing/],
      [{ runs: [{ ...run(0, 1), more: 1 }] }, /: runs\[0\]: expected no field "more"/],
      [{ runs: [{ ...run(0, 1), first: -1 }] }, /: runs\[0\]\.first: expected a whole number/],
      [{ runs: [{ ...run(0, 1), regions: [{ shard: 0, start: 0.5, end: 1 }] }] }, /regions\[0\]\.start: expected a/],
    ] as const) {
      writeFileSync(path('done-000001'), seal('runs', 1, value));
      expect(read).toThrow(VerificationError);
      expect(read).toThrow(problem);
    }
  });
});
