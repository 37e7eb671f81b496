/** docs/COOKBOOK.md: the commands of each recipe, typed into a shell verbatim, among files as the recipe names them. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { canWriteZstd } from '../fixtures/can-write-zstd.js';
import { isOnPath } from '../fixtures/foreign-program.js';
import { runShell } from '../fixtures/run-shell.js';
import { sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { npyHeaderOf } from '../formats/any-headers.js';
import { tarOf } from '../formats/plain-tar.js';

const directory = useTestDirectory();
const root = fileURLToPath(new URL('../..', import.meta.url));
const standIns = fileURLToPath(new URL('stand-in', import.meta.url));
const builtCommand = fileURLToPath(new URL('../../dist/bundle/main.cjs', import.meta.url));
const page = readFileSync(new URL('../../docs/COOKBOOK.md', import.meta.url), 'utf8');
const recipes = page
  .split(/^### /m)
  .slice(1)
  .map((text) => {
    const [title = ''] = text.split('\n');
    return [title, /```sh\n(.*?)```/s.exec(text)?.[1] ?? ''] as const;
  });

const site = (...path: string[]) => directory.path('site', ...path);
const count = <T>(length: number, make: (i: number) => T) => Array.from({ length }, (_, i) => make(i));
const documents = (name: string, length: number) =>
  count(length, (i) => `{"id":"${name}-${i}","site":"s${i % 50}","n_tokens":${5 + (i % 7)},"text":"spam ${i}"}\n`);

const CRAWL = count(4, (i) => documents(`crawl-${i}`, 800));
const WIKI = documents('wiki', 1500);
const ALL = 3200;
const lines = (name: string, length: number) => count(length, (i) => `"${name} ${i}"\n`);

function makeFiles(): void {
  for (const name of ['crawl', 'wiki', 'incoming', 'disk1/tmp', 'disk2/tmp', 'bin'])
    mkdirSync(site(name), { recursive: true });
  for (const [i, records] of CRAWL.entries()) writeFileSync(site('crawl', `${i}.jsonl.gz`), gzipSync(records.join('')));
  writeFileSync(site('wiki', 'w.jsonl'), WIKI.join(''));
  writeFileSync(site('incoming', 'new.jsonl'), lines('new', 10).join(''));
  writeFileSync(site('big.txt'), lines('big', 5000).join(''));
  for (const name of ['orders-1.csv', 'orders-2.csv'])
    writeFileSync(site(name), `id,note\n${count(40, (i) => `${name},"two\nlines ${i}"\n`).join('')}`);
  const sample = (i: number) => ['txt', 'cls'].map((end) => ({ name: `${i}.${end}`, data: Buffer.from(`${i}`) }));
  writeFileSync(site('samples.tar'), tarOf(count(40, sample).flat()));
  writeFileSync(site('tokens.bin'), Buffer.concat(count(30, (i) => Buffer.alloc(4096, i))));
  const rows = Buffer.from(Float64Array.from({ length: 60 }, (_, i) => i).buffer);
  writeFileSync(site('features.npy'), Buffer.concat([npyHeaderOf('<f8', 30, [2]), rows]));
  writeFileSync(site('labels.npy'), Buffer.concat([npyHeaderOf('<f8', 30, []), rows.subarray(0, 240)]));
  for (const mate of [1, 2]) {
    const reads = count(50, (i) => `@read${i}/${mate}\nACGT\n+\nIIII\n`).join('');
    writeFileSync(site(`reads_R${mate}.fastq.gz`), gzipSync(reads));
  }
  for (const name of ['en', 'fr']) writeFileSync(site(`${name}.txt`), lines(name, 100).join(''));
}

/** Programs of the recipes: pileshuf as it is built, and what starts it elsewhere. */
function makePrograms(): void {
  const programs = {
    pileshuf: `exec "$NODE" ${builtCommand} "$@"`,
    npx: 'exec "$@"',
    npm: `echo ${directory.path('modules')}`,
    docker: 'while [ "$1" != node:22 ]; do shift; done; shift; exec "$@"',
  };
  mkdirSync(directory.path('modules'), { recursive: true });
  rmSync(directory.path('modules', 'pileshuf'), { force: true });
  symlinkSync(root, directory.path('modules', 'pileshuf'));
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(site('bin', name), `#!/bin/bash\n${text}\n`);
    chmodSync(site('bin', name), 0o755);
  }
}

function decoded(path: string): string {
  if (path.endsWith('.zst')) return spawnSync('zstd', ['-dcq', path], { encoding: 'latin1' }).stdout;
  const bytes = readFileSync(path);
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1');
}

/** The records of a file, or of all files of a directory whose names begin so. */
function recordsOf(path: string, prefix?: string): string[] {
  const paths = prefix === undefined ? [path] : namesIn(path, prefix).map((name) => `${path}/${name}`);
  return paths.flatMap((each) => decoded(each).split('\n').slice(0, -1));
}

