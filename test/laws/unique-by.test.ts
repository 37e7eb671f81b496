/**
 * The law of `uniqueBy`: of records with equal values of a field, a column, an expression or a key, the first one in the
 * order of the inputs stays, in the order of the values, for any settings. Values are compared by their characters or
 * bytes, never by a hash alone.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, type ShuffleProgress, shuffle } from '#src/index.js';
import { runClusterLocally } from '../fixtures/run-cluster.js';
import { atScale, fromCi, sampled } from '../fixtures/scale.js';
import { smallClusterJob } from '../fixtures/small-cluster-job.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { tarEntry } from '../formats/plain-tar.js';
import { recordHash } from '../workers/kernel/kernel-twin.js';
import { anySettings, type Settings, tightSettings } from './any-settings.js';
import { uniqueOrderBy } from './reference-order.js';
import { expectReport, shuffleToFile } from './shuffle-under-test.js';
import {
  bytesOfInputs,
  identitiesIn,
  identityOf,
  NO_BYTES,
  VALUED_INPUTS,
  type Valued,
  type ValuedInputs,
} from './valued-records.js';

const directory = useMemoryDirectory();

const bytesOf = (records: readonly Buffer[]) => records.reduce((sum, { byteLength }) => sum + byteLength, 0);
const recordsIn = ({ inputs }: ValuedInputs) => inputs.flat().map(({ record }) => record);
const uniqueIn = (given: ValuedInputs, seed: string) => uniqueOrderBy(recordsIn(given), seed, identitiesIn(given));

async function expectFirst(given: ValuedInputs, seed: string, settings: Settings, headCount?: number): Promise<void> {
  const { header = NO_BYTES, trailer = NO_BYTES } = given;
  const { selector, ...format } = given.job;
  const job = { ...format, inputs: bytesOfInputs(given), seed, uniqueBy: selector, headCount, settings };
  const { bytes, report } = await shuffleToFile(directory, job);
  const all = recordsIn(given);
  const unique = uniqueIn(given, seed);
  const expected = unique.slice(0, headCount);
  expect(bytes.toString('latin1')).toBe(Buffer.concat([header, ...expected, trailer]).toString('latin1'));
  expectReport(report, expected);
  expect(report.duplicates).toEqual({ records: all.length - unique.length, bytes: bytesOf(all) - bytesOf(unique) });
}

const HEADER = Buffer.from('id,site,note\n');

/** Two inputs with records of which some values come very often: objects for a field, or rows. */
function makeSkewed(count: number, values: number, often: number, selector: string): ValuedInputs {
  const isField = selector.startsWith('.');
  const records = Array.from({ length: count }, (_, i): Valued => {
    const draw = (Math.imul(i, 0x9e3779b1) >>> 8) / 2 ** 24;
    const site = `s${draw < often ? i % 3 : Math.floor(draw * values)}`;
    const note = 'x'.repeat((i * 37) % 60);
    const line = isField ? `{"i":${i},"note":"${note}","site":"${site}"}\n` : `${i},"${site},""",${note}\n`;
    return { record: Buffer.from(line), identity: identityOf(selector.startsWith('csv') ? `${site},"` : site) };
  });
  const inputs = [records.slice(0, count / 3), records.slice(count / 3)];
  if (isField) return { inputs, job: { selector } };
  return { inputs, header: HEADER, job: { records: { by: 'csv' }, header: { lines: 1 }, selector } };
}

const SELECTORS = ['.site', 'csv:2', 'csv:site', '/^\\d+,"(.*?),""",/'] as const;

