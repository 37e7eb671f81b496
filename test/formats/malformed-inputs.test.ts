/**
 * Inputs that are not as their format demands: one line that names file and byte, exit code 3, and no output; on
 * threads and without, plain and compressed, from a file and from a pipe.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { seen } from '../fixtures/command-outcome.js';
import { runCommand } from '../fixtures/run-command.js';
import { runShell } from '../fixtures/run-shell.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { npyHeaderOf } from './any-headers.js';
import { prefixed, tfrecordOf } from './plain-framings.js';
import { paxLine, tarHeader, tarNote, tarOf } from './plain-tar.js';

const directory = useTestDirectory();
const example = tfrecordOf(Buffer.from('an example'));
const samples = tarOf([
  { name: '0.a', data: Buffer.alloc(10) },
  { name: '1.a', data: Buffer.alloc(400) },
]);
const flipped = Buffer.from(example).fill(0xff, 14, 15);

const MALFORMED: readonly [what: string, words: readonly string[], bytes: Buffer, problem: string][] = [
  [
    'a line too few',
    ['--lines-per-record', '4'],
    Buffer.from('@1\nA\n+\nI\n@2\nA\n+\n'),
    'byte 9 begins a record of 3 lines, ',
  ],
  [
    'an open quote',
    ['--csv'],
    Buffer.from('a,b\n"a\n'),
    'byte 4 begins a record with a double quote that is not closed',
  ],
  ['a rest', ['--record-size', '16'], Buffer.alloc(100), 'byte 96 begins a record of 4 bytes, '],
  [
    'a flipped byte',
    ['--tfrecord'],
    Buffer.concat([example, flipped]),
    'byte 26 begins a record of 10 bytes of data that do not match',
  ],
  [
    'no TFRecord',
    ['--tfrecord'],
    Buffer.from('{"text": "a line"}\n'),
    'byte 0 begins a record whose length does not match its checksum',
  ],
  [
    'a cut TFRecord',
    ['--tfrecord'],
    example.subarray(0, -3),
    'byte 0 begins a record that the input ends inside of, after 23 bytes',
  ],
  [
    'an absurd length',
    ['--length-prefixed', 'u64le'],
    Buffer.alloc(64, 0xee),
    'byte 0 begins a record that claims 17216961135462248174 bytes',
  ],
  [
    'a cut record',
    ['--length-prefixed', 'varint'],
    prefixed(Buffer.alloc(300), 'varint').subarray(0, 100),
    'byte 0 begins a record that the input ends inside of',
  ],
  [
    'a header of too few lines',
    ['--header', '3'],
    Buffer.from('a\nb\n'),
    'byte 4 is the end of the input, and of its header; expected a header of 3 lines',
  ],
  ['nothing where a header ought to be', ['--header', '1'], Buffer.alloc(0), 'byte 0 is the end of the input, and of'],
  [
    'an open quote in a header',
    ['--csv', '--header', '1'],
    Buffer.from('a,"b\n1,2\n'),
    'byte 9 is the end of the input, and of its header; expected a header of 1 line',
  ],
  ['a header without an end', ['--header', '1'], Buffer.alloc(2 ** 24 + 1, 'a'), 'byte 16777216 is reached and its'],
  [
    'a header cut off',
    ['--skip-bytes', '100'],
    Buffer.alloc(30),
    'byte 30 is the end of the input; expected a header of 100 bytes',
  ],
  [
    'a rest behind a header',
    ['--record-size', '16', '--skip-bytes', '4'],
    Buffer.alloc(104),
    'byte 100 begins a record of 4 bytes, ',
  ],
  ['no .npy file', ['--npy'], Buffer.from('{"text": "a line"}\n'), 'byte 0 begins an input without the magic bytes'],
  [
    'a cut .npy header',
    ['--npy'],
    npyHeaderOf('<f4', 9, [3]).subarray(0, 70),
    'byte 70 is the end of the input, and of',
  ],
  [
    'an absurd .npy header',
    ['--npy'],
    Buffer.concat([Buffer.from('934e554d50590200ffffffff', 'hex'), Buffer.alloc(100)]),
    'byte 8 claims a .npy header of 4294967295 bytes',
  ],
  [
    'an absurd .npy row',
    ['--npy'],
    npyHeaderOf('<f4', 1, [2 ** 40]),
    'byte 10 begins a .npy header of rows of 4398046511104 bytes',
  ],
  [
    'rows too few',
    ['--npy'],
    Buffer.concat([npyHeaderOf('<f4', 9, [3]), Buffer.alloc(12 * 7)]),
    'byte 212 is the end of the input; expected 236 bytes by its header: it is truncated',
  ],
  [
    'rows too many',
    ['--npy'],
    Buffer.concat([npyHeaderOf('<f4', 9, [3]), Buffer.alloc(12 * 10)]),
    'byte 236 lies behind the last record that its header tells of',
  ],
  ['no tar file', ['--webdataset'], Buffer.alloc(2048, 'a'), 'byte 0 is no tar header: its checksum does not match'],
  ['an empty tar file', ['--webdataset'], Buffer.alloc(0), 'byte 0 is the end of the input; expected a tar file'],
  [
    'a cut tar file',
    ['--webdataset'],
    samples.subarray(0, 1800),
    'byte 1024 begins a sample that the input ends inside of: the tar file is truncated',
  ],
  [
    'a tar file without its end',
    ['--webdataset'],
    samples.subarray(0, -1024),
    'byte 2048 is the end of the input, and no zero blocks end the tar file',
  ],
  [
    'an absurd member',
    ['--webdataset'],
    Buffer.concat([
      tarHeader({ name: '0.a', byteLength: 2 ** 50, type: '0', isBase256: true }),
      Buffer.alloc(1024, 'data'),
    ]),
    'byte 0 begins a member of 1125899906843136 bytes, with which its sample is longer than --max-record allows',
  ],
  [
    'a member without a key',
    ['--webdataset'],
    tarOf([{ name: '0.a' }, { name: 'd.e/README' }]),
    'byte 512 is the header of "d.e/README", whose base name has nothing before a dot',
  ],
];

describe.each(MALFORMED)('%s', (_, words, bytes, problem) => {
  const options = () => ['-q', ...words, '-T', directory.temp];

  it.each(['plain', 'gzip'])('is refused with its place: %s', async (how) => {
    const [input, output] = [directory.path('in'), directory.path('out')];
    writeFileSync(input, how === 'plain' ? bytes : gzipSync(bytes));
    for (const inline of [true, false]) {
      const env = { PILESHUF_TEST_TUNING: JSON.stringify({ inline, readBytes: 64 }) };
      const result = await runCommand([...options(), input, '-o', output], { env });
      expect(seen(result)).toEqual({ exitCode: 3, lines: [expect.stringContaining(`pileshuf: ${input}: ${problem}`)] });
      expect(existsSync(output)).toBe(false);
    }
  });

  it('is refused when it comes through a pipe', async () => {
    writeFileSync(directory.path('in'), bytes);
    const result = await runShell(`cat "$INPUT" | "$@"`, options(), { INPUT: directory.path('in') });
    expect(seen(result)).toEqual({
      exitCode: 3,
      lines: [expect.stringContaining(`pileshuf: standard input: ${problem}`)],
    });
  });
});

describe('a header that differs', () => {
  const table = (header: string) => Buffer.from(`${header}\n1,2\n`);
  const array = (dtype: string) => Buffer.concat([npyHeaderOf(dtype, 2, [3]), Buffer.alloc(24)]);
  const tar = (comment: string) => Buffer.concat([tarNote('g', paxLine('comment', comment)), samples]);

  it.each([
    ['lines', ['--header', '1'], table('id,text'), table('id,name'), 3, '"id,text\\n"', '"id,name\\n"'],
    ['bytes', ['--skip-bytes', '2'], table('id,text'), table('ix'), 1, '6964 (hex)', '6978 (hex)'],
    [
      'rows',
      ['--npy'],
      array('<f4'),
      array('<i4'),
      10,
      'rows of dtype <f4 and shape (3)',
      'rows of dtype <i4 and shape (3)',
    ],
    ['global pax headers', ['--webdataset'], tar('c'), tar('d'), 523, '"13 comment=c\\n"', '"13 comment=d\\n"'],
  ])('is told, both of them: %s', async (_, words, first, other, position, expected, got) => {
    const [one, two, output] = [directory.path('one'), directory.path('two'), directory.path('out')];
    const line = (input: string, before: string, than: string, is: string) =>
      `pileshuf: ${input}: byte ${position} of its header differs from that of ${before}: expected ${than}, got ${is}`;
    const argv = ['-q', ...words, '-T', directory.temp, '-o', output];
    for (const encode of [(bytes: Buffer) => bytes, gzipSync]) {
      writeFileSync(one, first);
      writeFileSync(two, encode(other));
      const files = await runCommand([...argv, one, two]);
      expect(seen(files)).toEqual({ exitCode: 3, lines: [line(two, one, expected, got)] });
      const piped = await runCommand([...argv, '-', one], { stdin: encode(other) });
      expect(seen(piped)).toEqual({ exitCode: 3, lines: [line('standard input', one, expected, got)] });
      // Neither is known before both are read.
      const pipes = await runShell('"$@" <(cat "$ONE") <(cat "$TWO")', argv, { ONE: one, TWO: two });
      const [read] = pipes.stderr.match(/\/dev\/fd\/\d+(?=: byte)/) ?? expect.fail(pipes.stderr);
      const [before] = pipes.stderr.match(/\/dev\/fd\/\d+(?=: expected)/) ?? expect.fail(pipes.stderr);
      const isInOrder = pipes.stderr.includes(`expected ${expected}`);
      const told = isInOrder ? line(read, before, expected, got) : line(read, before, got, expected);
      expect(seen(pipes)).toEqual({ exitCode: 3, lines: [told] });
    }
    expect(existsSync(output)).toBe(false);
  });
});

describe('a record that does not fit the memory', () => {
  const LARGE_BYTES = 40_000_000;

  it.each([
    [
      'that says how long it is',
      ['--length-prefixed', 'u32le'],
      prefixed(Buffer.alloc(LARGE_BYTES), 'u32le'),
      /has more than \d+ bytes and does not fit/,
    ],
    [
      'that ends in a delimiter',
      ['--delimiter', '---'],
      Buffer.alloc(LARGE_BYTES, 'a'),
      /has 40000003 bytes and does not fit/,
    ],
    [
      'of quoted lines',
      ['--csv'],
      Buffer.from(`"${'a\n'.repeat(LARGE_BYTES / 2)}"\n`),
      /has 40000003 bytes and does not fit/,
    ],
    [
      'of many lines',
      ['--lines-per-record', '1000000'],
      Buffer.from(`${'a'.repeat(39)}\n`.repeat(1_000_000)),
      /has 40000000 bytes and does not fit/,
    ],
    [
      'of one paragraph',
      ['--paragraphs'],
      Buffer.alloc(LARGE_BYTES, 'text\n'),
      /has more than \d+ bytes and does not fit/,
    ],
  ])('%s is told, with what it needs', async (_, words, bytes, problem) => {
    writeFileSync(directory.path('in'), bytes);
    const argv = [
      '-q',
      ...words,
      '-T',
      directory.temp,
      '-S',
      '16M',
      '--workers',
      '1',
      directory.path('in'),
      '-o',
      directory.path('out'),
    ];
    const result = await runCommand(argv);
    expect(seen(result)).toEqual({ exitCode: 3, lines: [expect.stringMatching(problem)] });
    expect(result.stderr).toMatch(/expected --memory of at least \d+/);
  });
});
