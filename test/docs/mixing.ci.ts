/** docs/MIXING.md: its commands and files, typed into a shell verbatim; the schema of a mix; and examples/mix.py and shares.py. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { shuffle } from '#src/index.js';
import { isOnPath } from '../fixtures/foreign-program.js';
import { runShell } from '../fixtures/run-shell.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/MIXING.md', root), 'utf8');
const blocksOf = (kind: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${kind}\\n(.*?)\`\`\``, 'gs'))].map(([, block = '']) => block);
const commands = blocksOf('sh');
const [mix = '', shares = ''] = blocksOf('yaml');
const lines = (name: string, count: number) => Array.from({ length: count }, (_, i) => `"${name} ${i}"\n`).join('');

function countsOf(text: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of text.split('\n').slice(0, -1)) {
    const name = /\w+/.exec(line)?.[0] ?? '';
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

async function run(command: string): Promise<{ readonly text: string; readonly stderr: string }> {
  mkdirSync(directory.path('corpus'), { recursive: true });
  writeFileSync(directory.path('corpus', 'wiki.jsonl'), lines('wiki', 400));
  writeFileSync(directory.path('corpus', 'crawl.jsonl'), lines('crawl', 3000));
  writeFileSync(directory.path('mix.yaml'), mix);
  writeFileSync(directory.path('shares.yaml'), shares);
  const script = `node=$1 command=$2; pileshuf() { "$node" "$command" "$@"; }; cd "$SITE" && ${command}`;
  const { exitCode, stderr } = await runShell(script, [], { SITE: directory.path() });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  return { text: readFileSync(directory.path('mixed.jsonl'), 'utf8'), stderr };
}

describe('the walk-through', () => {
  it('has the usual number of commands and files', () => {
    expect([commands.length, blocksOf('yaml').length]).toEqual([3, 2]);
  });

  it('takes inputs by weights', async () => {
    const { text, stderr } = await run(commands[0] ?? '');
    const { wiki = 0, crawl = 0 } = countsOf(text);
    expect(wiki).toBeGreaterThan(800 + 140);
    expect(wiki).toBeLessThan(800 + 260);
    expect(crawl).toBeGreaterThan(300 - 90);
    expect(crawl).toBeLessThan(300 + 90);
    const told = `, wiki\\*: ${wiki.toLocaleString('en')} from 400 records \\([^)]+\\), crawl\\*: ${crawl} from 3,000`;
    expect(stderr).toMatch(new RegExp(told));
  });

  it('takes groups of a file by weights', async () => {
    const { text } = await run(commands[1] ?? '');
    const { wiki = 0, crawl = 0 } = countsOf(text);
    expect(crawl).toBe(3000);
    expect(Math.abs(wiki - 1000)).toBeLessThan(60);
  });

  it('takes groups by shares of the output', async () => {
    const { text } = await run(commands[2] ?? '');
    expect(Math.abs(text.length - 20_000)).toBeLessThan(2000);
    const ofWiki = text.split('\n').reduce((sum, line) => sum + (line.startsWith('"wiki') ? line.length + 1 : 0), 0);
    expect(ofWiki / text.length).toBeCloseTo(0.3, 1);
  });
});

const TOKENS = { unit: '.n_tokens', total: '300B', groups: [{ name: 'a', inputs: 'a', share: '0.5' }] };

describe('the schema of a mix', () => {
  const schema = JSON.parse(readFileSync(new URL('examples/mix.schema.json', root), 'utf8')) as object;
  const validate = new Ajv({ strict: true, strictTypes: false, strictRequired: false }).compile(schema);
  const group = { name: 'a', inputs: 'a' };

  it.each([parse(mix), parse(shares), { groups: [{ ...group, weight: '2.50' }] }, TOKENS])('takes %j', (value) => {
    expect(validate(value), JSON.stringify(validate.errors)).toBe(true);
  });

  it.each([
    {},
    { groups: [] },
    { groups: [group] },
    { groups: [{ ...group, weight: -1 }] },
    { groups: [{ ...group, weight: 1 }], unit: 'bytes' },
    { groups: [{ ...group, share: 1 }] },
    { groups: [{ ...group, share: 1, weight: 1 }], unit: 'bytes' },
    { groups: [{ ...group, share: 0 }], unit: 'bytes' },
    { groups: [{ ...group, share: 1 }], unit: 'n_tokens' },
    { groups: [{ ...group, share: 1, epochs: 2 }], unit: 'bytes' },
    { groups: [{ ...group, share: 1 }], unit: 'bytes', total: '300' },
    { groups: [{ name: 'a', inputs: [], weight: 1 }] },
  ])('refuses %j, as the library does', async (value) => {
    expect(validate(value)).toBe(false);
    writeFileSync(directory.path('a'), 'a\n');
    const options = { inputs: [directory.path('a')], output: directory.path('out'), mix: value as never };
    await expect(shuffle(options)).rejects.toThrow(/mix/);
  });
});

describe.skipIf(!isOnPath('python3'))('examples/mix.py', () => {
  const script = fileURLToPath(new URL('examples/mix.py', root));
  const inputs = () => {
    const paths = ['wiki', 'code', 'web'].map((name) => directory.path(name));
    for (const [i, path] of paths.entries()) writeFileSync(path, lines(`line ${i}`, [300, 0, 900][i] ?? 0));
    return paths;
  };
  const print = (program: string, ...words: readonly string[]) => {
    const { stdout, stderr } = spawnSync('python3', [program, ...words], { encoding: 'latin1' });
    expect(stderr).toBe('');
    return stdout;
  };

  it('prints the same with weights', async () => {
    const paths = inputs();
    const factors = ['2.5', '7', '.1'];
    const output = directory.path('out');
    const weights = paths.map((glob, i) => ({ glob, factor: factors[i] ?? '' }));
    await shuffle({ inputs: paths, output, seed: 'Ł', weights });
    const printed = print(script, 'Ł', ...paths.map((path, i) => `${path}=${factors[i]}`));
    expect(readFileSync(output, 'latin1') === printed).toBe(true);
  });

  it('prints the same with the weights that examples/shares.py finds for a field of decimals', async () => {
    const paths = ['talks', 'calls'].map((name) => directory.path(`${name}.jsonl`));
    const numbers = [
      '0.1',
      '0.2',
      '12.35',
      '1e-7',
      '-0.0',
      '1.5e1',
      '3',
      '0.30000000000000004',
      '7.123456789012345678',
    ];
    for (const [i, path] of paths.entries()) {
      const record = (_: unknown, j: number) =>
        `{"m":{"s":${numbers[(i + j * (i + 1)) % numbers.length]}},"id":${j}}\n`;
      writeFileSync(path, Array.from({ length: 300 * (i + 1) }, record).join(''));
    }
    const output = directory.path('out');
    const groups = paths.map((path, i) => ({ name: `${i}`, inputs: path, share: i === 0 ? '0.7' : '.3' }));
    await shuffle({ inputs: paths, output, seed: '7', mix: { groups, unit: '.m.s' } });
    const words = paths.map((path, i) => `${path}=${i === 0 ? '0.7' : '.3'}`);
    const found = print(fileURLToPath(new URL('examples/shares.py', root)), '.m.s', ...words);
    const printed = print(script, '7', ...found.trim().split('\n'));
    expect(readFileSync(output, 'latin1') === printed).toBe(true);
    expect(printed.length).toBeGreaterThan(1000);
  });

  it('prints the same with the fractions that follow from shares', async () => {
    const [wiki = '', , web = ''] = inputs();
    const output = directory.path('out');
    const groups = [
      { name: 'wiki', inputs: 'wiki', share: 0.7 },
      { name: 'web', inputs: 'web', share: 0.3 },
    ];
    await shuffle({
      inputs: [wiki, web],
      output,
      seed: '7',
      mix: { groups, unit: 'records', total: 700, max_epochs: 2 },
    });
    const printed = print(script, '7', `${wiki}=490/300`, `${web}=210/900`);
    expect(readFileSync(output, 'latin1') === printed).toBe(true);
    expect(printed.length).toBeGreaterThan(1000);
  });
});
