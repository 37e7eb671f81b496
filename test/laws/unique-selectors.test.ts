/**
 * The law of records unique by a column, by an expression and by the key of a sample: as that of a field. The first record of each
 * value stays, for any settings.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, type ShuffleProgress, shuffle } from '#src/index.js';
import { useFedPipes } from '../fixtures/fed-pipes.js';
import { atScale, fromCi, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory, useTestDirectory } from '../fixtures/temp-directory.js';
import { tarEntry } from '../formats/plain-tar.js';
import { recordHash } from '../workers/kernel/kernel-twin.js';
import { anySettings, type Settings, tightSettings } from './any-settings.js';
import { encode } from './encodings.js';
import { uniqueOrderBy } from './reference-order.js';
import { byteLines, NO_BYTES, tables, tarFiles, type Valued, type ValuedInputs } from './valued-records.js';

const directory = useMemoryDirectory();

/** The records that stay, in order, and a line for each that does not. */
function expectedOf({ inputs, job }: ValuedInputs, seed: string) {
  const values = new Map<string, Buffer>();
  const identityOf = ({ value = job.missing ?? '' }: Valued) => Buffer.concat([Buffer.from('"'), Buffer.from(value)]);
  for (const each of inputs.flat()) values.set(each.record.toString('latin1'), identityOf(each));
  const identityIn = (record: Buffer) => values.get(record.toString('latin1')) ?? expect.fail('no such record');
  const all = inputs.flat().map(({ record }) => record);
  return uniqueOrderBy(all, seed, identityIn);
}

async function expectFirst(given: ValuedInputs, seed: string, settings: Settings): Promise<void> {
  const { inputs, header = NO_BYTES, trailer = NO_BYTES, job } = given;
  const { selector, ...format } = job;
  const paths = inputs.map((records, i) => {
    const bytes = Buffer.concat([header, ...records.map(({ record }) => record), trailer]);
    writeFileSync(
      directory.path(`in-${i}`),
      encode(bytes, settings.encodings[i % settings.encodings.length] ?? 'plain'),
    );
    return directory.path(`in-${i}`);
  });
  const { workers, memoryBytes, tempCompress, tuning } = settings;
  const tempDirs = Array.from({ length: settings.tempDirCount }, (_, i) => directory.path('temp', String(i)));
  for (const path of tempDirs) mkdirSync(path, { recursive: true });
  const output = directory.path('out');
  const places = { inputs: paths, output, tempDirs, force: true };
  const machine = { workers, memoryBytes, tempCompress };
  const report = await shuffle({ ...format, ...places, ...machine, seed, uniqueBy: selector }, tuning);
  const unique = expectedOf(given, seed);
  const expected = Buffer.concat([header, ...unique, trailer]);
  expect(readFileSync(output, 'latin1')).toBe(expected.toString('latin1'));
  expect(report.duplicates?.records).toBe(inputs.flat().length - unique.length);
  for (const path of tempDirs) rmSync(path, { recursive: true });
}

/** Rows of which some values come very often, each in several spellings. */
function skewedRows(count: number, values: number, often: number): Valued[] {
  return Array.from({ length: count }, (_, i) => {
    const draw = (Math.imul(i, 0x9e3779b1) >>> 8) / 2 ** 24;
    const site = `s${draw < often ? i % 3 : Math.floor(draw * values)}`;
    const note = 'x'.repeat((i * 37) % 60);
    return { record: Buffer.from(`${i},"${site},""",${note}\n`), value: `${site},"` };
  });
}

const HEADER = Buffer.from('id,site,note\n');

