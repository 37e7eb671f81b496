/** `pileshuf --echo` and `--random-source`: words as records, and an order from the bytes of a file. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { DONE, seen } from '../fixtures/command-outcome.js';
import { runCommand } from '../fixtures/run-command.js';
import { runShell } from '../fixtures/run-shell.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();

const run = (...argv: readonly string[]) =>
  commandInProcess(['-q', '-T', directory.temp, '--progress', 'none', ...argv], { cwd: directory.path() });
const output = () => readFileSync(directory.path('out'), 'latin1');

describe('--echo', () => {
  it.each([
    [['a', 'b', 'c'], [], 'a\nb\nc\n'],
    [['a', 'b', 'c'], ['-z'], 'a\0b\0c\0'],
    [['-', '', 'append'], [], '-\n\nappend\n'],
    [[], [], ''],
  ])('gives %j with %j the order of a file with these lines', async (words, options, text) => {
    writeFileSync(directory.path('in'), text);
    expect(seen(await run('in', '-o', 'expected', '--seed', '7', ...options))).toEqual(DONE);
    expect(seen(await run('-e', '-o', 'out', '--seed', '7', ...options, '--', ...words))).toEqual(DONE);
    expect(output()).toBe(readFileSync(directory.path('expected'), 'latin1'));
  });

  it('prints to standard output, with options between the words', async () => {
    const { exitCode, stdout } = await runCommand(['-q', 'x', '-e', 'y', '--seed', '1', 'z']);
    expect({ exitCode, words: stdout.toString().split('\n').sort() }).toEqual({
      exitCode: 0,
      words: ['', 'x', 'y', 'z'],
    });
  });

  it('keeps a word with a newline as one record', async () => {
    const argv = ['-e', 'a\nb', 'c', '-o', 'out', '-T', directory.temp, '--progress', 'json'];
    const { exitCode, stderr } = await commandInProcess(argv, { cwd: directory.path() });
    expect(exitCode).toBe(0);
    expect(stderr).toContain('"records":2');
    expect(output()).toContain('a\nb\n');
  });
});

describe('--random-source', () => {
  it('is a seed: the SHA-256 of its first 1,024 bytes', async () => {
    writeFileSync(directory.path('source'), 'x'.repeat(3000));
    const seed = createHash('sha256').update('x'.repeat(1024)).digest('hex');
    const words = Array.from({ length: 30 }, (_, i) => String(i));
    const { stderr } = await commandInProcess(
      ['-e', ...words, '-o', 'out', '--random-source', 'source', '-T', directory.temp],
      { cwd: directory.path() },
    );
    expect(stderr).toContain(`seed ${seed}`);
    expect(seen(await run('-e', ...words, '-o', 'expected', '--seed', seed))).toEqual(DONE);
    expect(output()).toBe(readFileSync(directory.path('expected'), 'latin1'));
  });

  it('may be endless', async () => {
    expect(seen(await run('-e', 'a', 'b', '-o', 'out', '--random-source', '/dev/zero'))).toEqual(DONE);
  });

  it('is not the pipe that the job reads', async () => {
    const result = await runShell('seq 10 | "$@"', ['--random-source', '/dev/stdin']);
    expect(seen(result)).toEqual({
      exitCode: 2,
      lines: ['pileshuf: --random-source /dev/stdin: standard input is read as an input; name another file'],
    });
  });
});
