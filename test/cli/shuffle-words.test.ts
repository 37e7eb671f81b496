/** From the words of the main command to options, as literals: the result of each option, and the defaults. */
import { describe, expect, it } from 'vitest';
import { parseCommand } from '#src/cli/command.js';
import { command, shuffleCallOf } from '#src/cli/commands/shuffle-command.js';
import { asksForJson } from '#src/cli/typed-words.js';
import { readMemory } from '#src/index.js';

function parse(...argv: string[]) {
  const parsed = parseCommand(command, argv);
  if (parsed.kind === 'print') return parsed;
  const { progress, quiet } = parsed.display;
  return { kind: 'shuffle' as const, ...shuffleCallOf(parsed), progress, quiet };
}

const untouched = { kind: 'shuffle', inputs: ['-'], inputLists: [], options: {} };

describe('the words of the main command', () => {
  it('reads standard input when nothing is given', () => {
    expect(parse()).toEqual(untouched);
    expect(parse('-')).toEqual(untouched);
  });

  it('keeps inputs in their order, with options between them and names that look like options', () => {
    expect(parse('b', '-z', 'a', 'b', '--', '-q', '--force')).toEqual({
      ...untouched,
      inputs: ['b', 'a', 'b', '-q', '--force'],
      options: { zeroTerminated: true },
    });
  });

  it('reads every option', () => {
    const argv =
      'in -o out --shards 128 --prefix train --compress zstd:9 --seed 42 --memory 2GiB --temp-dir /t1 -T /t2 --workers 3 --io-limit /d=a=4 --io-limit /e=1 -z --decompress-program xz --without-igzip --max-record 1MB --force --resume --job-dir /j --keep-temp --input-ids name --progress plain -q';
    expect(parse(...argv.split(' '))).toEqual({
      kind: 'shuffle',
      inputs: ['in'],
      inputLists: [],
      inputIds: 'name',
      options: {
        output: 'out',
        shards: { by: 'count', shardCount: 128 },
        shardPrefix: 'train',
        compress: { codec: 'zstd', level: 9 },
        seed: '42',
        memoryBytes: 2 * 1024 ** 3,
        tempDirs: ['/t1', '/t2'],
        workers: 3,
        ioLimits: { '/d=a': 4, '/e': 1 },
        zeroTerminated: true,
        decompressProgram: ['xz'],
        igzip: false,
        maxRecordBytes: 1_000_000,
        force: true,
        resume: true,
        jobDir: '/j',
        keepTemp: true,
      },
      progress: 'plain',
      quiet: true,
    });
  });

  it.each<[words: readonly string[], options: object]>([
    [['--shards', '2', '-o', 'd'], { shards: { by: 'count', shardCount: 2 }, output: 'd' }],
    [['--shard-records=100000', '-od'], { shards: { by: 'records', recordsPerShard: 100_000 }, output: 'd' }],
    [['--shard-bytes', '1GB', '-o', 'd'], { shards: { by: 'bytes', maxShardBytes: 1e9 }, output: 'd' }],
    [['--compress', 'none'], { compress: 'none' }],
    [['--compress', 'gzip'], { compress: { codec: 'gzip' } }],
    [['--compress', 'gzip:1'], { compress: { codec: 'gzip', level: 1 } }],
    [['--delimiter', '\\r\\n'], { records: { by: 'delimiter', delimiter: Buffer.from('\r\n') } }],
    [['--lines-per-record', '4'], { records: { by: 'lines', linesPerRecord: 4 } }],
    [['--record-size', '4096'], { records: { by: 'size', recordBytes: 4096 } }],
    [['--length-prefixed', 'u32le'], { records: { by: 'length-prefix', prefix: 'u32le' } }],
    ...['lines', 'paragraphs', 'csv', 'tfrecord', 'npy', 'webdataset'].map((by): [string[], object] => [
      [`--${by}`],
      { records: { by } },
    ]),
    [
      ['-S50%', '-zofile'],
      { memoryBytes: Math.floor(readMemory().totalBytes / 2), zeroTerminated: true, output: 'file' },
    ],
    ...['', '0', '-1', '--force', 'a b\n', 'Ł'].map((seed): [string[], object] => [['--seed', seed], { seed }]),
    [['--seed='], { seed: '' }],
    [
      ['-o', 'x', '--output', 'x', '-z', '-z', '-S1G', '-S1G'],
      { output: 'x', zeroTerminated: true, memoryBytes: 2 ** 30 },
    ],
    [['--io-limit', '/=2', '--io-limit', '/=2'], { ioLimits: { '/': 2 } }],
  ])('%j are %j', (words, options) => {
    expect(parse(...words)).toEqual({ ...untouched, options });
  });

  it('collects lists in the order given, and then does not default to standard input', () => {
    expect(parse('--files0-from', 'b', '--files-from', '-', 'x', '--files0-from', 'a')).toEqual({
      ...untouched,
      inputs: ['x'],
      inputLists: [
        { flag: '--files0-from', path: 'b' },
        { flag: '--files-from', path: '-' },
        { flag: '--files0-from', path: 'a' },
      ],
    });
    expect(parse('--files-from', 'list')).toEqual({
      ...untouched,
      inputs: [],
      inputLists: [{ flag: '--files-from', path: 'list' }],
    });
  });

  it('keeps an I/O limit of a path called __proto__', () => {
    const invocation = parse('--io-limit', '__proto__=2');
    const ioLimits = invocation.kind === 'shuffle' ? invocation.options.ioLimits : {};
    expect(Object.entries(ioLimits ?? {})).toEqual([['__proto__', 2]]);
  });

  it('returns help with examples and exit codes, and the version, as text', () => {
    const help = parse('-z', '--help');
    const text = help.kind === 'print' ? help.text : '';
    for (const part of ['Usage: pileshuf [options] [inputs...]', '--shard-bytes <SIZE>', 'Examples:', 'Exit codes:']) {
      expect(text).toContain(part);
    }
    expect(parse('--version')).toEqual({ kind: 'print', text: expect.stringMatching(/^\d+\.\d+\.\d+.*\n$/) });
  });
});

describe('asksForJson', () => {
  it.each([
    [['--progress', 'json', '--shards', '0'], true],
    [['--shards', '0', '--progress=json'], true],
    [['--progress', 'json', '--progress', 'bar'], false],
    [['--progress'], false],
    [['--', '--progress', 'json'], false],
    // `--wait` has a value in another command.
    [['cluster', 'slurm', '--wait', '--progress', 'json'], true],
    [['json'], false],
  ])('%j: %s', (argv, expected) => {
    expect(asksForJson(argv)).toBe(expected);
  });
});
