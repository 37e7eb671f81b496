/** The report of whole jobs: its numbers are those of the job, its sample is what the output has, and its page is whole. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { Ajv } from 'ajv';
import { beforeEach, describe, expect, it } from 'vitest';
import { type JobProfile, type JobReport, type ShuffleOptions, shuffle, type Tuning } from '#src/index.js';
import { pageText } from '#src/report/report-page.js';
import { SMALL_SIZES } from '../faults/small-job.js';
import { isOnPath } from '../fixtures/foreign-program.js';
import { fromCi } from '../fixtures/scale.js';
import { shownNames } from '../fixtures/shown-names.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const schema = JSON.parse(
  readFileSync(new URL('../../examples/report.schema.json', import.meta.url), 'utf8'),
) as object;
const validate = new Ajv({ strict: true, strictTypes: false, strictRequired: false }).compile(schema);

const ON_DISK: Tuning = { ...SMALL_SIZES, pileCount: 5, mayUseRamPool: false, inline: false, pass2ArenaBytes: 2 ** 22 };
const IN_MEMORY: Tuning = { inline: false };
const CONTENT = [3000, 0, 2500].map((count, input) =>
  Array.from({ length: count }, (_, i) => `{"site":"s${i % 40}","text":"${input} ${i}${' x'.repeat(i % 5)}"}\n`),
);

let inputs: string[] = [];
beforeEach(() => {
  inputs = CONTENT.map((lines, i) => {
    const path = directory.path(`in-${i}.jsonl`);
    writeFileSync(path, lines.join(''));
    return path;
  });
});

/** Runs a job with a report, and checks what holds for every report. */
async function reportOf(options: Partial<ShuffleOptions> = {}, tuning: Tuning = ON_DISK): Promise<JobReport> {
  let report: JobReport | undefined;
  const job = {
    inputs,
    output: directory.path('out'),
    tempDirs: [directory.temp],
    workers: 2,
    seed: '1',
    memoryBytes: 2 ** 26,
  };
  const warnings: string[] = [];
  const result = await shuffle(
    {
      ...job,
      onWarning: (line) => warnings.push(line),
      ...options,
      report: (told) => {
        report = told;
      },
    },
    tuning,
  );
  if (report === undefined) throw new Error(`nothing was told: ${warnings.join()}`);
  expect(report.result).toEqual(result);
  const data: unknown = JSON.parse(JSON.stringify(report));
  expect(validate(data), JSON.stringify(validate.errors)).toBe(true);
  const { piles, shards, sample, checks } = report;
  for (const { fromPart } of sample) expect(fromPart).toBeLessThan(1);
  expect(sample.map(({ rank }) => rank)).toEqual([...new Set(sample.map(({ rank }) => rank))].sort((a, b) => a - b));
  if (piles !== undefined) expect(piles.records).toHaveLength(piles.bytes.length);
  expect(sumOf(shards?.sizes)).toBe(shards?.by === 'bytes' ? result.bytes : result.records);
  expect(checks.filter(({ isAsExpected }) => !isAsExpected)).toEqual([]);
  requireWhole(pageText(data as JobReport));
  return report;
}

const sumOf = (values: readonly number[] = []) => values.reduce((all, each) => all + each, 0);

