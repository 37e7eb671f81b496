/**
 * Every command of the documents is run by a test: by that of its page, or here, typed into a shell verbatim among files as
 * the page names them. What no test can run is listed with the reason.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { canWriteZstd } from '../fixtures/can-write-zstd.js';
import { runShell } from '../fixtures/run-shell.js';
import { fromCi, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { commandsOf } from './page-commands.js';

const directory = useMemoryDirectory();
const root = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (path: string) => readFileSync(`${root}/${path}`, 'utf8');
const pages = ['README.md', 'examples/README.md', ...readdirSync(`${root}/docs`).map((name) => `docs/${name}`)].filter(
  (path) => path.endsWith('.md'),
);

/** What the test of a page runs: what stands in its blocks for a shell, in the first of them, or behind four spaces. */
const SHELL_BLOCKS = /^```sh\n(.*?)^```$/gms;
const FIRST_SHELL_BLOCK = /^```sh\n(.*?)^```$/ms;
const INDENTED = /^ {4}(pileshuf .*)$/gm;

interface PageTest {
  readonly tests: readonly string[];
  readonly runs: RegExp;
}

/** The tests that run all commands of a page, except those below, and how they find them. */
const RUN_BY: Readonly<Record<string, PageTest>> = {
  'README.md': { tests: ['examples.test.ts'], runs: /^((?!.*--together).*pileshuf .*)$/gm },
  'docs/ALIGNED.md': { tests: ['aligned.ci.ts'], runs: SHELL_BLOCKS },
  'docs/CHECK-SHUFFLED.md': { tests: ['check-shuffled.ci.ts'], runs: INDENTED },
  'docs/CLUSTER.md': { tests: ['cluster-walk.ci.ts'], runs: SHELL_BLOCKS },
  'docs/COMPRESSION.md': { tests: ['formats.ci.ts'], runs: SHELL_BLOCKS },
  'docs/COOKBOOK.md': { tests: ['cookbook.test.ts'], runs: SHELL_BLOCKS },
  'docs/FORMATS.md': { tests: ['formats.ci.ts'], runs: SHELL_BLOCKS },
  'docs/MIXING.md': { tests: ['mixing.ci.ts'], runs: SHELL_BLOCKS },
  'docs/PLAN.md': { tests: ['plan.ci.ts'], runs: FIRST_SHELL_BLOCK },
  'docs/PROGRESS.md': { tests: ['progress.test.ts'], runs: FIRST_SHELL_BLOCK },
  'docs/RANGES.md': { tests: ['ranges.ci.ts'], runs: SHELL_BLOCKS },
  'docs/REPORT.md': { tests: ['report.ci.ts'], runs: INDENTED },
  'docs/SAMPLES.md': { tests: ['samples.ci.ts'], runs: SHELL_BLOCKS },
  'docs/SLURM.md': { tests: ['cluster-walk.ci.ts'], runs: SHELL_BLOCKS },
  'docs/SPLITS.md': { tests: ['splits.ci.ts'], runs: SHELL_BLOCKS },
  'docs/STORES.md': {
    tests: ['stores.test.ts', 'moving-window.ci.ts'],
    runs: /^## (?:Writing|A moving window)\n\n```sh\n([^`]+)```/gm,
  },
  'docs/TUTORIAL.md': { tests: ['tutorial.ci.ts'], runs: SHELL_BLOCKS },
  'docs/UNIQUE.md': { tests: ['unique.ci.ts'], runs: INDENTED },
  'docs/VERIFY.md': { tests: ['verify.ci.ts'], runs: INDENTED },
};

