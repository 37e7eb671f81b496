/**
 * The commands and programs of the pages and of `--help`, typed into a shell verbatim, among files as the pages name them.
 * tutorial.ci.ts and cluster-walk.ci.ts run those of two pages.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { allOptions } from '#src/cli/option-names.js';
import * as library from '#src/index.js';
import type { OptionFlag } from '#src/options/option.js';
import { isOnPath } from '../fixtures/foreign-program.js';
import { runShell } from '../fixtures/run-shell.js';
import { fromCi, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { type Block, blocksOf, docs, examplesOfHelp, textOf } from './page-blocks.js';
import { MADE_BY, makeSite } from './site.js';

const directory = useMemoryDirectory();
const site = (...path: string[]) => directory.path('site', ...path);
const standIns = fileURLToPath(new URL('stand-in', import.meta.url));

const WALKED_ELSEWHERE = ['docs/TUTORIAL.md', 'docs/CLUSTER.md'];
/** Pages whose blocks build on each other: they share a site. */
const IN_SEQUENCE = ['docs/COOKBOOK.md', 'docs/LIBRARY.md', 'examples/README.md'];
/** What no test runs: the beginning of a block, and why. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'pileshuf KIND VERSION': 'it is the first line of a file',
  'npm install -g pileshuf': 'it installs the package',
  'python3 examples/cluster-ray.py': 'it needs Ray',
  'pileshuf s3://': 'it needs a network; test/remote has servers',
  'const { aborted } =': 'it needs a network; test/remote has servers',
  'pileshuf cluster slurm': 'it names directories of a cluster; cluster-walk.ci.ts runs Slurm',
};
const isRun = ({ text }: Block) => !Object.keys(NOT_RUN).some((start) => text.startsWith(start));

const pages = ['README.md', 'examples/README.md', ...docs].filter((page) => !WALKED_ELSEWHERE.includes(page));
const all = [...pages.flatMap(blocksOf), ...(await examplesOfHelp())];
const files = all.filter(({ kind }) => kind === 'yaml');

/** What a site must hold before a block, beside its files. */
function before(text: string): string {
  const lines: string[] = [];
  const [, store] =
    /(?:expire|gc|inspect|stream|shuffle-store|verify|openStore\(|PileStream\(|index\() ?'?(store|STORE)\b/.exec(
      text,
    ) ?? [];
  if (store !== undefined && !text.startsWith('pileshuf append')) lines.push(`pileshuf append ${store} wiki/ -q`);
  if (text.includes('--start @') && !text.includes('--print-start'))
    lines.push('pileshuf stream STORE --print-start > start.json');
  if (text.includes("openIndexed('validation")) lines.push('pileshuf index validation.jsonl -q');
  if (text.includes('verify out/') && !text.includes('--against')) lines.push('pileshuf corpus/ -o out --shards 2 -q');
  const [, against] = /verify out\/ --against (corpus\S*)/.exec(text) ?? [];
  if (against !== undefined) lines.push(`pileshuf ${against} -o out --shards 2 --force -q`);
  if (/verify shuffled\.jsonl --against/.test(text))
    lines.push('pileshuf corpus/*.jsonl.gz -o shuffled.jsonl --force -q');
  if (text.includes('check-shuffled train/')) lines.push('pileshuf corpus/ -o train --shards 2 --force -q');
  if (/cluster (?:task|status)/.test(text) && !text.includes('cluster plan')) {
    lines.push('pileshuf cluster plan corpus/ -o planned --shards 4 --job-dir job --tasks 2 -q');
    const does = (kind: string) => `pileshuf cluster task ${kind} --job-dir job --index 0 --stride 1 -q`;
    if (/task (?:shuffle|commit)/.test(text)) lines.push(does('scatter'));
    if (text.includes('task commit')) lines.push(does('shuffle'));
  }
  return lines.join('\n');
}

/** Where the commands of a line write. */
const outputsOf = (line: string) =>
  [...line.matchAll(/ (?:-o|--report) (\S+)/g)].map(([, output = '']) => output).filter((output) => output !== '-');
const TOOLS = Object.entries(MADE_BY).filter(([, made]) => !isOnPath(made.split(' ')[0] ?? ''));

/**
 * The reader's disks are directories here, and large numbers small ones.
 * @param isAlone whether outputs of earlier lines make room.
 */
function localized(text: string, isAlone: boolean): string {
  return (
    text
      .replace(/ +# .*$/gm, '')
      .replaceAll(/\\\n\s*/g, '')
      .replace(/(?<= )\/(?=disk|nvme)/g, `${site()}/`)
      .replaceAll('/var/tmp/', `${site()}/`)
      .replace(/-n 1000000\b/g, '-n 2000')
      .replace(/-S \d+G\b/g, '-S 64M')
      .replace(/--index \d+(?: --stride \d+)?/g, '--index 0 --stride 1')
      .split('\n')
      // A network is needed, as in blocks of such lines.
      .filter((line) => !line.startsWith('pileshuf s3://'))
      .filter((line) => !TOOLS.some(([name]) => line.includes(name)))
      .map((line) =>
        isAlone && /^[a-z].* -o (?!-)/.test(line) && !/--force/.test(line)
          ? `rm -rf ${outputsOf(line).join(' ')}\n${line}`
          : line,
      )
      .join('\n')
  );
}

/** A program; names of the library that it does not import are imported. */
function programOf(text: string): string {
  const names = Object.keys(library).filter((name) => new RegExp(`\\b${name}\\b(?! *[,:])`).test(text));
  const imports = /^import /m.test(text) ? '' : `import { ${names.join(', ')} } from 'pileshuf';\n`;
  const ofReader = 'Object.assign(globalThis, { train() {}, save() {}, pages: [{ text: "a" }] });\n';
  return `${imports}${ofReader}${text}`;
}

async function run(block: Block, isAlone: boolean): Promise<void> {
  const steps = ['set -e -o pipefail', 'export NODE=$1 PATH="$SITE/bin:$PATH"', 'cd "$SITE"'];
  for (const [name, made] of Object.entries(MADE_BY))
    if (isOnPath(made.split(' ')[0] ?? '') && block.text.includes(name)) steps.push(`${made} log.txt > ${name}`);
  if (isAlone) steps.push(before(block.text));
  if (block.kind === 'sh') steps.push(localized(block.text, isAlone));
  else {
    writeFileSync(site('program.mjs'), programOf(block.text));
    steps.push('"$NODE" program.mjs');
  }
  const env = {
    SITE: site(),
    HOME: site(),
    TMPDIR: directory.temp,
    PYTHONPATH: standIns,
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const { exitCode, stderr } = await runShell(steps.join('\n'), [], env);
  // A file in its order says so with 4; `head` leaves before a stream ends.
  const expected = block.text.includes('check-shuffled shard') ? 4 : block.text.includes('| head') ? 141 : 0;
  expect({ exitCode, stderr }).toEqual({ exitCode: expected, stderr });
  expect(
    stderr.match(
      /^.*warning: (?!.* in memory \(tmpfs\)|left out \d+ hidden|each line is a record|this Node compresses|no record is in).*$/gm,
    ),
  ).toBeNull();
  if (block.kind !== 'sh' || /pileshuf plan|cluster plan|--dry-run/.test(block.text)) return;
  const outputs = localized(block.text, false).split('\n').flatMap(outputsOf);
  expect(outputs.filter((name) => !existsSync(name.startsWith('/') ? name : site(name)))).toEqual([]);
}

it('LIBRARY.md calls every function', () => {
  const called = blocksOf('docs/LIBRARY.md')
    .map(({ text }) => text)
    .join('');
  const functions = Object.entries(library).filter(([, value]) => typeof value === 'function');
  expect(functions.flatMap(([name]) => (/Error$/.test(name) || called.includes(name) ? [] : name))).toEqual([]);
});

it('LIBRARY.md has the options whose names do not follow from their flags', () => {
  const text = textOf('docs/LIBRARY.md');
  const camelCase = (name: string) => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const ofCommandAlone = ['inputLists', 'withLengths', 'index', 'inputIds', 'rule.before'];
  const other = allOptions().filter(({ name, sets }) => sets !== camelCase(name) && !ofCommandAlone.includes(sets));
  const isThere = ({ name, sets }: OptionFlag) =>
    text.includes(`\`--${name}`) && text.includes(sets.split('.').at(-1) ?? '');
  expect(other.filter((entry) => !isThere(entry)).map(({ name }) => name)).toEqual([]);
});

it('what is not run stands in a page', () => {
  expect(Object.keys(NOT_RUN).filter((start) => !all.some(({ text }) => text.startsWith(start)))).toEqual([]);
});

describe('the block', () => {
  const isPossible = ({ text }: Block) => !(/python3/.test(text) && !isOnPath('python3'));
  const alone = all.filter((block) => block.kind !== 'yaml' && isRun(block) && isPossible(block));
  const lines = new Set<string>();
  const single = alone.filter(({ page, text }) => {
    // The help repeats lines of the pages.
    const isRepeated = page === '--help' && lines.has(localized(text, true).trim());
    for (const line of localized(text, true).split('\n')) lines.add(line.trim());
    return !IN_SEQUENCE.includes(page) && !isRepeated;
  });
  const named = single.map((block) => [`${block.page}: ${block.text.split('\n')[0]}`, block] as const);

  it.each(sampled(named, 12, 1))('of %s', async (_, block) => {
    makeSite(site());
    for (const { page, file, text } of files) if (page === block.page) writeFileSync(site(file), text);
    await run(block, true);
  });
});

describe('the blocks in their order', () => {
  it.runIf(fromCi).each(IN_SEQUENCE)('of %s', async (page) => {
    makeSite(site());
    for (const block of all.filter((each) => each.page === page && isRun(each))) await run(block, false);
  });
});
