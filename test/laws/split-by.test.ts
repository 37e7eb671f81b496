/**
 * The law of splits by a value, of a field, a column, an expression or a key: records of one value are in one split, the one
 * that docs/ORDER.md says, and each split has the order of the mapped keys, for any settings. A record without a value is
 * an error with its place, or belongs to the value that the job gives it.
 */
import { writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle } from '#src/index.js';
import { useFedPipes } from '../fixtures/fed-pipes.js';
import { atScale, fromCi } from '../fixtures/scale.js';
import { useMemoryDirectory, useTestDirectory } from '../fixtures/temp-directory.js';
import { tarEntry, tarOf } from '../formats/plain-tar.js';
import { anySettings, type Settings, tightOnThreads } from './any-settings.js';
import { referenceSplits, SPLITS } from './reference-splits.js';
import { shuffleToShards } from './shuffle-under-test.js';
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

async function expectSplits(given: ValuedInputs, seed: string, settings: Settings): Promise<void> {
  const { inputs, header = NO_BYTES, trailer = NO_BYTES } = given;
  const { selector, ...format } = given.job;
  const expected = referenceSplits(
    inputs.map((records) => records.map(({ record }) => record)),
    seed,
    identitiesIn(given),
    inputs.map(() => header.byteLength),
  );
  const job = { ...format, inputs: bytesOfInputs(given), seed, settings, splits: SPLITS, splitBy: selector };
  const { shards, report } = await shuffleToShards(directory, job, undefined);
  expect(shards.map((shard) => shard.toString('latin1'))).toEqual(
    expected.map((records) => Buffer.concat([header, ...records, trailer]).toString('latin1')),
  );
  expect(report.splits?.map(({ records }) => records)).toEqual(expected.map(({ length }) => length));
}

describe('splits', () => {
  it.each(VALUED_INPUTS)('by %s keep records of one value together, whatever the settings', async (_, cases) => {
    const property = fc.asyncProperty(cases, fc.string(), anySettings, expectSplits);
    await fc.assert(property, { numRuns: atScale(4, 15, 2000) });
  });

  it.runIf(fromCi)('are the same where piles are scattered again, and on worker threads', async () => {
    const selectors = fc.constantFrom('.site', 'csv:2', 'csv:site', '/^\\d+,"(.*?)""/', '/^\\d+,"(?<site>[^"]*)/');
    const check = (count: number, siteCount: number, selector: string, seed: string, each: Settings) => {
      const isField = selector.startsWith('.');
      const records = Array.from({ length: count }, (_, i): Valued => {
        const site = `s${(i * i) % siteCount}`;
        const line = isField ? `{"i":${i},"site":"${site}"}\n` : `${i},"${site}""",x\n`;
        return { record: Buffer.from(line), identity: identityOf(selector.startsWith('csv') ? `${site}"` : site) };
      });
      const inputs = [records.slice(0, count / 3), records.slice(count / 3)];
      if (isField) return expectSplits({ inputs, job: { selector } }, seed, each);
      const job = { records: { by: 'csv' }, header: { lines: 1 }, selector } as const;
      return expectSplits({ inputs, header: Buffer.from('id,site,x\n'), job }, seed, each);
    };
    const [count, siteCount] = [fc.integer({ min: 2000, max: 6000 }), fc.integer({ min: 1, max: 300 })];
    await fc.assert(fc.asyncProperty(count, siteCount, selectors, fc.string(), tightOnThreads, check), {
      numRuns: atScale(2, 3, 300),
    });
  });
});

describe('streams', () => {
  const ofPipes = useTestDirectory();
  const pipeOf = useFedPipes(ofPipes);

  it('say that their header names no such column', async () => {
    writeFileSync(ofPipes.path('a'), 'id,site\n1,2\n');
    const job = { records: { by: 'csv' }, header: { lines: 1 }, splits: SPLITS, splitBy: 'csv:sites' } as const;
    for (const input of [ofPipes.path('a'), pipeOf(ofPipes.path('a'))])
      await expect(shuffle({ ...job, inputs: [input], output: ofPipes.path('out') })).rejects.toMatchObject({
        code: 'ERR_FIELD_MISSING',
        message: `${input}: csv:sites names no column of its header, which has "id", "site"; expected the name of one, or its number`,
      });
  });
});

