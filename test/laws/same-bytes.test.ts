/**
 * The laws: the output has the records of the inputs, in the order that the seed defines, for any workers, memory,
 * piles, slices, buffers, temp directories and compression. Shards, by every rule, are the bytes of the single output,
 * cut where the rule says.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ShardRule } from '#src/index.js';
import { atScale, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { TINY_BUFFERS } from '../fixtures/tiny-buffers.js';
import { anyInputs, largeInputs, makeLargeInputs } from './any-inputs.js';
import { anySettings, type Settings, tightSettings } from './any-settings.js';
import { referenceShardBytes } from './reference-cuts.js';
import { orderRecords, recordsOf, referenceOrder } from './reference-order.js';
import { expectReport, type Job, shuffleToFile, shuffleToShards } from './shuffle-under-test.js';

const seed = fc.oneof(fc.string(), fc.constantFrom('', '0', '1', '42', '\0', 'Ł'));
const keys = fc.constantFrom('position' as const, 'ordinal' as const);
const terminatorOf = ({ zeroTerminated }: Job) => (zeroTerminated === true ? 0x00 : 0x0a);

function sorted(records: readonly Buffer[]): string[] {
  return records.map((record) => record.toString('latin1')).sort();
}

/** Times the cases of `npm test`. */
const times = atScale(1, 1, 80);

describe('one output', () => {
  const directory = useMemoryDirectory();

  async function expectLaws(job: Job): Promise<void> {
    const { bytes, report } = await shuffleToFile(directory, job);
    const terminator = terminatorOf(job);
    const records = job.inputs.flatMap((input) => recordsOf(input, terminator));
    expect(sorted(recordsOf(bytes, terminator))).toEqual(sorted(records));
    const ofInputs = job.inputs.map((input) => recordsOf(input, terminator));
    const ordered = orderRecords(ofInputs, job.seed, [], job.inputIds, job.keys);
    expect(bytes.equals(Buffer.concat(ordered))).toBe(true);
    expectReport(report, records);
  }

  it('has the same records and the same bytes, whatever the settings', async () => {
    const job = fc.record({ inputs: anyInputs, seed, zeroTerminated: fc.boolean(), settings: anySettings });
    await fc.assert(fc.asyncProperty(job, expectLaws), { numRuns: atScale(4, 36 * times) });
  });

  it('has the same bytes when piles do not fit and are scattered again', async () => {
    let scatteredAgain = 0;
    await fc.assert(
      fc.asyncProperty(largeInputs, seed, tightSettings, async (large, ofSeed, settings) => {
        const inputs = makeLargeInputs(large);
        await expectLaws({ inputs, seed: ofSeed, settings });
        // Stored header, entries and counts of a record, besides its bytes.
        const storedBytes = large.lines * 32 + Buffer.concat(inputs).byteLength;
        const { pileCount = 1, pass2ArenaBytes = 0 } = settings.tuning;
        if (storedBytes / pileCount > pass2ArenaBytes) scatteredAgain += 1;
      }),
      { numRuns: atScale(2, 4 * times) },
    );
    expect(scatteredAgain).toBeGreaterThan(atScale(0, times));
  });

  it('has the same bytes when the parts of such a pile do not fit either', async () => {
    // 500 KB stored; an arena of 80 KB loads 2,000 records and scatters again onto two or three at a time.
    const inputs = makeLargeInputs({ lines: 12_000, longest: 40, factor: 5 });
    for (const pileCount of sampled([1, 2, 3], 3, 1)) {
      const tuning = { pileCount, bufferBytes: 500, readBytes: 300, outputBytes: 1000, pass2ArenaBytes: 80 * 1024 };
      await expectLaws({
        inputs,
        seed: 'three levels',
        settings: {
          workers: 1,
          memoryBytes: 16 * 2 ** 20,
          tempDirCount: 2,
          encodings: ['plain'],
          tuning: { ...tuning, inline: true },
        },
      });
    }
  });

  it('has the same bytes on worker threads as on one', async () => {
    const localExecutor = (settings: Settings): Settings => ({
      ...settings,
      tuning: { ...settings.tuning, inline: false },
    });
    const small = fc.record({ inputs: anyInputs, seed, settings: anySettings.map(localExecutor) });
    await fc.assert(fc.asyncProperty(small, expectLaws), { numRuns: times });
    await fc.assert(
      fc.asyncProperty(largeInputs, seed, keys, tightSettings.map(localExecutor), (large, ofSeed, ofKeys, settings) =>
        expectLaws({ inputs: makeLargeInputs(large), seed: ofSeed, keys: ofKeys, inputIds: ['b', 'a'], settings }),
      ),
      { numRuns: times },
    );
  });

  it('has the same bytes with tiny buffers', async () => {
    const settings: Settings = {
      workers: 2,
      memoryBytes: 16 * 2 ** 20,
      tempDirCount: 2,
      encodings: ['plain', 'gzip', 'gzip members'],
      tuning: TINY_BUFFERS,
    };
    await fc.assert(
      fc.asyncProperty(largeInputs, seed, keys, (large, ofSeed, ofKeys) =>
        expectLaws({ inputs: makeLargeInputs(large), seed: ofSeed, keys: ofKeys, settings }),
      ),
      { numRuns: times },
    );
  });
});

