/** A job that is done says so when it is asked to be resumed, as long as its output and its inputs are as they were. */
import {
  appendFileSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type ShuffleOptions, shuffle, shuffleTogether } from '#src/index.js';
import { writeTable } from '../fixtures/tables.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const input = () => directory.path('in');
const out = (...names: string[]) => directory.path('out', ...names);

beforeEach(() => {
  vi.stubEnv('XDG_STATE_HOME', directory.path('state'));
  writeFileSync(input(), '1\n2\n3\n');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const run = (changed: Partial<ShuffleOptions> = {}) =>
  shuffle({ inputs: [input()], output: out(), resume: true, ...changed });
const toShards = { shards: { by: 'count', shardCount: 2 }, shardPrefix: 'p' } as const;
const toSplits: Partial<ShuffleOptions> = {
  splits: [
    { name: 'a', share: 0.5 },
    { name: 'b', rest: true },
  ],
};
const refused = { code: 'ERR_OUTPUT_EXISTS' };

it.each([
  ['a file', {}],
  ['shards', toShards],
  ['splits', toSplits],
])('is done already: %s', async (_, rule) => {
  const first = await run(rule);
  const beside = readdirSync(directory.path());
  const again = await run({ ...rule, jobDir: directory.path('job'), memoryBytes: 2 ** 26, workers: 1 });
  expect(again).toMatchObject({ ...JSON.parse(JSON.stringify(first)), seconds: {}, wasFinished: true });
  expect(first.wasFinished).toBeUndefined();
  expect(readdirSync(directory.path())).toEqual(beside);
  await run({ ...rule, seed: first.seed });
  await expect(run({ ...rule, seed: 'other' })).rejects.toMatchObject(refused);
  await expect(run({ ...rule, headCount: 2 })).rejects.toMatchObject(refused);
  await expect(run({ ...rule, resume: false })).rejects.toMatchObject(refused);
  expect((await run({ ...rule, resume: false, force: true })).wasFinished).toBeUndefined();
});

it('is done already: a table whose codec is named with its usual level, or without', async () => {
  writeTable(input(), [{ text: 'a', number: 1 }], 1);
  await run({ parquetCodec: { codec: 'zstd' } });
  expect(await run({ parquetCodec: { codec: 'zstd', level: 3 } })).toMatchObject({ wasFinished: true });
  await expect(run({ parquetCodec: { codec: 'zstd', level: 4 } })).rejects.toMatchObject(refused);
});

it('is done already: aligned files', async () => {
  const job = { together: [[input(), directory.path('mate')]], output: out(), resume: true } as const;
  copyFileSync(input(), directory.path('mate'));
  const first = await shuffleTogether(job);
  expect(await shuffleTogether(job)).toMatchObject({ records: 3, seed: first.seed, wasFinished: true });
  appendFileSync(out('mate'), '4\n');
  await expect(shuffleTogether(job)).rejects.toMatchObject(refused);
});

it.each<[string, (path: string) => void]>([
  ['longer', (path) => appendFileSync(path, '4\n')],
  ['shorter', (path) => truncateSync(path, 1)],
  ['written again', (path) => writeFileSync(path, readFileSync(path))],
  [
    'changed with its former time',
    (path) => {
      const { atime, mtime } = statSync(path);
      utimesSync(path, atime, new Date(0));
      writeFileSync(path, '9\n9\n9\n');
      utimesSync(path, atime, mtime);
    },
  ],
])('is not known to be done when the input or a shard is %s', async (_, change) => {
  await run(toShards);
  change(out('p-00000-of-00002'));
  await expect(run(toShards)).rejects.toMatchObject(refused);
  await run({ ...toShards, force: true, resume: false, jobDir: directory.path('job') });
  await run(toShards);
  change(input());
  await expect(run(toShards)).rejects.toMatchObject(refused);
});

it.each([
  ['a further shard', () => copyFileSync(input(), out('p-00000-of-00003'))],
  ['a shard of another name', () => renameSync(out('p-00000-of-00002'), out('p-00002-of-00003'))],
  ['no record', () => vi.stubEnv('XDG_STATE_HOME', directory.path('other'))],
  ['a damaged record', () => truncateSync(directory.path('state', 'pileshuf', record()), 99)],
])('is not known to be done with %s', async (_, change) => {
  await run(toShards);
  change();
  await expect(run(toShards)).rejects.toMatchObject(refused);
});

function record(): string {
  return readdirSync(directory.path('state', 'pileshuf'))[0] ?? '';
}

it('leaves no record if nobody asked for a job that can be resumed', async () => {
  await run({ resume: false });
  expect(readdirSync(directory.path())).not.toContain('state');
});
