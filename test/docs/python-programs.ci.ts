/** The Python programs of examples, written from docs/ORDER.md alone, print what pileshuf writes. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle, shuffleTogether } from '#src/index.js';
import { isOnPath } from '../fixtures/foreign-program.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const examples = fileURLToPath(new URL('../../examples', import.meta.url));
const seed = '42';
const file = (name: string) => directory.path(name);

function python(program: string, ...argv: readonly string[]): string {
  const { stdout, stderr } = spawnSync('python3', [join(examples, program), ...argv], { encoding: 'latin1' });
  expect(stderr).toBe('');
  return stdout;
}

function makeFiles(names: readonly string[], line: (i: number) => string): string[] {
  for (const [file, name] of names.entries()) {
    const lines = Array.from({ length: 300 + 500 * file }, (_, i) => line(200 * file + i));
    writeFileSync(directory.path(name), lines.join(''));
  }
  return names.map(file);
}

async function shuffled(inputs: readonly string[], options: Partial<ShuffleOptions> = {}): Promise<string> {
  const { checksum } = await shuffle({ inputs, seed, output: file('out'), force: true, ...options });
  expect(checksum).toMatch(/^[0-9a-f]{16}$/);
  return readFileSync(file('out'), 'latin1');
}

describe.skipIf(!isOnPath('python3'))('a program in Python', () => {
  const names = ['one', 'two'];
  const plain = () => makeFiles(names, (i) => `${'x'.repeat(i % 7)}${i}\n`);

  it('prints the order, its first records and draws', async () => {
    const inputs = plain();
    expect(python('order.py', seed, ...inputs)).toBe(await shuffled(inputs));
    expect(python('order.py', seed, '-n', '9', ...inputs)).toBe(await shuffled(inputs, { headCount: 9 }));
    const drawn = await shuffled(inputs, { headCount: 900, repeat: true });
    expect(python('order.py', seed, '-r', '-n', '900', ...inputs)).toBe(drawn);
  });

  it('prints a split by shares, and aligned files', async () => {
    const inputs = plain();
    const splits = [
      { name: 'a', share: 0.3 },
      { name: 'b', rest: true },
    ] as const;
    await shuffle({ inputs, seed, output: file('splits'), splits });
    const [, second = ''] = readdirSync(file('splits')).filter((name) => !name.startsWith('.'));
    expect(python('order.py', seed, '--split', '0.3', '1', ...inputs)).toBe(
      readFileSync(join(file('splits'), second), 'latin1'),
    );
    const [english = '', french = ''] = ['en.txt', 'fr.txt'].map(
      (name) => makeFiles([name], (i) => `${name} ${i * i}\n`)[0],
    );
    await shuffleTogether({ together: [[english, french]], seed, output: file('aligned') });
    for (const path of [english, french])
      expect(python('order.py', seed, '--key', 'ordinal', path)).toBe(
        readFileSync(join(file('aligned'), path.slice(path.lastIndexOf('/') + 1)), 'latin1'),
      );
  });

  it.each([
    ['.meta.site', (i: number) => `{"id":${i},"meta":{"site":"s${i % 40}"}}\n`],
    ['/^(\\w+)/', (i: number) => `s${i % 40} - ${i}\n`],
  ])('prints a split by %s', async (splitBy, line) => {
    const inputs = makeFiles(names, line);
    const splits = [
      { name: 'a', share: 0.5 },
      { name: 'b', share: 0.5 },
    ];
    await shuffle({ inputs, seed, output: file('splits'), splits, splitBy });
    const [first = ''] = readdirSync(file('splits')).filter((name) => !name.startsWith('.'));
    const printed = python('splits.py', seed, splitBy, '0', '0.5', ...inputs);
    expect(printed).toBe(readFileSync(join(file('splits'), first), 'latin1'));
  });

  it('prints what weights and shares give', async () => {
    const inputs = makeFiles(names, (i) => `{"id":${i},"seconds":${i % 9}.25}\n`);
    const [one = '', two = ''] = inputs;
    const weights = [
      { glob: one, factor: '2.5' },
      { glob: two, factor: '0.3' },
    ];
    expect(python('mix.py', seed, `${one}=2.5`, `${two}=0.3`)).toBe(await shuffled(inputs, { weights }));
    const groups = inputs.map((path, i) => ({ name: `${i}`, inputs: path, share: ['0.7', '0.3'][i] }));
    const found = python('shares.py', '.seconds', `${one}=0.7`, `${two}=0.3`).split('\n').filter(Boolean);
    expect(python('mix.py', seed, ...found)).toBe(await shuffled(inputs, { mix: { unit: '.seconds', groups } }));
  });

  const cells = ['é', 'a"b', 'x,y', 'two\nlines', '', 'none'];
  const row = (i: number) => `${i},"${(cells[i % 6] ?? '').replaceAll('"', '""')}${i % 40}",${i % 3}\n`;
  const text = (i: number) => `${i}\t${i % 13}\t<n${i % 9}x "\u{1f600}\n`;
  const value = (i: number) => ['"é"', '"\\u00e9\\n"', '7', 'true', `"${i % 90}\\""`][i % 5];
  it.each<[string, (i: number) => string, Partial<ShuffleOptions>]>([
    ['', (i) => `${i % 350}\n`, { unique: true }],
    ['.meta.url', (i) => `{"i":${i},"meta":{"url":${value(i)}}}\n`, {}],
    ['csv:2', row, { records: { by: 'csv' } }],
    ['tsv:2', text, {}],
    ['/<(\\w+)/', text, {}],
    ['/<(n.)X/i', text, {}],
  ])('prints different records; by %j', async (by, line, options) => {
    const inputs = makeFiles(names, line);
    const rule = by === '' ? {} : { uniqueBy: by, missing: 'none' };
    const words = by === '' ? [] : ['--by', by, '--missing', 'none'];
    expect(python('unique.py', ...words, seed, ...inputs)).toBe(await shuffled(inputs, { ...options, ...rule }));
  });

  it.each([undefined, '.site'])('prints copies of kept records in a split by %j', async (splitBy) => {
    const inputs = makeFiles(names, (i) => `{"id":${i % 350},"site":"s${i % 23}","w":${(i % 9) / 4}}\n`);
    const rules = { uniqueBy: '.id', weightBy: '.w', splitBy, weights: [{ glob: inputs[1] ?? '', factor: '1.7' }] };
    const halves = ['a', 'b'].map((name) => ({ name, share: 0.5 }));
    await shuffle({ inputs, seed, output: file('kept'), splits: halves, ...rules });
    const files = readdirSync(file('kept')).filter((name) => !name.startsWith('.'));
    const by = ['--weight-by', '.w', ...(splitBy === undefined ? [] : ['--split-by', splitBy])];
    const weighed = [inputs[0] ?? '', `${inputs[1]}=1.7`, ...inputs.slice(2)];
    const printed = [
      ['0', '0.5'],
      ['0.5', '1'],
    ].map((part) => python('kept.py', seed, '.id', ...by, '--split', ...part, ...weighed));
    expect(printed).toEqual(files.toSorted().map((name) => readFileSync(join(file('kept'), name), 'latin1')));
  });

  it('prints bundles, and cuts them into shards', async () => {
    const inputs = makeFiles(names, (i) => `{"i":${i},"meta":{"chat":${value(i)}}}\n`);
    const options = { groupBy: '.meta.chat', missing: 'none' };
    const words = [seed, '.meta.chat', ...inputs];
    expect(python('bundles.py', '--missing', 'none', ...words)).toBe(await shuffled(inputs, options));
    const job = { ...options, inputs, seed, shards: { by: 'count', shardCount: 7 }, output: file('shards') } as const;
    const { shards } = await shuffle(job);
    const printed = python('bundles.py', '--missing', 'none', '--shards', '7', ...words);
    expect(printed).toBe(shards.map((path) => readFileSync(path, 'latin1')).join('\n'));
  });

  it('prints the checksum', async () => {
    const inputs = plain();
    const { checksum } = await shuffle({ inputs, seed, output: file('out') });
    expect(python('checksum.py', file('out'))).toBe(`${checksum}\n`);
  });
});
