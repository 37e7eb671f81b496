/**
 * The law of sums: what the report says of a number in each record is its exact sum over the records of the output, of each
 * split and of each group, wherever the number stands, whatever the settings, resumed or not, and on a cluster.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, type ShuffleReport, shuffle } from '#src/index.js';
import { errorOf } from '../fixtures/error-of.js';
import { column, writeParquet } from '../fixtures/parquet/parquet-file.js';
import { runClusterLocally } from '../fixtures/run-cluster.js';
import { atScale } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { anySettings } from './any-settings.js';
import { SPLITS } from './reference-splits.js';
import { shuffleToFile, shuffleToShards } from './shuffle-under-test.js';
import { orderCopies, weightOfNumber } from './weighed-order.js';

const directory = useMemoryDirectory();

/** A number as docs/ORDER.md counts it: in parts of 10^-15, cut off. */
function partsOf(text: string): bigint {
  const [, digits = '', part = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e(.+))?$/i.exec(text) ?? expect.fail(text);
  const power = Number(exponent) - part.length + 15;
  return power >= 0 ? BigInt(digits + part) * 10n ** BigInt(power) : BigInt(digits + part) / 10n ** BigInt(-power);
}

function sumOf(numbers: readonly string[]): string {
  const digits = `${numbers.reduce((sum, number) => sum + partsOf(number), 0n)}`.padStart(16, '0');
  return `${digits.slice(0, -15)}.${digits.slice(-15)}`.replace(/\.?0+$/, '');
}

const number = fc.oneof(
  fc.nat({ max: 9 }).map(String),
  fc.integer({ min: 10 ** 14, max: 10 ** 15 - 1 }).map(String),
  fc.integer({ min: 0, max: 99_999 }).map((cents) => (cents / 100).toFixed(2)),
  fc.double({ min: 0, max: 1, noNaN: true }).map((value) => String(Math.abs(value))),
  fc.constantFrom('-0', '1e-7', '1.5e3', '12.3456789012345678'),
);
const weight = fc.constantFrom('0', '0.5', '1', '2.25');

type Form = Pick<ShuffleOptions, 'records' | 'header' | 'sum' | 'weightBy'>;
type Content = readonly (readonly [number: string, weight: string])[];

/** How numbers and weights stand in records, what selects them, and an expression that finds the number. */
const FORMS: readonly (readonly [(n: string, w: string, i: number) => string, Form, RegExp, header?: string])[] = [
  [(n, w, i) => `{"i":${i},"w":${w},"a":{"n":${n}}}\n`, { sum: '.a.n', weightBy: '.w' }, /"n":([^}]+)/g],
  [(n, w, i) => `${i}\t${n}\t${w}\n`, { sum: 'tsv:2', weightBy: 'tsv:3' }, /\t(\S+)\t/g],
  [
    (n, w, i) => `${i},"${n}",${w},"a\n""b"""\n`,
    { sum: 'csv:n', weightBy: 'csv:3', records: { by: 'csv' }, header: { lines: 1 } },
    /,"([^"]+)",[\d.]+,/g,
    'i,n,w,text\n',
  ],
  [(n, w, i) => `${i} at ${n}; ${w}\n`, { sum: '/ at (\\S+);/', weightBy: '/; (.*)/' }, / at (\S+);/g],
];

type Rule = Pick<ShuffleOptions, 'splits' | 'shards' | 'headCount' | 'compress'>;

const job = fc.record({
  form: fc.constantFrom(...FORMS),
  inputs: fc.array(fc.array(fc.tuple(number, weight), { maxLength: 120 }), { minLength: 2, maxLength: 3 }),
  rule: fc.constantFrom<Rule>(
    {},
    { splits: SPLITS },
    { headCount: 20, shards: { by: 'count', shardCount: 3 } },
    { compress: { codec: 'gzip' }, splits: SPLITS, shards: { by: 'bytes', maxShardBytes: 4000 } },
  ),
  kind: fc.constantFrom('plain', 'weighed', 'unique', 'kept and weighed', 'bundled'),
  settings: anySettings,
});

type Job = typeof job extends fc.Arbitrary<infer T> ? T : never;

