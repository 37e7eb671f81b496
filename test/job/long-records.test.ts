/**
 * Shards by bytes of a job with a record that is nearly as long as a shard: as few as with short records alone, none
 * empty, and the same ones wherever the piles lie.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { appendToStore, type ShuffleOptions, shuffle, shuffleStore, type Tuning } from '#src/index.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { referenceShardBytes } from '../laws/reference-cuts.js';
import { orderRecords } from '../laws/reference-order.js';

const MAX_SHARD_BYTES = 100_000;
const SEED = 'long';

const directory = useMemoryDirectory();

/** 2 MB of short lines and one long line: room for the long one in every shard makes 209 of them, and 21 hold the bytes. */
const records = Array.from({ length: 20_000 }, (_, i) => Buffer.from(`${String(i).padEnd(99, '.')}\n`));
records.splice(12_345, 0, Buffer.from(`${'long '.repeat(18_000).slice(1)}\n`));

const ORDERED = orderRecords([records], SEED);

beforeEach(() => writeFileSync(directory.path('in'), Buffer.concat(records)));

const common = () => ({
  output: directory.path('out'),
  shards: { by: 'bytes', maxShardBytes: MAX_SHARD_BYTES } as const,
  tempDirs: [directory.temp],
});
const run = (options: Partial<ShuffleOptions>, tuning: Partial<Tuning>) =>
  shuffle({ ...common(), inputs: [directory.path('in')], seed: SEED, ...options }, tuning);

function expectShards(shards: readonly Buffer[], ordered: readonly Buffer[]): void {
  const sizes = shards.map(({ byteLength }) => byteLength);
  expect(Buffer.concat(shards).equals(Buffer.concat(ordered))).toBe(true);
  expect(sizes.length).toBeLessThanOrEqual(22);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(MAX_SHARD_BYTES);
  expect(Math.min(...sizes)).toBeGreaterThan(0);
  const lengths = ordered.map(({ byteLength }) => byteLength);
  expect(sizes).toEqual(referenceShardBytes(lengths, MAX_SHARD_BYTES));
}

const inline = { inline: true };
const WAYS: readonly (readonly [string, Partial<ShuffleOptions>, Partial<Tuning>])[] = [
  ['in memory', {}, { ...inline, mayUseRamPool: true, pileCount: 7 }],
  ['on disk', {}, { ...inline, mayUseRamPool: false, pileCount: 50, stripeCount: 5 }],
  ['in one pile', {}, { ...inline, mayUseRamPool: false, pileCount: 1 }],
  ['scattered again', {}, { ...inline, mayUseRamPool: false, pileCount: 2, pass2ArenaBytes: 2 ** 19 }],
  ['on threads', { workers: 2 }, { inline: false, mayUseRamPool: false, pileCount: 20 }],
  ['compressed', { compress: { codec: 'gzip', level: 1 } }, { ...inline, mayUseRamPool: true, pileCount: 20 }],
  ['resumable', { resume: true }, { ...inline, mayUseRamPool: false, pileCount: 20, stripeCount: 4 }],
];

describe('shards around a long record', () => {
  it.each(sampled(WAYS, 2, 1))('are few and full: %s', async (_, options, tuning) => {
    const { shards } = await run(options, tuning);
    const decode = options.compress === undefined ? (bytes: Buffer) => bytes : gunzipSync;
    expectShards(
      shards.map((path) => decode(readFileSync(path))),
      ORDERED,
    );
    expect(readdirSync(directory.temp)).toEqual([]);
  });

  it('are few and full: from a store', async () => {
    const store = directory.path('store');
    await appendToStore(store, {
      inputs: [directory.path('in')],
      seed: SEED,
      inputIds: 'name',
    });
    const whole = directory.path('whole');
    await shuffleStore(store, { output: whole, tempDirs: [directory.temp] }, inline);
    const { shards } = await shuffleStore(store, common(), inline);
    const lines = readFileSync(whole, 'latin1').match(/[^\n]*\n/g) ?? [];
    expectShards(
      shards.map((path) => readFileSync(path)),
      lines.map((line) => Buffer.from(line, 'latin1')),
    );
  });

  it('have room for the header of each', async () => {
    const header = 'header '.repeat(1000).trimEnd();
    writeFileSync(directory.path('in'), `${header}\n${Buffer.concat(records)}`);
    const maxShardBytes = MAX_SHARD_BYTES + header.length + 1;
    const { shards } = await run({ header: { lines: 1 }, shards: { by: 'bytes', maxShardBytes } }, inline);
    const texts = shards.map((path) => readFileSync(path, 'latin1'));
    for (const text of texts) expect(text.startsWith(`${header}\n`)).toBe(true);
    expectShards(
      texts.map((text) => Buffer.from(text.slice(header.length + 1), 'latin1')),
      orderRecords([records], SEED, [header.length + 1]),
    );
  });
});
