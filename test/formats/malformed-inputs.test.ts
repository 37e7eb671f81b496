/**
 * Inputs that break the rules of their format: one line with file and byte, exit code 3, and no output; plain and
 * compressed, cut at every byte and not at all, on one thread and on several, from a file and through a pipe.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Tuning } from '#src/plan/memory-plan.js';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { DONE, seen } from '../fixtures/command-outcome.js';
import { useFedPipes } from '../fixtures/fed-pipes.js';
import { runShell } from '../fixtures/run-shell.js';
import { fromCi, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { npyHeaderOf } from './any-headers.js';
import { bgzfOf } from './codecs/bgzf-file.js';
import { zstdOf } from './codecs/zstd-file.js';
import { prefixed, tfrecordOf } from './plain-framings.js';
import { paxLine, tarNote, tarOf } from './plain-tar.js';

const directory = useMemoryDirectory();
const pipeOf = useFedPipes(directory);
const example = tfrecordOf(Buffer.from('an example'));
const samples = tarOf([
  { name: '0.a', data: Buffer.alloc(10) },
  { name: '1.a', data: Buffer.alloc(400) },
]);

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 0x40;
  return copy;
}

type Malformed = readonly [what: string, words: readonly string[], given: string | Buffer | Buffer[], problem: string];

const TFRECORD = ['--tfrecord'];

/** Found before pass 1, in it, at its end, and by its sum; framings have tests of all that is malformed. */
const MALFORMED: readonly Malformed[] = [
  [
    'a line too few',
    ['--lines-per-record', '4'],
    '@1\nA\n+\nI\n@2\nA\n+\n',
    'byte 9 begins a record of 3 lines at the',
  ],
  ['an open quote', ['--csv'], 'a,b\n"a\n', 'byte 4 begins a record with a double quote that is not closed'],
  ['a flipped byte', TFRECORD, [example, flipped(example, 14)], 'byte 26 begins a record of 10 bytes of data that'],
  [
    'a TFRecord one byte longer than --max-record',
    [...TFRECORD, '--max-record', '100B'],
    [tfrecordOf(Buffer.alloc(84)), tfrecordOf(Buffer.alloc(85))],
    'byte 100 begins a record that claims 85 bytes, more than --max-record allows',
  ],
  [
    'a cut record',
    ['--length-prefixed', 'varint'],
    prefixed(Buffer.alloc(300), 'varint').subarray(0, 100),
    'byte 0 begins a truncated record',
  ],
  [
    'an open quote in a header',
    ['--csv', '--header', '1'],
    'a,"b\n1,2\n',
    'byte 9 is the end of the input, inside its header; expected a header of 1 line',
  ],
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
    'byte 100 begins a record of 4 bytes at the end of the input; expected 16 bytes a record',
  ],
  ['no .npy file', ['--npy'], '{"text": "a line"}\n', 'byte 0 begins an input without the magic bytes'],
  [
    'rows too few',
    ['--npy'],
    [npyHeaderOf('<f4', 9, [3]), Buffer.alloc(12 * 7)],
    'byte 212 is the end of the input; expected 236 bytes by its header: it is truncated',
  ],
  [
    'rows too many',
    ['--npy'],
    [npyHeaderOf('<f4', 9, [3]), Buffer.alloc(12 * 10)],
    'byte 236 lies after the last record that its header declares',
  ],
  ['an empty tar file', ['--webdataset'], '', 'byte 0 is the end of the input; expected a tar file'],
  [
    'a cut tar file',
    ['--webdataset'],
    samples.subarray(0, 1800),
    'byte 1024 begins a sample that is not complete: the tar file is truncated',
  ],
];

const bytesOf = (given: Malformed[2]) => (Array.isArray(given) ? Buffer.concat(given) : Buffer.from(given));

interface Way {
  readonly how: string;
  readonly store: (bytes: Buffer) => Buffer;
  readonly tuning?: Partial<Tuning>;
  readonly words?: readonly string[];
}

