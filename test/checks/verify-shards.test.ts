/** Verifying finished shards against their completion markers: whole ones, and every way in which they can be others. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { shuffle, verifyShards } from '#src/index.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const LINES = Array.from({ length: 500 }, (_, i) => `{"id":${i}}\n`).join('');
const out = (...names: string[]) => directory.path('out', ...names);
const verify = () => verifyShards(out());

beforeEach(async () => {
  writeFileSync(directory.path('in.jsonl'), LINES);
  mkdirSync(out());
});

const job = (more: object) =>
  shuffle({
    inputs: [directory.path('in.jsonl')],
    output: out(),
    seed: '3',
    tempDirs: [directory.temp],
    ...more,
  });

describe('shards', () => {
  beforeEach(async () => {
    await job({ shards: { by: 'count', shardCount: 12 }, compress: { codec: 'gzip' } });
  });

  it('are as their marker says', async () => {
    const { isWhole, sets } = await verify();
    expect(isWhole).toBe(true);
    expect(sets).toMatchObject([
      { prefix: 'shard', marker: out('.shard.complete.json'), isWhole: true, missingShards: [], otherShards: [] },
    ]);
    expect(sets[0]?.found).toMatchObject(sets[0]?.expected ?? {});
    expect(sets[0]?.found).toMatchObject({ records: 500, shards: 12, bytes: LINES.length });
  });

  const first = 'shard-00000-of-00012.jsonl.gz';
  it.each<[string, () => void, object]>([
    ['one is lost', () => rmSync(out(first)), { missingShards: [0], found: { shards: 11 } }],
    ['one is empty', () => writeFileSync(out(first), ''), { missingShards: [], found: { shards: 12 } }],
    ['one is another', () => copyFileSync(out('shard-00003-of-00012.jsonl.gz'), out(first)), { missingShards: [] }],
    [
      'one is there twice',
      () => copyFileSync(out(first), out('shard-00000-of-00012.jsonl')),
      { missingShards: [0], otherShards: ['shard-00000-of-00012.jsonl', first] },
    ],
    [
      'one is of another set',
      () => copyFileSync(out(first), out('shard-00000-of-00013.jsonl')),
      { otherShards: ['shard-00000-of-00013.jsonl'] },
    ],
    [
      'one has another byte',
      () => {
        const text = gunzipSync(readFileSync(out(first))).toString();
        writeFileSync(out(first), text.replace('id', 'Id'));
      },
      { missingShards: [], found: { records: 500, bytes: LINES.length } },
    ],
    [
      'the marker is of others',
      () =>
        writeFileSync(
          out('.shard.complete.json'),
          readFileSync(out('.shard.complete.json'), 'utf8').replace('"records":500', '"records":501'),
        ),
      { expected: { records: 501 }, found: { records: 500 } },
    ],
  ])('are not if %s', async (_, change, expected) => {
    change();
    expect(await verify()).toMatchObject({ isWhole: false, sets: [{ isWhole: false, ...expected }] });
  });

  it('are all there without a marker, if each number is', async () => {
    rmSync(out('.shard.complete.json'));
    const found = { shards: 12, records: 500, bytes: LINES.length };
    expect(await verify()).toMatchObject({ isWhole: true, sets: [{ marker: undefined, expectedShards: 12, found }] });
    writeFileSync(out('.x.complete.json'), '{}');
    expect(await verify()).toMatchObject({ isWhole: true, sets: [{ prefix: 'shard', marker: undefined }] });
    rmSync(out(first));
    expect(await verify()).toMatchObject({ isWhole: false, sets: [{ missingShards: [0], expected: undefined }] });
  });

  it('must be somewhere', async () => {
    await expect(verifyShards(out(first))).rejects.toThrow(/is not a directory/);
    for (const name of readdirSync(out())) rmSync(out(name));
    await expect(verify()).rejects.toMatchObject({
      code: 'ERR_OPTION',
      message: expect.stringContaining('no shards and no completion marker'),
    });
  });
});

it('splits have a marker each', async () => {
  const splits = [
    { name: 'train', share: 0.9 },
    { name: 'test', rest: true },
  ];
  await job({ splits });
  expect(await verify()).toMatchObject({ isWhole: true, sets: [{ prefix: 'test' }, { prefix: 'train' }] });
  const [test = ''] = readdirSync(out()).filter((name) => name.startsWith('test-'));
  rmSync(out(test));
  const { isWhole, sets } = await verify();
  expect(isWhole).toBe(false);
  expect(sets.map((set) => set.isWhole)).toEqual([false, true]);
});
