/**
 * The law of splits: the splits, one behind the other, are the whole order; each has the records of its range of keys or
 * ranks, for any settings, however it is cut into shards; the report and the names say which is which.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendToStore, type ShuffleOptions, type SplitRule, shuffle, shuffleStore } from '#src/index.js';
import { atScale, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { checksumOf } from '../workers/kernel/kernel-twin.js';
import { anyInputs } from './any-inputs.js';
import { anySettings, type Settings } from './any-settings.js';
import { referenceShardBytes } from './reference-cuts.js';
import { keyedOrder, recordsOf } from './reference-order.js';
import { type Job, shuffleToShards } from './shuffle-under-test.js';

const directory = useMemoryDirectory();

type Keyed = ReturnType<typeof keyedOrder>;

/** What each split has, by ../../docs/ORDER.md: shares in hundredths. */
function referenceSplits(order: Keyed, rules: readonly SplitRule[], isHead = false): Buffer[][] {
  const asked = rules.reduce((sum, rule) => sum + ('records' in rule ? rule.records : 0), 0);
  const hundredths = (rule: SplitRule) => ('share' in rule ? BigInt(Math.round(rule.share * 100)) : 0n);
  const restOfShares = 100n - rules.reduce((sum, rule) => sum + hundredths(rule), 0n);
  let share = 0n;
  let rank = 0;
  return rules.map((rule) => {
    if (asked > 0) {
      const first = rank;
      rank += 'records' in rule ? rule.records : order.length - asked;
      return order.slice(first, rank).map(({ record }) => record);
    }
    const first = share;
    share += 'rest' in rule ? restOfShares : hundredths(rule);
    const rankAt = (part: bigint) => Number((part * BigInt(order.length)) / 100n);
    if (isHead) return order.slice(rankAt(first), rankAt(share)).map(({ record }) => record);
    const isIn = (key: bigint) => key >= (first << 64n) / 100n && key < (share << 64n) / 100n;
    return order.filter(({ key }) => isIn(key)).map(({ record }) => record);
  });
}

const orderOf = (inputs: readonly Buffer[], seed: string) =>
  keyedOrder(
    inputs.map((input) => recordsOf(input, 0x0a)),
    seed,
  );

/** Checks the shards of a job and its report. @param shardsOf the records of each shard of a split. */
async function expectSplits(
  job: Job & { readonly splits: readonly SplitRule[] },
  shards: ShuffleOptions['shards'],
  shardsOf: (records: readonly Buffer[], split: string) => number[],
): Promise<void> {
  const order = orderOf(job.inputs, job.seed).slice(0, job.headCount);
  const expected = referenceSplits(order, job.splits, job.headCount !== undefined);
  const { report, shards: found } = await shuffleToShards(directory, job, shards);
  let shard = 0;
  const ofReport = job.splits.map(({ name }, i) => {
    const records = expected[i] ?? [];
    const counts = shardsOf(records, name);
    let record = 0;
    const names = counts.map((count, k) => {
      const part = Buffer.concat(records.slice(record, record + count));
      expect(found[shard]?.equals(part), `${name}, shard ${k}`).toBe(true);
      record += count;
      shard += 1;
      const number = (value: number) => String(value).padStart(5, '0');
      return `${name}-${number(k)}-of-${number(counts.length)}`;
    });
    const bytes = Buffer.concat(records).byteLength;
    const checksum = checksumOf(records.map((each) => ({ key: 0n, bytes: each })))
      .toString(16)
      .padStart(16, '0');
    return { name, records: records.length, bytes, checksum, shards: names };
  });
  expect(shard).toBe(found.length);
  const named = report.splits?.map(({ emptyShards: _, ...split }) => ({
    ...split,
    shards: split.shards.map((path) => basename(path)),
  }));
  expect(named).toEqual(ofReport);
  expect(report.shards).toEqual(report.splits?.flatMap((split) => split.shards));
}

const oneShard = (records: readonly Buffer[]) => [records.length];

/** Shares in hundredths, of which one may be the rest. */
const shares: fc.Arbitrary<SplitRule[]> = fc
  .tuple(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 }), fc.nat())
  .map(([parts, restAt]) => {
    const fitting: number[] = [];
    for (const part of parts) if (fitting.reduce((a, b) => a + b, part) < 100) fitting.push(part);
    const left = 100 - fitting.reduce((a, b) => a + b, 0);
    const all = [...fitting, left];
    return all.map((part, i): SplitRule => {
      const name = `part${i}`;
      return i === restAt % (2 * all.length) ? { name, rest: true } : { name, share: part / 100 };
    });
  });

describe('splits', () => {
  it('are ranges of the keys, whatever the settings', async () => {
    const job = fc.record({ inputs: anyInputs, seed: fc.string(), splits: shares, settings: anySettings });
    await fc.assert(
      fc.asyncProperty(job, (each) => expectSplits(each, undefined, oneShard)),
      { numRuns: atScale(6, 20, 3000) },
    );
  });

  it('of exact numbers are ranges of ranks, and what is left is the rest', async () => {
    const job = fc.record({ inputs: anyInputs, seed: fc.string(), settings: anySettings });
    await fc.assert(
      fc.asyncProperty(job, fc.nat({ max: 40 }), fc.nat({ max: 3 }), async (each, part, restAt) => {
        const count = orderOf(each.inputs, each.seed).length;
        const sizes = [Math.floor(part / 3), part % 7].map((size) => Math.min(size, Math.floor(count / 2)));
        const rules = sizes.flatMap((records, i): SplitRule[] => (records > 0 ? [{ name: `n${i}`, records }] : []));
        rules.splice(restAt % (rules.length + 1), 0, { name: 'rest', rest: true });
        await expectSplits({ ...each, splits: rules }, undefined, oneShard);
      }),
      { numRuns: atScale(4, 13, 2000) },
    );
  });
});