describe('records unique', () => {
  it.each(VALUED_INPUTS)('by %s are the first ones of their values, whatever the settings', async (_, cases) => {
    const headCount = fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined, freq: 3 });
    await fc.assert(fc.asyncProperty(cases, fc.string(), anySettings, headCount, expectFirst), {
      numRuns: atScale(4, 20, 2000),
    });
  });

  it.runIf(fromCi)('are the same where piles are too large, with very many of one value, and on threads', async () => {
    const settings = fc.tuple(tightSettings, fc.boolean()).map(([each, inline]) => {
      const bufferBytes = 64 + (each.tuning.bufferBytes ?? 0);
      return { ...each, tuning: { ...each.tuning, bufferBytes, inline } };
    });
    const skewed = fc
      .tuple(
        fc.integer({ min: 2000, max: 6000 }),
        fc.integer({ min: 1, max: 6000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.constantFrom(...SELECTORS),
      )
      .map((drawn) => makeSkewed(...drawn));
    await fc.assert(
      fc.asyncProperty(skewed, fc.string(), settings, (given, seed, ofJob) => expectFirst(given, seed, ofJob)),
      { numRuns: atScale(1, 6, 400) },
    );
  });

  it('stay where their values differ and have one hash', async () => {
    // Made for the hash of records: in it, a difference in the second byte of a value undoes one in the sixth.
    const value = (second: number, sixth: number) =>
      Buffer.from([second, 0x61, 0x61, 0x61, sixth, 0x61, 0x61, 0x7c, 0x01, 0x81, 0x2c, 0x08, 0xde, 0x52, 0xe3]);
    const values = [value(0x64, 0x61), value(0x60, 0x65)];
    const quote = Buffer.from('"');
    const hashes = values.map((each) => recordHash(Buffer.concat([quote, each])));
    expect(hashes).toEqual([hashes[0], hashes[0]]);
    const write: [Partial<ShuffleOptions>, (i: number, value: Buffer) => Buffer][] = [
      [{ records: { by: 'csv' }, uniqueBy: 'csv:2' }, (i, each) => Buffer.concat([Buffer.from(`${i},"`), each, quote])],
      [{ uniqueBy: '.u' }, (i, each) => Buffer.concat([Buffer.from(`{"i":${i},"u":"`), each, Buffer.from('"}')])],
      [{ uniqueBy: '/^\\d+ (.*)/' }, (i, each) => Buffer.concat([Buffer.from(`${i} `), each])],
    ];
    for (const [options, writeRecord] of write) {
      const lines = [0, 1, 0, 1, 0].map((which, i) =>
        Buffer.concat([writeRecord(i, values[which] ?? NO_BYTES), Buffer.from('\n')]),
      );
      writeFileSync(directory.path('in'), Buffer.concat(lines));
      for (const tuning of [
        { mayUseRamPool: true, bufferBytes: 4096 },
        { bufferBytes: 9, pileCount: 1 },
      ]) {
        const job = { inputs: [directory.path('in')], output: directory.path('out'), seed: 'one', force: true };
        const report = await shuffle({ ...job, ...options }, { inline: true, ...tuning });
        const [first = NO_BYTES, second = NO_BYTES] = lines;
        expect(readFileSync(job.output, 'latin1')).toBe(Buffer.concat([second, first]).toString('latin1'));
        expect(report.duplicates?.records).toBe(3);
      }
    }
  });

  it('are the same when the job is stopped and resumed, but not by another column', async () => {
    const given = makeSkewed(4000, 500, 0.3, 'csv:site');
    writeFileSync(directory.path('in'), Buffer.concat([HEADER, ...recordsIn(given)]));
    const job: ShuffleOptions & { output: string } = {
      inputs: [directory.path('in')],
      output: directory.path('out'),
      records: { by: 'csv' },
      header: { lines: 1 },
      seed: 'r',
      uniqueBy: 'csv:site',
      resume: true,
      workers: 1,
      memoryBytes: 2 ** 26,
    };
    const tuning = { inline: true, pileCount: 4, bufferBytes: 700, sliceBytes: 20_000, mayUseRamPool: false };
    const stop = new AbortController();
    const onProgress = ({ phase }: ShuffleProgress) => {
      if (phase === 'shuffle') stop.abort();
    };
    await expect(shuffle({ ...job, signal: stop.signal, onProgress }, tuning)).rejects.toThrow();
    await expect(shuffle({ ...job, uniqueBy: 'csv:note' }, tuning)).rejects.toMatchObject({ code: 'ERR_JOB_DIFFERS' });
    const report = await shuffle(job, tuning);
    expect(report.resumed?.pileSets).toBeGreaterThan(1);
    expect(readFileSync(job.output).equals(Buffer.concat([HEADER, ...uniqueIn(given, 'r')]))).toBe(true);
  });
});

