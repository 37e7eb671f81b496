/**
 * Names of shards: they sort in the order of the shards, existing shards are found by the same rule, and other files
 * never count as shards.
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commonExtension, completionMarkerName, findFormerFiles, shardName } from '#src/sinks/shard-names.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

describe('shardName', () => {
  it('has five digits, more where it takes more, and the extension', () => {
    expect(shardName({ prefix: 'shard', extension: '.jsonl' }, 7, 128)).toBe('shard-00007-of-00128.jsonl');
    expect(shardName({ prefix: 'a.b', extension: '' }, 0, 1)).toBe('a.b-00000-of-00001');
    expect(shardName({ prefix: 's', extension: '' }, 123_456, 1_000_000)).toBe('s-123456-of-1000000');
  });

  it('sorts like the shards up to 100,000 of them', () => {
    const names = [0, 1, 9, 10, 99, 100, 9999, 10_000, 99_999].map((shard) =>
      shardName({ prefix: 'p', extension: '.x' }, shard, 100_000),
    );
    expect(names.toSorted()).toEqual(names);
  });
});

describe('findFormerFiles', () => {
  const directory = useTestDirectory();

  it('finds shards of the prefix, of whichever count and extension, and nothing else', () => {
    const shards = [
      'shard-00000-of-00002',
      'shard-00001-of-00002.jsonl',
      'shard-123456-of-1000000.txt',
      'shard-00000-of-00001.tar.gz',
    ];
    const others = [
      'shard-0000-of-00002',
      'shard-00000-of-00002x',
      'shard-00000-of-00002-old',
      'shard-00000',
      'xshard-00000-of-00002',
      'shard--00000-of-00002',
      'shard-a-00000-of-00002',
      'Shard-00000-of-00002',
      'shard-00000-of-0002.txt',
    ];
    mkdirSync(directory.path('out'));
    for (const name of [...shards, ...others]) writeFileSync(directory.path('out', name), '');
    mkdirSync(directory.path('out', 'shard-00005-of-00009'));
    symlinkSync('nowhere', directory.path('out', 'shard-00003-of-00009'));
    const expected = [...shards, 'shard-00003-of-00009', 'shard-00005-of-00009'].toSorted();
    const find = (prefix: string) =>
      findFormerFiles({ path: directory.path('out'), naming: { prefixes: [prefix], extension: '.txt' } });
    expect(find('shard')).toEqual(expected);
    expect(find('shard-a')).toEqual(['shard-a-00000-of-00002']);
    expect(find('sh.rd')).toEqual([]);
  });

  it('finds the marker of the prefix with its shards, whatever it is', () => {
    mkdirSync(directory.path('out'));
    const naming = { prefixes: ['shard'], extension: '.txt' };
    expect(completionMarkerName('shard')).toBe('.shard.complete.json');
    const find = () => findFormerFiles({ path: directory.path('out'), naming });
    for (const name of ['shard.complete.json', '.other.complete.json', 'shard.complete', 'shard-00000-of-00001x']) {
      writeFileSync(directory.path('out', name), '');
    }
    expect(find()).toEqual([]);
    symlinkSync('nowhere', directory.path('out', '.shard.complete.json'));
    expect(find()).toEqual(['.shard.complete.json']);
    writeFileSync(directory.path('out', 'shard-00000-of-00001.csv'), '');
    expect(find()).toEqual(['shard-00000-of-00001.csv', '.shard.complete.json']);
    // A prefix that begins with a dot takes no marker of another prefix for its own.
    const hidden = { path: directory.path('out'), naming: { ...naming, prefixes: ['.shard'] } };
    expect(findFormerFiles(hidden)).toEqual([]);
  });
});

describe('commonExtension', () => {
  it.each([
    [['a.jsonl', '/x/b.jsonl'], '.jsonl'],
    [['a.jsonl.gz', 'b.jsonl'], '.jsonl'],
    [['a.txt', 'b.csv'], ''],
    [['a.txt', 'b'], ''],
    [['a'], ''],
    [['/x.d/a'], ''],
    [['.hidden'], ''],
    [['a.tar.txt'], '.txt'],
    [['a.gz'], ''],
    [['-'], ''],
    [[], ''],
  ])('of %j is %j', (paths, extension) => {
    expect(commonExtension(paths)).toBe(extension);
  });
});
