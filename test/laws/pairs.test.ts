/**
 * Options that decide which records come out, in what order and where, by pairs: each pair is either refused, with a reason
 * that names both, or gives the same output for any settings, with all that each of the two promises. A table of
 * docs/CHOOSING-RECORDS.md has the pairs that are refused.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, type ShuffleReport, shuffle, type Tuning, UsageError } from '#src/index.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const PAGE = fileURLToPath(new URL('../../docs/CHOOSING-RECORDS.md', import.meta.url));
const directory = useMemoryDirectory();

const SPLITS = [
  { name: 'train', share: 0.7 },
  { name: 'test', rest: true },
] as const;

/** What a job asks for, and what is then true of its output. */
interface Mode {
  /** What the table of the page calls it. Absent: the table leaves it out. */
  readonly label?: string;
  readonly options: Partial<ShuffleOptions>;
  readonly holds?: (records: readonly string[], report: ShuffleReport, job: ShuffleOptions) => void;
}

const siteOf = (record: string): string => JSON.parse(record).site;

/** No site is in two splits. */
function expectSitesTogether(_: readonly string[], { splits = [] }: ShuffleReport): void {
  const sites = splits.map(({ shards }) => new Set(recordsOf(shards).map(siteOf)));
  expect(new Set(sites.flatMap((each) => [...each])).size).toBe(sites.reduce((sum, { size }) => sum + size, 0));
}

/** Draws and weights repeat what is kept. */
function comesAgain({ repeat, weightBy, weightCap, weights = [] }: ShuffleOptions): boolean {
  const isHeavy = weights.some(({ factor }) => Number(factor) > 1);
  return repeat === true || isHeavy || (weightBy !== undefined && weightCap !== 1);
}

const MODES: Readonly<Record<string, Mode>> = {
  headCount: { label: '-n', options: { headCount: 40 }, holds: (records) => expect(records).toHaveLength(40) },
  repeat: { label: '-r', options: { repeat: true, headCount: 300 } },
  unique: {
    label: '--unique',
    options: { unique: true },
    holds: (records, _, job) => {
      if (!comesAgain(job)) expect(new Set(records).size).toBe(records.length);
    },
  },
  uniqueBy: {
    label: '--unique-by',
    options: { uniqueBy: '.n' },
    holds: (records, _, job) => {
      const values = records.map((record) => JSON.parse(record).n);
      if (!comesAgain(job)) expect(new Set(values).size).toBe(values.length);
    },
  },
  splits: {
    label: '--split',
    options: { splits: SPLITS },
    holds: (records, { splits = [] }) => {
      expect(splits.map(({ name }) => name)).toEqual(['train', 'test']);
      expect(splits.reduce((sum, split) => sum + split.records, 0)).toBe(records.length);
    },
  },
  splitBy: { label: '--split-by', options: { splits: SPLITS, splitBy: '.site' }, holds: expectSitesTogether },
  expression: { options: { splits: SPLITS, splitBy: '/"site":"(s\\d+)"/' }, holds: expectSitesTogether },
  weights: {
    label: '--weight',
    options: { weights: [{ glob: '**/a', factor: '2.5' }] },
    // Numbers in the records multiply with it.
    holds: (_, { groups, duplicates }, { weightBy }) => {
      const least = duplicates === undefined ? (weightBy === undefined ? 2 : 1) : 0;
      expect(groups?.[0]?.weighed.records).toBeGreaterThan(least * (groups?.[0]?.read.records ?? 0));
    },
  },
  lighter: {
    options: { weights: [{ glob: '**/a', factor: '0.5' }] },
    holds: (_, { groups }) => expect(groups?.[0]?.weighed.records).toBeLessThan(groups?.[0]?.read.records ?? 0),
  },
  weightBy: {
    label: '--weight-by',
    options: { weightBy: '.w', missing: '1' },
    holds: (_, { groups }) => expect(groups?.[0]?.expected.records).toBeGreaterThan(0),
  },
  beside: { label: '--weights-from', options: { weightsFrom: 'values', missing: '1' } },
  capped: { options: { weightBy: '.w', weightCap: 1, missing: '1' } },
  mix: {
    label: '--mix',
    options: {
      mix: {
        unit: 'records',
        groups: [
          { name: 'a', inputs: '**/a', share: 1 },
          { name: 'b', inputs: '**/b', share: 1 },
        ],
      },
    },
    holds: (_, { groups = [] }) => expect(groups.map(({ name }) => name)).toEqual(['a', 'b']),
  },
  groupBy: {
    label: '--group-by',
    options: { groupBy: '.site' },
    holds: (records) => {
      const sites = records.map(siteOf);
      expect(sites.filter((site, i) => site !== sites[i - 1])).toHaveLength(new Set(sites).size);
    },
  },
  each: {
    label: '--each',
    options: { each: '.site' },
    holds: (records, { sections = [] }) => {
      expect(sections.map(({ name }) => name)).toEqual(
        [...new Set(records.map((each) => `site=${siteOf(each)}`))].sort(),
      );
      expect(sections.reduce((sum, section) => sum + section.records, 0)).toBe(records.length);
    },
  },
  ordinals: { label: '--key ordinal', options: { keys: 'ordinal' } },
  ids: { label: '--input-ids', options: { inputIds: 'name' } },
  bytes: { label: '--shard-bytes', options: { shards: { by: 'bytes', maxShardBytes: 3000 } } },
  compressed: { options: { compress: { codec: 'gzip' } } },
  sum: {
    label: '--sum',
    options: { sum: '.n' },
    holds: (records, { sum }) =>
      expect(sum?.total).toBe(`${records.reduce((all, record) => all + Number(JSON.parse(record).n), 0)}`),
  },
};

