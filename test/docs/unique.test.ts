/** docs/UNIQUE.md: its commands, typed into a shell verbatim; and examples/unique.py, which prints the same as pileshuf. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { isOnPath } from '../fixtures/foreign-program.js';
import { runShell } from '../fixtures/run-shell.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/UNIQUE.md', root), 'utf8');
const commands = [...page.matchAll(/^ {4}(pileshuf .*)$/gm)].map(([, line = '']) => line);

const linesOf = (first: number, end: number) =>
  Array.from({ length: end - first }, (_, i) => `{"text": "${'word '.repeat((first + i) % 40)}${first + i}"}\n`);

it('the page has a command', () => {
  expect(commands.length).toBeGreaterThan(0);
});

it.each(commands)('%s', async (line) => {
  writeFileSync(directory.path('crawl-1.jsonl'), linesOf(0, 700).join(''));
  writeFileSync(directory.path('crawl-2.jsonl'), linesOf(300, 900).join(''));
  const script = `node=$1 command=$2; pileshuf() { "$node" "$command" -q "$@"; }; cd "$SITE" && ${line}`;
  const { exitCode, stderr } = await runShell(script, [], { SITE: directory.path() });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const lines = readFileSync(directory.path('clean.jsonl'), 'utf8').match(/.*\n/g) ?? [];
  expect(lines).not.toEqual(linesOf(0, 900));
  expect(lines.toSorted()).toEqual(linesOf(0, 900).toSorted());
});

describe.skipIf(!isOnPath('python3'))('examples/unique.py', () => {
  it.each(['42', 'Ł', ''])('prints the same with the seed %j', async (seed) => {
    const inputs = ['one', 'two', 'none'].map((name) => directory.path(name));
    const long = `${'long '.repeat(7000)}\n\n`;
    for (const [i, path] of inputs.entries())
      writeFileSync(path, [linesOf(0, 900).join('') + long, long + linesOf(400, 1500).join(''), ''][i] ?? '');
    const script = fileURLToPath(new URL('examples/unique.py', root));
    const { stdout, stderr } = spawnSync('python3', [script, seed, ...inputs], { encoding: 'latin1' });
    expect(stderr).toBe('');
    const output = directory.path('out');
    const report = await shuffle({ inputs, output, seed, unique: true });
    expect(report).toMatchObject({ records: 1502, duplicates: { records: 502 } });
    expect(readFileSync(output, 'latin1') === stdout).toBe(true);
  });
});
