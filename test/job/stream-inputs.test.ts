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
});