describe('records unique', () => {
  it.each([
    ['a column', tables],
    ['an expression', byteLines],
    ['the key of a sample', tarFiles],
  ])('by %s are the first ones of their values, whatever the settings', async (_, cases) => {
    await fc.assert(fc.asyncProperty(cases, fc.string(), anySettings, expectFirst), {
      numRuns: atScale(3, 50, 2000),
    });
  });

  it.runIf(fromCi)('are the same where piles are too large, with very many of one value, and on threads', async () => {
    const settings = fc.tuple(tightSettings, fc.boolean()).map(([each, inline]) => {
      const bufferBytes = 64 + (each.tuning.bufferBytes ?? 0);
      return { ...each, tuning: { ...each.tuning, bufferBytes, inline } };
    });
    const selectors = fc.constantFrom('csv:2', 'csv:site', '/^\\d+,"(.*?),""",/');
    const check = (
      [count, values, often]: [number, number, number],
      selector: string,
      seed: string,
      each: Settings,
    ) => {
      const rows = skewedRows(count, values, often).map(({ record, value }) => ({
        record,
        value: selector.startsWith('csv') ? value : `${value}`.slice(0, -2),
      }));
      const inputs = [rows.slice(0, count / 3), rows.slice(count / 3)];
      const job = { records: { by: 'csv' }, header: { lines: 1 }, selector } as const;
      return expectFirst({ inputs, header: HEADER, job }, seed, each);
    };
    const skew = fc.tuple(
      fc.integer({ min: 2000, max: 6000 }),
      fc.integer({ min: 1, max: 6000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
    );
    await fc.assert(fc.asyncProperty(skew, selectors, fc.string(), settings, check), {
      numRuns: atScale(1, 12, 400),
    });
  });

  it.each(['csv:2', '/^\\d+,("s.*?",)/'])(
    'of which one value comes very often by %s need no more memory',
    async (by) => {
      const rows = skewedRows(fromCi ? 30_000 : 6000, 200, 0.99);
      const tuning = { inline: true, keepInRam: false, pileCount: 3, bufferBytes: 2 ** 15, pass2ArenaBytes: 2 ** 17 };
      writeFileSync(directory.path('in'), Buffer.concat(rows.map(({ record }) => record)));
      const job = { inputs: [directory.path('in')], output: directory.path('out'), uniqueBy: by, workers: 1 };
      const report = await shuffle({ ...job, records: { by: 'csv' }, memoryBytes: 2 ** 26 }, tuning);
      expect(report.records).toBe(new Set(rows.map(({ value }) => `${value}`)).size);
      expect(report.tempBytes).toBeLessThan(rows.length * 6);
    },
  );

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
      [{ uniqueBy: '/^\\d+ (.*)/' }, (i, each) => Buffer.concat([Buffer.from(`${i} `), each])],
    ];
    for (const [options, writeRecord] of write) {
      const lines = [0, 1, 0, 1, 0].map((which, i) =>
        Buffer.concat([writeRecord(i, values[which] ?? NO_BYTES), Buffer.from('\n')]),
      );
      writeFileSync(directory.path('in'), Buffer.concat(lines));
      for (const tuning of [
        { keepInRam: true, bufferBytes: 4096 },
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

  it('by a column are the same when the job is stopped and resumed, but not by another', async () => {
    const rows = skewedRows(4000, 500, 0.3);
    const input = directory.path('in');
    writeFileSync(input, Buffer.concat([HEADER, ...rows.map(({ record }) => record)]));
    const format = { records: { by: 'csv' }, header: { lines: 1 } } as const;
    const machine = { workers: 1, memoryBytes: 2 ** 26 };
    const job = { inputs: [input], output: directory.path('out'), seed: 'r', uniqueBy: 'csv:site', resume: true };
    const tuning = { inline: true, pileCount: 4, bufferBytes: 700, sliceBytes: 20_000, keepInRam: false };
    const stop = new AbortController();
    const onProgress = ({ phase }: ShuffleProgress) => {
      if (phase === 'shuffle') stop.abort();
    };
    const call = { ...job, ...format, ...machine };
    await expect(shuffle({ ...call, signal: stop.signal, onProgress }, tuning)).rejects.toThrow();
    await expect(shuffle({ ...call, uniqueBy: 'csv:note' }, tuning)).rejects.toMatchObject({ code: 'ERR_JOB_DIFFERS' });
    const report = await shuffle(call, tuning);
    expect(report.resumed?.pileSets).toBeGreaterThan(1);
    const unique = expectedOf({ inputs: [rows], header: HEADER, job: { selector: '' } }, 'r');
    expect(readFileSync(job.output).equals(Buffer.concat([HEADER, ...unique]))).toBe(true);
  });
});

describe('streams', () => {
  const ofPipes = useTestDirectory();
  const pipeOf = useFedPipes(ofPipes);

  it.each(sampled(['csv:site', 'csv:2'], 2))('give the bytes of files by %s', async (uniqueBy) => {
    const paths = ['a', 'b'].map((name, k) => {
      const rows = Array.from({ length: 500 }, (_, i) => `${i},s${(7 * i + k) % 40},"${i % 3}"\n`);
      writeFileSync(ofPipes.path(name), `id,site,n\n${rows.join('')}`);
      return ofPipes.path(name);
    });
    const job = { records: { by: 'csv' }, header: { lines: 1 }, uniqueBy, seed: '1', force: true } as const;
    const [a = '', b = ''] = paths;
    const outputs: string[] = [];
    for (const inputs of [paths, [pipeOf(a), pipeOf(b)], [a, pipeOf(b)]]) {
      await shuffle({ ...job, inputs, output: ofPipes.path('out') }, atScale({ inline: true }, {}));
      outputs.push(readFileSync(ofPipes.path('out'), 'utf8'));
    }
    expect(outputs[0]?.split('\n')).toHaveLength(42);
    expect(outputs).toEqual(outputs.map(() => outputs[0]));
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
    await expect(shuffle({ ...job, uniqueBy: '/(one|two)/' })).rejects.toMatchObject({
      code: 'ERR_SAMPLE_KEY_REPEATED',
    });
    const report = await shuffle({ ...job, uniqueBy: 'key' });
    expect(report).toMatchObject({ records: 1, duplicates: { records: 1 } });
    expect(readFileSync(job.output).equals(Buffer.concat([sample('a', 'one'), END]))).toBe(true);
    await expect(shuffle({ ...job, unique: true, force: true })).rejects.toThrow('whose bytes tell when a file');
  });
});
