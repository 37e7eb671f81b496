/**
 * The law of `groupBy`: records of one value stay together, in their order in the inputs, in the order of the values and
 * between the cuts that docs/ORDER.md says, for any settings, however large a bundle is.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ShardRule, type ShuffleOptions, type ShuffleProgress, shuffle } from '#src/index.js';
import { contentOf, runClusterLocally } from '../fixtures/run-cluster.js';
import { atScale, fromCi } from '../fixtures/scale.js';
import { textsOfGroups, writeTable } from '../fixtures/tables.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { recordHash } from '../workers/kernel/kernel-twin.js';
import { anySettings, plainSettings, type Settings, tightSettings } from './any-settings.js';
import { bundlesInOrder, shardsOfBundles } from './bundle-order.js';
import { SPLITS, SPLITS_BEGIN } from './reference-splits.js';
import { expectReport, shuffleToFile, shuffleToShards } from './shuffle-under-test.js';
import {
  bytesOfInputs,
  identitiesIn,
  identityOf,
  NO_BYTES,
  VALUED_INPUTS,
  type Valued,
  type ValuedInputs,
} from './valued-records.js';
import { copiesAndChance } from './weighed-order.js';

const directory = useMemoryDirectory();

const bundlesIn = (given: ValuedInputs, seed: string) =>
  bundlesInOrder(
    given.inputs.map((records) => records.map(({ record }) => record)),
    seed,
    identitiesIn(given),
  );

/** @param rule undefined: one output. */
async function expectBundles(
  given: ValuedInputs,
  seed: string,
  settings: Settings,
  rule: ShardRule | undefined,
): Promise<void> {
  const { header = NO_BYTES, trailer = NO_BYTES } = given;
  const { selector, ...format } = given.job;
  const job = { ...format, inputs: bytesOfInputs(given), seed, groupBy: selector, settings };
  const bundles = bundlesIn(given, seed);
  const around = header.byteLength + trailer.byteLength;
  const largest = Math.max(0, ...bundles.map(({ records }) => Buffer.concat(records).byteLength));
  if (rule?.by === 'bytes' && largest + around > rule.maxShardBytes && largest > 0) {
    await expect(shuffleToShards(directory, job, rule)).rejects.toMatchObject({
      message: expect.stringMatching(`expected \`shards.maxShardBytes\` of at least `),
    });
    return;
  }
  const { shards, report } =
    rule === undefined
      ? await shuffleToFile(directory, job).then(({ bytes, ...rest }) => ({ ...rest, shards: [bytes] }))
      : await shuffleToShards(directory, job, rule);
  const expected = shardsOfBundles(bundles, rule ?? { by: 'count', shardCount: 1 }, around).map((ofShard) =>
    Buffer.concat([header, ...ofShard.flatMap(({ records }) => records), trailer]).toString('latin1'),
  );
  expect(shards.map((shard) => shard.toString('latin1'))).toEqual(expected);
  const empty = shardsOfBundles(bundles, rule ?? { by: 'count', shardCount: 1 }, around).filter(
    (ofShard) => ofShard.length === 0,
  );
  expect(report.emptyShards).toBe(rule === undefined ? undefined : empty.length || undefined);
  expectReport(
    report,
    bundles.flatMap(({ records }) => records),
  );
}

const rules = fc.option(
  fc.oneof(
    fc.integer({ min: 1, max: 12 }).map((shardCount): ShardRule => ({ by: 'count', shardCount })),
    fc.integer({ min: 1, max: 5000 }).map((maxShardBytes): ShardRule => ({ by: 'bytes', maxShardBytes })),
  ),
  { nil: undefined },
);

/** Two inputs of objects. Of them, `often` have one of three values. */
function makeSkewed(count: number, values: number, often: number): ValuedInputs {
  const records = Array.from({ length: count }, (_, i): Valued => {
    const draw = (Math.imul(i, 0x9e3779b1) >>> 8) / 2 ** 24;
    const chat = `c${draw < often ? i % 3 : Math.floor(draw * values)}`;
    return {
      record: Buffer.from(`{"i":${i},"t":"${'x'.repeat((i * 37) % 60)}","chat":"${chat}"}\n`),
      identity: identityOf(chat),
    };
  });
  return { inputs: [records.slice(0, count / 3), records.slice(count / 3)], job: { selector: '.chat' } };
}

