/**
 * Inputs that earlier versions got wrong: names that look like patterns, files given twice, the smallest and the oddest
 * contents.
 */

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { DONE, seen, sortLines } from '../fixtures/command-outcome.js';
import { runCommand } from '../fixtures/run-command.js';
import { sampled } from '../fixtures/scale.js';
import { shownNames } from '../fixtures/shown-names.js';
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
  ])('in %s are no patterns', async (option, end) => {
    for (const name of ['*.txt', '[ab]', '{x,y}', 'a.txt', 'b', 'x']) write(name, `content of ${name}\n`);
    write('list', ['*.txt', '[ab]', '{x,y}', ' b', ''].join(end));
    write(' b', 'content of blank b\n');
    const result = await pileshuf('-q', option, 'list');
    expect(seen(result)).toEqual(DONE);
    const contents = ['*.txt', '[ab]', '{x,y}', 'blank b'].map((name) => `content of ${name}\n`).join('');
    expect(sortLines(result.stdout.toString())).toEqual(sortLines(contents));
  });

  it('on the command line are no patterns when a file is called so', async () => {
    write('*.txt', 'star\n');
    write('a.txt', 'a\n');
    expect((await pileshuf('-q', '*.txt')).stdout.toString()).toBe('star\n');
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

describe('--shard-bytes close to the longest record', () => {
  const LONGEST = 101;
  const records = Array.from({ length: 400 }, (_, i) => `${String(i).padStart(3, '0')}${'.'.repeat((i * 37) % 98)}`);

  it.each(sampled([LONGEST, LONGEST + 1, LONGEST + 2, 150, 1000], 4, 3))(
    'makes no larger shard: %d bytes',
    async (size) => {
      expect(Math.max(...records.map((record) => record.length + 1))).toBe(LONGEST);
      const input = write('in', `${records.join('\n')}\n`);
      expect(seen(await pileshuf('-q', input, '-o', 'shards', '--shard-bytes', `${size}B`))).toEqual(DONE);
      const shards = shownNames(directory.path('shards')).map((name) =>
        readFileSync(directory.path('shards', name), 'latin1'),
      );
      expect(Math.max(...shards.map((shard) => shard.length))).toBeLessThanOrEqual(size);
      for (const shard of shards) expect(shard === '' || shard.endsWith('\n')).toBe(true);
      expect(sortLines(shards.join(''))).toEqual(sortLines(`${records.join('\n')}\n`));
      const whole = await pileshuf('-q', input);
      expect(shards.join('')).toBe(whole.stdout.toString('latin1'));
    },
  );

  it('below it is refused', async () => {
    const input = write('in', `${records.join('\n')}\n`);
    mkdirSync(directory.path('parent'));
    const result = await pileshuf('-q', input, '-o', 'parent/shards', '--shard-bytes', `${LONGEST - 1}B`);
    expect(seen(result)).toEqual({ exitCode: 3, lines: [expect.stringMatching(/^pileshuf: .*\b101 bytes/)] });
    expect(existsSync(directory.path('parent', 'shards'))).toBe(false);
  });
});
