/** `pileshuf check-shuffled`: what it prints, as text and as JSON, and its exit codes. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { expectRefusal } from './refusal.js';

const directory = useTestDirectory();
const run = (...argv: string[]) => commandInProcess(['check-shuffled', ...argv], { cwd: directory.path() });

beforeEach(() => {
  writeFileSync(directory.path('sorted'), Array.from({ length: 1000 }, (_, i) => `${i}\ttext\n`).join(''));
  writeFileSync(directory.path('alike'), 'x\n'.repeat(1000));
});

it('says what it sees, with exit code 4 for an order', async () => {
  const { exitCode, stdout, stderr } = await run('sorted');
  expect(exitCode).toBe(4);
  expect(stderr).toMatch(
    /^pileshuf: verification failed: the records are not shuffled: neighbours are alike, or in order\n$/,
  );
  const lines = stdout.toString().split('\n');
  expect(lines.slice(0, 3)).toEqual([
    expect.stringMatching(/^data {9}1 file, 1,000 records, 8\.89 kB; looked at 960 records in 15 places \(.* s\)$/),
    'verdict      not shuffled: neighbours are alike, or in order',
    expect.stringMatching(/^drift {8}seen in .*alphabet, number \(p < 1e-12\)$/),
  ]);
  expect(lines.at(-2)).toMatch(/^number {7}▁[▁▂▃▄▅▆▇█]{13}█$/);
});

it('says that there is nothing to see', async () => {
  const { exitCode, stdout, stderr } = await run('alike');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout.toString()).toMatch(/^verdict {6}nothing to see: an order of such records would not be visible$/m);
  writeFileSync(directory.path('few'), 'a\nb\n');
  expect((await run('few')).stdout.toString()).toMatch(/there are too few records to look at/);
});

it('prints JSON, or only the error', async () => {
  const { exitCode, stdout } = await run('sorted', '--json');
  expect(exitCode).toBe(4);
  expect(JSON.parse(stdout.toString())).toMatchObject({
    verdict: 'not-shuffled',
    records: 1000,
    travel: { ascending: 1 },
  });
  expect(await run('sorted', '-q')).toMatchObject({ exitCode: 4, stdout: Buffer.of() });
});

it.each<[number, RegExp, readonly string[]]>([
  [2, /missing required argument 'files'/, []],
  [2, /- is a stream; expected files|standard input.* is a stream; expected files/, ['-']],
  [2, /--field "source": expected the keys of a JSON field/, ['sorted', '--field', 'source']],
  [3, /none of the 960 records that were looked at has the field \.x; .* leave --id out/, ['sorted', '--id', '.x']],
  [3, /the input nowhere does not exist/, ['nowhere']],
])('exits with %i: %s', async (exitCode, message, argv) => {
  const refused = await run(...argv);
  expect(refused).toMatchObject({ exitCode, stdout: Buffer.of() });
  expect(refused.stderr).toMatch(/^pileshuf: [^\n]*\n$/);
  expect(refused.stderr).toMatch(message);
});

/** What each panel of a plot is about. */
const PANELS = ['Similarity by distance', 'Drift along the data', 'Travelled distances'];

describe('--plot', () => {
  it('draws what was tested, as one SVG file that needs nothing else', async () => {
    expect((await run('sorted', '-q', '--plot', 'order.svg')).exitCode).toBe(4);
    const svg = readFileSync(directory.path('order.svg'), 'utf8');
    expect(svg).toMatch(/^<\?xml .*\n<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" .*role="img" aria-label="/);
    expect([...svg.matchAll(/font-weight="600">([^<]*)</g)].map(([, title]) => title)).toEqual([
      'Is it shuffled? Not shuffled',
      ...PANELS,
    ]);
    for (const label of [
      'Similarity of records by their distance',
      'The number of records along the data',
      'Distances of records from their places',
    ])
      expect(svg).toContain(`aria-label="${label}"`);
    expect(svg).not.toMatch(/NaN|undefined|Infinity|var\(|<style|<script|url\(|href/);
    const charts = svg.match(/<svg /g) ?? [];
    // Similarity, travel, and the drift of length, bytes, words, alphabet and number.
    expect(charts).toHaveLength(1 + 2 + 5);
    expect(svg.match(/<\/svg>/g)).toHaveLength(charts.length);
  });

  it('says what it cannot draw', async () => {
    writeFileSync(directory.path('few'), 'a\nb\n');
    expect((await run('few', '-q', '--plot', 'few.svg')).exitCode).toBe(0);
    expect(readFileSync(directory.path('few.svg'), 'utf8')).toContain('too few records to look at');
    expect((await run('alike', '-q', '--plot', 'alike.svg')).exitCode).toBe(0);
    expect(readFileSync(directory.path('alike.svg'), 'utf8')).toContain(
      'the records have no numbers that look like ids',
    );
  });

  it('takes the place of a former file only with --force, and of nothing else', async () => {
    writeFileSync(directory.path('order.svg'), 'mine');
    mkdirSync(directory.path('train'));
    writeFileSync(directory.path('train', 'a'), 'a\n');
    writeFileSync(directory.path('in.svg'), 'a\n');
    for (const [message, argv] of [
      [/^pileshuf: --plot order\.svg: the file exists already; give --force to replace it$/, ['sorted', 'order.svg']],
      [/: --plot order\.png: expected a name that ends in \.svg$/, ['sorted', 'order.png', '--force']],
      [/: --plot none\/o\.svg: none is no directory; name a file in one$/, ['sorted', 'none/o.svg']],
      [/: the plot train\/o\.svg lies inside the input directory train, /, ['train', 'train/o.svg']],
      [/: --plot in\.svg: it is one of the inputs; name another file$/, ['in.svg', 'in.svg', '--force']],
    ] as const) {
      const [input, plot, ...more] = argv;
      const call = () => run(input, '--plot', plot, ...more);
      await expectRefusal(directory.path(), call, 2, message);
    }
    expect((await run('sorted', '-q', '--plot', 'order.svg', '--force')).exitCode).toBe(4);
    expect(readFileSync(directory.path('order.svg'), 'utf8')).toMatch(/^<\?xml /);
  });
});
