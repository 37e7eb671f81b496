/** docs/VERIFY.md: its commands, typed into a shell verbatim, and its program. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, it } from 'vitest';
import * as library from '#src/index.js';
import { runShell } from '../fixtures/run-shell.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const page = readFileSync(new URL('../../docs/VERIFY.md', import.meta.url), 'utf8');
const commands = [...page.matchAll(/^ {4}(pileshuf .*)$/gm)].map(([, line = '']) => line);
const LINES = Array.from({ length: 300 }, (_, i) => `"line ${i}"\n`);

beforeEach(async () => {
  for (const name of ['corpus', 'train', 'out']) mkdirSync(directory.path(name));
  writeFileSync(directory.path('corpus', '1.jsonl.gz'), gzipSync(LINES.slice(0, 200).join('')));
  writeFileSync(directory.path('corpus', '2.jsonl.gz'), gzipSync(LINES.slice(200).join('')));
  const mixed = LINES.toReversed().join('');
  for (const name of ['shuffled.jsonl', 'train/all.jsonl']) writeFileSync(directory.path(name), mixed);
  writeFileSync(directory.path('table.csv'), `h\n${LINES.join('')}`);
  writeFileSync(directory.path('table-shuffled.csv'), `h\n${mixed}`);
  const shards = { by: 'count', shardCount: 3 } as const;
  const inputs = [directory.path('corpus')];
  await library.shuffle({ inputs, output: directory.path('out'), shards, tempDirs: [directory.temp] });
});

it('the page has commands', () => {
  expect(commands).toHaveLength(4);
});

it.each(commands)('%s', async (line) => {
  const script = `node=$1 command=$2; pileshuf() { "$node" "$command" "$@"; }; cd "$SITE" && ${line}`;
  const { exitCode, stderr, stdout } = await runShell(script, [], { SITE: directory.path() });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout.toString()).toMatch(line.includes('--against') ? /have exactly the records/ : /as the marker says/);
});

it('the program', async () => {
  const [, program = ''] = /```ts\n(.*?)```/s.exec(page) ?? [];
  const body = program
    .replace(/^import.*$/m, '')
    .replaceAll(/'(corpus|train|out)\//g, `'${directory.path()}/$1/`)
    .concat('return { report, isWhole, sets };');
  const run = new Function('verifyPermutation', 'verifyShards', `return (async () => { ${body} })()`);
  const outcome = await run(library.verifyPermutation, library.verifyShards);
  expect(outcome).toMatchObject({ report: { isPermutation: true }, isWhole: true, sets: [{ prefix: 'shard' }] });
});
