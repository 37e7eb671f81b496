/** Calls with --together: what the words mean, and the summary. */
import { describe, expect, it } from 'vitest';
import { parseCommand } from '#src/cli/command.js';
import { command } from '#src/cli/commands/shuffle-command.js';
import { describeTogether } from '#src/cli/report-text.js';
import { togetherCallOf } from '#src/cli/together-call.js';
import type { ShuffleTogetherOptions } from '#src/index.js';

function parse(...argv: string[]): ShuffleTogetherOptions {
  const parsed = parseCommand(command, argv);
  if (parsed.kind === 'print') return expect.fail('it prints');
  return togetherCallOf(parsed)?.options ?? expect.fail('no aligned files');
}

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
    '12 records in each of 2 members, 1.20 MB in 2.0 s, seed "4 2", a checksum 0123456789abcdef, b checksum 0123456789abcdef, resumed after 1 member',
  );
});