const asItIs = (bytes: Buffer) => bytes;
// Members of all sizes, some of them empty, so that most cuts lie inside a record.
const MEMBER_BYTES = [17, 0, 64, 5, 1, 30, 0, 0];
const inBgzf = (bytes: Buffer) => bgzfOf(bytes, MEMBER_BYTES);
const inZstd = (bytes: Buffer) => zstdOf(bytes, MEMBER_BYTES);

const WAYS: readonly Way[] = [
  { how: 'plain', store: asItIs },
  { how: 'plain, cut at every byte', store: asItIs, tuning: { sliceBytes: 1 } },
  { how: 'plain, cut here and there', store: asItIs, tuning: { sliceBytes: 16 } },
  { how: 'plain, for shards', store: asItIs, words: ['--shards', '2'] },
  { how: 'plain, cut, on threads', store: asItIs, tuning: { sliceBytes: 16, inline: false } },
  { how: 'gzip', store: gzipSync },
  { how: 'BGZF, cut at every member', store: inBgzf, tuning: { sliceBytes: 1 } },
  { how: 'BGZF, cut here and there', store: inBgzf, tuning: { sliceBytes: 16 } },
  { how: 'zstd, cut at every frame', store: inZstd, tuning: { sliceBytes: 1 } },
  { how: 'zstd, cut here and there', store: inZstd, tuning: { sliceBytes: 16 } },
];

/** What a refusal looks like. */
const refusedFor = (input: string, problem: string) => ({
  exitCode: 3,
  lines: [expect.stringContaining(`pileshuf: ${input}: ${problem}`)],
});

describe.each(sampled(MALFORMED, 3))('%s', (what, words, given, problem) => {
  const bytes = bytesOf(given);
  const options = () => ['-q', ...words, '-T', directory.temp, '--workers', '2', '-o', directory.path('out')];

  it.each(sampled(WAYS, WAYS.length, what.length))(
    'is refused with its place: $how',
    async ({ store, tuning = {}, words: more = [] }) => {
      const input = directory.path('in');
      writeFileSync(input, store(bytes));
      const result = await commandInProcess([...options(), ...more, input], {
        tuning: { inline: true, readBytes: 64, ...tuning },
      });
      expect(seen(result)).toEqual(refusedFor(input, problem));
      expect(existsSync(directory.path('out'))).toBe(false);
    },
  );

  it.runIf(fromCi || what.length % 7 === 0)('is refused with its place: through a pipe', async () => {
    writeFileSync(directory.path('in'), bytes);
    const pipe = pipeOf(directory.path('in'));
    const result = await commandInProcess([...options(), pipe], { tuning: { inline: true, readBytes: 64 } });
    expect(seen(result)).toEqual(refusedFor(pipe, problem));
    expect(existsSync(directory.path('out'))).toBe(false);
  });
});

/** What one process of its own does, all do. */
const FOUND_IN_TURN = ['no .npy file', 'a flipped byte', 'a cut tar file', 'a rest behind a header'];

describe.each(MALFORMED.filter(([what]) => FOUND_IN_TURN.includes(what)))(
  'the command, of %s,',
  (_, words, given, problem) => {
    const bytes = bytesOf(given);
    const options = () => ['-q', ...words, '-T', directory.temp];

    it('says one line, and writes nothing, with a file', async () => {
      const [input, output] = [directory.path('in'), directory.path('out')];
      writeFileSync(input, bytes);
      const result = await commandInProcess([...options(), input, '-o', output, '--shards', '3']);
      expect(seen(result)).toEqual(refusedFor(input, problem));
      expect(result.stdout).toHaveLength(0);
      expect(existsSync(output)).toBe(false);
    });

    it.runIf(fromCi || words.includes('--tfrecord'))(
      'says one line, and writes nothing, with standard input and output',
      async () => {
        writeFileSync(directory.path('in'), bytes);
        const result = await runShell(`cat "$INPUT" | "$@"`, options(), { INPUT: directory.path('in') });
        expect(seen(result)).toEqual(refusedFor('standard input', problem));
        expect(result.stdout).toHaveLength(0);
      },
    );
  },
);

