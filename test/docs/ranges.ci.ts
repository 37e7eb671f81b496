/**
 * docs/RANGES.md: its commands, typed into a shell verbatim, those of README.md and `--help`, and examples/range.py, which
 * prints the same bytes as pileshuf.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { command } from '#src/cli/commands/shuffle.js';
import { shuffleRange } from '#src/index.js';
import { isOnPath } from '../fixtures/foreign-program.js';
import { runShell } from '../fixtures/run-shell.js';
import { atScale, fromCi, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const root = new URL('../../', import.meta.url);
const pages = ['README.md', 'docs/RANGES.md'].map((name) => readFileSync(new URL(name, root), 'utf8'));
const examples = [...pages, command.notes].flatMap((text) =>
  [...text.matchAll(/^ *(pileshuf .*?(?:-i|--input-range) \d.*?)(?: +#.*)?$/gm)].map(([, line = '']) => line),
);

/** The lines of all files below. */
function linesBelow(path: string): string[] {
  if (statSync(path).isDirectory()) {
    const visible = readdirSync(path).filter((name) => !name.startsWith('.'));
    return visible.flatMap((name) => linesBelow(join(path, name)));
  }
  return readFileSync(path, 'latin1').split('\n').slice(0, -1);
}

it('there are the usual number of examples', () => {
  expect(examples).toHaveLength(6);
});

describe('an example', () => {
  // A hundred million numbers would do nothing more than a million.
  const short = examples.map((line) => line.replace('1-100000000 ', '1-100000 '));
  it.each(sampled(short, 2))('%s', async (line) => {
    const script = `node=$1 command=$2; pileshuf() { "$node" "$command" -q "$@"; }; cd "$SITE" && ${line}`;
    const { exitCode, stderr, stdout } = await runShell(script, [], { SITE: directory.path() });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const lines = [...linesBelow(directory.path()), ...stdout.toString().split('\n').slice(0, -1)];
    const [, low = '', high = ''] = /(\d+)-(\d+)/.exec(line) ?? [];
    const count = /(?:-n|--head-count) (\d+)/.exec(line)?.[1] ?? high;
    expect(lines).toHaveLength(Number(count));
    expect(lines.every((each) => BigInt(each) >= BigInt(low) && BigInt(each) <= BigInt(high))).toBe(true);
    if (!line.includes('-r ')) expect(new Set(lines).size).toBe(lines.length);
  });
});

const IN_FULL: [string, string, number, boolean] = ['100-1048675', '42', 2 ** 20, false];

describe.skipIf(!isOnPath('python3'))('examples/range.py', () => {
  it.each<[string, string, number, boolean]>([
    ...(fromCi ? [IN_FULL] : []),
    ['1-10', '42', 20, false],
    ['0-0', 'a seed', 1, false],
    ['5-4', '42', 1, false],
    ['1-1048577', 'Ł', 200, false],
    ['17-100000000', '42', 200, false],
    ['1-4294967297', '', 200, false],
    ['0-18446744073709551615', '42', 200, false],
    ['1-18446744073709551615', '42', 200, false],
    ['1-6', '42', 200, true],
    ['0-18446744073709551615', '42', 200, true],
  ])('prints the same as pileshuf -i %s --seed %j -n %d, with replacement %s', async (range, seed, count, repeat) => {
    const script = fileURLToPath(new URL('examples/range.py', root));
    const words = [script, range, seed, String(count), ...(repeat ? ['repeat'] : [])];
    const { stdout, stderr } = spawnSync('python3', words, { encoding: 'latin1', maxBuffer: 2 ** 26 });
    expect(stderr).toBe('');
    const [low = '', high = ''] = range.split('-');
    const output = directory.path('out');
    for (const tuning of [{}, ...atScale([], [{ inline: false, outputBytes: 2000 }])]) {
      const ends = { low: BigInt(low), high: BigInt(high) };
      await shuffleRange({ range: ends, seed, headCount: count, repeat, output, force: true, workers: 2 }, tuning);
      expect(readFileSync(output, 'latin1') === stdout).toBe(true);
    }
  });
});