const namesIn = (path: string, prefix: string) => readdirSync(path).filter((name) => name.startsWith(prefix));
const sorted = (records: readonly string[]) => records.map((record) => record.replace(/\n$/, '')).sort();

function expectShuffled(found: readonly string[], records: readonly string[]): void {
  expect(sorted(found)).toEqual(sorted(records));
  expect(found.join('\n')).not.toBe(records.join('').replace(/\n$/, ''));
}

const crawl = CRAWL.flat();
const storeStart = 'pileshuf append store wiki/ -q';

/** What each recipe must have done; the text is its standard output. */
const checks: Readonly<Record<string, (text: string) => void>> = {
  'Shuffle compressed files into one': () => expectShuffled(recordsOf(site('shuffled.jsonl.zst')), crawl),
  'Shuffle what a program writes': () => expectShuffled(recordsOf(site('shuffled.jsonl')), crawl),
  'Shuffle what is larger than memory, with several disks': () =>
    expectShuffled(recordsOf(site('shuffled.txt')), lines('big', 5000)),
  'Go on after a crash': () => expectShuffled(recordsOf(site('shuffled.txt')), lines('big', 5000)),
  'Shuffle a table': () => {
    const table = readFileSync(site('orders.csv'), 'utf8');
    expect(table.match(/id,note/g)).toHaveLength(1);
    expect(table.match(/"two\nlines \d+"\n/g)).toHaveLength(80);
  },
  'Equal shards': () => {
    expect(namesIn(site('train'), 'shard-')).toHaveLength(128);
    expect(recordsOf(site('train', 'shard-00007-of-00128.jsonl.zst'))).toHaveLength(25);
  },
  'Shards of a size': () => expectShuffled(recordsOf(site('train'), 'shard-'), crawl),
  'A training, a validation and a test set': () => {
    expect(namesIn(site('data'), 'train-')).toHaveLength(16);
    expectShuffled(
      ['train', 'validation', 'test'].flatMap((name) => recordsOf(site('data'), name)),
      crawl,
    );
  },
  'Splits for Hugging Face': (text) => expect(text).toBe(`${ALL}\n`),
  'A validation set of 1,000 records': () => {
    expect(recordsOf(site('data'), 'validation')).toHaveLength(1000);
    expect(recordsOf(site('data'), 'train')).toHaveLength(ALL - 1000);
  },
  'A test set that stays the same when data is added': () => {
    expect(recordsOf(site('data'), 'test').length).toBeLessThan(ALL / 20);
    expectShuffled(
      ['train', 'test'].flatMap((name) => recordsOf(site('data'), name)),
      crawl,
    );
  },
  'All pages of one site in one split': () => {
    const sites = ['train', 'test'].map(
      (name) => new Set(recordsOf(site('data'), name).map((record) => JSON.parse(record).site)),
    );
    expect(sites.reduce((sum, { size }) => sum + size, 0)).toBe(50);
  },
  'Drop duplicates': () => expectShuffled(recordsOf(site('clean.jsonl')), crawl),
  'Keep the first record of each value': () => {
    const first = new Map<string, string>();
    const sides = [...crawl, ...WIKI].map((record) => record.trim());
    for (const record of sides) {
      const { site: name } = JSON.parse(record);
      if (!first.has(name)) first.set(name, record);
    }
    expect(sorted(recordsOf(site('clean.jsonl')))).toEqual([...first.values()].sort());
    expect(recordsOf(site('dropped.jsonl'))).toHaveLength(sides.length - 50);
  },
  'Mix corpora by weights': () => {
    const ofWiki = recordsOf(site('mixed.jsonl')).filter((record) => record.includes('"wiki'));
    expect(ofWiki.length).toBeGreaterThan(3500);
    expect(ofWiki.length).toBeLessThan(4000);
  },
  'Mix corpora by shares of their tokens': () => {
    const tokens = { wiki: 0, all: 0 };
    for (const record of recordsOf(site('mixed.jsonl'))) {
      const { id, n_tokens } = JSON.parse(record);
      tokens.all += n_tokens;
      if (id.startsWith('wiki')) tokens.wiki += n_tokens;
    }
    expect(Math.abs(tokens.wiki / tokens.all - 0.4)).toBeLessThan(0.02);
  },
  'Samples in tar files (WebDataset)': () => {
    const names = namesIn(site('shards'), 'shard-').flatMap((name) =>
      spawnSync('tar', ['-tf', site('shards', name)], { encoding: 'utf8' })
        .stdout.split('\n')
        .filter(Boolean),
    );
    expect(names).toHaveLength(80);
    for (let i = 0; i < 80; i += 2) expect(names[i]?.split('.')[0]).toBe(names[i + 1]?.split('.')[0]);
  },
  'Token arrays': () => {
    const bytes = readFileSync(site('shuffled.bin'));
    const first = count(30, (i) => bytes[4096 * i] ?? -1);
    expect(first.toSorted((a, b) => a - b)).toEqual(count(30, (i) => i));
  },
  'Features and labels in NumPy arrays': () => {
    const values = (name: string, from: number) =>
      new Float64Array(new Uint8Array(readFileSync(name)).slice(from).buffer);
    const at = (name: string) => readFileSync(name).indexOf('\n') + 1;
    const [features, labels] = [site('shuffled', 'features.npy'), site('shuffled', 'labels.npy')];
    const rows = values(features, at(features));
    for (const [i, label] of values(labels, at(labels)).entries()) expect(rows[2 * i]).toBe(2 * label);
  },
  'Paired FASTQ': () => {
    const [one, two] = ['R1', 'R2'].map((mate) => recordsOf(site('shuffled', `reads_${mate}.fastq.gz`)));
    expect(one).toHaveLength(200);
    expect(two).toEqual(one?.map((line) => line.replace('/1', '/2')));
  },
  'Parallel text': () => {
    const french = recordsOf(site('shuffled'), 'fr-');
    expect(recordsOf(site('shuffled'), 'en-')).toEqual(french.map((line) => line.replace('fr', 'en')));
    expectShuffled(french, lines('fr', 100));
  },
  'A sample of 1,000 records': () => expect(new Set(recordsOf(site('sample.jsonl'))).size).toBe(1000),
  'A bootstrap sample': () => {
    const drawn = recordsOf(site('bootstrap.jsonl'));
    expect(drawn).toHaveLength(5000);
    expect(new Set(drawn).size).toBeLessThan(1500);
  },
  'Random numbers without repeats': (text) => expect(text).toMatch(/^(\d{1,13}\n){5}$/),
  'In place of shuf': (text) => expect(text).toMatch(/^("en \d+"\n){3}$/),
  'Collect the files of a day': () => expect(contentsOfStore().records).toBe(ALL),
  'A moving window: the last 30 days': () => expect(contentsOfStore().records).toBe(1500),
  'Every night, from cron': () => expect(contentsOfStore().records).toBe(1510),
  'Feed any training program': (text) => expect(Number(text)).toBe(2 * Math.ceil(1500 / 8)),
  'PyTorch with workers and ranks': (text) => expect(text).toBe('1500\n'),
  'A report with charts': () => expect(readFileSync(site('report.html'), 'utf8')).toContain('Is it shuffled?'),
  'What will the job need?': (text) => {
    expect(text).toMatch(/^records +[\d,]+ records/m);
    expect(readdirSync(site())).not.toContain('shuffled.jsonl');
  },
  'Does the output have all records?': (text) => expect(text).toMatch(/3,?200/),
  'Is a set of shards complete?': (text) => expect(text).toMatch(/3,?200/),
  'Is a set shuffled?': (text) => expect(text).toMatch(/^verdict +(shuffled|nothing to see)/m),
  'On several machines': () => expectShuffled(recordsOf(site('shuffled.jsonl')), crawl),
  'On Slurm': (text) => {
    expect(text).toMatch(/^sbatch .*--array=/m);
    expect(readdirSync(site())).not.toContain('job');
  },
  'In a container': () => expectShuffled(recordsOf(site('shuffled.jsonl')), crawl),
  'In a pipeline of Python': (text) => expect(text).toBe(`${ALL}\n`),
};

