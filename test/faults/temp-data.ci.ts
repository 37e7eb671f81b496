/** The temp data of a job between the passes is spread evenly over all temp directories. */
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { namesBelow } from './resumable-job.js';
import { SMALL_SIZES, writeInputs } from './small-job.js';

const directory = useTestDirectory();

it('temp data is spread evenly over several temp directories', async () => {
  const tempDirs = ['t1', 't2', 't3'].map((name) => directory.path(name));
  for (const path of tempDirs) mkdirSync(path);
  const bytesIn = (root: string) =>
    namesBelow(root)
      .filter((name) => name.endsWith('.pile'))
      .reduce((sum, name) => sum + statSync(join(root, name)).size, 0);
  let betweenPasses: readonly number[] | undefined;
  const onProgress = ({ phase }: { phase: string }) => {
    if (phase === 'shuffle') betweenPasses ??= tempDirs.map(bytesIn);
  };
  const job = { inputs: writeInputs(directory), output: directory.path('out'), memoryBytes: 2 ** 26, workers: 2 };
  const { tempBytes } = await shuffle(
    { ...job, tempDirs, onProgress },
    { ...SMALL_SIZES, pileCount: 60, pass2ArenaBytes: 2 ** 22 },
  );
  const shares = betweenPasses?.map((bytes) => bytes / tempBytes) ?? [];
  expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1);
  for (const share of shares) expect(share).toBeCloseTo(1 / 3, 1);
  expect(tempDirs.map((path) => readdirSync(path))).toEqual([[], [], []]);
});