describe('shards', () => {
  const directory = useMemoryDirectory();

  const rule: fc.Arbitrary<ShardRule> = fc.oneof(
    fc.integer({ min: 1, max: 12 }).map((shardCount) => ({ by: 'count' as const, shardCount })),
    fc.integer({ min: 1, max: 90 }).map((recordsPerShard) => ({ by: 'records' as const, recordsPerShard })),
    fc.nat({ max: 400 }).map((maxShardBytes) => ({ by: 'bytes' as const, maxShardBytes })),
  );

  const coarse = rule.map((each) => (each.by === 'records' ? { ...each, recordsPerShard: 300 } : each));

  /** A limit by bytes is meant on top of the longest record. */
  function feasible(wanted: ShardRule, records: readonly Buffer[]): ShardRule {
    if (wanted.by !== 'bytes') return wanted;
    const longest = Math.max(1, ...records.map(({ byteLength }) => byteLength));
    const bytes = records.reduce((sum, { byteLength }) => sum + byteLength, 0);
    return { by: 'bytes', maxShardBytes: longest + wanted.maxShardBytes + Math.ceil(bytes / 40) };
  }

  function expectPromise(promised: ShardRule, shards: readonly Buffer[], terminator: number): void {
    const counts = shards.map((shard) => recordsOf(shard, terminator).length);
    if (promised.by === 'count') {
      expect(shards).toHaveLength(promised.shardCount);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    } else if (promised.by === 'records') {
      for (const count of counts.slice(0, -1)) expect(count).toBe(promised.recordsPerShard);
      expect(counts.at(-1)).toBeLessThanOrEqual(promised.recordsPerShard);
      expect(counts.length === 1 || counts.at(-1) !== 0).toBe(true);
    } else {
      const lengths = recordsOf(Buffer.concat(shards), terminator).map(({ byteLength }) => byteLength);
      const expected = referenceShardBytes(lengths, promised.maxShardBytes);
      expect(shards.map(({ byteLength }) => byteLength)).toEqual(expected);
      expect(Math.max(...expected)).toBeLessThanOrEqual(promised.maxShardBytes);
      expect(expected.length === 1 || !expected.includes(0)).toBe(true);
    }
  }

  async function expectShardLaws(job: Job, wanted: ShardRule): Promise<void> {
    const terminator = terminatorOf(job);
    const ordered = referenceOrder(job.inputs, job.seed, terminator);
    const promised = feasible(wanted, ordered);
    const { shards, report } = await shuffleToShards(directory, job, promised);
    expect(Buffer.concat(shards).equals(Buffer.concat(ordered))).toBe(true);
    const lastBytes = shards.filter(({ byteLength }) => byteLength > 0).map((shard) => shard.at(-1));
    expect(lastBytes.every((byte) => byte === terminator)).toBe(true);
    expectPromise(promised, shards, terminator);
    expectReport(report, ordered);
  }

  it('are the bytes of the one output, cut as promised, whatever the settings', async () => {
    const job = fc.record({ inputs: anyInputs, seed, zeroTerminated: fc.boolean(), settings: anySettings });
    await fc.assert(fc.asyncProperty(job, rule, expectShardLaws), { numRuns: atScale(2, 20 * times) });
  });

  it('are cut inside piles that are scattered again', async () => {
    await fc.assert(
      fc.asyncProperty(largeInputs, seed, tightSettings, coarse, (large, ofSeed, settings, each) =>
        expectShardLaws({ inputs: makeLargeInputs(large), seed: ofSeed, settings }, each),
      ),
      { numRuns: 2 * times },
    );
  });

  it('are written by worker threads as by one', async () => {
    const settings: Settings = {
      workers: 2,
      memoryBytes: 16 * 2 ** 20,
      tempDirCount: 1,
      encodings: ['plain'],
      tuning: { ...TINY_BUFFERS, inline: false },
    };
    await fc.assert(
      fc.asyncProperty(largeInputs, seed, coarse, (large, ofSeed, each) =>
        expectShardLaws({ inputs: makeLargeInputs(large), seed: ofSeed, settings }, each),
      ),
      { numRuns: times },
    );
  });
});