describe('a record without a value', () => {
  const records = { by: 'csv' } as const;
  const webdataset = { by: 'webdataset' } as const;
  const link = tarEntry({ name: 'a/1.jpg', data: Buffer.from('x') });

  it.each<[string, Pick<ShuffleOptions, 'records'>, Buffer, Buffer, RegExp]>([
    [
      'csv:3',
      { records },
      Buffer.from('a,b,c\n'),
      Buffer.from('d,e\n'),
      /has no column csv:3; expected a row that has it, or give/,
    ],
    ['.a', {}, Buffer.from('{"a":1}\n'), Buffer.from('no object\n'), /has no field \.a; expected a JSON object/],
    ['tsv:2', {}, Buffer.from('a\tb\n'), Buffer.from('d\n'), /has no column tsv:2; expected a row/],
    ['/^(\\w+)\\t/', {}, Buffer.from('a\tb\n'), Buffer.from('\td\n'), /has no match of \/\^\(\\w\+\)\\t\/; expected/],
    ['key:/(\\d+)/', { records: webdataset }, link, tarEntry({ name: 'a/b.jpg' }), /has a key without a match of key:/],
  ])(
    'by %s is an error with its place, or takes the value for such records',
    async (splitBy, format, good, bad, words) => {
      const isTar = format.records?.by === 'webdataset';
      const goods = Array.from({ length: isTar ? 1 : 300 }, () => good);
      const bytes = isTar ? tarOf([]) : NO_BYTES;
      const before = Buffer.concat(goods);
      const input = directory.path('in');
      writeFileSync(input, Buffer.concat([before, bad, bytes]));
      const job = { inputs: [input], output: directory.path('out'), splits: SPLITS, splitBy, ...format };
      for (const tuning of [{ inline: true }, { inline: true, sliceBytes: 700 }]) {
        const done = shuffle({ ...job, force: true }, tuning);
        await expect(done).rejects.toMatchObject({ code: 'ERR_FIELD_MISSING', message: expect.stringMatching(words) });
        await expect(done).rejects.toThrow(`/in: the record at byte ${before.byteLength} has `);
        const report = await shuffle({ ...job, missing: 'none', force: true }, tuning);
        expect(report.records).toBe(goods.length + 1);
      }
    },
  );

  it('is one too long for an expression, with its place', async () => {
    const input = directory.path('in');
    writeFileSync(input, Buffer.concat([Buffer.from('a\n'), Buffer.alloc(2 ** 24 + 1, 'x'), Buffer.from('\n')]));
    const job = { inputs: [input], output: directory.path('out'), splits: SPLITS, splitBy: '/(.)/', missing: 'x' };
    await expect(shuffle(job, { inline: true })).rejects.toMatchObject({
      code: 'ERR_INPUT_CORRUPT',
      message: expect.stringMatching(/: byte 2 begins a record of 16777217 bytes; expected at most 16777216 where an/),
    });
  });
});

describe('a selector', () => {
  const csv: ShuffleOptions['records'] = { by: 'csv' };
  const header = { lines: 1 };

  it('works on records in memory', async () => {
    const inputs = [{ records: ['1\ta\n', '2\ta\n', '3\ta\n'] }];
    const { splits = [] } = await shuffle({ inputs, splits: SPLITS, splitBy: 'tsv:2', output: directory.path('out') });
    expect(splits.map(({ records }) => records).sort()).toEqual([0, 0, 3]);
  });

  it('works on inputs without records', async () => {
    writeFileSync(directory.path('in'), 'id,site');
    const job = { records: csv, header, splits: SPLITS, output: directory.path('out'), force: true };
    for (const splitBy of ['csv:site', 'csv:9', '/(x)/']) {
      const { records, shards } = await shuffle({ ...job, inputs: [directory.path('in')], splitBy });
      expect([records, shards.length]).toEqual([0, 3]);
    }
  });
});
