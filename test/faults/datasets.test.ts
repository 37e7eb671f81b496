/** Jobs that write HDF5 files and are killed end with the bytes of a whole job. */
import { readdirSync } from 'node:fs';
import { beforeEach, expect, it } from 'vitest';
import { writeNumbers } from '../fixtures/hdf5-files.js';
import { sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { useSmallJob } from './resumable-job.js';
import { smallSizes } from './small-job.js';

const directory = useTestDirectory();
const job = useSmallJob(directory);
const SIZES = smallSizes({ pileCount: 24, stripeCount: 6, outputBytes: 2000, sliceBytes: 100_000 });

beforeEach(() => {
  job.inputs = ['a', 'b'].map((name, n) => {
    const path = directory.path(`${name}.input`);
    writeNumbers(
      path,
      Array.from({ length: 20_000 }, (_, i) => [i, n, i % 256]),
      500,
    );
    return path;
  });
  job.output = directory.path('out');
});

const KILLS = [
  ['output-write', 30],
  ['output-sync', 2],
] as const;

it.each(sampled(KILLS, 2))('a job that is killed at %s ends with the bytes of a whole one', async (at, nth) => {
  const run = (sabotage?: object) =>
    job.run(['-T', directory.temp, '--resume', '--shards', '4'], {
      sizes: SIZES,
      ...(sabotage && { sabotage }),
    } as never);
  expect(await run({ act: 'signal', signal: 'SIGKILL', at, nth })).toMatchObject({ signal: 'SIGKILL' });
  expect(await run()).toMatchObject({ exitCode: 0, failure: undefined, warnings: [] });
  await job.expectWhole({ shards: { by: 'count', shardCount: 4 } });
  expect(readdirSync(directory.temp)).toEqual([]);
});