describe('a sum', () => {
  it('is that of the records in the output, its splits and its groups', async () => {
    const check = async ({ form, inputs: given, rule, kind, settings }: Job) => {
      fc.pre(kind !== 'bundled' || rule.headCount === undefined);
      const isUnique = kind === 'unique' || kind === 'kept and weighed';
      const [textOf, { weightBy, ...format }, find, header = ''] = form;
      const inputs = given.map((content: Content) =>
        Buffer.from(header + content.map(([n, w], i) => textOf(n, w, isUnique ? i % 7 : i)).join('')),
      );
      const numbersIn = (text: Buffer) => [...text.toString('latin1').matchAll(find)].map(([, found = '']) => found);
      const factors = inputs.map((_, i) => ['1.5', '0', '1'][i] ?? '1');
      const weights = {
        plain: { factors },
        weighed: { factors, weightBy },
        unique: { uniqueBy: weightBy },
        'kept and weighed': { uniqueBy: format.sum, weightBy, factors },
        bundled: { factors: ['0.5', '0', '1'].slice(0, inputs.length), groupBy: weightBy },
      }[kind];
      const asked = { ...format, ...rule, ...weights, inputs, seed: 's', settings };
      const isCut = rule.splits !== undefined || rule.shards !== undefined;
      const { report, ...written } = isCut
        ? await shuffleToShards(directory, asked, rule.shards)
        : await shuffleToFile(directory, asked);
      const stored = 'shards' in written ? written.shards : [written.bytes];
      const parts = stored.map((bytes) => (rule.compress === undefined ? bytes : gunzipSync(bytes)));
      expect(report.sum).toEqual({ of: format.sum, total: sumOf(parts.flatMap(numbersIn)) });
      let shard = 0;
      for (const { sum, shards } of report.splits ?? []) {
        expect(sum).toBe(sumOf(parts.slice(shard, shard + shards.length).flatMap(numbersIn)));
        shard += shards.length;
      }
      if (report.groups === undefined) return;
      const groupSums = report.groups.map(({ sum }) => sum);
      const all = (of: 'read' | 'weighed') => groupSums.reduce((total, each) => total + partsOf(each?.[of] ?? ''), 0n);
      const read = inputs.filter((_, i) => factors[i] !== '0');
      expect(all('read')).toBe(partsOf(sumOf(read.flatMap(numbersIn))));
      if (rule.headCount === undefined) expect(all('weighed')).toBe(partsOf(report.sum?.total ?? ''));
    };
    await fc.assert(fc.asyncProperty(job, check), { numRuns: atScale(4, 10, 2000) });
  });

  it('of the rows of a table is exact, too', async () => {
    const prices = Array.from({ length: 300 }, (_, i) => (i % 9 === 0 ? null : ((i * 37) % 1000) / 8));
    const table = writeParquet(directory.path('in.parquet'), {
      rows: prices.length,
      rowsPerGroup: 40,
      columns: [
        column('w', 'INT64', (i) => BigInt(i % 3)),
        column('price', 'DOUBLE', (i) => prices[i] ?? null, { repetitions: ['optional'] }),
      ],
    });
    const asked: ShuffleOptions = {
      ...{ inputs: [table], output: directory.path('out'), seed: 's', tempDirs: [directory.temp], workers: 2 },
      ...{ weightBy: '.w', sum: '.price', missing: '0.1', splits: SPLITS, rowGroupRows: 20 },
    };
    // Row groups at the ends of piles belong to two tasks.
    const report = await shuffle(asked, { inline: false, pileCount: 9 });
    const rows = prices.map((_, i) => Buffer.from([i & 255, i >> 8]));
    const ordered = orderCopies([rows], (row) => weightOfNumber(String(row.readUInt16LE() % 3)), 's');
    const total = sumOf(ordered.map((row) => String(prices[row.readUInt16LE()] ?? '0.1')));
    expect(report.sum).toEqual({ of: '.price', total });
    expect(report.groups?.[0]?.sum?.weighed).toBe(total);
    const parts = report.splits?.map(({ sum }) => partsOf(sum ?? '')) ?? [];
    expect(parts.every((part) => part > 0n)).toBe(true);
    expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(partsOf(total));
  });
});

it('beyond 64 bits is exact', async () => {
  writeFileSync(directory.path('in'), '{"n":999999999999999.999,"w":20000}\n');
  const asked = { inputs: [directory.path('in')], output: directory.path('out'), tempDirs: [directory.temp] };
  const { sum, groups } = await shuffle({ ...asked, sum: '.n', weightBy: '.w' }, { inline: true });
  expect([sum?.total, groups?.[0]?.sum?.weighed]).toEqual(['19999999999999999980', '19999999999999999980']);
});

const LINES = Array.from({ length: 4000 }, (_, i) => `{"i":${i},"n":${i / 8},"w":${(i % 5) / 2}}\n`);
const inputsOf = () =>
  ['a', 'b'].map((name, half) => {
    writeFileSync(directory.path(name), LINES.slice(2000 * half, 2000 * (half + 1)).join(''));
    return directory.path(name);
  });
