/**
 * The law of splits by a field: records of one value are in one split, the one that ../../docs/ORDER.md says, and each split
 * has the order of the mapped keys, for any settings. A record without the field is an error with its place, or belongs to
 * the value that the job gives it.
 */
import { writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { atScale, fromCi } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { anySettings, tightSettings } from './any-settings.js';
import { recordsOf } from './reference-order.js';
import { referenceSplits, SPLITS } from './reference-splits.js';
import { type Job, shuffleToShards } from './shuffle-under-test.js';

const directory = useMemoryDirectory();

/** The value of a record without the field is `missing`. */
function valueOfSite(missing?: string): (record: Buffer) => Buffer {
  return (record) => {
    const found = JSON.parse(record.toString()).meta?.site ?? missing;
    return Buffer.from(typeof found === 'string' ? `"${found}` : JSON.stringify(found));
  };
}

async function expectSplits(job: Job): Promise<void> {
  const recordsOfInputs = job.inputs.map((input) => recordsOf(input, 0x0a));
  const expected = referenceSplits(recordsOfInputs, job.seed, valueOfSite(job.missing));
  const { shards, report } = await shuffleToShards(
    directory,
    { ...job, splits: SPLITS, splitBy: '.meta.site' },
    undefined,
  );
  expect(shards.map(String)).toEqual(expected.map((records) => String(Buffer.concat(records))));
  expect(report.splits?.map(({ records }) => records)).toEqual(expected.map(({ length }) => length));
}

const site = fc.oneof(
  fc.constantFrom('a.com', 'b.org', 'é', 'c"d', '', 'x'.repeat(60)),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.integer({ min: 0, max: 5 }),
  fc.boolean(),
);
const line = fc
  .tuple(site, fc.string({ unit: 'grapheme', maxLength: 40 }), fc.boolean())
  .map(([of, text, isFirst]) =>
    isFirst ? { meta: { site: of, lang: 'en' }, text } : { text, meta: { n: 1, site: of } },
  )
  .map((record) => `${JSON.stringify(record).replaceAll('é', '\\u00e9')}\n`);
const jsonInputs = fc.array(
  fc.array(line, { maxLength: 60 }).map((lines) => Buffer.from(lines.join(''))),
  { minLength: 1, maxLength: 4 },
);

describe('splits by a field', () => {
  it('keep records of one value together, whatever the settings', async () => {
    const job = fc.record({ inputs: jsonInputs, seed: fc.string(), settings: anySettings });
    await fc.assert(fc.asyncProperty(job, expectSplits), { numRuns: atScale(6, 60, 3000) });
  });

  it.runIf(fromCi)('are the same where piles are scattered again, and on worker threads', async () => {
    const settings = fc
      .tuple(tightSettings, fc.boolean())
      .map(([each, inline]) => ({ ...each, tuning: { ...each.tuning, inline } }));
    const inputs = fc
      .tuple(fc.integer({ min: 2000, max: 6000 }), fc.integer({ min: 1, max: 300 }))
      .map(([count, sites]) => {
        const lines = Array.from({ length: count }, (_, i) => `{"i":${i},"meta":{"site":"s${(i * i) % sites}"}}\n`);
        return [Buffer.from(lines.slice(0, count / 3).join('')), Buffer.from(lines.slice(count / 3).join(''))];
      });
    await fc.assert(
      fc.asyncProperty(inputs, fc.string(), settings, (texts, seed, ofJob) =>
        expectSplits({ inputs: texts, seed, settings: ofJob }),
      ),
      { numRuns: atScale(2, 8, 300) },
    );
  });

  it('take a value for records without the field', async () => {
    const inputs = [
      Buffer.from('{"i":1}\n{"i":2,"meta":{}}\n{"i":3,"meta":{"site":"none"}}\n{"i":4,"meta":{"site":"b"}}\n'),
    ];
    const settings = { workers: 1, memoryBytes: 2 ** 25, tempDirCount: 1, encodings: ['plain'], tuning: {} } as const;
    for (let seed = 0; seed < atScale(5, 20); seed++) {
      const job = { inputs, seed: String(seed), settings: { ...settings, tuning: { inline: true } } };
      await expectSplits({ ...job, missing: 'none' });
    }
  });

  it('refuse a record without it, with its place', async () => {
    const paths = ['whole', 'broken'].map((name) => directory.path(name));
    const good = '{"meta":{"site":"a"}}\n'.repeat(500);
    writeFileSync(paths[0] ?? '', good);
    writeFileSync(paths[1] ?? '', `${good}no object\n${good}`);
    const job = { inputs: paths, output: directory.path('out'), splits: SPLITS, splitBy: '.meta.site' };
    for (const tuning of [{ inline: true }, { inline: true, sliceBytes: 300 }]) {
      await expect(shuffle(job, tuning)).rejects.toMatchObject({
        code: 'ERR_FIELD_MISSING',
        message: expect.stringMatching(
          /\/broken: the record at byte 11000 has no field \.meta\.site; expected a JSON object/,
        ),
      });
    }
  });

  it('are refused with what has no meaning beside them', async () => {
    const input = directory.path('in');
    writeFileSync(input, '');
    const job = { inputs: [input], output: directory.path('out'), splits: SPLITS, splitBy: '.a' };
    const refusals: [Parameters<typeof shuffle>[0], RegExp][] = [
      [{ ...job, splits: undefined }, /^`splitBy` chooses between splits/],
      [{ ...job, splitBy: undefined, missing: 'x' }, /^`missing` is about the values of `splitBy`/],
      [{ ...job, headCount: 5 }, /^`splitBy` does not go with `headCount`/],
      [
        {
          ...job,
          splits: [
            { name: 'a', records: 1 },
            { name: 'b', rest: true },
          ],
        },
        /no split can have an exact number/,
      ],
      ...['', 'a', '.', '.a.', '.a b', '.a[0]', '."a', `.${'x'.repeat(20_000)}`].map(
        (splitBy): [typeof job, RegExp] => [{ ...job, splitBy }, /^`splitBy` /],
      ),
    ];
    for (const [options, message] of refusals) {
      await expect(shuffle(options), JSON.stringify(options)).rejects.toMatchObject({
        code: 'ERR_OPTION',
        message: expect.stringMatching(message),
      });
    }
  });
});
