/**
 * The same bytes at large sizes: outputs long enough to be written around the page cache, in whole blocks at matching
 * positions, and inputs that fill the memory pool half-way. The first output of each comparison is written in the
 * simplest way; the others must equal it.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, type ShuffleReport, shuffle } from '#src/index.js';
import type { Tuning } from '#src/plan/memory-plan.js';
import { sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { recordsOf, referenceOrder } from './reference-order.js';

const MIB = 2 ** 20;

/** Lines of all lengths up to `longest`, each different. */
function linesOf(byteLength: number, longest: number): Buffer {
  const lines: string[] = [];
  for (let bytes = 0, i = 0; bytes < byteLength; i++) {
    const line = `${i} ${'.'.repeat((Math.imul(i, 0x9e3779b1) >>> 4) % longest)}\n`;
    lines.push(line);
    bytes += line.length;
  }
  return Buffer.from(lines.join(''));
}

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe('a large output', () => {
  const directory = useTestDirectory();

  async function run(
    options: Partial<ShuffleOptions>,
    tuning: Tuning,
  ): Promise<{ report: ShuffleReport; bytes: Buffer }> {
    const output = directory.path('out');
    const report = await shuffle(
      {
        inputs: [directory.path('in')],
        output,
        seed: 'large',
        tempDirs: [directory.temp],
        memoryBytes: 256 * MIB,
        workers: 2,
        ...options,
      },
      tuning,
    );
    const paths = report.shards.length > 0 ? report.shards : [output];
    const bytes = Buffer.concat(paths.map((path) => readFileSync(path)));
    rmSync(output, { recursive: true });
    return { report, bytes };
  }

  it('has the same bytes around the page cache and through it, in one file and in shards', async () => {
    const input = linesOf(36 * MIB, 400);
    writeFileSync(directory.path('in'), input);
    // Buffers of less than four blocks are never written directly.
    const plain = await run({ workers: 1 }, { outputBytes: 12_000, inline: true });
    expect(plain.report.bytes).toBe(input.byteLength);
    expect(digest(Buffer.concat(recordsOf(plain.bytes, 0x0a).sort(Buffer.compare)))).toBe(
      digest(Buffer.concat(recordsOf(input, 0x0a).sort(Buffer.compare))),
    );
    const others: [Partial<ShuffleOptions>, Tuning][] = [
      [{ workers: 1 }, { inline: true }],
      [{}, {}],
      [{}, { outputBytes: 16_384, mayUseRamPool: false }],
      [{ memoryBytes: 16 * MIB }, {}],
      [{ shards: { by: 'count', shardCount: 2 } }, {}],
      [{ shards: { by: 'bytes', maxShardBytes: 17 * MIB } }, { outputBytes: 20_001 }],
      [{ ioLimits: { [directory.temp]: 1 } }, { mayUseRamPool: false, outputBytes: 65_536 }],
    ];
    for (const [options, tuning] of others) {
      const { report, bytes } = await run(options, tuning);
      expect(digest(bytes), JSON.stringify([options, tuning])).toBe(digest(plain.bytes));
      expect(report.checksum).toBe(plain.report.checksum);
    }
  });

  it('is cut into shards inside piles, however these are loaded', async () => {
    // Tasks of pass 2 hold 4 MiB or more, so that several of them begin inside a shard.
    const input = linesOf(22 * MIB, 800);
    writeFileSync(directory.path('in'), input);
    const ordered = referenceOrder([input], 'large');
    const expected = digest(Buffer.concat(ordered));
    const records = ordered.length;
    const tunings: Tuning[] = [
      { inline: true, pileCount: 40 },
      { inline: false, pileCount: 7 },
      { inline: true, pileCount: 5, pass2ArenaBytes: MIB, bufferBytes: 30_000, readBytes: 60_000, outputBytes: 30_000 },
    ];
    for (const [i, tuning] of tunings.entries()) {
      const rules = [
        { by: 'count' as const, shardCount: 3 + i },
        { by: 'records' as const, recordsPerShard: Math.ceil(records / (2.5 + i)) },
        { by: 'bytes' as const, maxShardBytes: (5 + i) * MIB },
      ];
      // In CI each rule has one of the tunings.
      for (const shards of sampled(rules, 3, i, 3)) {
        const { report, bytes } = await run({ shards, memoryBytes: 64 * MIB }, tuning);
        const what = JSON.stringify([shards, tuning]);
        expect(digest(bytes), what).toBe(expected);
        expect(report.shards.length, what).toBeGreaterThan(2);
      }
    }
  });

  it('has the same bytes when records are longer than the output buffer', async () => {
    const long = [5 * MIB, 100_000, 4096, 8192, 65_536, 70_000, 3 * MIB + 1].map((length, i) =>
      Buffer.from(`${String(i).repeat(length - 1)}\n`),
    );
    const input = Buffer.concat([linesOf(12 * MIB, 200), ...long, linesOf(2 * MIB, 100_000)]);
    writeFileSync(directory.path('in'), input);
    const expected = digest(Buffer.concat(referenceOrder([input], 'large')));
    for (const tuning of [{}, { outputBytes: 65_536 }, { outputBytes: 16_384, pileCount: 2, bufferBytes: 65_536 }]) {
      const { bytes } = await run({}, tuning);
      expect(digest(bytes), JSON.stringify(tuning)).toBe(expected);
    }
  });

  it.each([
    ['one thread', { workers: 1, memoryBytes: 10 * MIB }, { inline: true }],
    ['two threads', { workers: 2, memoryBytes: 16 * MIB }, { inline: false }],
  ])('has the same bytes when the memory pool is full in the middle: %s', async (_, options, tuning) => {
    const inputs = [linesOf(6 * MIB, 4000), linesOf(5 * MIB, 4000), linesOf(4 * MIB, 4000)];
    mkdirSync(directory.path('gz'));
    const names = inputs.map((_bytes, i) => directory.path('gz', `${i}.gz`));
    for (const [i, name] of names.entries()) writeFileSync(name, gzipSync(inputs[i] ?? '', { level: 1 }));
    const { report, bytes } = await run({ ...options, inputs: names }, tuning);
    expect(digest(bytes)).toBe(digest(Buffer.concat(referenceOrder(inputs, 'large'))));
    expect(report.tempBytes).toBeGreaterThan(MIB);
    expect(report.tempBytes).toBeLessThan(report.bytes);
  });
});
