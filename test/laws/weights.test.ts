/**
 * The law of weights: the output has the copies that the seed and the factors define, in the order of their keys, for any
 * settings. The report has what came of each input.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { atScale } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { anyInputs } from './any-inputs.js';
import { anySettings } from './any-settings.js';
import { recordsOf } from './reference-order.js';
import { expectReport, type Job, shuffleToFile } from './shuffle-under-test.js';
import { copiesAndChance, orderCopies } from './weighed-order.js';

const directory = useMemoryDirectory();

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

/** Each input gets a factor; not all of them 0, which is refused. */
const weighed = fc
  .record({ inputs: anyInputs, seed: fc.string(), settings: anySettings })
  .chain((job) =>
    fc
      .array(factor, { minLength: job.inputs.length, maxLength: job.inputs.length })
      .map((factors) => ({ ...job, factors })),
  )
  .filter(({ factors }) => factors.some((each) => Number(each) > 0));

describe('weights', () => {
  it('make the copies that the seed defines, whatever the settings', async () => {
    await fc.assert(fc.asyncProperty(weighed, expectCopies), { numRuns: atScale(5, 30, 3000) });
  });

  const inputs = [0, 1].map((i) => Buffer.from(Array.from({ length: 300 }, (_, line) => `${i} ${line}\n`).join('')));
  const factors = ['2.25', '0.4'];
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
});

describe('a factor', () => {
  it('is read as it is written', () => {
    expect(copiesAndChance('2.5')).toEqual({ copies: 2, chance: 2n ** 63n });
    expect(copiesAndChance('0.1')).toEqual({ copies: 0, chance: 2n ** 64n / 10n });
  });
});