const NO_CALL = 'it is a form with words to fill in';
const FRESH_CLONE = 'it installs packages, for a fresh clone';
/** What no test runs as it stands: the beginning of a command, and why. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'pileshuf KIND VERSION': 'it is the first line of a file',
  'pileshuf --input-ids file:IDS --seed SEED': NO_CALL,
  'pileshuf docs.jsonl -S 128M -T /dev/shm/t': `${NO_CALL}, for gigabytes of documents`,
  'npm ci && npx pileshuf examples/corpus': FRESH_CLONE,
  'pileshuf cluster slurm': 'it needs Slurm; cluster-walk.ci.ts runs those of docs/SLURM.md where it is',
};

const reasonNotToRun = (line: string) => Object.keys(NOT_RUN).find((start) => line.startsWith(start));

const commands = pages.flatMap((page) =>
  commandsOf(textOf(page)).flatMap((line) => (reasonNotToRun(line) === undefined ? [{ page, line }] : [])),
);
/** Of the index of the documents, whose commands stand in a table. */
const inTable = [...textOf('docs/README.md').matchAll(/^\|.*?\| `(pileshuf .*?)`/gm)].map(([, line = '']) => line);
const here = [...new Set([...commands.filter((command) => !isRunByPage(command)).map(({ line }) => line), ...inTable])];

function isRunByPage({ page, line }: { readonly page: string; readonly line: string }): boolean {
  const text = textOf(page);
  const runs = RUN_BY[page]?.runs;
  if (runs === undefined) return false;
  const found = runs.global ? [...text.matchAll(runs)] : [runs.exec(text)];
  return found.some((match) => match?.[1]?.replaceAll(/\\\n\s*/g, '').includes(line));
}

const lines = (name: string, count: number) =>
  Array.from(
    { length: count },
    (_, i) => `{"id":${i},"url":"u${i}","source":"${name}","n_tokens":5,"text":"text ${i}"}\n`,
  ).join('');
const CSV = `id,note\n${Array.from({ length: 40 }, (_, i) => `${i},n\n`).join('')}`;
const READS = Array.from({ length: 30 }, (_, i) => `@r${i}\nACGT\n+\nIIII\n`).join('');

const FILES: Readonly<Record<string, string | Buffer>> = {
  'corpus/a.jsonl.gz': gzipSync(lines('a', 700)),
  'corpus/b.jsonl.gz': gzipSync(lines('b', 500)),
  'corpus/2026-11-20/c.jsonl': lines('c', 100),
  'examples/corpus/d.jsonl': lines('d', 100),
  'day/a.jsonl': lines('day', 90),
  'day-21/a.jsonl': lines('day', 90),
  'train/all.jsonl': lines('t', 1),
  'shard-0.jsonl.gz': gzipSync(lines('s', 900)),
  'part-0.jsonl.gz': gzipSync(lines('p', 90)),
  'part-1.jsonl.gz': gzipSync(lines('q', 90)),
  'part-07.raw': lines('raw', 90),
  'a.jsonl': lines('a', 90),
  'b.jsonl.gz': gzipSync(lines('b', 90)),
  'validation.jsonl': lines('v', 90),
  'table.csv': CSV,
  'a.csv': CSV,
  'b.csv': CSV,
  'shuffled.csv': `${CSV}${CSV.slice('id,note\n'.length)}`,
  'names.txt': 'a\nb\nc\n',
  'secret.bin': Buffer.alloc(4096, 7),
  'R1.fq.gz': gzipSync(READS),
  'R2.fq.gz': gzipSync(READS),
  'reads_R1.fq.gz': gzipSync(READS),
  'reads_R2.fq.gz': gzipSync(READS),
  'one-large.jsonl.gz': gzipSync(lines('large', 900)),
};

/** Programs that the pages leave to the reader. */
const PROGRAMS = { npx: 'exec "$@"', train: 'cat > /dev/null', preprocess: 'cat -- "$1"' };

