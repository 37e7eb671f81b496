/** What the output is named and how it is cut: what no reader could take for what it says, or not read at all. */
import { describe } from 'vitest';
import { testDoor } from './door-case.js';

describe('a name that stands for a format which is not written', () => {
  const refused = (name: string, line: RegExp) => ({
    name: `-o ${name}`,
    files: { 'a.jsonl': '{}\n' },
    argv: ['a.jsonl', '-o', name],
    exitCode: 2,
    lines: [line],
  });
  testDoor([
    ...['x.parquet', 'X.Feather', 'x.orc', 'x.avro', 'x.h5', 'x.xlsx', 'x.zip', 'x.npz', 'x.parquet.gz', 'x.tgz'].map(
      (name) => refused(name, /the output \S+: its name stands for .+, which pileshuf does not write; name it after/),
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
      argv: ['a', '--shards', '1', '--prefix', 'x.parquet'],
      records: ['x\n'],
    },
  ]);
});
