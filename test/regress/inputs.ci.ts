/**
 * Inputs that earlier versions got wrong: names that look like patterns, files given twice, the smallest and the oddest
 * contents.
 */
import { symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { DONE, seen, sortLines } from '../fixtures/command-outcome.js';
import { runCommand } from '../fixtures/run-command.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();

function write(name: string, content: string): string {
  const path = directory.path(name);
  writeFileSync(path, content);
  return path;
}

function pileshuf(...argv: string[]) {
  const run = argv.includes('-o') ? commandInProcess : runCommand;
  return run([...argv, '-T', directory.temp, '--seed', '1'], { cwd: directory.path() });
}

describe('names', () => {
  it.each([
    ['--files-from', '\n'],
    ['--files0-from', '\0'],
  ])('in %s are not patterns', async (option, end) => {
    for (const name of ['*.txt', '[ab]', '{x,y}', 'a.txt', 'b', 'x']) write(name, `content of ${name}\n`);
    write('list', ['*.txt', '[ab]', '{x,y}', ' b', ''].join(end));
    write(' b', 'content of blank b\n');
    const result = await pileshuf('-q', option, 'list');
    expect(seen(result)).toEqual(DONE);
    const contents = ['*.txt', '[ab]', '{x,y}', 'blank b'].map((name) => `content of ${name}\n`).join('');
    expect(sortLines(result.stdout.toString())).toEqual(sortLines(contents));
  });

  it('on the command line are patterns otherwise, sorted by their bytes', async () => {
    for (const name of ['b.txt', 'a.txt', 'Z.txt', 'é.txt']) write(name, `${name}\n`);
    const result = await pileshuf('-q', '*.txt');
    const named = await pileshuf('-q', 'Z.txt', 'a.txt', 'b.txt', 'é.txt');
    expect(seen(result)).toEqual(DONE);
    expect(result.stdout).toEqual(named.stdout);
  });
});

describe('a file given twice', () => {
  it.each(sampled(['in', './in', 'link'], 3))('is read twice, with a warning: %s', async (again) => {
    write('in', 'a\nb\n');
    symlinkSync('in', directory.path('link'));
    const result = await pileshuf('in', again);
    expect(result.exitCode).toBe(0);
    expect(result.stderr).toContain(`pileshuf: warning: ${again} is the same file as in: its records come twice\n`);
    expect(sortLines(result.stdout.toString())).toEqual(sortLines('a\nb\na\nb\n'));
  });
});