it('a TFRecord as long as --max-record is none of them', async () => {
  writeFileSync(directory.path('in'), tfrecordOf(Buffer.alloc(84)));
  const argv = ['-q', '--tfrecord', '--max-record', '100B', '-T', directory.temp, directory.path('in')];
  expect(seen(await commandInProcess([...argv, '-o', directory.path('out')]))).toEqual(DONE);
});

it.each(
  sampled(
    [
      ['plain', asItIs],
      ['gzip', gzipSync],
    ],
    2,
  ),
)('a header without an end is refused where headers must have ended: %s', async (_, store) => {
  const [input, output] = [directory.path('in'), directory.path('out')];
  writeFileSync(input, store(Buffer.alloc(2 ** 24 + 1, 'a')));
  const result = await commandInProcess(['-q', '--header', '1', '-T', directory.temp, input, '-o', output]);
  expect(seen(result)).toEqual(refusedFor(input, 'its header has more than 16777216 bytes'));
  expect(existsSync(output)).toBe(false);
});

describe('a header that differs', () => {
  const table = (header: string) => Buffer.from(`${header}\n1,2\n`);
  const array = (dtype: string) => Buffer.concat([npyHeaderOf(dtype, 2, [3]), Buffer.alloc(24)]);
  const tar = (comment: string) => Buffer.concat([tarNote('g', paxLine('comment', comment)), samples]);

  it.each(
    sampled(
      [
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
      ] as const,
      3,
    ),
  )('is told, both of them: %s', async (_, words, first, other, position, expected, got) => {
    const [one, two, output] = [directory.path('one'), directory.path('two'), directory.path('out')];
    const line = (input: string, before: string, than: string, is: string) =>
      `pileshuf: ${input}: byte ${position} of its header differs from that of ${before}: expected ${than}, got ${is}`;
    const argv = ['-q', ...words, '-T', directory.temp, '-o', output];
    const refused = async (inputs: readonly string[], inline = true) => {
      const { exitCode, lines } = seen(await commandInProcess([...argv, ...inputs], { tuning: { inline } }));
      expect({ exitCode, count: lines.length }).toEqual({ exitCode: 3, count: 1 });
      expect(existsSync(output)).toBe(false);
      return lines[0];
    };
    for (const store of sampled([asItIs, gzipSync], 2, position)) {
      writeFileSync(one, first);
      writeFileSync(two, store(other));
      expect(await refused([one, two])).toBe(line(two, one, expected, got));
      const pipe = pipeOf(two);
      expect(await refused([pipe, one])).toBe(line(pipe, one, expected, got));
      // Neither is known before both are read.
      const [a, b] = [pipeOf(one), pipeOf(two)];
      expect([line(b, a, expected, got), line(a, b, got, expected)]).toContain(await refused([a, b], false));
    }
  });
});

describe('a record that does not fit the memory', () => {
  const BYTES = 40_000_000;
  const MORE_THAN_FIT = /has more than \d+ bytes and does not fit/;

  it.each(
    sampled<[string, string[], () => Buffer | string, RegExp]>(
      [
        ['with a length', ['--length-prefixed', 'u32le'], () => prefixed(Buffer.alloc(BYTES), 'u32le'), MORE_THAN_FIT],
        ['with a delimiter', ['--delimiter', '---'], () => Buffer.alloc(BYTES, 'a'), /has 40000003 bytes and does not/],
        ['of quoted lines', ['--csv'], () => `"${'a\n'.repeat(BYTES / 2)}"\n`, /has 40000003 bytes and does not fit/],
        ['of one paragraph', ['--paragraphs'], () => Buffer.alloc(BYTES, 'text\n'), MORE_THAN_FIT],
      ],
      4,
    ),
  )('%s is told, with what it needs', async (_, words, bytes, problem) => {
    const [input, output] = [directory.path('in'), directory.path('out')];
    writeFileSync(input, bytes());
    const memory = ['-S', '16M', '--workers', '1', '-T', directory.temp];
    const result = await commandInProcess(['-q', ...words, ...memory, input, '-o', output]);
    expect(seen(result)).toEqual({ exitCode: 3, lines: [expect.stringMatching(problem)] });
    expect(result.stderr).toMatch(/expected (--memory|-S) of at least \d+/);
  });
});
