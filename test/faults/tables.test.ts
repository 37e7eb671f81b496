/**
 * Jobs that write tables and are killed: what they had appended and not recorded is lost, and the same command ends with the
 * bytes of a whole job. A pile that comes out wrong is made once more, from its temp data.
 */
import { readdirSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { fromCi, sampled } from '../fixtures/scale.js';
import { writeTable } from '../fixtures/tables.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { findJobPaths, type JobRun, namesBelow, useSmallJob } from './resumable-job.js';
import type { Sabotage } from './sabotage.js';
import { smallSizes } from './small-job.js';

const directory = useTestDirectory();
const job = useSmallJob(directory);

const SIZES = smallSizes({ pileCount: 24, stripeCount: 6, outputBytes: 2000, sliceBytes: 100_000 });
const ROWS = { rowGroupRows: 150, parquetCodec: { codec: 'snappy' } } as const;
const WORDS = ['--row-group-rows', '150', '--parquet-codec', 'snappy'];

beforeEach(() => {
  job.inputs = ['a', 'b'].map((name) => {
    const path = directory.path(`${name}.input`);
    const rows = Array.from({ length: 1500 }, (_, i) => ({
      text: `${name}${i}${'-'.repeat((i * 7) % 90)}`,
      number: i,
    }));
    writeTable(path, rows, 400);
    return path;
  });
  job.output = directory.path('out');
});

const run = (words: readonly string[], how: JobRun = {}) =>
  job.run(['-T', directory.temp, ...WORDS, ...words], { sizes: SIZES, ...how });

describe('a job that writes tables', () => {
  const killed = (at: 'output-write' | 'output-sync' | 'output-move', nth: number): Sabotage => ({
    act: 'signal',
    signal: 'SIGKILL',
    at,
    nth,
  });
  const shards = { shards: { by: 'count', shardCount: 5 } } as const;
  const KINDS = [
    { name: 'one file, killed as row groups are written', sabotage: killed('output-write', 30) },
    { name: 'one file, killed when a range is recorded', sabotage: killed('output-sync', 2) },
    {
      name: 'shards, killed as row groups are written',
      words: ['--shards', '5'],
      options: shards,
      sabotage: killed('output-write', 40),
    },
    {
      name: 'shards, killed as they get their names',
      words: ['--shards', '5'],
      options: shards,
      sabotage: killed('output-move', 9),
    },
  ] as const;

  it.each(sampled<{ name: string; words?: readonly string[]; options?: object; sabotage: Sabotage }>(KINDS, 4))(
    'ends with the bytes of a whole one: $name',
    async ({ words = [], options = {}, sabotage }) => {
      const stopped = await run(['--resume', ...words], { sabotage });
      expect(stopped).toMatchObject({ signal: 'SIGKILL', report: undefined });
      const { job: kept } = findJobPaths(directory.temp, directory.path());
      const recorded = namesBelow(kept).some((name) => /^done-\d+$/.test(name));
      const continued = await run(['--resume', ...words]);
      expect(continued).toMatchObject({ exitCode: 0, failure: undefined, warnings: [] });
      if (sabotage.act === 'signal' && sabotage.at !== 'output-move')
        expect((continued.report?.resumed?.outputBytes ?? 0) > 0).toBe(recorded);
      await job.expectWhole({ ...ROWS, ...options });
      expect(readdirSync(directory.temp)).toEqual([]);
    },
  );

  it('makes a range once more whose pile comes out wrong, and leaves no page of the first try', async () => {
    const once = await run([], { sabotage: { act: 'skip-gathered', nth: 25 } });
    expect(once).toMatchObject({
      exitCode: 0,
      warnings: [expect.stringMatching(/ came out of pass 2 with .* tried once more/)],
    });
    await job.expectWhole(ROWS);
    expect(readdirSync(directory.temp)).toEqual([]);
  });

  it.runIf(fromCi)('refuses to go on with other row groups or another codec', async () => {
    await run(['--resume'], { sabotage: killed('output-write', 30) });
    for (const [words, message] of [
      [
        ['--row-group-rows', '151', '--parquet-codec', 'snappy'],
        /another number of rows in row groups \(150, now 151\)/,
      ],
      [['--row-group-rows', '150', '--parquet-codec', 'zstd'], /another codec of Parquet/],
    ] as const) {
      const refused = await job.run(['-T', directory.temp, '--resume', ...words], { sizes: SIZES });
      expect(refused).toMatchObject({ exitCode: 2, failure: { message: expect.stringMatching(message) } });
    }
    expect((await run(['--resume'])).exitCode).toBe(0);
  });
});
