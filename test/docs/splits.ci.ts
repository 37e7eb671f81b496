/**
 * docs/SPLITS.md: its commands, typed into a shell verbatim, and its program; and examples/order.py and splits.py, which print
 * a split.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle } from '#src/index.js';
import { isOnPath } from '../fixtures/foreign-program.js';
import { runShell } from '../fixtures/run-shell.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { tarOf } from '../formats/plain-tar.js';

const directory = useMemoryDirectory();
const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/SPLITS.md', root), 'utf8');
const examples = [...page.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) => block.split('\n').filter(Boolean));
const LINES = Array.from({ length: 2000 }, (_, i) => `{"id":${i},"metadata":{"site":"s${i % 700}"}}\n`);
const ROWS = Array.from({ length: 2000 }, (_, i) => `${i},${i % 3 === 0 ? `"s${i % 700}"` : `s${i % 700}`},"a, b"\n`);
const TAB_ROWS = ROWS.map((row) => row.replaceAll(',', '\t').replaceAll('"', ''));
const LOG = ROWS.map((_, i) => `s${i % 700} - GET /${i}\n`);
const SAMPLES = Array.from({ length: 200 }, (_, i) => ({
  name: `p${i % 50}-${i}.txt`,
  data: Buffer.from(`s${i % 50}\n`),
}));

function makeCorpus(): void {
  mkdirSync(directory.path('corpus'));
  writeFileSync(directory.path('corpus', 'a.jsonl'), LINES.slice(0, 1500).join(''));
  writeFileSync(directory.path('corpus', 'b.jsonl'), LINES.slice(1500).join(''));
}

/** The inputs beside the corpus. */
function makeTables(): void {
  writeFileSync(directory.path('table.csv'), `id,site,text\n${ROWS.join('')}`);
  writeFileSync(directory.path('table.tsv'), `id\tsite\ttext\n${TAB_ROWS.join('')}`);
  writeFileSync(directory.path('access.log'), LOG.join(''));
  writeFileSync(directory.path('images.tar'), tarOf(SAMPLES));
}

/** By the names of splits. */
function readSplits(path: string): Map<string, string[]> {
  const splits = new Map<string, string[]>();
  for (const name of readdirSync(path)
    .filter((each) => !each.startsWith('.'))
    .sort()) {
    const split = name.replace(/-\d{5}-of-\d{5}(\.(jsonl|csv|tsv|log|tar))?(\.zst)?$/, '');
    const { stdout } = name.endsWith('.zst')
      ? spawnSync('zstd', ['-dcq', `${path}/${name}`], { encoding: 'latin1' })
      : { stdout: readFileSync(`${path}/${name}`, 'latin1') };
    splits.set(split, [...(splits.get(split) ?? []), ...stdout.split('\n').slice(0, -1)]);
  }
  return splits;
}

it('there are the usual number of examples', () => {
  expect(examples).toHaveLength(10);
});

describe('an example', () => {
  const possible = examples.filter((line) => !line.includes('zstd') || isOnPath('zstd'));
  it.each(sampled(possible, 4))('%s', async (line) => {
    makeCorpus();
    makeTables();
    const script = `node=$1 command=$2; pileshuf() { "$node" "$command" -q "$@"; }; cd "$SITE" && ${line}`;
    const { exitCode, stderr } = await runShell(script, [], { SITE: directory.path() });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const splits = readSplits(directory.path('data'));
    const [, parts = ''] = /--split (\S+)/.exec(line) ?? [];
    expect([...splits.keys()].sort()).toEqual(
      parts
        .split(',')
        .map((part) => part.split('=')[0])
        .sort(),
    );
    if (line.includes('--split-by')) {
      // All sites of the inputs have the same form.
      const sites = [...splits.values()].map((lines) => new Set(lines.join('\n').match(/\bs\d+\b/g)));
      expect(Math.min(...sites.map(({ size }) => size))).toBeGreaterThan(0);
      expect(sites.reduce((sum, { size }) => sum + size, 0)).toBe(line.includes('tar') ? 50 : 700);
      return;
    }
    const [, headCount = '2000'] = / -n (\d+)/.exec(line) ?? [];
    expect(new Set([...splits.values()].flat()).size).toBe(Number(headCount));
    for (const part of parts.split(',')) {
      const [name = '', amount = ''] = part.split('=');
      const { length } = splits.get(name) ?? [];
      if (/^\d+$/.test(amount)) expect(length).toBe(Number(amount));
      // Six standard deviations of 2000 draws.
      else if (amount !== 'rest') expect(Math.abs(length - Number(amount) * Number(headCount))).toBeLessThan(135);
    }
  });
});

