/** docs/UNIQUE.md: its commands, typed into a shell verbatim; and examples/unique.py, which prints the same as pileshuf. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle } from '#src/index.js';
import { isOnPath } from '../fixtures/foreign-program.js';
import { runShell } from '../fixtures/run-shell.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { tarEntry } from '../formats/plain-tar.js';

const directory = useTestDirectory();
const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/UNIQUE.md', root), 'utf8');
const commands = [...page.matchAll(/^ {4}(pileshuf .*)$/gm)].map(([, line = '']) => line);

const linesOf = (first: number, end: number) =>
  Array.from(
    { length: end - first },
    (_, i) => `{"url": "u${first + i}", "text": "${'word '.repeat((first + i) % 40)}${first + i}"}\n`,
  );

it('the page has a command', () => {
  expect(commands.length).toBeGreaterThan(0);
});

it.each(commands)('%s', async (line) => {
  writeFileSync(directory.path('crawl-1.jsonl'), linesOf(0, 700).join(''));
  writeFileSync(directory.path('crawl-2.jsonl'), linesOf(300, 900).join(''));
  for (const [i, [first, end]] of [[0, 700] as const, [300, 900] as const].entries()) {
    const urls = Array.from({ length: end - first }, (_, j) => `u${first + j}`);
    writeFileSync(directory.path(`crawl-${i}.tsv`), urls.map((url, j) => `${j}\t${url}\n`).join(''));
    writeFileSync(directory.path(`pages-${i}.csv`), ['id,url\n', ...urls.map((url, j) => `${j},"${url}"\n`)].join(''));
    const samples = urls.map((url) => tarEntry({ name: `${url}.txt`, data: Buffer.from(`${i}`) }));
    writeFileSync(directory.path(`images-${i}.tar`), Buffer.concat([...samples, Buffer.alloc(1024)]));
  }
  const script = `node=$1 command=$2; pileshuf() { "$node" "$command" -q "$@"; }; cd "$SITE" && ${line}`;
  const { exitCode, stderr } = await runShell(script, [], { SITE: directory.path() });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const name = /-o (\S+)/.exec(line)?.[1] ?? '';
  const output = readFileSync(directory.path(name), 'latin1');
  if (!name.endsWith('.jsonl')) {
    const urls = [...output.matchAll(/\bu\d+/g)].map(([url]) => url);
    expect(new Set(urls).size).toBe(900);
    expect(urls).toHaveLength(900);
    return;
  }
  const lines = output.match(/.*\n/g) ?? [];
  expect(lines).not.toEqual(linesOf(0, 900));
  expect(lines.toSorted()).toEqual(linesOf(0, 900).toSorted());
});

describe.skipIf(!isOnPath('python3'))('examples/unique.py', () => {
  it.each(['42', 'Ł', ''])('prints the same with the seed %j', async (seed) => {
    const inputs = ['one', 'two', 'none'].map((name) => directory.path(name));
    const long = `${'long '.repeat(7000)}\n\n`;
    for (const [i, path] of inputs.entries())
      writeFileSync(path, [linesOf(0, 900).join('') + long, long + linesOf(400, 1500).join(''), ''][i] ?? '');
    const script = fileURLToPath(new URL('examples/unique.py', root));
    const { stdout, stderr } = spawnSync('python3', [script, seed, ...inputs], { encoding: 'latin1' });
    expect(stderr).toBe('');
    const output = directory.path('out');
    const report = await shuffle({ inputs, output, seed, unique: true });
    expect(report).toMatchObject({ records: 1502, duplicates: { records: 502 } });
    expect(readFileSync(output, 'latin1') === stdout).toBe(true);
  });

  it('prints and lists the same by a field', async () => {
    const inputs = ['one', 'two', 'Ł'].map((name) => directory.path(name));
    const line = (i: number) =>
      `{"i":${i},"meta":{"url":${['"é"', '"\\u00e9\\n"', '7', 'true', `"${i % 90}\\""`][i % 5]}}}\n`;
    const lines = (first: number, end: number) =>
      Array.from({ length: end - first }, (_, i) => line(first + i)).join('');
    const texts = [lines(0, 300), `${lines(200, 800)}{"x":"\\t\u007f","meta":{"url":7}}\n`, lines(0, 900)];
    for (const [i, path] of inputs.entries()) writeFileSync(path, texts[i] ?? '');
    const script = fileURLToPath(new URL('examples/unique.py', root));
    const [output, duplicates, listed] = ['out', 'duplicates', 'listed'].map((name) => directory.path(name));
    const words = ['--by', '.meta.url', '--duplicates', listed ?? '', '42', ...inputs];
    const { stdout, stderr } = spawnSync('python3', [script, ...words], { encoding: 'latin1' });
    expect(stderr).toBe('');
    await shuffle({ inputs, output, seed: '42', uniqueBy: '.meta.url', duplicates });
    expect(readFileSync(output ?? '', 'latin1') === stdout).toBe(true);
    expect(readFileSync(duplicates ?? '', 'utf8')).toBe(readFileSync(listed ?? '', 'utf8'));
  });

  it.each<[string, Partial<ShuffleOptions>]>([
    ['csv:2', { records: { by: 'csv' } }],
    ['tsv:2', {}],
    ['/<(\\w+)/', {}],
    ['/<(n.)X/i', {}],
  ])('prints and lists the same by %s', async (uniqueBy, options) => {
    const inputs = ['one', 'two'].map((name) => directory.path(name));
    const cells = ['é', 'a"b', 'x,y', 'two\nlines', '', 'none'];
    const line = (i: number) => {
      if (i % 50 === 7) return `${i}\n`;
      if (options.records === undefined) return `${i}\t${i % 13}\t<n${i % 9}x "\u{1f600}\n`;
      return `${i},"${(cells[i % 6] ?? '').replaceAll('"', '""')}${i % 40}",${i % 3}${i % 2 === 0 ? '\r' : ''}\n`;
    };
    const lines = (first: number, end: number) =>
      Array.from({ length: end - first }, (_, i) => line(first + i)).join('');
    for (const [i, path] of inputs.entries()) writeFileSync(path, lines(i * 200, 300 + i * 500));
    const script = fileURLToPath(new URL('examples/unique.py', root));
    const [output, duplicates, listed] = ['out', 'duplicates', 'listed'].map((name) => directory.path(name));
    const words = ['--by', uniqueBy, '--missing', 'none', '--duplicates', listed ?? '', '42', ...inputs];
    const { stdout, stderr } = spawnSync('python3', [script, ...words], { encoding: 'latin1' });
    expect(stderr).toBe('');
    const report = await shuffle({ ...options, inputs, output, seed: '42', uniqueBy, missing: 'none', duplicates });
    expect(report.duplicates?.records).toBeGreaterThan(300);
    expect(readFileSync(output ?? '', 'latin1')).toBe(stdout);
    expect(readFileSync(duplicates ?? '', 'utf8')).toBe(readFileSync(listed ?? '', 'utf8'));
  });

  it('lists the same of bytes that are no text', async () => {
    const input = directory.path('bytes');
    writeFileSync(input, Buffer.from('\xff\0\n\xff\0\n\xc3\xa9\n\xc3\xa9\n', 'latin1'));
    const script = fileURLToPath(new URL('examples/unique.py', root));
    const [output, duplicates, listed] = ['out', 'duplicates', 'listed'].map((name) => directory.path(name));
    spawnSync('python3', [script, '--duplicates', listed ?? '', '1', input]);
    await shuffle({ inputs: [input], output, seed: '1', unique: true, duplicates });
    expect(readFileSync(duplicates ?? '', 'utf8')).toBe(readFileSync(listed ?? '', 'utf8'));
    expect(readFileSync(duplicates ?? '', 'utf8')).toContain('"base64":"/wAK"');
  });
});