const LINES = Buffer.from(Array.from({ length: 900 }, (_, i) => `${'x'.repeat((i * i) % 50)}${i}\n`).join(''));
const settings: Settings = { workers: 1, memoryBytes: 2 ** 25, tempDirCount: 1, encodings: ['plain'], tuning: {} };
const TUNINGS = [
  { pileCount: 5, bufferBytes: 500, sliceBytes: 3000, inline: true },
  { pileCount: 1, inline: true },
  { pileCount: 64, bufferBytes: 64, sliceBytes: 900, mayUseRamPool: false, inline: true },
  { inline: true },
];
const SPLITS: readonly SplitRule[] = [
  { name: 'train', share: 0.7 },
  { name: 'dev.small', share: 0.02 },
  { name: 'test', rest: true },
];

describe('the shards of each split', () => {
  const jobs = TUNINGS.map((tuning) => ({
    inputs: [LINES],
    seed: '7',
    splits: SPLITS,
    settings: { ...settings, tuning },
  }));

  it('are as many as asked for, for all or for each', async () => {
    const inShards = (count: number) => (records: readonly Buffer[]) =>
      Array.from({ length: count }, (_, i) => {
        const at = (k: number) => Math.floor((k * records.length) / count);
        return at(i + 1) - at(i);
      });
    const counts: Readonly<Record<string, number>> = { train: 5, test: 2 };
    for (const job of jobs) {
      await expectSplits(job, { by: 'count', shardCount: 3 }, inShards(3));
      await expectSplits(job, { by: 'count', shardCount: counts }, (records, split) =>
        inShards(counts[split] ?? 1)(records),
      );
    }
  });

  it('have as many records as asked for', async () => {
    const sevens = (records: readonly Buffer[]) =>
      Array.from({ length: Math.max(1, Math.ceil(records.length / 7)) }, (_, i) => Math.min(7, records.length - 7 * i));
    for (const job of jobs) await expectSplits(job, { by: 'records', recordsPerShard: 7 }, sevens);
  });

  it.each(sampled([1000, 150], 2))('have at most %d bytes', async (maxShardBytes) => {
    const longest = 49 + 3 + 1;
    for (const job of jobs) {
      await expectSplits(job, { by: 'bytes', maxShardBytes }, (records) => {
        let record = 0;
        return referenceShardBytes(
          records.map(({ byteLength }) => byteLength),
          maxShardBytes,
          longest,
        ).map((bytes) => {
          const first = record;
          for (let rest = bytes; rest > 0; record++) rest -= records[record]?.byteLength ?? 0;
          return record - first;
        });
      });
    }
  });

  it('of the first records of the order are parts of their number', async () => {
    for (const job of jobs) {
      for (const headCount of sampled([0, 1, 333, 5000], 2))
        await expectSplits({ ...job, headCount }, undefined, oneShard);
    }
  });
});

describe('splits', () => {
  it('in an existing directory get a marker each, beside shards of other names', async () => {
    const output = directory.path('out');
    const input = directory.path('in');
    writeFileSync(input, LINES);
    await shuffle({ inputs: [input], output, seed: '1', shards: { by: 'count', shardCount: 2 }, shardPrefix: 'test' });
    const warnings: string[] = [];
    const job = {
      inputs: [input],
      output,
      seed: '1',
      splits: SPLITS.map((rule) => ({ ...rule, name: `my_${rule.name}` })),
    };
    const report = await shuffle({ ...job, onWarning: (line) => warnings.push(line) });
    expect(warnings).toContainEqual(expect.stringMatching(/holds test-00000-of-00002 \(and 1 other\), which no split/));
    for (const { name, records, bytes, checksum } of report.splits ?? []) {
      const marker = readFileSync(`${output}/.${name}.complete.json`, 'latin1');
      expect(JSON.parse(marker)).toEqual({ shards: 1, records, bytes, checksum });
    }
    expect(readdirSync(output)).toHaveLength(2 + 1 + 3 + 3);
    await expect(shuffle(job)).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' });
  });

  it('keep each record when inputs with ids are added, and are those of the store', async () => {
    const paths = ['a', 'b', 'c'].map((name, i) => {
      writeFileSync(
        directory.path(name),
        `${name}${i}\n`.repeat(3) + LINES.subarray(0, 3000).toString().replace(/^/gm, name),
      );
      return directory.path(name);
    });
    const splitOf = async (inputs: readonly string[], name: string) => {
      const { splits = [] } = await shuffle({
        inputs,
        inputIds: 'path',
        output: directory.path(name),
        seed: 's',
        splits: SPLITS,
      });
      return splits.map(({ shards }) => shards.map((path) => readFileSync(path, 'latin1')).join(''));
    };
    const before = await splitOf(paths.slice(0, 2), 'before');
    const after = await splitOf(paths, 'after');
    for (const [i, text] of after.entries()) {
      const isOld = (line: string) => /^[ab]/.test(line);
      expect(text.split('\n').filter(isOld)).toEqual((before[i] ?? '').split('\n').filter(isOld));
    }
    const store = directory.path('store');
    await appendToStore(store, { inputs: paths, inputIds: 'path', seed: 's', piles: 7 });
    const { splits = [] } = await shuffleStore(store, { output: directory.path('stored'), splits: SPLITS });
    expect(splits.map(({ shards }) => shards.map((path) => readFileSync(path, 'latin1')).join(''))).toEqual(after);
  });
});
