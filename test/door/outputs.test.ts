/** What the output is named and how it is cut: what no reader could take for what it says, or not read at all. */
import { describe, expect } from 'vitest';
import { testDoor } from './door-case.js';

describe('a name that stands for a format which is not written', () => {
  const refused = (name: string, line: RegExp) => ({
    name: `-o ${name}`,
    files: { 'a.jsonl': '{}\n' },
    argv: ['a.jsonl', '-o', name],
    badCall: line,
  });
  testDoor([
    refused(
      'x.parquet',
      /the output x\.parquet: its name stands for Parquet, which this job does not write: no input is of that format, or an option says what the records are; name it/,
    ),
    ...['X.Feather', 'x.orc', 'x.avro', 'x.xlsx', 'x.zip', 'x.npz', 'x.tgz'].map((name) =>
      refused(name, /the output \S+: its name stands for .+, which pileshuf does not write; name it after/),
    ),
    ...['x.bz2', 'x.jsonl.xz', 'x.lz4', 'x.bgz', 'x.Z'].map((name) =>
      refused(name, /the output \S+: its name stands for a codec that pileshuf does not write; name it \.gz or \.zst/),
    ),
    refused('x.tar', /.* give --webdataset for inputs of that format/),
    refused('x.npy', /.* give --npy for /),
    refused('x.tfrecord.gz', /.* give --tfrecord for /),
    {
      name: 'the name of a format before the numbers of shards',
      files: { a: 'x\n' },
      argv: 'a --shards 1 --prefix x.parquet',
      records: ['x\n'],
    },
  ]);
});

describe('shards without records', () => {
  const a = '1\n2\n3\n';
  const records = ['1\n', '2\n', '3\n'];
  testDoor([
    {
      name: 'are told, with the number that would do',
      files: { a },
      argv: 'a --shards 8',
      summary: /, 5 of 8 shards are empty: --shards 3 would do$/,
      records,
    },
    {
      name: 'are not told where there are none',
      files: { a },
      argv: 'a --shards 3',
      summary: /[0-9a-f]{16}$/,
      records,
    },
    {
      name: 'of an output without records',
      files: { a: '' },
      argv: 'a --shard-records 5',
      summary: /, 1 of 1 shard is empty$/,
      records: [],
    },
    {
      name: 'of splits, of which one has no record',
      files: { a },
      argv: 'a --split x=2,y=rest -n 2 --shards x=4',
      lines: [
        'warning: 2 of 4 shards of x will be empty, and readers may fail at them: there are at most 2 records; --shards x=2 would do',
        'warning: no record is in y',
      ],
      summary: /, 3 of 5 shards are empty: --shards x=2,y=1 would do$/,
      records: [expect.any(String), expect.any(String)],
    },
    {
      name: 'are told before the job where the number of records is known',
      files: { a: 'aabbcc' },
      argv: 'a --record-size 2 --shards 4',
      lines: [/warning: 1 of 4 shards will be empty, .* at most 3 records; --shards 3 would do/],
      summary: /, 1 of 4 shards is empty: --shards 3 would do$/,
      records: ['aa', 'bb', 'cc'],
    },
    {
      name: 'are told of one record as of one',
      files: { a: 'aa' },
      argv: 'a --record-size 2 --shards 2',
      lines: [/warning: 1 of 2 shards will be empty, .*: there is at most 1 record; --shards 1 would do/],
      summary: /, 1 of 2 shards is empty: --shards 1 would do$/,
      records: ['aa'],
    },
  ]);
});

describe('numbers of records', () => {
  testDoor([
    {
      name: 'have decimal units',
      files: { a: '\n'.repeat(1100) },
      argv: 'a -n 1K',
      summary: / 1,000 records, /,
      records: Array.from({ length: 1000 }, () => '\n'),
    },
  ]);
});