/** One file that needs nothing else, can be parsed, and is read well aloud. */
function requireWhole(page: string): void {
  expect(page.length).toBeLessThan(500_000);
  const rest = page
    .replace('xmlns="http://www.w3.org/1999/xhtml"', '')
    .replaceAll('xmlns="http://www.w3.org/2000/svg"', '');
  expect(rest).not.toMatch(/https?:|\/\/[a-z]|<script|<link|<img|@import|url\(|NaN|undefined|Infinity/);
  for (const title of [
    'The job in numbers',
    'Is it shuffled?',
    'From where to where',
    'Where the time went',
    'To repeat the job',
  ])
    expect(page).toContain(`>${title}</h2>`);
  for (const [chart] of page.matchAll(/<svg [^>]*>/g)) expect(chart).toMatch(/role="img".*aria-label="[^"]{15,}"/);
  if (!isOnPath('python3')) return;
  const parse = 'import sys, xml.dom.minidom as m; m.parseString(sys.stdin.buffer.read())';
  const { stderr } = spawnSync('python3', ['-c', parse], { input: page, encoding: 'utf8' });
  expect(stderr).toBe('');
}

/** Each sampled record is in the output where the report says, and in its shard. */
function requireTrueSample({ sample, shards, result }: JobReport, records: readonly string[]): void {
  const texts = CONTENT.map((lines) => lines.join(''));
  for (const { inputOrdinal, position, rank, shard, keepsNeighbour } of sample) {
    const text = texts[inputOrdinal] ?? '';
    const end = text.indexOf('\n', position) + 1;
    expect(records[rank]).toBe(text.slice(position, end));
    const next = text.slice(end, text.indexOf('\n', end) + 1);
    // A copy of the record behind it looks the same.
    if (keepsNeighbour !== undefined && result.groups === undefined)
      expect(keepsNeighbour).toBe(records[rank + 1] === next);
    if (shards?.by === 'records') expect(rank).toBeGreaterThanOrEqual(shards.starts[shard] ?? 0);
    if (shards?.by === 'records') expect(rank).toBeLessThan(shards.starts[shard + 1] ?? records.length);
  }
}

function outputRecords(): string[] {
  const out = directory.path('out');
  const paths =
    existsSync(out) && !out.endsWith('.jsonl') && isDirectory(out)
      ? shownNames(out).map((name) => `${out}/${name}`)
      : [out];
  return paths.flatMap((path) => readFileSync(path, 'utf8').match(/.*\n/g) ?? []);
}

const isDirectory = (path: string) => {
  try {
    return readdirSync(path).length >= 0;
  } catch {
    return false;
  }
};

const shards = { by: 'count', shardCount: 4 } as const;

describe('the numbers of a report', () => {
  it('are those of the job', async () => {
    let profile: JobProfile | undefined;
    const report = await reportOf({
      shards,
      onProfile: (told) => {
        profile = told;
      },
    });
    expect(report.profile).toEqual(profile);
    expect(sumOf(report.piles?.records)).toBe(5500);
    expect(sumOf(report.piles?.bytes)).toBe(report.result.bytes);
    expect(report.piles?.expected?.mean).toBe(1100);
    expect(report.inputs.map(({ bytes }) => bytes)).toEqual(CONTENT.map((lines) => lines.join('').length));
    expect(report.shards).toEqual({ by: 'records', sizes: [1375, 1375, 1375, 1375], starts: [0, 1375, 2750, 4125] });
    expect(report.watch?.moments.at(-1)).toMatchObject({
      readBytes: report.result.bytes,
      writtenBytes: report.result.bytes,
    });
    const { devices = [], moments = [] } = report.watch ?? {};
    const { traffic = [] } = moments.at(-1) ?? {};
    expect(traffic).toHaveLength(devices.length);
    // Twice read, twice written; a file system in memory has no gate, and is not told of.
    const leastBytes = devices.length === 0 ? 0 : report.result.bytes + report.result.tempBytes;
    expect(sumOf(traffic.map(({ readBytes }) => readBytes))).toBeGreaterThanOrEqual(leastBytes);
    expect(sumOf(traffic.map(({ writtenBytes }) => writtenBytes))).toBeGreaterThanOrEqual(leastBytes);
    expect(report.checks.map(({ name }) => name)).toEqual([
      'Places',
      'Serial correlation',
      'Even spread',
      'Neighbours kept',
      'Sizes of piles',
    ]);
  });

  it.each([
    ['on disk', ON_DISK],
    ['in memory', IN_MEMORY],
    ['on the calling thread', {}],
  ])('have a true sample of a job %s, the same everywhere', async (_, tuning) => {
    const report = await reportOf({ shards }, tuning);
    expect(report.sample).toHaveLength(3000);
    requireTrueSample(report, outputRecords());
    const { sample } = await reportOf(
      { shards, force: true, workers: 1 },
      { ...ON_DISK, pileCount: 3, sliceBytes: 2 ** 15 },
    );
    const places = (of: JobReport['sample']) => of.map(({ keepsNeighbour: _, ...place }) => place);
    expect(places(report.sample)).toEqual(places(sample));
  });

  it.each<[string, Partial<ShuffleOptions>]>([
    ['the first records', { headCount: 2000 }],
    ['unique records', { unique: true }],
    ['keys from ordinals', { keys: 'ordinal' }],
    [
      'weights',
      {
        weights: [
          { glob: 'in-0.jsonl', factor: '0.5' },
          { glob: 'in-2.jsonl', factor: '1.25' },
        ],
      },
    ],
    ['shards by bytes', { shards: { by: 'bytes', maxShardBytes: 30_000 } }],
    ['ids of inputs', { inputIds: 'name' }],
  ])('have a true sample with %s', async (_, options) => {
    const report = await reportOf(options);
    expect(report.sample.length).toBeGreaterThan(800);
    requireTrueSample(report, outputRecords());
  });

  it('have a true sample where pass 2 finds out what stays of a pile', async () => {
    const report = await reportOf({ inputs: [...inputs, ...inputs], unique: true });
    expect(report.result.records).toBe(5500);
    const sample = report.sample.map((record) => ({
      ...record,
      inputOrdinal: record.inputOrdinal % CONTENT.length,
      keepsNeighbour: undefined,
    }));
    requireTrueSample({ ...report, sample }, outputRecords());
  });

  it('tell splits as asked and as they came out', async () => {
    const splits = [
      { name: 'train', share: 0.9 },
      { name: 'test', rest: true },
    ] as const;
    const { askedSplits, result, sample } = await reportOf({
      splits,
      shards: { by: 'count', shardCount: { train: 4 } },
    });
    expect(askedSplits).toMatchObject([
      { name: 'train', asked: '90 %', expected: { mean: 4950 } },
      { name: 'test', asked: 'the rest', expected: { mean: expect.closeTo(550, 6) } },
    ]);
    expect(new Set(sample.map(({ shard }) => shard)).size).toBe(5);
    expect(result.splits?.map(({ name }) => name)).toEqual(['train', 'test']);
    const counted = await reportOf({
      splits: [
        { name: 'a', records: 100 },
        { name: 'b', rest: true },
      ],
      shards: undefined,
      output: directory.path('counted'),
    });
    expect(counted.askedSplits?.map(({ expected }) => expected?.mean)).toEqual([100, 5400]);
  });

  it('tell of a mix', async () => {
    const groups = [
      { name: 'first', inputs: 'in-0.jsonl', share: '0.25' },
      { name: 'rest', inputs: 'in-[12].jsonl', share: '0.75' },
    ];
    const report = await reportOf({ mix: { unit: 'records', groups } });
    expect(report.result.groups?.map(({ name }) => name)).toContain('first');
    expect(report.askedShares).toEqual({
      unit: 'records',
      groups: [
        { name: 'first', part: 0.25 },
        { name: 'rest', part: 0.75 },
      ],
    });
    expect(pageText(report)).toMatch(
      /shares of the output in records<.*first<\/th>.*<td class="n">25\.0 %<\/td><td class="n">2[3-7]\.\d %/,
    );
  });

  it('tell the records and the sum of each value', async () => {
    const report = await reportOf({ each: '/"text":"(.)/', sum: '/ (\\d+)/', seed: 'each' });
    expect(report.sampleMissing).toMatch(/an order of their own/);
    const told = report.result.sections?.map(({ records, sum }) => [records, sum]);
    expect(told).toEqual([
      [3000, '4498500'],
      [2500, '3123750'],
    ]);
    expect(pageText(report)).toMatch(/Values and mix.*=2<\/th>.*2,500.*3,123,750/s);
  });

  it('say why there is no sample', async () => {
    writeFileSync(directory.path('empty'), '');
    const empty = await reportOf({ inputs: [directory.path('empty')] }, {});
    expect(empty).toMatchObject({ sample: [], sampleMissing: expect.stringMatching(/no records/), checks: [] });
    const drawn = await reportOf({ repeat: true, headCount: 100, force: true });
    expect(drawn.sampleMissing).toMatch(/with replacement/);
  });

  it.runIf(fromCi)('tell of compressed inputs', async () => {
    const path = directory.path('in.gz');
    writeFileSync(path, gzipSync(CONTENT[0]?.join('') ?? ''));
    const report = await reportOf({ inputs: [path] });
    requireTrueSample(report, outputRecords());
    expect(report.inputs[0]?.bytes).toBe(CONTENT[0]?.join('').length);
  });

  it('tell what an earlier attempt did', async () => {
    const controller = new AbortController();
    const options = { resume: true, output: directory.path('out') };
    const stopped = reportOf({
      ...options,
      signal: controller.signal,
      onProgress: ({ phase }) => phase === 'shuffle' && controller.abort(),
    });
    await expect(stopped).rejects.toThrow();
    const report = await reportOf(options);
    expect(report.result.resumed?.pileSets).toBeGreaterThan(0);
    expect(report).toMatchObject({ sample: [], sampleMissing: 'an earlier attempt had done a part of the work' });
    expect(existsSync(directory.path('out'))).toBe(true);
  });
});

describe('a page', () => {
  it('shows names as text, whatever they hold', async () => {
    const report = await reportOf();
    const call = { ...report.call, output: `/<b>&"'\u0001\u202egnp` };
    const traffic = [{ calls: 1, readBytes: 0, writtenBytes: 0 }];
    const moments = [1, 2, 3, 4, 5].map((seconds) => ({ seconds, readBytes: 0, writtenBytes: 0, traffic }));
    const devices = [{ name: 'server:/\u202etropxe', kind: 'network', mostCalls: 1 }];
    const page = pageText({ ...report, call, watch: { devices, moments } });
    expect(page).toContain(`/&lt;b&gt;&amp;&quot;'\\u{1}\\u{202e}gnp`);
    expect(page).toContain('The device server:/\\u{202e}tropxe');
    expect(page).not.toContain('\u202e');
    expect(page).not.toContain('<b>&');
  });

  it.skipIf(!isOnPath('chromium'))(
    'can be seen in light and dark',
    async () => {
      const page = directory.path('page.html');
      writeFileSync(page, pageText(await reportOf({ shards })));
      const pictures = [0, 1].map((scheme) => {
        const picture = directory.path(`${scheme}.png`);
        const argv = ['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${directory.path('profile')}`];
        spawnSync('chromium', [
          ...argv,
          `--blink-settings=preferredColorScheme=${scheme}`,
          '--window-size=900,2000',
          `--screenshot=${picture}`,
          `file://${page}`,
        ]);
        return readFileSync(picture);
      });
      // A page without charts takes a tenth of that.
      for (const picture of pictures) expect(picture.byteLength).toBeGreaterThan(50_000);
      expect(pictures[0]?.equals(pictures[1] ?? Buffer.of())).toBe(false);
    },
    60_000,
  );
});
