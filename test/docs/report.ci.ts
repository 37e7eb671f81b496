/** docs/REPORT.md: its commands, typed into a shell verbatim, its program, and the sections it names. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { beforeEach, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { runShell } from '../fixtures/run-shell.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/REPORT.md', root), 'utf8');
const commands = [...page.matchAll(/^ {4}(pileshuf .*)$/gm)].map(([, line = '']) => line);

beforeEach(() => {
  mkdirSync(directory.path('corpus'));
  for (const name of ['a', 'b']) {
    const lines = Array.from({ length: 4000 }, (_, i) => `"${name} ${i}"\n`);
    writeFileSync(directory.path('corpus', `${name}.jsonl`), lines.join(''));
  }
});

async function run(line: string): Promise<string> {
  const script = `node=$1 command=$2; pileshuf() { "$node" "$command" -q "$@"; }; cd "$SITE" && ${line}`;
  const { exitCode, stderr } = await runShell(script, [], { SITE: directory.path() });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return readFileSync(directory.path(line.slice(line.lastIndexOf(' ') + 1)), 'utf8');
}

it('the first command gives the page with the sections that it names', async () => {
  expect(commands).toHaveLength(2);
  const html = await run(commands[0] ?? '');
  const sections = [...page.matchAll(/^\| ([A-Z][^|]*?) *\| /gm)].map(([, title]) => title);
  const named = sections.filter((title) => html.includes(`>${title}</`));
  expect(named.length).toBeGreaterThanOrEqual(10);
  expect(sections.filter((title) => title !== undefined && !named.includes(title))).toEqual(
    // Of jobs that ask for more, or have more piles.
    ['Splits and mix', 'Sizes of piles'].filter((title) => !html.includes(`>${title}</`)),
  );
});

it('the second command gives data as the schema describes', async () => {
  const schema = JSON.parse(readFileSync(new URL('examples/report.schema.json', root), 'utf8')) as object;
  const validate = new Ajv({ strict: true, strictTypes: false, strictRequired: false }).compile(schema);
  const report = JSON.parse(await run(commands[1] ?? ''));
  expect(validate(report), JSON.stringify(validate.errors)).toBe(true);
  expect(validate({ ...report, more: 1 })).toBe(false);
  expect(validate({ ...report, result: { ...report.result, records: '1' } })).toBe(false);
  expect(report.askedSplits).toMatchObject([{ name: 'train' }, { name: 'test' }]);
});

it('the program is told of the job', async () => {
  const [, call = ''] = /await shuffle\((\{.*\})\);/s.exec(page) ?? [];
  const told: unknown[][] = [];
  const options = new Function('console', `return ${call}`)({ log: (...words: unknown[]) => told.push(words) });
  const inputs = [directory.path('corpus')];
  const job = { ...options, inputs, output: directory.path('out'), tempDirs: [directory.temp], seed: '1' };
  const { checksum } = await shuffle(job);
  expect(told).toEqual([[checksum, true]]);
});