describe('bundles', () => {
  it.each(VALUED_INPUTS)('by %s are whole and in order, whatever the settings', async (_, cases) => {
    await fc.assert(fc.asyncProperty(cases, fc.string(), anySettings, rules, expectBundles), {
      numRuns: atScale(3, 8, 2000),
    });
  });

  it.runIf(fromCi)(
    'are the same where piles are too large, with very many records of one value, and on threads',
    async () => {
      const skewed = fc
        .tuple(
          fc.integer({ min: 2000, max: 6000 }),
          fc.integer({ min: 1, max: 6000 }),
          fc.double({ min: 0, max: 1, noNaN: true }),
        )
        .map((drawn) => makeSkewed(...drawn));
      const settings = fc
        .tuple(tightSettings, fc.boolean())
        .map(([each, inline]) => ({ ...each, tuning: { ...each.tuning, inline } }));
      await fc.assert(fc.asyncProperty(skewed, fc.string(), settings, rules, expectBundles), {
        numRuns: atScale(1, 3, 400),
      });
    },
  );

  it.each([0.4, 1])('are written in pieces where they are several times as large as the memory: %s', async (often) => {
    const tuning = { pileCount: 2, bufferBytes: 3000, outputBytes: 2000, pass2ArenaBytes: 48 * 1024, readBytes: 2000 };
    const settings = plainSettings({ ...tuning, mayUseRamPool: false });
    for (const rule of [undefined, { by: 'count', shardCount: 5 }] as const)
      await expectBundles(makeSkewed(12_000, 600, often), 'large', settings, rule);
  });

  it.each([
    ['/^\\d+ (.*)/', '', ' ', ''],
    ['tsv:2', '', '\t', ''],
    ['.v', '{"i":', ',"v":"', '"}'],
  ])('by %s are apart where their values differ and have one hash', async (groupBy, before, between, after) => {
    // Made for the hash of records: in it, a difference in the second byte of a value undoes one in the sixth.
    const value = (second: number, sixth: number) =>
      Buffer.from([second, 0x61, 0x61, 0x61, sixth, 0x61, 0x61, 0x7c, 0x01, 0x81, 0x2c, 0x08, 0xde, 0x52, 0xe3]);
    const values = [value(0x64, 0x61), value(0x60, 0x65)];
    const quote = Buffer.from('"');
    expect(new Set(values.map((each) => recordHash(Buffer.concat([quote, each])))).size).toBe(1);
    const linesOf = (count: number) =>
      Array.from({ length: count }, (_, i) =>
        Buffer.concat([Buffer.from(`${before}${i}${between}`), values[i % 2] ?? NO_BYTES, Buffer.from(`${after}\n`)]),
      );
    const job = { inputs: [directory.path('in')], output: directory.path('out'), seed: 'one', force: true };
    const options = { ...job, groupBy };
    const lines = linesOf(9);
    writeFileSync(directory.path('in'), Buffer.concat(lines));
    const expected = [...lines.filter((_, i) => i % 2 === 1), ...lines.filter((_, i) => i % 2 === 0)];
    for (const tuning of [
      { mayUseRamPool: true, bufferBytes: 4096 },
      { bufferBytes: 9, pileCount: 1 },
    ]) {
      const { shards } = await shuffle(
        { ...options, shards: { by: 'count', shardCount: 2 } },
        { inline: true, ...tuning },
      );
      const contents = shards.map((path) => readFileSync(path));
      expect(Buffer.concat(contents).toString('latin1')).toBe(Buffer.concat(expected).toString('latin1'));
      expect(contents.map(({ byteLength }) => byteLength)).toEqual(
        [0, 0].map((_, i) => Buffer.concat(lines.filter((__, k) => k % 2 !== i)).byteLength),
      );
    }
    const long = linesOf(1200).map((line) =>
      Buffer.concat([line.subarray(0, before.length), Buffer.alloc(200, '1'), line.subarray(before.length)]),
    );
    writeFileSync(directory.path('in'), Buffer.concat(long));
    const tuning = { inline: true, pileCount: 1, bufferBytes: 3000, outputBytes: 2000, readBytes: 2000 };
    const tight = { ...tuning, pass2ArenaBytes: 48 * 1024, mayUseRamPool: false };
    const refused = shuffle({ ...options, output: directory.path('other'), memoryBytes: 2 ** 25 }, tight);
    await expect(refused).rejects.toMatchObject({ code: 'ERR_RECORDS_COLLIDE' });
  });

  it('are the same when the job is stopped and resumed, but not by another value', async () => {
    const given = makeSkewed(6000, 300, 0.5);
    writeFileSync(directory.path('in'), Buffer.concat(given.inputs.flat().map(({ record }) => record)));
    const job: ShuffleOptions & { output: string } = {
      inputs: [directory.path('in')],
      output: directory.path('out'),
      shards: { by: 'count', shardCount: 4 },
      seed: 'r',
      groupBy: '.chat',
      resume: true,
      workers: 1,
      memoryBytes: 2 ** 26,
    };
    const small = { inline: true, pileCount: 4, bufferBytes: 700, sliceBytes: 20_000, mayUseRamPool: false };
    const tuning = { ...small, pass2ArenaBytes: 48 * 1024 };
    const stop = new AbortController();
    const onProgress = ({ phase }: ShuffleProgress) => {
      if (phase === 'shuffle') stop.abort();
    };
    await expect(shuffle({ ...job, signal: stop.signal, onProgress }, tuning)).rejects.toThrow();
    await expect(shuffle({ ...job, groupBy: '.t' }, tuning)).rejects.toMatchObject({ code: 'ERR_JOB_DIFFERS' });
    const report = await shuffle(job, tuning);
    expect(report.resumed?.pileSets).toBeGreaterThan(1);
    const expected = shardsOfBundles(
      bundlesIn({ ...given, inputs: [given.inputs.flat()] }, 'r'),
      job.shards as ShardRule,
      0,
    );
    expect(report.shards.map((path) => readFileSync(path, 'latin1'))).toEqual(
      expected.map((bundles) => Buffer.concat(bundles.flatMap(({ records }) => records)).toString('latin1')),
    );
  });

  it.runIf(fromCi)('are the same where tasks of a cluster write them', async () => {
    const given = makeSkewed(3000, 200, 0.3);
    const inputs = given.inputs.map((records, i) => {
      writeFileSync(directory.path(`in${i}`), Buffer.concat(records.map(({ record }) => record)));
      return directory.path(`in${i}`);
    });
    const job = { inputs, output: directory.path('out'), jobDir: directory.path('job'), tasks: 3, seed: 'c' };
    for (const rule of [
      { by: 'count', shardCount: 5 },
      { by: 'bytes', maxShardBytes: 60_000 },
    ] as const) {
      await runClusterLocally({ ...job, groupBy: '.chat', shards: rule, force: true });
      const shards = shardsOfBundles(bundlesIn(given, 'c'), rule, 0);
      const [, ...found] = Object.values(contentOf(job.output));
      expect(found).toEqual(shards.map((bundles) => String(Buffer.concat(bundles.flatMap(({ records }) => records)))));
      rmSync(job.output, { recursive: true });
      rmSync(job.jobDir, { recursive: true });
    }
  });

  it('of rows are whole in each file of a table, wherever row groups begin', async () => {
    const rows = Array.from({ length: 400 }, (_, i) => ({ text: `${i};`, number: (i * i) % 31 }));
    writeTable(directory.path('in.parquet'), rows, 90);
    const numberOf = (text: Buffer) => Buffer.from(`${rows[Number.parseInt(String(text), 10)]?.number}`);
    const bundles = bundlesInOrder([rows.map(({ text }) => Buffer.from(text))], 'rows', numberOf);
    const rule = { by: 'count', shardCount: 3 } as const;
    const options = { groupBy: '.number', seed: 'rows', shards: rule, rowGroupRows: 20, parquetCodec: 'none' } as const;
    const job = { ...options, inputs: [directory.path('in.parquet')], output: directory.path('out') };
    const { shards } = await shuffle({ ...job, memoryBytes: 2 ** 26 }, { inline: true, pileCount: 4 });
    expect(shards.map((path) => textsOfGroups(path).flat().join(''))).toEqual(
      shardsOfBundles(bundles, rule, 0).map((ofShard) =>
        Buffer.concat(ofShard.flatMap((each) => each.records)).toString(),
      ),
    );
  });

  it('are whole where weights leave some of them out, wherever values lie in records', async () => {
    const given = makeSkewed(900, 60, 0.1);
    const job = {
      inputs: bytesOfInputs(given),
      seed: 'w',
      groupBy: '.chat',
      settings: plainSettings({ pileCount: 3 }),
    };
    const { bytes } = await shuffleToFile(directory, { ...job, factors: ['0.5', '0.5'] });
    const bundles = bundlesInOrder(
      given.inputs.map((records) => records.map(({ record }) => record)),
      'w',
      identitiesIn(given),
      () => copiesAndChance('0.5'),
    );
    expect(String(bytes)).toBe(String(Buffer.concat(bundles.flatMap(({ records }) => records))));
  });

  it('of splits are those whose keys are in the split, or whose values choose it', async () => {
    const given = makeSkewed(900, 60, 0.1);
    const job = { inputs: bytesOfInputs(given), seed: 's', splits: SPLITS, settings: plainSettings({ pileCount: 5 }) };
    const whole = await shuffleToShards(directory, { ...job, groupBy: '.chat' }, undefined);
    const bundles = bundlesIn(given, 's');
    const splitOf = (key: bigint) => SPLITS_BEGIN.findLastIndex((bound) => bound <= key);
    expect(whole.shards.map(String)).toEqual(
      SPLITS.map((_, i) =>
        String(Buffer.concat(bundles.filter(({ key }) => splitOf(key) === i).flatMap(({ records }) => records))),
      ),
    );
    const apart = await shuffleToShards(directory, { ...job, splitBy: '.chat' }, undefined);
    const both = await shuffleToShards(directory, { ...job, splitBy: '.chat', groupBy: '.chat' }, undefined);
    const sorted = (shards: readonly Buffer[]) => shards.map((shard) => String(shard).split('\n').sort());
    expect(sorted(both.shards)).toEqual(sorted(apart.shards));
    const order = both.shards.map((shard) => new Set(String(shard).match(/"chat":"\w+"/g)));
    expect(order.map((values) => [...values])).toEqual(
      order.map((values) =>
        bundles.map(({ identity }) => `"chat":${String(identity)}"`).filter((each) => values.has(each)),
      ),
    );
  });
});
