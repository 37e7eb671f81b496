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
import { prefixed, tfrecordOf } from './plain-framings.js';

const directory = useTestDirectory();
const example = tfrecordOf(Buffer.from('an example'));
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
