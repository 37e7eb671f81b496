/**
 * From the words of the main command to options, as literals: the result of each option, the defaults, and every
 * refusal with its message.
 */

import { describe, expect, it } from 'vitest';
import { parseCommand } from '#src/cli/command.js';
import { command, shuffleCallOf } from '#src/cli/commands/shuffle.js';
import { asksForJson } from '#src/cli/typed-words.js';
import { readMemory, UsageError } from '#src/index.js';

function parse(...argv: string[]) {
  const parsed = parseCommand(command, argv);
  if (parsed.kind === 'print') return parsed;
  const { progress, quiet } = parsed.display;
  return { kind: 'shuffle' as const, ...shuffleCallOf(parsed), progress, quiet };
}

function refusalOf(...argv: string[]): string {
  try {
    parse(...argv);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(UsageError);
    expect((thrown as UsageError).code).toBe('ERR_OPTION');
    return (thrown as UsageError).message;
  }
  throw new Error(`accepted: ${argv.join(' ')}`);
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

  it('reads headers', () => {
    expect(parse('--header', '2')).toEqual({ ...untouched, options: { header: { lines: 2 } } });
    expect(parse('--skip-bytes', '128')).toEqual({ ...untouched, options: { header: { bytes: 128 } } });
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

  it('accepts a list from standard input for a job that is resumed, which reads it anew', () => {
    expect(parse('--files-from', '-', '-o', 'f', '--resume')).toMatchObject({ options: { resume: true } });
  });

  it('accepts that the temp data of standard input be kept', () => {
    expect(parse('-o', 'f', '--keep-temp')).toMatchObject({ inputs: ['-'], options: { keepTemp: true } });
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

  it.each([
    [['--sharts', '4'], "unknown option '--sharts' (Did you mean --shards?); see pileshuf --help"],
    [['--xyzzy'], "unknown option '--xyzzy'; see pileshuf --help"],
    [['-k'], "unknown option '-k'; see pileshuf --help"],
    [
      ['-n', '1.5'],
      '--head-count 1.5: expected a whole number of at least 0, alone or with a unit, as in 10K (10240) and 10KB (10000)',
    ],
    [
      ['-n', '-1'],
      '--head-count -1: expected a whole number of at least 0, alone or with a unit, as in 10K (10240) and 10KB (10000)',
    ],
    [['x', '-S'], "option '-S, --memory <SIZE>' argument missing; see pileshuf --help"],

    [['--shards', '0', '-o', 'd'], '--shards 0: expected a whole number of at least 1'],
    [['--shards', '-4', '-o', 'd'], '--shards -4: expected a whole number of at least 1'],
    [['--shards', '1.5', '-o', 'd'], '--shards 1.5: expected a whole number of at least 1'],
    [['--shards=', '-o', 'd'], '--shards : expected a whole number of at least 1'],
    [
      ['--shard-records', '1e3', '-o', 'd'],
      '--shard-records 1e3: expected a whole number of at least 1, alone or with a unit, as in 10K (10240) and 10KB (10000)',
    ],
    [['--workers', '0'], '--workers 0: expected a whole number of at least 1'],
    [['--workers', 'two'], '--workers two: expected a whole number of at least 1'],
    [['--workers', '9007199254740993'], '--workers 9007199254740993: expected at most 9007199254740991'],

    [
      ['--shards', '2', '--shard-bytes', '1G', '-o', 'd'],
      '--shards and --shard-bytes contradict each other; give one of them',
    ],
    [
      ['--shard-bytes', '1G', '--shard-records', '2', '-o', 'd'],
      '--shard-records and --shard-bytes contradict each other; give one of them',
    ],
    ...['', 'lz4', 'gz', 'gzip:', 'gzip:x', 'gzip:-1', 'gzip:1.5', 'zstd 3', 'none:1', 'GZIP'].map(
      (text): [string[], string] => [
        ['--compress', text],
        `--compress ${text}: expected none, gzip or zstd, with a level as in zstd:9`,
      ],
    ),

    [['--csv', '--npy', '-z'], '--zero-terminated and --csv and --npy contradict each other; give one of them'],
    [['--header', '1', '--skip-bytes', '2'], '--header and --skip-bytes contradict each other; give one of them'],
    [['--header', '0'], '--header 0: expected a whole number of at least 1'],
    [['--skip-bytes', '1K'], '--skip-bytes 1K: expected a whole number of at least 1'],
    [['--shards', '2'], 'shards need a directory, not standard output: add --output DIR'],
    [['--shards', '2', '-o', '-'], 'shards need a directory, not standard output: add --output DIR'],
    [
      ['--prefix', 'p', '-o', 'f'],
      '--prefix names shards, but none are requested: add --shards, --shard-records or --shard-bytes, or leave it out',
    ],
    [
      ['--prefix', 'a/b', '--shards', '2', '-o', 'd'],
      '--prefix a/b: expected the first part of a file name, not empty and without / or NUL; give the directory to --output',
    ],
    [
      ['--prefix', 'a\0b', '--shards', '2', '-o', 'd'],
      '--prefix a\0b: expected the first part of a file name, not empty and without / or NUL; give the directory to --output',
    ],
    [
      ['--prefix', '', '--shards', '2', '-o', 'd'],
      '--prefix : expected the first part of a file name, not empty and without / or NUL; give the directory to --output',
    ],

    [['-o', ''], '--output: expected a path, got an empty string'],
    [['-o', 'a', '-o', 'b'], '--output is given twice, as a and as b; give it once'],
    [['--progress', 'json', '--progress', 'bar'], '--progress is given twice, as json and as bar; give it once'],
    [['-T', ''], '--temp-dir: expected a path, got an empty string'],
    [['--job-dir', '', '-o', 'f'], '--job-dir: expected a path, got an empty string'],
    [['--files-from', ''], '--files-from: expected a path, got an empty string'],
    [['a', ''], 'an input is an empty string; expected a path, or - for standard input'],

    [['--io-limit', '4'], '--io-limit 4: expected PATH=N, such as /mnt/disk1=4'],
    [['--io-limit', '=4'], '--io-limit =4: expected PATH=N, such as /mnt/disk1=4'],
    [['--io-limit', '/d='], '--io-limit /d=N with N = : expected a whole number of at least 1'],
    [['--io-limit', '/d=0'], '--io-limit /d=N with N = 0: expected a whole number of at least 1'],
    [['--io-limit', '/d=1', '--io-limit', '/d=2'], '--io-limit gives /d both 1 and 2; give one of them'],

    [['-S', '512'], '--memory 512: a bare number is ambiguous; write 512M or 512B'],
    [['-S', '0'], '--memory 0: expected more than 0'],
    [
      ['--memory', '2GiB5'],
      '--memory 2GiB5: expected a number and a unit: 512M or 512MiB (powers of 1024), 512MB (powers of 1000), 512B (bytes), or 50% (of memory)',
    ],
    [
      ['--max-record', '5%'],
      '--max-record 5%: a percentage is not possible here; expected a number and a unit: 512M or 512MiB (powers of 1024), 512MB (powers of 1000), 512B (bytes)',
    ],
    [['--shard-bytes', '1', '-o', 'd'], '--shard-bytes 1: a bare number is ambiguous; write 1M or 1B'],
    [['--progress', 'loud'], '--progress loud: expected one of auto, bar, plain, json, none'],

    [['-', 'a', '-'], 'standard input (-) is given twice as an input, but can be read only once; give it once'],
    [
      ['-', '--files-from', '-'],
      'standard input cannot be both the list of inputs (--files-from -) and an input (-); give one of them as a file',
    ],
    [
      ['--files0-from', '-', '--files-from', '-'],
      'two lists of inputs would be read from standard input; give one of them as a file',
    ],

    ...['--resume', '--job-dir=d', '--keep-temp'].flatMap((option): [string[], string][] => {
      const message = 'standard output cannot be resumed: name a file or directory with --output';
      return [
        [['in', option], message],
        [['in', option, '-o', '-'], message],
      ];
    }),
    ...['--resume', '--job-dir=d'].flatMap((option): [string[], string][] => {
      const message =
        'standard input (-) cannot be read again to resume the job: name files, or leave out --resume and --job-dir';
      return [
        [['-o', 'f', option], message],
        [['-o', 'f', 'in', '-', option], message],
      ];
    }),
  ])('refuses %j', (argv, message) => {
    expect(refusalOf(...argv)).toBe(message);
  });
});

describe('asksForJson', () => {
  it.each([
    [['--progress', 'json', '--shards', '0'], true],
    [['--shards', '0', '--progress=json'], true],
    [['--progress', 'json', '--progress', 'bar'], false],
    [['--progress'], false],
    [['--', '--progress', 'json'], false],
    [['json'], false],
  ])('%j: %s', (argv, expected) => {
    expect(asksForJson(argv)).toBe(expected);
  });
});