/** The pairs that are refused, in the order of the table. Others are right. */
const REFUSED: ReadonlySet<string> = new Set([
  'headCount splitBy',
  'headCount expression',
  'repeat splits',
  'repeat splitBy',
  'repeat expression',
  'unique uniqueBy',
  'unique beside',
  'unique mix',
  'unique ordinals',
  'unique ids',
  'uniqueBy beside',
  'uniqueBy mix',
  'uniqueBy ordinals',
  'uniqueBy ids',
  'repeat bytes',
  'headCount groupBy',
  'repeat groupBy',
  'unique groupBy',
  'uniqueBy groupBy',
  'expression groupBy',
  'weights groupBy',
  'weightBy groupBy',
  'beside groupBy',
  'headCount each',
  'repeat each',
  'unique each',
  'uniqueBy each',
  'splits each',
  'splitBy each',
  'expression each',
  'groupBy each',
  'groupBy ordinals',
  'groupBy ids',
  'weights lighter',
  'weights mix',
  'weights ordinals',
  'weightBy beside',
  'weightBy ordinals',
  'beside capped',
  'beside ordinals',
  'capped ordinals',
  'lighter mix',
  'lighter ordinals',
  'mix ordinals',
  'repeat sum',
]);

const TUNINGS: readonly Tuning[] = [
  { inline: true },
  { pileCount: 7, bufferBytes: 200, sliceBytes: 900, mayUseRamPool: false, inline: true },
];

/** The lines of these files, without compression. */
function recordsOf(paths: readonly string[]): string[] {
  return paths.flatMap((path) => readFileSync(path, 'latin1').split('\n').slice(0, -1));
}

const names = Object.keys(MODES);
const pairs = names.flatMap((first, i) => names.slice(i + 1).map((second) => [first, second] as const));

function jobOf(first: string, second: string): ShuffleOptions {
  const inputs = ['a', 'b'].map((name) => directory.path(name));
  for (const [k, path] of inputs.entries()) {
    // Some records come twice, in one input or in both.
    const lines = Array.from(
      { length: 200 },
      (_, i) => `{"site":"s${i % 23}","n":${(i * 7) % (150 + 20 * k)},"w":${(i % 8) / 3}}\n`,
    );
    writeFileSync(path, lines.join(''));
    mkdirSync(join(directory.path('values'), directory.temp, '..'), { recursive: true });
    writeFileSync(`${join(directory.path('values'), path)}.txt`, lines.map((_, i) => `${(i % 8) / 3}\n`).join(''));
  }
  // Of several numbers of records, that of `headCount`.
  const options = { ...MODES[second]?.options, ...MODES[first]?.options };
  // Weights of both, so that they contradict each other.
  const weights = [first, second].flatMap((name) => MODES[name]?.options.weights ?? []);
  const both = weights.length > 1 ? { weights: [...weights, { glob: 'none', factor: '1' }] } : {};
  const beside = options.weightsFrom === undefined ? {} : { weightsFrom: directory.path('values') };
  return { ...options, ...both, ...beside, inputs, seed: 'pairs', output: '' };
}

/** The row of an option in the table, and those below it that it is refused with. */
function refusalsOf(name: string): string[] {
  const label = MODES[name]?.label ?? '';
  const others = names.filter((other) => REFUSED.has(`${name} ${other}`));
  const labels = others.flatMap((other) => MODES[other]?.label ?? []);
  if (label === '' || labels.length === 0) return [];
  return [`| \`${label}\` | ${labels.map((each) => `\`${each}\``).join(', ')} |`];
}

it('that are refused together are in the table of the page', () => {
  const page = readFileSync(PAGE, 'utf8');
  const head = '| this | cannot be combined with |\n| --- | --- |\n';
  const table = `${head}${names.flatMap(refusalsOf).join('\n')}\n`;
  const start = page.indexOf(head);
  const end = page.indexOf('\n\n', start) + 1;
  if (process.env['PILESHUF_WRITE_REFERENCE'] === '1')
    writeFileSync(PAGE, page.slice(0, start) + table + page.slice(end));
  expect(page.slice(start, end)).toBe(table);
});

describe('two options', () => {
  it.each(sampled(pairs, 8, 0, 2))('%s and %s are right together, or refused', async (first, second) => {
    const asked = jobOf(first, second);
    const contents: string[][] = [];
    for (const [i, tuning] of TUNINGS.entries()) {
      const output = directory.path(`out${i}`);
      const job = { ...asked, output };
      if (REFUSED.has(`${first} ${second}`)) {
        const error = await shuffle(job, tuning).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(UsageError);
        // One line with a reason or a remedy.
        expect(String(error)).toMatch(/^UsageError: [^\n]+[:;,] [^\n]+$/);
        continue;
      }
      const report = await shuffle(job, tuning);
      const isOne = report.shards.length === 0;
      const paths = isOne ? [output] : report.shards;
      contents.push(paths.map((path) => readFileSync(path, 'latin1')));
      if (job.compress !== undefined) continue;
      const records = recordsOf(paths);
      expect(records).toHaveLength(report.records);
      for (const name of [first, second]) MODES[name]?.holds?.(records, report, job);
    }
    if (asked.compress === undefined) expect(contents[1]).toEqual(contents[0]);
  });
});
