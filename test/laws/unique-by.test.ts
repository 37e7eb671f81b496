/**
 * The law of `uniqueBy`: of records with equal values of a field, the first one in the order of the inputs stays, in the order
 * of the values, for any settings. Values are compared by their characters or bytes, never by a hash alone.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ShardRule, type ShuffleOptions, type ShuffleProgress, shuffle } from '#src/index.js';
import { atScale, fromCi, isSlow } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { recordHash } from '../workers/kernel/kernel-twin.js';
import { anySettings, type Settings, tightSettings } from './any-settings.js';
import { recordsOf, uniqueOrderBy } from './reference-order.js';
import { expectReport, type Job, shuffleToFile, shuffleToShards } from './shuffle-under-test.js';

const directory = useMemoryDirectory();

const bytesOf = (records: readonly Buffer[]) => records.reduce((sum, { byteLength }) => sum + byteLength, 0);
const recordsIn = (inputs: readonly Buffer[]) => inputs.flatMap((input) => recordsOf(input, 0x0a));

/** What equal values have in common: a quote and the characters of a string, or the bytes of anything else. */
function identityOf(missing?: string): (record: Buffer) => Buffer {
  return (record) => {
    const { meta } = JSON.parse(record.toString());
    const url = 'url' in meta ? meta.url : missing;
    return Buffer.from(typeof url === 'string' ? `"${url}` : JSON.stringify(url));
  };
}

async function expectFirst(job: Job): Promise<void> {
  const { bytes, report } = await shuffleToFile(directory, { ...job, uniqueBy: '.meta.url' });
  const all = recordsIn(job.inputs);
  const unique = uniqueOrderBy(all, job.seed, identityOf(job.missing));
  const expected = unique.slice(0, job.headCount);
  expect(bytes.toString()).toBe(Buffer.concat(expected).toString());
  expectReport(report, expected);
  if (job.headCount === 0) return;
  expect(report.duplicates).toEqual({
    records: all.length - unique.length,
    bytes: bytesOf(all) - bytesOf(unique),
  });
}

/** Few values, in several spellings. */
const url = fc.oneof(
  fc.constantFrom('a.com', 'é', 'c"d\\', '', '\u{1f600}x', 'y'.repeat(40)),
  fc.integer({ min: 0, max: 9 }),
  fc.constantFrom(true, null, '1', 'null'),
);
const line = fc
  .tuple(url, fc.string({ unit: 'grapheme', maxLength: 30 }), fc.nat({ max: 3 }))
  .map(([of, text, spelling]) => {
    if (spelling === 1 && text === '') return '{"meta":{"n":1}}\n';
    const record = spelling === 0 ? { meta: { n: [1], url: of }, text } : { text, meta: { url: of } };
    const json = JSON.stringify(record).replaceAll('é', spelling === 1 ? '\\u00e9' : 'é');
    const escaped =
      spelling === 2 ? json.replaceAll('a.com', 'a\\u002ecom').replaceAll('\u{1f600}', '\\ud83d\\uDE00') : json;
    return `${spelling === 3 ? escaped.replace('"url":', '"u\\u0072l" : ') : escaped}\n`;
  });
const jsonInputs = fc.array(
  fc.array(line, { maxLength: 60 }).map((lines) => Buffer.from(lines.join(''))),
  { minLength: 1, maxLength: 4 },
);

/** Lines of which some values come very often. */
function makeSkewed(lines: number, values: number, often: number): Buffer[] {
  const texts = Array.from({ length: lines }, (_, i) => {
    const draw = (Math.imul(i, 0x9e3779b1) >>> 8) / 2 ** 24;
    const value = draw < often ? i % 3 : Math.floor(draw * values);
    return `{"i":${i},"text":"${'x'.repeat((i * 37) % 60)}","meta":{"url":"${value.toString(36)}"}}\n`;
  });
  const at = Math.floor(lines / 3);
  return [Buffer.from(texts.slice(0, at).join('')), Buffer.from(texts.slice(at).join(''))];
}

