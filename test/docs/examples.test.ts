/**
 * The commands of README.md that shuffle a corpus, and those of `--help`, typed into a shell verbatim: the output has
 * all lines of the inputs, in another order.
 */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { command } from '#src/cli/commands/shuffle.js';
import { canWriteZstd } from '../fixtures/can-write-zstd.js';
import { sortLines } from '../fixtures/command-outcome.js';
import { runShell } from '../fixtures/run-shell.js';
import { sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { decodeWithTool } from '../formats/decode-with-tool.js';

const directory = useTestDirectory();
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const ofReadme = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
  block.split('\n').flatMap((line) => (/\bpileshuf\b/.test(line) ? [line.replace(/ +#.*$/, '')] : [])),
);
const ofHelp = command.notes.split('\n').flatMap((line) => (/^ {2}.*\bpileshuf\b/.test(line) ? [line.trim()] : []));
// What runs npm is run from a fresh clone. ranges.test.ts and aligned.test.ts run what has no inputs, or tuples of them.
const examples = [...new Set([...ofReadme, ...ofHelp])].filter(
  (line) => !/^npm |-i \d|--input-range|--together/.test(line),
);
/** Writes so many records, not all. */
const countOf = (line: string) => Number(/ -n (\d+)/.exec(line)?.[1] ?? Number.POSITIVE_INFINITY);

const linesOf = (name: string, count: number) => Array.from({ length: count }, (_, i) => `"${name} ${i}"\n`).join('');

/** The files around the commands: names and contents. */
const FILES: Readonly<Record<string, string | Buffer>> = {
  'part-0.jsonl.gz': gzipSync(linesOf('part 0', 100)),
  'part-1.jsonl.gz': gzipSync(linesOf('part 1', 50)),
  'corpus/a.jsonl': linesOf('a', 90),
  'corpus/b.jsonl.gz': gzipSync(linesOf('b', 70)),
  'corpus/c.jsonl.gz': gzipSync(linesOf('c', 80)),
  'huge.txt': linesOf('huge', 500),
  'old.gz': gzipSync(linesOf('old', 300)),
  'texts/1.txt': linesOf('text 1', 40),
};

/** The inputs of a command, by the names in it. */
function inputsOf(line: string): readonly string[] {
  const named = [
    [/\bpart-\*/, /^part-/],
    [/\bcorpus\/\*\.jsonl\.gz/, /^corpus\/.*\.gz$/],
    [/\bfind corpus /, /^corpus\/.*\.jsonl$/],
    [/\bfind \. /, /\.txt$/],
    [/\bcorpus\/ /, /^corpus\//],
    [/\bhuge\.txt/, /^huge/],
    [/\bold\.gz/, /^old/],
  ] as const;
  const [, files] = named.find(([words]) => words.test(line)) ?? expect.fail(`no inputs are known of: ${line}`);
  return Object.keys(FILES).filter((name) => files.test(name));
}

/** Where its output goes: what stands behind `-o` or `>`. */
function outputOf(line: string): string {
  return /(?:-o|>) (\S+)/.exec(line)?.[1] ?? expect.fail(`no output is known of: ${line}`);
}

/** The whole output, decoded; of shards without their completion marker. */
function readOutput(path: string): string {
  if (!statSync(path).isDirectory()) return decoded(path, readFileSync(path)).toString();
  const shards = readdirSync(path).filter((name) => !name.endsWith('.json'));
  return shards.map((name) => readOutput(join(path, name))).join('');
}

function decoded(name: string, bytes: Buffer): Buffer {
  if (name.endsWith('.zst')) return decodeWithTool('zstd', bytes);
  return name.endsWith('.gz') ? gunzipSync(bytes) : bytes;
}

it('there are the usual number of examples', () => {
  expect(ofReadme.length).toBeGreaterThanOrEqual(9);
  expect(ofHelp).toHaveLength(7);
});

describe('an example', () => {
  const isPossible = (line: string) => canWriteZstd || !/\.zst|zstd/.test(line);
  it.skip.each(examples.filter((line) => !isPossible(line)))('%s, which takes what is not here', () => {});

  it.each(sampled(examples.filter(isPossible), 4))('%s', async (line) => {
    for (const name of ['corpus', 'texts', 'disk1', 'disk2', 'disk3'])
      mkdirSync(directory.path('site', name), { recursive: true });
    for (const name of ['disk1/tmp', 'disk2/tmp']) mkdirSync(directory.path('site', name));
    for (const [name, bytes] of Object.entries(FILES)) writeFileSync(directory.path('site', name), bytes);
    // Disks of the reader's are directories here.
    const here = line.replaceAll(' /disk', ` ${directory.path('site', 'disk')}`);
    const script = `node=$1 command=$2; pileshuf() { "$node" "$command" -q "$@"; }; cd "$SITE" && { ${here}\n}`;
    const { exitCode, stderr } = await runShell(script, [], { SITE: directory.path('site'), TMPDIR: directory.temp });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });

    const input = inputsOf(line).map((name) => decoded(name, Buffer.from(FILES[name] ?? '')).toString());
    const output = readOutput(join(directory.path('site'), outputOf(here).replace(directory.path('site'), '')));
    if (countOf(line) < Number.POSITIVE_INFINITY) {
      expect(new Set(output.split('\n')).size).toBe(countOf(line) + 1);
      return;
    }
    expect(sortLines(output)).toEqual(sortLines(input.join('')));
    expect(output).not.toBe(input.join(''));
  });
});
