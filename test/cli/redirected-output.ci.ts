/**
 * Standard output that is redirected to a file which the job reads: a job that would read what it writes is refused before
 * it reads or writes a byte.
 */
import { appendFileSync, linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { appendToStore } from '#src/index.js';
import { runShell } from '../fixtures/run-shell.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const TEXT = 'a\nb\nc\n';

beforeEach(() => {
  mkdirSync(directory.path('corpus'));
  writeFileSync(directory.path('corpus', 'a.txt'), TEXT);
  writeFileSync(directory.path('corpus', 'b.txt'), 'd\n');
  linkSync(directory.path('corpus', 'a.txt'), directory.path('link'));
});

/** Runs a script in the test's directory, in which `"$@"` is the command. */
const run = (script: string) =>
  runShell(`cd "${directory.path()}" && export TMPDIR="${directory.temp}" && ${script}`, []);

const refusal = (file: string) =>
  `pileshuf: standard output is ${file}, which the job reads, so it would read what it writes; redirect it to another file (> empties a file before the command starts)\n`;

describe('standard output that is an input', () => {
  it.each([
    ['"$@" corpus/a.txt >> corpus/a.txt', 'corpus/a.txt'],
    ['"$@" corpus/b.txt link >> corpus/a.txt', 'link'],
    ['"$@" "corpus/*.txt" >> corpus/a.txt', 'corpus/a.txt'],
    ['"$@" corpus/a.txt -o /dev/stdout >> link', 'corpus/a.txt'],
    ['"$@" < corpus/a.txt >> corpus/a.txt', 'standard input'],
    ['echo corpus/a.txt | "$@" --files-from - >> corpus/a.txt', 'corpus/a.txt'],
  ])('is refused, and keeps its bytes: %s', async (script, file) => {
    const { exitCode, stderr } = await run(script);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: refusal(file) });
    expect(readFileSync(directory.path('corpus', 'a.txt'), 'utf8')).toBe(TEXT);
  });

  it('is refused when the shell has emptied it', async () => {
    const { exitCode, stderr } = await run('"$@" corpus/a.txt > corpus/a.txt');
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: refusal('corpus/a.txt') });
  });

  it.each(['>', '>>'])('is refused in a directory, and may be excluded: %s', async (operator) => {
    const refused = await run(`cd corpus && "$@" . ${operator} out.txt`);
    expect(refused).toMatchObject({ exitCode: 2, stderr: refusal('out.txt') });
    const { exitCode } = await run(`cd corpus && "$@" . --exclude out.txt ${operator} out.txt`);
    expect(exitCode).toBe(0);
    expect(readFileSync(directory.path('corpus', 'out.txt'), 'utf8').split('\n').sort().join('')).toBe('abcd');
  });

  it('is refused when it is a pipe that is read', async () => {
    const { exitCode, stderr } = await run('mkfifo pipe && exec 3<>pipe && timeout 20 "$@" pipe > pipe');
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: refusal('pipe') });
    const named = await run('exec 3<>pipe && timeout 20 "$@" pipe -o pipe');
    expect(named.stderr).toMatch(/^pileshuf: the output pipe is pipe, which the job reads, .*; name another\n$/);
  });

  it('is refused when it is a list of inputs or of their ids, or the profile', async () => {
    writeFileSync(directory.path('list'), 'corpus/a.txt\n');
    for (const [script, words] of [
      ['"$@" --files-from list >> list', '--files-from list'],
      ['"$@" --files-from - < list >> list', '--files-from -'],
      ['"$@" corpus/a.txt --input-ids file:list >> list', '--input-ids file:list'],
    ] as const) {
      const { exitCode, stderr } = await run(script);
      expect({ exitCode, stderr }).toEqual({
        exitCode: 2,
        stderr: `pileshuf: ${words}: standard output is that file; redirect it to another\n`,
      });
    }
    expect(readFileSync(directory.path('list'), 'utf8')).toBe('corpus/a.txt\n');
    const { stderr } = await run('"$@" corpus/a.txt --force --profile list >> list');
    expect(stderr).toBe('pileshuf: --profile list: it is the output; name another file\n');
  });

  it.each(['shuffle-store', 'stream'])('is refused when it is a file of the store: %s', async (command) => {
    await appendToStore(directory.path('store'), { inputs: [directory.path('link')], workers: 1 });
    const sets = directory.path('store', 'pile-sets');
    const [pile = ''] = readdirSync(sets).filter((name) => name.endsWith('.pile'));
    const before = readFileSync(`${sets}/${pile}`);
    const { exitCode, stderr } = await run(`"$@" ${command} store >> store/pile-sets/${pile}`);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringMatching(/^pileshuf: standard output is .*\.pile, which the job reads, /),
    });
    expect(readFileSync(`${sets}/${pile}`)).toEqual(before);
  });

  it('may be any other file', async () => {
    appendFileSync(directory.path('other'), 'x\n');
    const { exitCode } = await run('"$@" -q corpus/a.txt >> other');
    expect(exitCode).toBe(0);
    expect(readFileSync(directory.path('other'), 'utf8').split('\n').sort()).toEqual(['', 'a', 'b', 'c', 'x']);
  });
});

describe('a standard stream that is closed', () => {
  const NO_OUTPUT = 'pileshuf: standard output is closed, or /dev/null opened for reading and writing,';

  it.each([
    ['"$@" corpus/a.txt >&-', 1, NO_OUTPUT],
    ['"$@" corpus/a.txt -o /dev/stdout >&-', 1, NO_OUTPUT],
    ['"$@" -i 1-9 >&-', 1, NO_OUTPUT],
    [
      '"$@" append store corpus/a.txt -q && "$@" stream store >&-',
      1,
      `${NO_OUTPUT} so that the records would be lost; redirect it\n`,
    ],
    ['"$@" append store corpus/a.txt -q && "$@" shuffle-store store >&-', 1, NO_OUTPUT],
    ['"$@" -o out <&-', 3, 'pileshuf: standard input is closed, or /dev/null opened for reading and writing,'],
    ['"$@" corpus/a.txt -q -o out >&- <&-', 0, ''],
    ['"$@" corpus/a.txt -q > /dev/null', 0, ''],
  ])('is not a place for records: %s', async (script, code, line) => {
    const { exitCode, stderr } = await run(script);
    expect({ exitCode, line: stderr.slice(0, line.length), lines: stderr.split('\n').length }).toEqual({
      exitCode: code,
      line,
      lines: line === '' ? 1 : 2,
    });
  });
});

describe('standard output that is a file, of a job without an end', () => {
  it('is left at SIGTERM, though nothing in the job waits', async () => {
    const script = 'timeout --preserve-status --kill-after=60 2 "$@" corpus --repeat > out';
    const { exitCode, stderr } = await run(script);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 143,
      stderr: 'pileshuf: interrupted by SIGTERM: stopped before the end; the output may be incomplete\n',
    });
  });
});
