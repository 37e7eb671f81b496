/** `pileshuf index` from its words: the files and lines that it writes. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { openIndexed } from '#src/index.js';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { seen } from '../fixtures/command-outcome.js';
import { runCommand } from '../fixtures/run-command.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const file = () => directory.path('data', 'lines.txt');

beforeEach(() => {
  mkdirSync(directory.path('data'));
  writeFileSync(file(), 'one\ntwo\nthree\n');
});

async function recordsOf(index?: string): Promise<string[]> {
  const records = openIndexed(file(), { index });
  const all: string[] = [];
  for (let i = 0; i < records.length; i++) all.push(Buffer.from(await records.get(i)).toString());
  await records.close();
  return all;
}

describe('pileshuf index', () => {
  it('makes an index beside the file, and says how large it is', async () => {
    const { exitCode, lines } = seen(await commandInProcess(['index', file()]));
    expect(exitCode).toBe(0);
    expect(lines).toEqual([
      expect.stringMatching(/^pileshuf: 3 records in [\d.]+ s, index [\d.]+ B, [\d.]+ bytes a record$/),
    ]);
    expect(await recordsOf()).toEqual(['one\n', 'two\n', 'three\n']);
  });

  it('takes the options of records, and puts the index where it is told to', async () => {
    const index = directory.path('data', 'elsewhere');
    const argv = ['index', file(), '-o', index, ...'-q --header 1 --delimiter e\\n --workers 2 -S 64M'.split(' ')];
    // Of a delimiter that is not a newline the header's lines end so, too.
    expect(seen(await commandInProcess(argv))).toEqual({ exitCode: 0, lines: [] });
    expect(await recordsOf(index)).toEqual(['two\nthree\n']);
  });

  it('prints what it has to say as JSON', async () => {
    const { exitCode, stderr } = await commandInProcess(['index', file(), '--progress', 'json']);
    expect(exitCode).toBe(0);
    const last = stderr.trim().split('\n').at(-1) ?? '';
    expect(JSON.parse(last)).toMatchObject({ records: 3, index: `${file()}.pileshuf-index` });
  });

  it('is an input of that name when it is written as a path', async () => {
    writeFileSync(directory.path('index'), 'a\n');
    const { exitCode, stdout } = await runCommand(['./index', '-q'], { cwd: directory.path() });
    expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 0, stdout: 'a\n' });
    rmSync(directory.path('index'));
  });
});
