/**
 * Inputs and outputs that are pipes, plain or compressed: the same records and the same order as with files, for any
 * sizes of the pieces that the pipe delivers.
 */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { runCommand } from '../fixtures/run-command.js';
import { runShell } from '../fixtures/run-shell.js';
import { fromCi, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { npyHeaderOf } from '../formats/any-headers.js';
import { paxLine, tarNote, tarOf, withChecksum } from '../formats/plain-tar.js';
import { referenceOrder } from '../laws/reference-order.js';

const lines = Array.from({ length: 500 }, (_, i) => `line ${i}\n`);
const text = Buffer.from([...lines, 'no newline at the end'].join(''));

describe('a pipe as input', () => {
  const directory = useMemoryDirectory();

  /** Feeds `bytes` through a pipe, the first `head` of them some time before the rest. */
  async function shuffleThroughPipe(bytes: Uint8Array, head: number): Promise<Buffer> {
    writeFileSync(directory.path('bytes'), bytes);
    execFileSync('mkfifo', [directory.path('pipe')]);
    const script = '(head -c "$1" bytes; sleep 0.1; tail -c "+$(($1 + 1))" bytes) > pipe';
    const writer = spawn('sh', ['-c', script, 'sh', String(head)], { cwd: directory.path(), stdio: 'inherit' });
    const ended = once(writer, 'exit');
    const output = directory.path('out');
    await shuffle(
      {
        inputs: [directory.path('pipe')],
        output,
        seed: 'pipe',
        tempDirs: [directory.temp],
        memoryBytes: 16 * 2 ** 20,
        workers: 1,
      },
      { inline: true },
    );
    await ended;
    return readFileSync(output);
  }

  const expected = Buffer.concat(referenceOrder([text], 'pipe'));

  it.each(sampled([0, 1, 2, 100, text.byteLength], 2, 1))(
    'gives the order of its bytes when the first %i come alone',
    async (head) => {
      expect((await shuffleThroughPipe(text, head)).equals(expected)).toBe(true);
    },
  );

  it.each(sampled([0, 1, 2, 15, 100], 2, 1))(
    'is recognised as gzip when the first %i bytes come alone',
    async (head) => {
      expect((await shuffleThroughPipe(gzipSync(text), head)).equals(expected)).toBe(true);
    },
  );

  it('may be empty', async () => {
    expect(await shuffleThroughPipe(Buffer.alloc(0), 0)).toHaveLength(0);
  });
});

describe.runIf(fromCi)('a pipe with a header', () => {
  const directory = useMemoryDirectory();
  const rows = Array.from({ length: 300 }, (_, i) => `row ${String(i).padStart(3)}|`);
  const npy = Buffer.concat([npyHeaderOf('|S8', rows.length, []), Buffer.from(rows.join(''))]);

  it.each(
    sampled(
      [
        ['plain', (bytes: Buffer) => bytes],
        ['gzip', (bytes: Buffer) => gzipSync(bytes)],
      ],
      2,
      1,
    ),
  )('gives what a file with these bytes gives, alone and among files: %s', async (_, encode) => {
    const kinds: [string, string[], Buffer][] = [
      ['lines', ['--header', '2'], Buffer.from(`a\n${'b'.repeat(9000)}\n${lines.join('')}`)],
      ['array', ['--npy'], npy],
    ];
    for (const [name, words, bytes] of kinds) {
      writeFileSync(directory.path(name), bytes);
      const argv = ['-q', '--seed', 'header', ...words, '--temp-dir', directory.temp];
      for (const others of [[], [directory.path(name)]]) {
        const [fromFiles, fromPipe] = [
          await runCommand([...argv, directory.path(name), ...others]),
          await runCommand([...argv, '-', ...others], { stdin: encode(bytes) }),
        ];
        expect(fromPipe.stderr).toBe('');
        expect(fromPipe.stdout.equals(fromFiles.stdout)).toBe(true);
        expect(fromPipe.stdout.byteLength).toBeGreaterThanOrEqual(bytes.byteLength);
      }
    }
  });
});

describe.runIf(fromCi)('pipes with headers that differ in what does not count', () => {
  const directory = useMemoryDirectory();

  it('give that of the first one, whichever is read first', async () => {
    for (const [i, digit] of ['1', '2'].entries()) {
      const note = tarNote('g', paxLine('comment', 'c'));
      // When it was written.
      withChecksum(note.subarray(0, 512).fill(digit, 140, 141));
      writeFileSync(directory.path(`${i}.tar`), Buffer.concat([note, tarOf([{ name: `${i}.a` }])]));
    }
    const argv = ['-q', '--seed', 'header', '--webdataset', '--workers', '2', '--temp-dir', directory.temp];
    const paths = [directory.path('0.tar'), directory.path('1.tar')] as const;
    const fromFiles = await runCommand([...argv, ...paths]);
    const env = { FIRST: paths[0], SECOND: paths[1] };
    for (const script of [
      '"$@" <(sleep 0.5; cat "$FIRST") <(cat "$SECOND")',
      '"$@" <(cat "$FIRST") <(sleep 0.5; cat "$SECOND")',
      'cat "$FIRST" | "$@" - "$SECOND"',
    ]) {
      const fromPipes = await runShell(script, argv, env);
      expect(fromPipes.stderr).toBe('');
      expect(fromPipes.stdout.equals(fromFiles.stdout), script).toBe(true);
    }
  });
});

describe('the command as a filter', () => {
  const directory = useMemoryDirectory();
  const many = Buffer.from(Array.from({ length: 10_000 }, (_, i) => `${i} ${'.'.repeat(i % 50)}\n`).join(''));

  it.each(
    sampled(
      [
        ['plain', text, text],
        ['gzip', gzipSync(text), text],
        ['many lines', many, many],
        ['nothing', Buffer.alloc(0), Buffer.alloc(0)],
      ] as const,
      2,
      1,
    ),
  )('gives the order of its standard input: %s', async (_, stdin, decoded) => {
    const argv = ['--seed', 'filter', '--memory', '16M', '--workers', '3', '--temp-dir', directory.temp, '-'];
    const { exitCode, stdout, stderr } = await runCommand(argv, { stdin });
    expect(exitCode, stderr).toBe(0);
    expect(stdout.equals(Buffer.concat(referenceOrder([decoded], 'filter')))).toBe(true);
  });

  it('takes standard input for one input among others', async () => {
    const inputs = ['first\nfile\n', 'standard\ninput', 'last\nfile\n'].map((content) => Buffer.from(content));
    for (const i of [0, 2]) writeFileSync(directory.path(`in-${i}`), inputs[i] ?? '');
    const argv = ['--seed', 'among', '--temp-dir', directory.temp, directory.path('in-0'), '-', directory.path('in-2')];
    const { stdout, stderr } = await runCommand(argv, { stdin: inputs[1] ?? '' });
    expect(stdout.equals(Buffer.concat(referenceOrder(inputs, 'among'))), stderr).toBe(true);
  });
});
