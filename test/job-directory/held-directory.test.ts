/**
 * Temp directories of jobs that keep nothing: the next job removes those of a killed one, and none that may still be
 * in use or belongs to something else.
 */
import { chmodSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Release } from '#src/cleanup.js';
import { shuffle } from '#src/index.js';
import {
  makePrivateTempDirectory,
  makeScratchDirectory,
  removeLeftOverTempDirectories,
} from '#src/job-directory/held-directory.js';
import { runJob } from '../faults/resumable-job.js';
import { writeInputs } from '../faults/small-job.js';
import { fromCi } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const parent = (...names: string[]) => directory.path('t', ...names);
const names = () => readdirSync(parent()).sort();
const ENDED = 'lock+vm+00000000-0000-4000-8000-000000000000+1+4194303+1+0+0123456789abcdef';

beforeEach(() => mkdirSync(parent()));

/** As a killed job leaves it, on this host before it was started again. */
function leave(name: string, lock: string | undefined): void {
  const made: Release[] = [];
  const held = makePrivateTempDirectory(parent(), made);
  const [own = ''] = readdirSync(held);
  for (const release of made.reverse()) release();
  mkdirSync(parent(name), { mode: 0o700 });
  writeFileSync(parent(name, 'set-000001.0.pile'), 'bytes');
  if (lock !== undefined) writeFileSync(parent(name, lock === ENDED ? own : lock), '');
}

describe('a private temp directory', () => {
  it('is held while its job runs, and goes with it', () => {
    const releases: Release[] = [];
    const made = makePrivateTempDirectory(parent(), releases);
    writeFileSync(join(made, 'data'), 'bytes');
    removeLeftOverTempDirectories(parent());
    expect(readdirSync(made)).toEqual(['data', expect.stringMatching(/^lock/)]);
    for (const release of releases.reverse()) release();
    expect(names()).toEqual([]);
  });

  it('is removed by the next job when its own was killed', () => {
    leave('.pileshuf-aB3dEf', ENDED);
    removeLeftOverTempDirectories(parent());
    expect(names()).toEqual([]);
  });

  it('is removed later when its job was killed before it had a lock, or after', () => {
    for (const name of ['.pileshuf-former', '.pileshuf-recent']) mkdirSync(parent(name), { mode: 0o700 });
    utimesSync(parent('.pileshuf-former'), 0, Date.now() / 1000 - 2 * 3600);
    removeLeftOverTempDirectories(parent());
    expect(names()).toEqual(['.pileshuf-recent']);
  });

  it('is removed by a job that writes a file, if that has a temp directory of its own', async () => {
    leave('.pileshuf-aB3dEf', ENDED);
    leave('.pileshuf-other1', ENDED.replace('+vm+', '+elsewhere+'));
    const options = { inputs: [directory.path('in')], output: directory.path('out'), tempDirs: [parent()], workers: 1 };
    writeFileSync(directory.path('in'), 'a\n');
    await shuffle({ ...options, memoryBytes: 2 ** 27 });
    expect(names()).toEqual(['.pileshuf-other1']);
  });

  it('stays when nobody can know whose it is', () => {
    leave('.pileshuf-nolock', undefined);
    leave('.pileshuf-other1', ENDED.replace('+vm+', '+elsewhere+'));
    leave('.pileshuf-other2', 'lock of another kind');
    leave('.pileshuf-others', ENDED);
    chmodSync(parent('.pileshuf-others'), 0o777);
    leave('other-abcdef', ENDED);
    mkdirSync(directory.path('real'), { mode: 0o700 });
    writeFileSync(directory.path('real', ENDED), '');
    symlinkSync(directory.path('real'), parent('.pileshuf-linked'));
    const before = names();
    removeLeftOverTempDirectories(parent());
    expect(names()).toEqual(before);
    expect(readdirSync(directory.path('real'))).toEqual([ENDED]);
  });

  it('of a task on another host stays for a day after its last change', () => {
    const elsewhere = ENDED.replace('+vm+', '+elsewhere+');
    const dayAgo = Date.now() / 1000 - 24 * 3600 - 60;
    const old = {
      '.pileshuf-task-aaaaaa': elsewhere,
      '.pileshuf-task-bbbbbb': undefined,
      '.pileshuf-cccccc': elsewhere,
    };
    for (const [name, lock] of Object.entries({ ...old, '.pileshuf-task-dddddd': elsewhere })) leave(name, lock);
    const releases: Release[] = [];
    const held = makeScratchDirectory(parent(), releases);
    // Of a job that is no task, and of a task that lives, nothing goes, however old it is.
    for (const directoryOf of [...Object.keys(old).map((name) => parent(name)), held])
      for (const path of [...readdirSync(directoryOf).map((name) => join(directoryOf, name)), directoryOf])
        utimesSync(path, dayAgo, dayAgo);
    removeLeftOverTempDirectories(parent());
    expect(names()).toEqual(['.pileshuf-cccccc', basename(held), '.pileshuf-task-dddddd'].sort());
    for (const release of releases.reverse()) release();
  });

  it('of a task that was killed here goes at once', () => {
    leave('.pileshuf-task-aB3dEf', ENDED);
    removeLeftOverTempDirectories(parent());
    expect(names()).toEqual([]);
  });

  it.runIf(fromCi)('of a job that writes a stream and was killed is gone after the next one', async () => {
    const argv = [...writeInputs(directory), '-T', parent()];
    const sabotage = { act: 'signal', signal: 'SIGKILL', at: 'temp-write', nth: 250 } as const;
    expect((await runJob(directory, argv, { sabotage })).signal).toBe('SIGKILL');
    expect(names()).toEqual([expect.stringMatching(/^\.pileshuf-.{6}$/)]);
    expect((await runJob(directory, argv)).exitCode).toBe(0);
    expect(names()).toEqual([]);
  });
});
