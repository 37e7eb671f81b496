/**
 * A job on threads that fits in memory: the threads work in one linear memory, where segments stay as they are written. The
 * output is that of the reference, whatever the sizes: records that straddle segments, records that outgrow the part of a
 * thread, and a pool that has no room for all.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Tuning } from '#src/plan/memory-plan.js';
import { atScale, fromCi, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import type { Settings } from './any-settings.js';
import { referenceOrder } from './reference-order.js';
import { expectReport, shuffleToFile } from './shuffle-under-test.js';

const MIB = 2 ** 20;
const THREADS: Tuning = { inline: false, mayUseRamPool: true };

describe('a linear memory', () => {
  const directory = useMemoryDirectory();

  async function expectReferenceOrder(inputs: readonly Buffer[], tuning: Tuning, more: Partial<Settings> = {}) {
    const expected = referenceOrder(inputs, 'linear');
    const usual = { workers: 2, memoryBytes: 64 * MIB, tempDirCount: 1, encodings: ['plain' as const] };
    const settings = { ...usual, ...more, tuning };
    const { bytes, report } = await shuffleToFile(directory, { inputs, seed: 'linear', settings });
    expect(bytes.equals(Buffer.concat(expected)), JSON.stringify(tuning)).toBe(true);
    expectReport(report, expected);
    return report;
  }

  const lengths = fc.array(fc.oneof({ weight: 9, arbitrary: fc.nat({ max: 60 }) }, fc.nat({ max: 3000 })), {
    maxLength: 400,
  });
  const sizes = fc.record({
    pileCount: fc.integer({ min: 1, max: 40 }),
    bufferBytes: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 41, max: 4096 })),
    readBytes: fc.integer({ min: 71, max: 5000 }),
    outputBytes: fc.integer({ min: 41, max: 5000 }),
    sliceBytes: fc.integer({ min: 201, max: 5000 }),
  });

  it('gives the same bytes for any records and buffers', async () => {
    await fc.assert(
      fc.asyncProperty(lengths, sizes, fc.integer({ min: 1, max: 3 }), async (ofRecords, tuning, workers) => {
        const records = ofRecords.map((length, i) => Buffer.from(`${i} ${'x'.repeat(length)}\n`));
        const half = Math.ceil(records.length / 2);
        const inputs = [Buffer.concat(records.slice(0, half)), Buffer.concat(records.slice(half))];
        const { tempBytes } = await expectReferenceOrder(inputs, { ...THREADS, ...tuning }, { workers });
        expect(tempBytes).toBe(0);
      }),
      { numRuns: atScale(3, 8, 100) },
    );
  });

  const short = Buffer.from(Array.from({ length: 5000 }, (_, i) => `${i}\n`).join(''));
  const longOf = (byteLength: number) => Buffer.from(`${'long'.repeat(byteLength / 4)}\n`);
  const parts: Tuning = {
    ...THREADS,
    pass2ArenaBytes: MIB,
    readBytes: 65_536,
    outputBytes: 16_384,
    sliceBytes: 65_536,
  };

  const long = [
    ['outgrows the part of a thread', 3 * MIB],
    ['fits the part of a thread', MIB / 2],
    ['is as long as most of the memory', 16 * MIB],
  ] as const;
  it.each(sampled(long, 3, 0, 1))('takes a record that %s', async (_, byteLength) => {
    await expectReferenceOrder([short, Buffer.concat([longOf(byteLength), short]), short], parts);
  });

  it.runIf(fromCi)('takes a record beside a pool for all of which the plan has no room', async () => {
    const lines = Buffer.concat(
      Array.from({ length: 1500 }, (_, i) => Buffer.concat([Buffer.from(`${i}`), longOf(10_000)])),
    );
    const tuning = { ...THREADS, sliceBytes: 4 * MIB };
    await expectReferenceOrder([Buffer.concat([longOf(38 * MIB), lines])], tuning, { memoryBytes: 96 * MIB });
  });

  it('scatters a pile again whose joined records outgrow the part of a thread', async () => {
    const records = Buffer.concat(
      Array.from({ length: 60 }, (_, i) => Buffer.concat([Buffer.from(`${i}`), longOf(50_000)])),
    );
    const { tempBytes } = await expectReferenceOrder([records, records], { ...parts, pileCount: 2, bufferBytes: 4096 });
    expect(tempBytes).toBeGreaterThan(0);
  });

  it.runIf(fromCi)('leaves to the disk what finds no room', async () => {
    const records = Array.from({ length: 30_000 }, (_, i) => `${i} ${'.'.repeat((i * 37) % 1400)}\n`).join('');
    const tuning = { ...THREADS, pileCount: 24, bufferBytes: 4096, readBytes: 65_536, pass2ArenaBytes: 6 * MIB };
    // Nobody knows how much a compressed input holds, so the pool is half of the memory.
    const settings: Partial<Settings> = { memoryBytes: 24 * MIB, encodings: ['gzip'] };
    const half = Buffer.from(records);
    const { tempBytes } = await expectReferenceOrder([half, half], tuning, settings);
    expect(tempBytes).toBeGreaterThan(0);
    expect(tempBytes).toBeLessThan(2 * half.byteLength - 8 * MIB);
  });
});
