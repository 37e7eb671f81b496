/** Calls with --together: what the words mean, and every option that does not go with aligned files. */
import { describe, expect, it } from 'vitest';
import { parseCommand } from '#src/cli/command.js';
import { command } from '#src/cli/commands/shuffle.js';
import { type OptionEntry, optionsOf } from '#src/cli/option-table.js';
import { describeTogether } from '#src/cli/report-text.js';
import { togetherCallOf } from '#src/cli/together-call.js';
import { type ShuffleTogetherOptions, UsageError } from '#src/index.js';

function parse(...argv: string[]): ShuffleTogetherOptions {
  const parsed = parseCommand(command, argv);
  if (parsed.kind === 'print') return expect.fail('it prints');
  return togetherCallOf(parsed)?.options ?? expect.fail('no aligned files');
}

function refusalOf(...argv: string[]): string {
  try {
    parse(...argv);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(UsageError);
    return thrown instanceof UsageError ? thrown.message : '';
  }
  return expect.fail(`accepted: ${argv.join(' ')}`);
}

const PAIR = ['--together', 'a,b', '-o', 'out'];

describe('the words of aligned files', () => {
  it.each<[string, Partial<ShuffleTogetherOptions>]>([
    ['--together a,b -o out', { together: [['a', 'b']], output: 'out' }],
    [
      '--together a,b,c --together=d,e,f -o out -n 5 -n3',
      {
        together: [
          ['a', 'b', 'c'],
          ['d', 'e', 'f'],
        ],
        headCount: 3,
      },
    ],
    [
      '--together a,b -o out --shards 2 --compress gzip --force --seed s --csv --header 1 --workers 2 -S 1G -T t',
      {
        shards: { by: 'count', shardCount: 2 },
        compress: { codec: 'gzip' },
        force: true,
        seed: 's',
        records: { by: 'csv' },
        header: { lines: 1 },
        workers: 2,
        memoryBytes: 2 ** 30,
        tempDirs: ['t'],
      },
    ],
    [
      '--together a,b -o out --split train=0.9,test=rest --shards train=4',
      {
        splits: [
          { name: 'train', share: 0.9 },
          { name: 'test', rest: true },
        ],
        shards: { by: 'count', shardCount: { train: 4 } },
      },
    ],
    ['--together a,b -o out --resume -z --decompress-program cat', { resume: true, zeroTerminated: true }],
  ])('%s', (words, expected) => expect(parse(...words.split(' '))).toMatchObject(expected));

  it.each([
    ['--together a -o out', '--together a: expected two files or more with commas between, as in R1.fq,R2.fq'],
    ['--together a, -o out', '--together a,: expected two files or more with commas between, as in R1.fq,R2.fq'],
    ['--together a,b', '--together writes several files: name a directory with --output'],
    ['--together a,b -o -', '--together writes several files: name a directory with --output'],
    [
      '--together a,b -o out c',
      '--together names all inputs, and c is one more; join files of a tuple with commas, as in --together R1.fq,R2.fq',
    ],
    [
      '--together a,b -o out --split train=0.9,test=0.1 --split-by .site',
      '--split-by does not go with --together: only one member has the value, and the others must be split alike without it',
    ],
  ])('are refused: %s', (words, message) => expect(refusalOf(...words.split(' '))).toBe(message));

  /** A value that the option takes. */
  const VALUES: Readonly<Record<string, string>> = {
    'head-count': '1',
    shards: '2',
    'shard-records': '2',
    'shard-bytes': '1M',
    compress: 'gzip',
    prefix: 'p',
    split: 'a=0.5,b=rest',
    seed: 's',
    'random-source': 'f',
    key: 'ordinal',
    'input-ids': 'name',
    delimiter: 'x',
    'lines-per-record': '4',
    'record-size': '8',
    'length-prefixed': 'varint',
    header: '1',
    'header-prefix': '#',
    'skip-bytes': '1',
    'max-record': '1M',
    together: 'c,d',
    'decompress-program': 'cat',
    'files-from': 'f',
    'files0-from': 'f',
    weight: 'a=1',
    mix: 'f',
    'input-range': '1-2',
    memory: '1G',
    'temp-dir': 't',
    'temp-compress': 'zstd',
    workers: '1',
    'io-limit': '/=1',
    'job-dir': 'j',
    progress: 'none',
    profile: 'f',
    report: 'f.html',
    'split-by': '.a',
    missing: 'x',
    'unique-by': '.u',
    include: '*',
    exclude: '*',
  };
  const REFUSED = new Set([
    'repeat',
    'split-by',
    'missing',
    'unique',
    'unique-by',
    'weight',
    'mix',
    'shard-bytes',
    'prefix',
    'key',
    'input-ids',
    'echo',
    'files-from',
    'files0-from',
    'hidden',
    'include',
    'exclude',
    'job-dir',
    'keep-temp',
    'profile',
    'report',
    'skip-blank',
  ]);
  const others = optionsOf('shuffle').filter(({ name }) => name !== 'output' && name !== 'input-range');

  it.each(others.map((entry): [string, OptionEntry] => [entry.name, entry]))(
    'with --%s are taken or refused',
    (name, entry) => {
      const words = entry.value === undefined ? [`--${name}`] : [`--${name}`, VALUES[name] ?? expect.fail('no value')];
      if (REFUSED.has(name))
        expect(refusalOf(...PAIR, ...words)).toMatch(new RegExp(`^--${name} does not go with --together: .`));
      else expect(parse(...PAIR, ...words).output).toBe('out');
    },
  );
});

it('the summary names each member', () => {
  const member = (name: string) => ({ name, files: [`/out/${name}`], bytes: 600_000, checksum: '0123456789abcdef' });
  const report = {
    records: 12,
    seed: '4 2',
    members: [member('a'), member('b')],
    resumedMembers: 1,
    seconds: { total: 2 },
  };
  expect(describeTogether(report)).toBe(
    '12 records in each of 2 members, 1.20 MB in 2.0 s, seed "4 2", a checksum 0123456789abcdef, b checksum 0123456789abcdef, resumed behind 1 member',
  );
});