describe('a record without a value', () => {
  it.each<[string, Partial<ShuffleOptions>, string, RegExp]>([
    ['csv:3', { records: { by: 'csv' } }, 'd,e\n', /no column csv:3; expected a row that has it, or give/],
    ['/^(\\w+)\\t/', {}, '\td\n', /no match of \/\^\(\\w\+\)\\t\/; expected/],
  ])('by %s is an error with its place, or has the value for such records', async (uniqueBy, format, bad, words) => {
    const good = 'a\tb,b,none\n'.replace('a', uniqueBy.startsWith('/') ? 'none' : 'a').repeat(300);
    writeFileSync(directory.path('in'), good + bad);
    writeFileSync(directory.path('bad'), bad.repeat(3));
    const job = { inputs: [directory.path('in')], output: directory.path('out'), uniqueBy, force: true, ...format };
    for (const tuning of sampled([{}, { sliceBytes: 700 }], 2)) {
      const done = shuffle(job, { ...tuning, inline: true });
      await expect(done).rejects.toMatchObject({ code: 'ERR_FIELD_MISSING', message: expect.stringMatching(words) });
      await expect(done).rejects.toThrow(`/in: the record at byte ${good.length} has `);
      const several = shuffle({ ...job, inputs: [directory.path('bad')] }, { ...tuning, inline: true });
      await expect(several).rejects.toThrow('/bad: the record at byte 0 has ');
      expect((await shuffle({ ...job, missing: 'none' }, { ...tuning, inline: true })).records).toBe(1);
      expect((await shuffle({ ...job, missing: 'other' }, { ...tuning, inline: true })).records).toBe(2);
    }
  });
});

describe('samples of tar files', () => {
  const sample = (key: string, text: string) => tarEntry({ name: `${key}.txt`, data: Buffer.from(text) });
  const END = Buffer.alloc(1024);

  it('of one key are one by their keys, and refused by anything else', async () => {
    writeFileSync(directory.path('1.tar'), Buffer.concat([sample('a', 'one'), END]));
    writeFileSync(directory.path('2.tar'), Buffer.concat([sample('a', 'two'), END]));
    const inputs = ['1.tar', '2.tar'].map((name) => directory.path(name));
    const job = { inputs, output: directory.path('out.tar'), records: { by: 'webdataset' } } as const;
    const ofOneKey = {
      code: 'ERR_SAMPLE_KEY_REPEATED',
      message: expect.stringMatching(/^two samples have the key "a"/),
    };
    await expect(shuffle({ ...job, uniqueBy: '/(one|two)/' })).rejects.toMatchObject(ofOneKey);
    const { jobDir, giveUp } = smallClusterJob(directory);
    const asTasks = runClusterLocally({ ...job, uniqueBy: '/(one|two)/', jobDir: jobDir(), tasks: 1 });
    await expect(asTasks).rejects.toMatchObject(ofOneKey);
    giveUp();
    const report = await shuffle({ ...job, uniqueBy: 'key' });
    expect(report).toMatchObject({ records: 1, duplicates: { records: 1 } });
    expect(readFileSync(job.output).equals(Buffer.concat([sample('a', 'one'), END]))).toBe(true);
    await expect(shuffle({ ...job, unique: true, force: true })).rejects.toThrow('whose bytes tell when a file');
  });
});