function contentsOfStore(): { readonly records: number } {
  const words = [builtCommand, 'inspect', site('store'), '--json'];
  const { stdout } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  return JSON.parse(stdout);
}

it('has a check for every recipe', () => {
  expect(recipes.map(([title]) => title)).toEqual(Object.keys(checks));
});

describe('the recipe', () => {
  const missing = (text: string) =>
    (/zst/.test(text) && !(canWriteZstd && isOnPath('zstd'))) || (/python3/.test(text) && !isOnPath('python3'));

  it.each(sampled(recipes, 5).filter(([, text]) => !missing(text)))('%s', async (title, text) => {
    makeFiles();
    makePrograms();
    // Disks of the reader's are directories here.
    const here = text.replaceAll(' /disk', ` ${site('disk')}`);
    const start = /\bstore\b/.test(text) && !text.startsWith('pileshuf append') ? `${storeStart} || exit` : '';
    const script = `export NODE=$1 PATH="$SITE/bin:$PATH"; set -e -o pipefail\n${start}\n${here}`;
    const { exitCode, stdout, stderr } = await runShell(`cd "$SITE"; ${script}`, [], {
      SITE: site(),
      TMPDIR: directory.temp,
      PYTHONPATH: standIns,
      PYTHONDONTWRITEBYTECODE: '1',
    });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.not.stringContaining('warning') });
    checks[title]?.(stdout.toString());
  });
});
