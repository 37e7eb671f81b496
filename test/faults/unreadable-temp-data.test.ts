/**
 * Temp data with unreadable blocks: the job reports it, makes the one damaged pile set again, and finishes, while the
 * blocks stay unreadable.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '#src/cli/exit-code.js';
import { unreadable } from '../fixtures/unreadable-files.js';
import { stopAtOutput, useStoppedJob } from './stopped-job.js';
import { FILE } from './tiny-job-kinds.js';

const stopped = useStoppedJob(FILE, (job, fileCalls) => stopAtOutput(job, fileCalls, 1));

/** Paths of the files whose names end so, of all temp directories. */
function tempFiles(ending: string): string[] {
  return readdirSync(stopped().job.root, { recursive: true })
    .map((name) => join(stopped().job.root, String(name)))
    .filter((path) => /temp-\d\//.test(path) && path.endsWith(ending))
    .sort();
}

const indexCount = () => tempFiles('.index').length;

describe('a data file that cannot be read', () => {
  it('costs its pile set and no other', async () => {
    const [bad = expect.fail('there is one')] = tempFiles('.pile').filter((path) => statSync(path).size > 0);
    const before = indexCount();
    stopped().fileCalls.replace(unreadable((path) => path === bad));
    const failure = await stopped()
      .job.run()
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'ERR_IO',
      message: expect.stringMatching(/^cannot read at byte \d+ of temp file .*\.pile: the device reports .*`resume`$/),
      unfinishedJob: {},
    });
    expect(exitCodeOf(failure, undefined)).toBe(1);
    expect(indexCount()).toBe(before - 1);
    const report = await stopped().job.run();
    expect(report.resumed?.pileSets).toBe(before - 1);
    expect(stopped().job.content()).toEqual(stopped().expected);
    expect(stopped().job.leftovers()).toEqual([]);
  });
});

describe('an index that cannot be read', () => {
  it('costs its pile set, at once', async () => {
    const before = indexCount();
    const [bad] = tempFiles('.index');
    const { ino } = statSync(bad ?? '');
    stopped().fileCalls.replace(unreadable((path) => existsSync(path) && statSync(path).ino === ino));
    const report = await stopped().job.run();
    expect(report.resumed?.pileSets).toBe(before - 1);
    const lines = stopped().job.warnings.filter((line) => !line.includes(' in memory (tmpfs)'));
    expect(lines).toEqual([expect.stringMatching(/^cannot read at byte 0 of .*; this part is made again$/)]);
    expect(stopped().job.content()).toEqual(stopped().expected);
  });

  it('costs nothing when the disk fails', async () => {
    const before = tempFiles('.index').map((path) => readFileSync(path, 'latin1'));
    stopped().fileCalls.replace(unreadable((path) => path.endsWith('.index')));
    await expect(stopped().job.run()).rejects.toMatchObject({ code: 'ERR_IO', unfinishedJob: {} });
    expect(tempFiles('.index').map((path) => readFileSync(path, 'latin1'))).toEqual(before);
    stopped().fileCalls.replace({});
    expect((await stopped().job.run()).resumed?.pileSets).toBe(before.length);
    expect(stopped().job.content()).toEqual(stopped().expected);
  });
});
