/**
 * The law of weights: the output has the copies that the seed and the factors define, in the order of their keys, for any
 * settings, in every format, in one file, in shards and in streams, with the first records alone and with draws. The report
 * has what came of each input.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { useFedPipes } from '../fixtures/fed-pipes.js';
import { atScale, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { splitPlainly } from '../formats/plain-framings.js';
import { anyInputs, largeInputs, makeLargeInputs } from './any-inputs.js';
import { anySettings, tightSettings } from './any-settings.js';
import { expectUniform } from './chi-square.js';
import { FORMAT_SAMPLES } from './format-samples.js';
import { recordsOf } from './reference-order.js';
import { expectReport, type Job, shuffleToFile, shuffleToShards } from './shuffle-under-test.js';
import { copiesAndChance, orderCopies } from './weighed-order.js';

const directory = useMemoryDirectory();
const pipeOf = useFedPipes(directory);

type WeighedJob = Job & { readonly factors: readonly string[] };

const FACTORS = ['0', '0.1', '0.5', '1', '1.75', '2', '2.50', '3', '31.5', '33', '200.25', '.3', '0.000'];
const factor = fc.constantFrom(...FACTORS);

function amountOf(records: readonly Buffer[]) {
  return { records: records.length, bytes: Buffer.concat(records).byteLength };
}

async function expectCopies(job: WeighedJob): Promise<void> {
  const records = job.inputs.map((input) => recordsOf(input, 0x0a));
  const ordered = orderCopies(records, job.factors, job.seed);
  const { bytes, report } = await shuffleToFile(directory, job);
  expect(bytes.equals(Buffer.concat(ordered))).toBe(true);
  expectReport(report, ordered);
  const isRead = (i: number) => Number(job.factors[i]) > 0;
  expect(report.groups?.map(({ read }) => read)).toEqual(records.map((each, i) => amountOf(isRead(i) ? each : [])));
  const weighed = report.groups?.reduce((sum, group) => sum + group.weighed.bytes, 0);
  expect(weighed).toBe(report.bytes);
}

/** The reference takes its time for each copy. */
const fewer = largeInputs.map((large) => ({ ...large, lines: Math.ceil(large.lines / 3) }));

/** Each input gets a factor; not all of them 0, which is refused. */
const withFactors = <T extends { readonly inputs: readonly Buffer[] }>(jobs: fc.Arbitrary<T>) =>
  jobs
    .chain((job) =>
      fc
        .array(factor, { minLength: job.inputs.length, maxLength: job.inputs.length })
        .map((factors) => ({ ...job, factors })),
    )
    .filter(({ factors }) => factors.some((each) => Number(each) > 0));