function makeFiles(): void {
  rmSync(directory.path('site'), { recursive: true, force: true });
  for (const [name, bytes] of Object.entries(FILES)) {
    const path = directory.path('site', name);
    mkdirSync(path.slice(0, path.lastIndexOf('/')), { recursive: true });
    writeFileSync(path, bytes);
  }
  for (const name of ['bin', 'disk1/tmp', 'disk2/tmp', 'nvme1/tmp', 'nvme2/tmp', 'nvme3/tmp', 'nvme4/tmp'])
    mkdirSync(directory.path('site', name), { recursive: true });
  mkdirSync(directory.path('site', '.config/fish/completions'), { recursive: true });
  for (const name of ['.local/share/bash-completion/completions', '.zfunc', '.local/share/man/man1'])
    mkdirSync(directory.path('site', name), { recursive: true });
  const pileshuf = `exec "$NODE" ${root}dist/bundle/main.cjs "$@"`;
  for (const [name, text] of Object.entries({ ...PROGRAMS, pileshuf })) {
    writeFileSync(directory.path('site', 'bin', name), `#!/bin/bash\n${text}\n`);
    chmodSync(directory.path('site', 'bin', name), 0o755);
  }
}

const PLAN = 'pileshuf cluster plan corpus/ -o out --shards 4 --job-dir job --tasks 2 -q';
const scatterAll = 'pileshuf cluster task scatter --job-dir job --index 0 --stride 1 -q';
const shuffleAll = 'pileshuf cluster task shuffle --job-dir job --index 0 --stride 1 -q';

/** What must be there before a command: other commands. */
function before(line: string): string[] {
  if (/--start @/.test(line)) return [...before(' STORE'), 'pileshuf stream STORE --print-start > start.json'];
  const [store] = / (?:STORE|store)\b/.exec(line) ?? [];
  if (store !== undefined && !line.includes('--piles')) return [`pileshuf append ${store} validation.jsonl -q`];
  if (line.includes('verify out/')) return ['pileshuf corpus/*.jsonl.gz -o out --shards 2 -q'];
  if (line.includes('check-shuffled train/')) return ['pileshuf corpus/ -o train/all.jsonl --force -q'];
  if (/cluster (?:task scatter|status)/.test(line)) return [PLAN];
  if (line.includes('cluster task shuffle')) return [PLAN, scatterAll];
  if (line.includes('cluster task commit')) return [PLAN, scatterAll, shuffleAll];
  return [];
}

/** The reader's disks are directories here, and large numbers are small ones. */
const localized = (line: string) =>
  line
    .replace(/(?<= )\/(?=disk|nvme)/g, `${directory.path('site')}/`)
    .replaceAll('/var/tmp/', `${directory.path('site')}/`)
    .replace('seq 1000000000', 'seq 1000')
    .replace(/--index (?:I|\d+)/, '--index 0');

it.each(Object.entries(RUN_BY))('%s has tests that run its commands', (page, { tests }) => {
  expect(commands.some((command) => command.page === page && isRunByPage(command))).toBe(true);
  for (const test of tests) expect(textOf(`test/docs/${test}`).includes(page), `${test} reads ${page}`).toBe(true);
});

it('what is not run stands in a page', () => {
  const all = pages.flatMap((page) => commandsOf(textOf(page)));
  const unknown = Object.keys(NOT_RUN).filter((start) => !all.some((line) => line.startsWith(start)));
  expect(unknown).toEqual([]);
});

describe('the command', () => {
  const possible = here.filter((line) => canWriteZstd || !/zstd/.test(line));
  it.each(fromCi ? possible : sampled(possible, 12))('%s', async (line) => {
    makeFiles();
    const script = ['set -e -o pipefail', 'export NODE=$1 PATH="$SITE/bin:$PATH"', 'cd "$SITE"'];
    const whole = [...script, ...before(line), localized(line)].join('\n');
    const env = { SITE: directory.path('site'), HOME: directory.path('site'), TMPDIR: directory.temp };
    const { exitCode, stderr } = await runShell(whole, [], env);
    // A file of one kind alone is not shuffled, and says so with 4.
    expect({ exitCode, stderr }).toEqual({ exitCode: line.includes('check-shuffled shard') ? 4 : 0, stderr });
    const [, output] = / -o (\S+)/.exec(localized(line)) ?? [];
    const isWritten = output !== undefined && !/pileshuf plan|cluster plan/.test(line);
    if (isWritten) expect(existsSync(output.startsWith('/') ? output : directory.path('site', output))).toBe(true);
  });
});
