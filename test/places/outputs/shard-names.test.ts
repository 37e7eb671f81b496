/**
 * Names of shards: they sort in the order of the shards, existing shards are found by the same rule, and other files
 * never count as shards.
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commonExtension, findReplacedFiles, shardName } from '#src/places/outputs/shard-names.js';
import { useTestDirectory } from '../../fixtures/temp-directory.js';

it('shards are named by five digits, more where it takes more, and the extension', () => {
  expect(shardName({ prefix: 'a.b', extension: '.jsonl' }, 7, 100_000)).toBe('a.b-00007-of-100000.jsonl');
  expect(shardName({ prefix: 's', extension: '' }, 123_456, 1_000_000)).toBe('s-123456-of-1000000');
});

describe('findFormerFiles', () => {
  const directory = useTestDirectory();
  const find = (prefix: string) =>
    findReplacedFiles({ path: directory.path('out'), naming: { prefixes: [prefix], extension: '.txt' } });

  it('finds shards of the prefix, of whichever count and extension, and its marker, whatever they are', () => {
    const ofPrefix = ['shard-00000-of-00001.tar.gz', 'shard-00000-of-00002', 'shard-123456-of-1000000.txt'];
    const others = [
      ...['shard-0000-of-00002', 'shard-00000-of-00002x', 'shard-00000-of-00002-old', 'shard-00000'],
      ...['xshard-00000-of-00002', 'shard--00000-of-00002', 'shard-a-00000-of-00002', 'Shard-00000-of-00002'],
      ...['shard-00000-of-0002.txt', 'shard.complete.json', '.other.complete.json', 'shard.complete'],
    ];
    mkdirSync(directory.path('out'));
    for (const name of [...ofPrefix, ...others]) writeFileSync(directory.path('out', name), '');
    mkdirSync(directory.path('out', 'shard-00005-of-00009'));
    for (const name of ['shard-00003-of-00009', '.shard.complete.json'])
      symlinkSync('nowhere', directory.path('out', name));
    const shards = [...ofPrefix, 'shard-00003-of-00009', 'shard-00005-of-00009'].toSorted();
    expect(find('shard')).toEqual([...shards, '.shard.complete.json']);
    expect(find('shard-a')).toEqual(['shard-a-00000-of-00002']);
    // A point stands for itself, and a prefix that begins with it takes no marker of another prefix for its own.
    for (const prefix of ['sh.rd', '.shard']) expect(find(prefix)).toEqual([]);
  });
});

it.each([
  [['a.jsonl', '/x/b.jsonl'], '.jsonl'],
  [['a.jsonl.gz', 'b.jsonl'], '.jsonl'],
  [['a.txt', 'b.csv'], ''],
  [['a.txt', 'b'], ''],
  [['/x.d/a'], ''],
  [['.hidden'], ''],
  [['a.tar.txt'], '.txt'],
  [['a.gz'], ''],
  [['-'], ''],
  [[], ''],
])('the common extension of %j is %j', (paths, extension) =>
  expect(commonExtension(paths.map((path) => ({ path })))).toBe(extension),
);