it('the program gets the splits in its report', async () => {
  makeCorpus();
  const [, code = ''] = /```ts\n(.*?)```/s.exec(page) ?? [];
  const call = /shuffle\((\{.*\})\);/s.exec(code)?.[1] ?? expect.fail('no call');
  const options = new Function(`return ${call}`)();
  const inputs = [directory.path('corpus')];
  const { splits } = await shuffle({ ...options, inputs, output: directory.path('data') });
  expect(splits).toMatchObject([
    { name: 'train', records: 1500, shards: { length: 4 } },
    { name: 'test', records: 500, shards: { length: 1 } },
  ]);
});

describe.skipIf(!isOnPath('python3'))('examples/order.py', () => {
  it('prints the records of a split', async () => {
    makeCorpus();
    const inputs = ['corpus/a.jsonl', 'corpus/b.jsonl'].map((name) => directory.path(name));
    const script = fileURLToPath(new URL('examples/order.py', root));
    const output = directory.path('data');
    const splits = [
      { name: 'train', share: 0.7 },
      { name: 'validation', share: 0.1 },
      { name: 'test', rest: true },
    ] as const;
    const report = await shuffle({ inputs, output, seed: '7', splits });
    for (const [i, range] of [
      ['0', '0.7'],
      ['0.7', '0.8'],
      ['0.8', '1'],
    ].entries()) {
      const { stdout, stderr } = spawnSync('python3', [script, '7', '--split', ...range, '--', ...inputs], {
        encoding: 'latin1',
      });
      expect(stderr).toBe('');
      expect(stdout.length).toBeGreaterThan(100);
      expect(readFileSync(report.splits?.[i]?.shards[0] ?? '', 'latin1')).toBe(stdout);
    }
  });
});

describe.skipIf(!isOnPath('python3'))('examples/splits.py', () => {
  const csv = { records: { by: 'csv' }, header: { lines: 1 } } as const;
  it.each<[string, Partial<ShuffleOptions>, readonly string[], string]>([
    ['.metadata.site', {}, LINES, ''],
    ['csv:site', csv, ROWS, 'id,site,text\n'],
    ['tsv:site', { header: { lines: 1 } }, TAB_ROWS, 'id\tsite\ttext\n'],
    ['/^(\\w+) - /', {}, LOG, ''],
  ])('prints the records of a split by %s', async (splitBy, options, lines, header) => {
    const inputs = ['a', 'b'].map((name) => directory.path(name));
    writeFileSync(inputs[0] ?? '', header + lines.slice(0, 700).join(''));
    writeFileSync(inputs[1] ?? '', header + lines.slice(700).join(''));
    const script = fileURLToPath(new URL('examples/splits.py', root));
    const splits = [
      { name: 'train', share: 0.7 },
      { name: 'validation', share: 0.1 },
      { name: 'test', rest: true },
    ] as const;
    const job = { ...options, inputs, output: directory.path('data'), seed: '7', splits, splitBy };
    const report = await shuffle(job);
    for (const [i, range] of [
      ['0', '0.7'],
      ['0.7', '0.8'],
      ['0.8', '1'],
    ].entries()) {
      const { stdout, stderr } = spawnSync('python3', [script, '7', splitBy, ...range, ...inputs], {
        encoding: 'latin1',
      });
      expect(stderr).toBe('');
      expect(stdout.length).toBeGreaterThan(100);
      expect(readFileSync(report.splits?.[i]?.shards[0] ?? '', 'latin1')).toBe(stdout);
    }
  });
});
