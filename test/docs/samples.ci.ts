/** docs/SAMPLES.md: its commands, typed into a shell verbatim; and examples/order.py, which prints the same as pileshuf. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { isOnPath } from '../fixtures/foreign-program.js';
import { runShell } from '../fixtures/run-shell.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/SAMPLES.md', root), 'utf8');
const blocks = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);
const examples = blocks.flatMap((block) => block.split('\n').filter((line) => line !== ''));
const LINES = Array.from({ length: 3000 }, (_, i) => `${i}\n`).join('');

/** The bytes of all files below. */
function bytesBelow(path: string): string {
  if (!statSync(path).isDirectory()) return readFileSync(path, 'latin1');
  return readdirSync(path)
    .filter((name) => !name.startsWith('.'))
    .map((name) => bytesBelow(join(path, name)))
    .join('');
}

it('there are the usual number of examples', () => {
  expect(examples).toHaveLength(5);
});

describe('an example', () => {
  // A million lines would do nothing more than a thousand.
  it.each(
    sampled(
      examples.map((line) => line.replace('-n 1000000 ', '-n 2000 ')),
      5,
      0,
      2,
    ),
  )('%s', async (line) => {
    mkdirSync(directory.path('corpus'));
    for (const name of ['corpus/a.jsonl.gz', 'huge.gz']) writeFileSync(directory.path(name), gzipSync(LINES));
    writeFileSync(directory.path('huge.txt'), LINES);
    const script = `node=$1 command=$2; pileshuf() { "$node" "$command" -q "$@"; }; cd "$SITE" && ${line}`;
    const { exitCode, stderr, stdout } = await runShell(script, [], { SITE: directory.path() });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const [, output = ''] = /(?:-o|>) (\S+)/.exec(line) ?? [];
    const text = output === '' ? stdout.toString() : bytesBelow(directory.path(output));
    const lines = text.split('\n').slice(0, -1);
    expect(lines).toHaveLength(Number(/-n (\d+)/.exec(line)?.[1]));
    expect(lines.every((each) => Number(each) < 3000)).toBe(true);
    if (!line.includes('-r ')) expect(new Set(lines).size).toBe(lines.length);
  });
});

describe.skipIf(!isOnPath('python3'))('examples/order.py', () => {
  it.each([
    [['42'], {}],
    [['42', '-n', '7'], { headCount: 7 }],
    [['Ł', '-r', '-n', '900'], { headCount: 900, repeat: true }],
    [['42', '--key', 'ordinal'], { keys: 'ordinal' as const }],
    [['42', '--key', 'ordinal', '-r', '-n', '9'], { keys: 'ordinal' as const, headCount: 9, repeat: true }],
  ])('prints the same with %j', async (words, options) => {
    const inputs = ['one', 'two', 'none'].map((name) => directory.path(name));
    for (const [i, path] of inputs.entries()) writeFileSync(path, LINES.slice(0, [1090, 8890, 0][i]));
    const script = fileURLToPath(new URL('examples/order.py', root));
    const { stdout, stderr } = spawnSync('python3', [script, ...words, ...inputs], { encoding: 'latin1' });
    expect(stderr).toBe('');
    const output = directory.path('out');
    await shuffle({ inputs, output, seed: words[0], ...options });
    expect(readFileSync(output, 'latin1') === stdout).toBe(true);
    expect(stdout.length).toBeGreaterThan(10);
  });
});