describe('weights', () => {
  it('make the copies that the seed defines, whatever the settings', async () => {
    const job = withFactors(fc.record({ inputs: anyInputs, seed: fc.string(), settings: anySettings }));
    await fc.assert(fc.asyncProperty(job, expectCopies), { numRuns: atScale(10, 60, 3000) });
  });

  it('make the same copies where piles are scattered again, and on worker threads', async () => {
    const settings = fc
      .tuple(tightSettings, fc.boolean())
      .map(([each, inline]) => ({ ...each, tuning: { ...each.tuning, inline } }));
    const factors = fc.tuple(fc.constantFrom('0.3', '1', '1.5'), fc.constantFrom('0', '0.01', '2'));
    await fc.assert(
      fc.asyncProperty(atScale(fewer, largeInputs), factors, fc.string(), settings, (large, ofInputs, seed, ofJob) =>
        expectCopies({ inputs: makeLargeInputs(large), factors: ofInputs, seed, settings: ofJob }),
      ),
      { numRuns: atScale(1, 8, 300) },
    );
  });

  const PLAIN = { workers: 1, memoryBytes: 2 ** 26, tempDirCount: 1, encodings: ['plain'] as const };
  const inputs = [0, 1].map((i) => Buffer.from(Array.from({ length: 300 }, (_, line) => `${i} ${line}\n`).join('')));
  const factors = ['2.25', '0.4'];
  const ordered = orderCopies(
    inputs.map((input) => recordsOf(input, 0x0a)),
    factors,
    's',
  );

  it.each([{}, { pileCount: 5, bufferBytes: 300 }])('are those of the head and of shards: %j', async (sizes) => {
    const settings = { ...PLAIN, tuning: { inline: true, sliceBytes: 700, ...sizes } };
    const job = { inputs, factors, seed: 's', settings };
    for (const headCount of [0, 1, 90, 5000]) {
      const { bytes } = await shuffleToFile(directory, { ...job, headCount });
      expect(bytes.equals(Buffer.concat(ordered.slice(0, headCount)))).toBe(true);
    }
    const { shards } = await shuffleToShards(directory, job, { by: 'records', recordsPerShard: 100 });
    expect(shards.map((shard) => recordsOf(shard, 0x0a).length)).toEqual(
      Array.from({ length: Math.ceil(ordered.length / 100) }, (_, i) => Math.min(100, ordered.length - 100 * i)),
    );
    expect(Buffer.concat(shards).equals(Buffer.concat(ordered))).toBe(true);
  });

  it('are the same for inputs in any order that have ids, and in shards by bytes that are compressed', async () => {
    const paths = inputs.map((bytes, i) => {
      writeFileSync(directory.path(`named-${i}`), bytes);
      return directory.path(`named-${i}`);
    });
    const weights = factors.map((each, i) => ({ glob: `named-${i}`, factor: each }));
    const shared = { weights, seed: 's', inputIds: 'name', force: true } as const;
    const output = directory.path('out');
    await shuffle({ ...shared, inputs: paths, output });
    const one = readFileSync(output);
    expect(recordsOf(one, 0x0a).length).toBeGreaterThan(2 * 300 + 60);
    await shuffle({ ...shared, inputs: paths.toReversed(), weights: weights.toReversed(), output });
    expect(readFileSync(output).equals(one)).toBe(true);
    const { shards } = await shuffle(
      {
        ...shared,
        inputs: paths,
        output: directory.path('shards'),
        shards: { by: 'bytes', maxShardBytes: 1000 },
        compress: { codec: 'gzip' },
      },
      { inline: true, pileCount: 4, bufferBytes: 200, sliceBytes: 900 },
    );
    expect(shards.length).toBeGreaterThan(3);
    expect(Buffer.concat(shards.map((path) => gunzipSync(readFileSync(path)))).equals(one)).toBe(true);
  });

  it('are what is drawn with replacement', async () => {
    const settings = { ...PLAIN, tuning: { inline: true } };
    const job = { inputs, factors: ['5', '0'], seed: 's', settings, headCount: 400, repeat: true };
    const { bytes } = await shuffleToFile(directory, job);
    const lines = bytes.toString().split('\n').slice(0, -1);
    expect(lines).toHaveLength(400);
    expect(lines.every((line) => line.startsWith('0 '))).toBe(true);
  });

  it('are the same of streams', async () => {
    const sources = inputs.map((bytes, i) => {
      writeFileSync(directory.path(`source-${i}`), bytes);
      return directory.path(`source-${i}`);
    });
    const [first = '', second = ''] = sources;
    const pipe = pipeOf(first);
    const output = directory.path('out');
    const weights = [
      { glob: pipe, factor: 2.25 },
      { glob: 'source-*', factor: 0.4 },
    ];
    await shuffle({ inputs: [pipe, second], weights, output, seed: 's' }, { inline: true });
    expect(readFileSync(output).equals(Buffer.concat(ordered))).toBe(true);
  });

  it.each(sampled(FORMAT_SAMPLES, 3))('of $name have their header', async ({ spec, around, bodies }) => {
    const ofFormat = bodies.map((_, i) => (spec.kind === 'webdataset' ? ['0.5', '1'] : ['1.5', '3'])[i % 2] ?? '');
    const paths = bodies.map((body, i) => {
      const path = directory.path(`in-${i}`);
      writeFileSync(path, Buffer.concat([around.header(body.byteLength), body]));
      return path;
    });
    const records = orderCopies(
      bodies.map((body) => splitPlainly(spec, body)),
      ofFormat,
      'formats',
      bodies.map((body) => around.header(body.byteLength).byteLength),
    );
    const output = directory.path('out');
    const weights = ofFormat.map((each, i) => ({ glob: `in-${i}`, factor: each }));
    await shuffle({ ...around.options, inputs: paths, weights, output, seed: 'formats', force: true });
    const body = Buffer.concat(records);
    const expected = Buffer.concat([around.header(body.byteLength), body, around.trailer]);
    expect(readFileSync(output).toString('latin1')).toBe(expected.toString('latin1'));
  });
});

describe('the records of a fractional weight', () => {
  const RECORDS = 100;
  const jobs = atScale(20, 100, 4000);

  it('are equally likely, at equally likely places, over whole jobs', async () => {
    const path = directory.path('lines');
    writeFileSync(path, Array.from({ length: RECORDS }, (_, i) => `${i}\n`).join(''));
    const output = directory.path('out');
    const drawn = new Float64Array(20);
    const places = new Float64Array(20);
    let total = 0;
    for (let job = 0; job < jobs; job++) {
      const weights = [{ glob: 'lines', factor: '1.3' }];
      const tuning = { inline: true, ...[{}, { pileCount: 7, bufferBytes: 64, sliceBytes: 50 }][job % 2] };
      await shuffle({ inputs: [path], output, force: true, weights, seed: `drawn ${job}` }, tuning);
      const lines = readFileSync(output, 'latin1').split('\n').slice(0, -1);
      const seen = new Set<string>();
      for (const [place, line] of lines.entries()) {
        if (!seen.has(line)) {
          seen.add(line);
          continue;
        }
        const cell = Math.floor(Number(line) / 5);
        drawn[cell] = (drawn[cell] ?? 0) + 1;
        total += 1;
        // The second of two copies is the later one: where both are is symmetric to the middle.
        const first = lines.indexOf(line);
        for (const each of [place, first]) {
          const part = Math.floor((20 * each) / lines.length);
          places[part] = (places[part] ?? 0) + 1;
        }
      }
      expect(seen.size).toBe(RECORDS);
    }
    expectUniform(drawn, 19, 'drawn records');
    expectUniform(places, 19, 'places of records with two copies');
    const expected = 0.3 * RECORDS * jobs;
    expect(Math.abs(total - expected)).toBeLessThan(5 * Math.sqrt(expected * 0.7));
  });
});

describe('a factor', () => {
  it('is read as it is written', () => {
    expect(copiesAndChance('2.5')).toEqual({ copies: 2, chance: 2n ** 63n });
    expect(copiesAndChance('0.1')).toEqual({ copies: 0, chance: 2n ** 64n / 10n });
  });
});