const PLAIN: Settings = { workers: 1, memoryBytes: 2 ** 26, tempDirCount: 1, encodings: ['plain'], tuning: {} };

describe('records unique by a field', () => {
  it('are the first ones of their values, whatever the settings', async () => {
    const headCount = fc.option(fc.nat({ max: 12 }), { nil: undefined, freq: 3 });
    const job = fc.record({ inputs: jsonInputs, seed: fc.string(), headCount, settings: anySettings });
    await fc.assert(
      fc.asyncProperty(job, (each) => expectFirst({ ...each, missing: 'null' })),
      { numRuns: atScale(8, 100, 3000) },
    );
  });

  it.runIf(fromCi)(
    'are the same where piles are too large, with very many of one value, and on worker threads',
    async () => {
      const settings = fc
        .tuple(tightSettings, fc.boolean())
        .map(([each, inline]) => ({ ...each, tuning: { ...each.tuning, inline } }));
      const skewed = fc.record({
        lines: fc.integer({ min: 3000, max: 9000 }),
        values: fc.integer({ min: 1, max: 9000 }),
        often: fc.double({ min: 0, max: 1, noNaN: true }),
      });
      await fc.assert(
        fc.asyncProperty(skewed, fc.string(), settings, ({ lines, values, often }, seed, ofJob) =>
          expectFirst({ inputs: makeSkewed(lines, values, often), seed, settings: ofJob }),
        ),
        { numRuns: isSlow ? 600 : 20 },
      );
    },
  );

  it.each<ShardRule>([
    { by: 'count', shardCount: 5 },
    { by: 'bytes', maxShardBytes: 2000 },
  ])('are cut into shards: $by', async (rule) => {
    const inputs = makeSkewed(2000, 300, 0.4);
    const unique = uniqueOrderBy(recordsIn(inputs), 's', identityOf());
    for (const tuning of [{ inline: true }, { inline: true, pileCount: 5, bufferBytes: 500, sliceBytes: 3000 }]) {
      const job = { inputs, seed: 's', uniqueBy: '.meta.url', settings: { ...PLAIN, tuning } };
      const { report, shards } = await shuffleToShards(directory, job, rule);
      expectReport(report, unique);
      expect(Buffer.concat(shards).equals(Buffer.concat(unique))).toBe(true);
    }
  });

  it('of which one value comes very often need no more memory or temp space', async () => {
    const inputs = makeSkewed(30_000, 400, 0.99);
    const tuning = { inline: true, keepInRam: false, pileCount: 3, bufferBytes: 2 ** 16, pass2ArenaBytes: 2 ** 18 };
    const job = { inputs, seed: 'skew', uniqueBy: '.meta.url', settings: { ...PLAIN, tuning } };
    const { report } = await shuffleToFile(directory, job);
    await expectFirst(job);
    expect(report.tempBytes).toBeLessThan(bytesOf(inputs) / 8);
  });

  it('are the same when the job is stopped and resumed, but not for another field', async () => {
    const inputs = makeSkewed(4000, 500, 0.3);
    const paths = inputs.map((_, i) => directory.path(`in-${i}`));
    for (const [i, path] of paths.entries()) writeFileSync(path, inputs[i] ?? '');
    const output = directory.path('resumed');
    const job = {
      inputs: paths,
      output,
      seed: 'r',
      uniqueBy: '.meta.url',
      resume: true,
      workers: 1,
      memoryBytes: 2 ** 26,
    };
    const tuning = { inline: true, pileCount: 4, bufferBytes: 700, sliceBytes: 20_000, keepInRam: false };
    const stop = new AbortController();
    const onProgress = ({ phase }: ShuffleProgress) => {
      if (phase === 'shuffle') stop.abort();
    };
    await expect(shuffle({ ...job, signal: stop.signal, onProgress }, tuning)).rejects.toThrow();
    await expect(shuffle({ ...job, uniqueBy: '.i' }, tuning)).rejects.toMatchObject({ code: 'ERR_JOB_DIFFERS' });
    const report = await shuffle(job, tuning);
    expect(report.resumed?.pileSets).toBeGreaterThan(1);
    const expected = uniqueOrderBy(recordsIn(inputs), 'r', identityOf());
    expect(readFileSync(output).equals(Buffer.concat(expected))).toBe(true);
  });

  it('stay where their values differ and have one hash', async () => {
    // Made for the hash of records: in it, a difference in the second byte of a value undoes one in the sixth.
    const value = (second: number, sixth: number) =>
      Buffer.from([0x22, second, 0x61, 0x61, 0x61, sixth, 0x61, 0x61, 0x7c, 0x01, 0x81, 0x2c, 0x08, 0xde, 0x52, 0xe3]);
    const [one, other] = [value(0x64, 0x61), value(0x60, 0x65)];
    expect(recordHash(one)).toBe(recordHash(other));
    const lineOf = (text: Buffer, i: number) =>
      Buffer.concat([Buffer.from(`{"i":${i},"u":`), text, Buffer.from('"}\n')]);
    const lines = [one, other, one, other, one].map(lineOf);
    for (const tuning of [
      { keepInRam: true, pileCount: 2, bufferBytes: 4096 },
      { bufferBytes: 9, pileCount: 1 },
    ]) {
      const settings = { ...PLAIN, tuning: { inline: true, ...tuning } };
      const job = { inputs: [Buffer.concat(lines)], seed: 'one', uniqueBy: '.u', settings };
      const { bytes, report } = await shuffleToFile(directory, job);
      const [first, second] = lines.slice(0, 2);
      const expected = Buffer.concat([second ?? Buffer.of(), first ?? Buffer.of()]);
      expect(bytes.toString('latin1')).toBe(expected.toString('latin1'));
      expect(report.duplicates?.records).toBe(3);
    }
  });

  it('have the field, or the job ends with the place of one that has not', async () => {
    const good = '{"u":1}\n'.repeat(300);
    writeFileSync(directory.path('in'), `${good}{"v":2}\n${good}`);
    const job = { inputs: [directory.path('in')], output: directory.path('out'), uniqueBy: '.u' };
    await expect(shuffle(job, { inline: true, readBytes: 1000 })).rejects.toMatchObject({
      code: 'ERR_FIELD_MISSING',
      message: `${directory.path('in')}: the record at byte ${good.length} has no field .u; expected a JSON object that has it, or give \`missing\` a value for such records`,
    });
  });

  it.each<[Partial<ShuffleOptions>, string]>([
    [{ unique: true }, '`unique` compares whole records and `uniqueBy` a value of each: give one of the two'],
    [
      { splits: [{ name: 'a', rest: true }], splitBy: '.v' },
      '`splitBy` does not go with `uniqueBy`: equal records could be in different splits; keep one of them first, and split that output',
    ],
    [
      { inputIds: 'path' },
      '`inputIds` does not go with `uniqueBy`: the order then follows from the values of records, wherever they come from',
    ],
    [{ missing: 'x'.repeat(5000) }, '`missing`: expected a string of at most 4096 bytes'],
    [
      { uniqueBy: `.${'x'.repeat(9000)}`, missing: 'y'.repeat(4000) },
      '`uniqueBy` and `missing` take 13037 bytes; expected at most 12288: give a shorter path, or a shorter value',
    ],
    [
      { uniqueBy: 'url' },
      '`uniqueBy` "url": expected a JSON field (.site, .metadata.site), a column (csv:site, csv:3, tsv:site), the key of a sample (key), or an expression with a group (/^(\\w+)/)',
    ],
  ])('are refused with %j', async (options, message) => {
    const job = { inputs: ['in'], uniqueBy: '.u', ...options };
    await expect(shuffle(job)).rejects.toMatchObject({ kind: 'usage', message });
  });
});
