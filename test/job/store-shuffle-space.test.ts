/** Temp space of a store whose piles are larger than the memory of a thread: planned, and checked before the first write. */
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { shuffleStore } from '#src/index.js';
import { systemFileCalls } from '#src/io/file-calls.js';
import { makeStore, someRecords } from '../fixtures/make-store.js';
import { useFileCalls } from '../fixtures/replaced-file-calls.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const calls = useFileCalls();
const KIB = 1024;

/** @param kib free, on every device. */
function setFreeSpace(kib: number): void {
  calls.replace({
    statFileSystem: (path) => ({ ...systemFileCalls.statFileSystem(path), blocks: 2 ** 30, bavail: kib, bsize: KIB }),
  });
}

describe('shuffleStore', () => {
  const records = someRecords('a', 4000);
  const bytes = records.join('').length;
  const tempBytes = bytes + 12 * 4000;
  const write = (warnings: string[] = []) =>
    shuffleStore(
      directory.path('store'),
      { output: directory.path('out'), tempDirs: [directory.temp], onWarning: (line) => warnings.push(line) },
      { inline: true, pass2ArenaBytes: 160 * KIB, outputBytes: 4 * KIB, readBytes: 4 * KIB, bufferBytes: KIB },
    );

  it('refuses to split piles for which there is no temp space, and makes nothing', async () => {
    await makeStore(directory.path('store'), { seed: 's', pileCount: 1, inputs: { a: records } });
    setFreeSpace(Math.floor((bytes + tempBytes) / KIB) - 1);
    await expect(write()).rejects.toMatchObject({
      code: 'ERR_NO_SPACE',
      message: expect.stringMatching(
        /^not enough space for temp data and output on the device of .*; free some space or name other disks/,
      ),
    });
    expect(readdirSync(directory.temp)).toEqual([]);
    expect(readdirSync(directory.path()).sort()).toEqual(expect.not.arrayContaining(['out']));
  });

  it('splits them where there is as much as planned', async () => {
    await makeStore(directory.path('store'), { seed: 's', pileCount: 1, inputs: { a: records } });
    setFreeSpace(Math.ceil((bytes + tempBytes) / KIB));
    const warnings: string[] = [];
    const report = await write(warnings);
    expect(warnings).toEqual([]);
    expect(report.tempBytes).toBeGreaterThanOrEqual(tempBytes);
    expect(report.tempBytes).toBeLessThan(tempBytes * 1.1);
  });
});
