/** `pileshuf shuf` beside shuf of GNU coreutils: the same exit codes and effects. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { isOnPath } from '../fixtures/foreign-program.js';
import { runCommand } from '../fixtures/run-command.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();

function makeFiles(name: string): string {
  mkdirSync(directory.path(name, 'dir'), { recursive: true });
  const write = (file: string, text: string) => writeFileSync(directory.path(name, file), text);
  write('abc', 'a\nb\nc\n');
  write('open', 'a\nb\nc');
  write('empty', '');
  write('nul', 'a\0b\n\0c');
  write('magic', '\x1f\x8b\x08 no gzip\nPK\x03\x04\n\x89HDF\r\n');
  // Which of its lines are drawn cannot be seen, only how many.
  write('same', 'x\n'.repeat(5));
  write('source', 'bytes that decide the order, more than GNU shuf needs for three lines');
  return directory.path(name);
}

const sorted = (text: string) => text.split(/(?<=[\n\0])/).sort();

async function ours(words: readonly string[], stdin?: string) {
  const cwd = makeFiles('ours');
  const { exitCode, stdout, stderr } = await runCommand(['shuf', ...words], { cwd, stdin: stdin ?? '' });
  return {
    exitCode,
    stdout: stdout.toString('latin1'),
    stderr,
    abc: readFileSync(directory.path('ours', 'abc'), 'utf8'),
  };
}

function gnu(words: readonly string[], input = '') {
  const { status, stdout } = spawnSync('shuf', words, { cwd: makeFiles('gnu'), input, encoding: 'latin1' });
  return { exitCode: status, stdout, abc: readFileSync(directory.path('gnu', 'abc'), 'utf8') };
}

const given: readonly (readonly [words: readonly string[], stdin?: string])[] = [
  [[], 'x\ny\n'],
  [['-', '-z'], 'x\ny\0z'],
  [['open']],
  [['-z', 'nul']],
  [['magic']],
  [['-en9', 'a', '--', '-b', 'c']],
  [['-e', '', 'a\nb', '-z']],
  [['-i5-9', '-n', '7', '-n', '5', '-n9']],
  [['-i', '5-4']],
  [['-n0', 'missing']],
  [['-n', '3', '-n', '2', 'same']],
  [['-en2', 'x', 'x', 'x']],
  [['-rn', '9', 'same']],
  [['-r', '-n', '3', '-i', '7-7']],
  [['-rn0', 'empty']],
  [['-n', '99999999999999999999999', 'abc']],
  [['-o', 'abc', 'open']],
  [['abc', '-o', 'abc', '-n', '0']],
  [['-o', 'abc', '-o', 'abc', '-e', 'x']],
  [['--random-source=source', '--zero-terminated', 'nul']],
];

const refused: readonly (readonly string[])[] = [
  ['abc', 'open'],
  ['missing'],
  ['dir'],
  ['-o', 'dir', 'abc'],
  ['-o', 'missing/x', 'abc'],
  ['-o', 'x', '-o', 'y', 'abc'],
  ['-n', 'x', 'abc'],
  ['-n', '-1', 'abc'],
  ['-i', '5-3'],
  ['-i', '1-2', 'abc'],
  ['-i', '1-2', '-i', '3-4'],
  ['-e', 'a', '-i', '1-2'],
  ['-r', 'empty'],
  ['--random-source=empty', 'abc'],
  ['--random-source=missing', 'abc'],
  ['-q', 'abc'],
];

describe.skipIf(!isOnPath('shuf'))('shuf', () => {
  it.each(sampled(given, 2).map(([words, stdin = '']) => [words, stdin] as const))(
    '%j writes what GNU shuf writes, in any order',
    async (words, stdin) => {
      const [mine, theirs] = [await ours(words, stdin), gnu(words, stdin)];
      expect(mine.stderr).toBe('');
      expect(mine.exitCode).toBe(theirs.exitCode);
      expect(sorted(mine.stdout)).toEqual(sorted(theirs.stdout));
      expect(sorted(mine.abc)).toEqual(sorted(theirs.abc));
    },
  );

  it.each(sampled(refused, 2).map((words) => [words]))('%j fails as GNU shuf does, with one line', async (words) => {
    const { exitCode, stdout, stderr } = await commandInProcess(['shuf', ...words], { cwd: makeFiles('ours') });
    expect(gnu(words)).toMatchObject({ exitCode: 1, stdout: '' });
    expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(/^pileshuf: .+\n$/);
    expect(readFileSync(directory.path('ours', 'abc'), 'utf8')).toBe('a\nb\nc\n');
  });
});

it.each([
  [['-o', 'dir', 'abc'], 'the output dir is a directory; expected a file'],
  [['-i', '1-3', '-o', 'dir/'], 'the output dir/ is a directory; expected a file'],
  [[''], 'the input is an empty string; expected a path, or - for standard input'],
  [['abc/x'], 'the input abc/x does not exist; check the name'],
])('says of %j: %s', async (words, line) => {
  expect(await ours(words)).toMatchObject({ exitCode: 1, stdout: '', stderr: `pileshuf: ${line}\n` });
});

it('gives the order of a seed from the same random source', async () => {
  const words = ['--random-source', 'source', '-i', '1-100'];
  const [first, second] = [await ours(words), await ours(words)];
  expect(first.stdout).toBe(second.stdout);
  expect(sorted(first.stdout)).not.toEqual(first.stdout.split(/(?<=\n)/));
});

it('refuses words that are not UTF-8', async () => {
  const { exitCode, stderr } = await ours(['-e', 'a\ufffd']);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: expect.stringMatching(/^pileshuf: the word a\ufffd is not valid UTF-8; .+\n$/),
  });
});

it('prints its help and its version, and leaves when its reader does', () => {
  const shell = (script: string) => spawnSync('bash', ['-c', script], { cwd: directory.path(), encoding: 'utf8' });
  symlinkSync(`${process.cwd()}/dist/bundle/main.cjs`, directory.path('shuf'));
  expect(shell('./shuf --help')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Usage: pileshuf shuf /) });
  expect(shell('./shuf --version')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+/) });
  expect(shell('./shuf -ri 1-9 | head -n 1; exit $PIPESTATUS')).toMatchObject({ status: 141, stderr: '' });
  expect(shell('./shuf -i 1-9 > /dev/full')).toMatchObject({ status: 1 });
  expect(shell('./shuf <&-')).toMatchObject({ status: 1 });
});
