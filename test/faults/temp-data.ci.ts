/**
 * The temp data of a job between the passes is spread evenly over all temp directories.
 */
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle, type Tuning } from '#src/index.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { SMALL_SIZES, writeInputs } from './small-job.js';

const directory = useTestDirectory();

interface TempFile {
  readonly path: string;
  readonly mode: number;
  readonly byteLength: number;
}

/** Runs a job; gives all that lay below its temp directories when pass 1 had ended. */
async function filesBetweenPasses(
  options: Pick<ShuffleOptions, 'inputs' | 'tempDirs'>,
  tuning: Tuning,
): Promise<{ readonly files: readonly TempFile[]; readonly tempBytes: number }> {
  let files: readonly TempFile[] | undefined;
  const report = await shuffle(
    {
      ...options,
      output: directory.path('out'),
      memoryBytes: 2 ** 26,
      workers: 2,
      onProgress: ({ phase }) => {
        if (phase === 'shuffle') files ??= (options.tempDirs ?? []).flatMap(listFiles);
      },
    },
    tuning,
  );
  return { files: files ?? [], tempBytes: report.tempBytes };
}

function listFiles(root: string): TempFile[] {
  return readdirSync(root, { withFileTypes: true, recursive: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name);
    const { mode, size } = statSync(path);
    return { path, mode: mode & 0o777, byteLength: entry.isFile() ? size : 0 };
  });
}

describe('temp data', () => {
  it('is spread evenly over several temp directories', async () => {
    const tempDirs = ['t1', 't2', 't3'].map((name) => directory.path(name));
    for (const path of tempDirs) mkdirSync(path);
    const { files, tempBytes } = await filesBetweenPasses(
      { inputs: writeInputs(directory), tempDirs },
      { ...SMALL_SIZES, pileCount: 60, pass2ArenaBytes: 2 ** 22 },
    );
    const bytesOn = (root: string, pattern: RegExp) =>
      files
        .filter(({ path }) => path.startsWith(root) && pattern.test(path))
        .reduce((sum, { byteLength }) => sum + byteLength, 0);
    const shares = tempDirs.map((root) => bytesOn(root, /\.pile$/) / tempBytes);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1);
    for (const share of shares) expect(share).toBeCloseTo(1 / 3, 1);
    expect(tempDirs.map((path) => readdirSync(path))).toEqual([[], [], []]);
  });
});
