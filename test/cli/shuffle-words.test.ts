/** From the words of the main command to options, as literals: the result of each option, and the defaults. */

import { describe, expect, it } from 'vitest';
import { parseCommand } from '#src/cli/command.js';
import { command, shuffleCallOf } from '#src/cli/commands/shuffle.js';
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

  it('reads the three shard rules', () => {
    const shardsOf = (...argv: string[]) => {
      const invocation = parse('-o', 'd', ...argv);
      return invocation.kind === 'shuffle' ? invocation.options.shards : undefined;
    };
    expect(shardsOf('--shards', '2')).toEqual({ by: 'count', shardCount: 2 });
    expect(shardsOf('--shard-records', '100000')).toEqual({ by: 'records', recordsPerShard: 100_000 });
    expect(shardsOf('--shard-bytes', '1GB')).toEqual({ by: 'bytes', maxShardBytes: 1_000_000_000 });
  });

  it('reads how the output is compressed', () => {
    const compressOf = (text: string) => {
      const invocation = parse('--compress', text);
      return invocation.kind === 'shuffle' ? invocation.options.compress : undefined;
    };
    expect(compressOf('none')).toBe('none');
    expect(compressOf('gzip')).toEqual({ codec: 'gzip' });
    expect(compressOf('gzip:1')).toEqual({ codec: 'gzip', level: 1 });
    expect(compressOf('zstd:19')).toEqual({ codec: 'zstd', level: 19 });
  });

  it('reads the kinds of records', () => {
    const recordsOf = (...argv: string[]) => {
      const invocation = parse(...argv);
      return invocation.kind === 'shuffle' ? invocation.options.records : undefined;
    };
    expect(recordsOf('--delimiter', '\\r\\n')).toEqual({ by: 'delimiter', delimiter: Buffer.from('\r\n') });
    expect(recordsOf('--lines-per-record', '4')).toEqual({ by: 'lines', linesPerRecord: 4 });
    expect(recordsOf('--record-size', '4096')).toEqual({ by: 'size', recordBytes: 4096 });
    expect(recordsOf('--length-prefixed', 'u32le')).toEqual({ by: 'length-prefix', prefix: 'u32le' });
    for (const by of ['lines', 'paragraphs', 'csv', 'tfrecord', 'npy', 'webdataset']) {
      expect(recordsOf(`--${by}`)).toEqual({ by });
    }
  });

  it('reads values attached to short options', () => {
    expect(parse('-S50%', '-zqofile', 'x')).toEqual({
      ...untouched,
      inputs: ['x'],
      options: { memoryBytes: Math.floor(readMemory().totalBytes / 2), zeroTerminated: true, output: 'file' },
      quiet: true,
    });
  });

  it.each(['', '0', '-1', '--force', 'a b\n', 'Ł'])('takes any string as a seed: %j', (seed) => {
    expect(parse('--seed', seed)).toEqual({ ...untouched, options: { seed } });
    expect(parse(`--seed=${seed}`)).toEqual({ ...untouched, options: { seed } });
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

  it('accepts what is said twice without contradiction', () => {
    expect(
      parse('-o', 'x', '--output', 'x', '--io-limit', '/=2', '--io-limit', '/=2', '-z', '-z', '-S1G', '-S1G'),
    ).toEqual({
      ...untouched,
      options: { output: 'x', ioLimits: { '/': 2 }, zeroTerminated: true, memoryBytes: 2 ** 30 },
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
