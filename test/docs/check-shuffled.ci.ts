/** docs/CHECK-SHUFFLED.md: its commands, typed into a shell verbatim, and its program. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, it } from 'vitest';
import { checkShuffled, shuffle } from '#src/index.js';
import { runShell } from '../fixtures/run-shell.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const page = readFileSync(new URL('../../docs/CHECK-SHUFFLED.md', import.meta.url), 'utf8');
const commands = [...page.matchAll(/^ {4}(pileshuf .*)$/gm)].map(([, line = '']) => line);
const LINES = Array.from({ length: 500 }, (_, i) => `{"id":${i},"source":"${i % 3}"}\n`);

beforeEach(async () => {
  mkdirSync(directory.path('train'));
  for (const name of ['shard-0.jsonl', 'shard-1.jsonl']) writeFileSync(directory.path(name), LINES.join(''));
  const inputs = [directory.path('shard-0.jsonl')];
  await shuffle({ inputs, output: directory.path('train', 'a.jsonl'), seed: '1', tempDirs: [directory.temp] });
});

it('the page has commands', () => {
  expect(commands).toHaveLength(4);
});

it.each(commands)('%s', async (line) => {
  const script = `node=$1 command=$2; pileshuf() { "$node" "$command" "$@"; }; cd "$SITE" && ${line}`;
  const { exitCode, stdout } = await runShell(script, [], { SITE: directory.path() });
  const isShuffled = line.includes('train/');
  expect(exitCode).toBe(isShuffled ? 0 : 4);
  expect(stdout.toString()).toMatch(isShuffled ? /verdict\W+shuffled/ : /verdict\W+(not|locally) shuffled/);
});

it('the program', async () => {
  const [, call = ''] = /checkShuffled\((\{.*?\})\);/s.exec(page) ?? [];
  const options = new Function(`return ${call.replace('train/', directory.path('train'))}`)();
  expect(await checkShuffled(options)).toMatchObject({ verdict: 'shuffled', span: undefined });
});