const told = ({ records, sum, splits, groups, leftOut, duplicates }: Partial<ShuffleReport>) => ({
  records,
  leftOut,
  duplicates,
  sum,
  splits: splits?.map((each) => each.sum),
  groups,
});

describe('the same sums', () => {
  const asked = () => ({ inputs: inputsOf(), seed: 's', sum: '.n', weightBy: '.w', splits: SPLITS });

  it('come out of a job that was stopped in pass 2', async () => {
    const whole = await shuffle({ ...asked(), output: directory.path('whole'), tempDirs: [directory.temp] });
    const stopper = new AbortController();
    const output = directory.path('out');
    const again = { ...asked(), output, tempDirs: [directory.temp], resume: true, memoryBytes: 2 ** 26 };
    const tuning = { inline: true, mayUseRamPool: false, pileCount: 16, stripeCount: 4, sliceBytes: 20_000 };
    const onProgress = ({ phase, bytesDone }: { readonly phase: string; readonly bytesDone: number }) => {
      if (phase === 'shuffle' && bytesDone > 50_000) stopper.abort();
    };
    await errorOf(shuffle({ ...again, signal: stopper.signal, onProgress }, tuning));
    const report = await shuffle(again, tuning);
    expect(report.resumed?.outputBytes).toBeGreaterThan(0);
    expect(told(report)).toEqual(told(whole));
    expect(report).toMatchObject({ output, peakMemoryBytes: expect.any(Number) });
  });

  it.each<Partial<ShuffleOptions>>([
    {},
    { uniqueBy: '.n', headCount: 500, weights: [{ glob: 'a', factor: 0.5 }], splits: undefined },
  ])('come out of three tasks: %j', async (rules) => {
    const job = { ...asked(), ...rules };
    const whole = await shuffle({ ...job, output: directory.path('whole'), tempDirs: [directory.temp] });
    const planned = {
      ...job,
      output: directory.path('out'),
      jobDir: directory.path('job'),
      tasks: 3,
      cpusPerTask: 1,
    };
    const { commit } = await runClusterLocally(planned, {
      tuning: { inline: true, sliceBytes: 20_000, pileCount: 13 },
    });
    expect(told(commit.output ?? {})).toEqual(told(whole));
    expect(commit).toMatchObject({ peakMemoryBytes: expect.any(Number) });
  });
});

it('each section of an output has its sum', async () => {
  const output = directory.path('out');
  const asked = { inputs: inputsOf(), seed: 's', sum: '.n', each: '.w', output, tempDirs: [directory.temp] };
  const { sections = [], sum } = await shuffle(
    { ...asked, shards: { by: 'count', shardCount: 2 } },
    { sliceBytes: 20_000 },
  );
  expect(sections).toHaveLength(5);
  for (const { shards, sum: ofSection } of sections) {
    const text = shards.map((path) => readFileSync(path, 'latin1')).join('');
    expect(ofSection).toBe(sumOf([...text.matchAll(/"n":([^,]+)/g)].map(([, found = '']) => found)));
  }
  expect(sum?.total).toBe(sumOf(LINES.map((_, i) => String(i / 8))));
});

describe('a record without a number', () => {
  const run = (text: string, more: Partial<ShuffleOptions> = {}) => {
    writeFileSync(directory.path('in'), `{"n":1}\n${text}`);
    const output = directory.path('out');
    return shuffle({
      inputs: [directory.path('in')],
      sum: '.n',
      output,
      force: true,
      tempDirs: [directory.temp],
      ...more,
    });
  };

  it.each([
    ['{"n":"2"}\n', /in: the record at byte 8 has "2" in \.n, which `sum` adds up; expected a number from 0 to less/],
    ['{"n":-1}\n', /at byte 8 has -1 in/],
    ['{"n":1e15}\n', /at byte 8 has 1e15 in/],
    ['{"m":1}\n', /at byte 8 has no field \.n; expected a JSON object that has it, or give `missing`/],
    ['{"n":null}\n', /at byte 8 has no field/],
    ['x\n', /at byte 8 has no field/],
  ])('is an error with its place: %s', async (text, message) => {
    await expect(run(text)).rejects.toThrow(message);
  });

  it('has that of `missing`', async () => {
    expect((await run('{"m":1}\n{"n":null}\n', { missing: '0.25' })).sum?.total).toBe('1.5');
    await expect(run('', { missing: 'x' })).rejects.toThrow(/`missing` "x" is the number of records in which `sum`/);
  });
});
