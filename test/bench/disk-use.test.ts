/** The most disk space that a command takes, however the command ends. */

import { closeSync, linkSync, mkdirSync, openSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { watchDiskUse } from '../../bench/disk-use.mjs';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const mebibyte = 2 ** 20;
/** What directories take. */
const slackBytes = 64 * 1024;

const directory = useTestDirectory();

function write(name: string): void {
  writeFileSync(directory.path(name), Buffer.alloc(mebibyte, 1), { flush: true });
}

/** Long enough for some looks. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 100));

function expectMebibytes(bytes: number, count: number): void {
  expect(bytes).toBeGreaterThanOrEqual(count * mebibyte);
  expect(bytes).toBeLessThan(count * mebibyte + slackBytes);
}

describe('watchDiskUse', () => {
  it('adds up what is new, below directories too, and counts no file twice', () => {
    write('former');
    mkdirSync(directory.path('empty'));
    const end = watchDiskUse(directory.path(), () => undefined);
    write('new');
    mkdirSync(directory.path('made'));
    write('made/below');
    write('empty/below');
    linkSync(directory.path('new'), directory.path('again'));
    expectMebibytes(end(), 3);
  });

  it('remembers the most', async () => {
    const end = watchDiskUse(directory.path(), () => undefined);
    write('one');
    write('two');
    await pause();
    rmSync(directory.path('one'));
    rmSync(directory.path('two'));
    write('three');
    expectMebibytes(end(), 2);
  });

  it.skipIf(process.platform !== 'linux')('sees a deleted file that is still open', () => {
    const end = watchDiskUse(directory.path(), () => process.pid);
    write('open');
    const fd = openSync(directory.path('open'), 'r');
    unlinkSync(directory.path('open'));
    expectMebibytes(end(), 1);
    closeSync(fd);
  });
});
