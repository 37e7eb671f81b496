/**
 * The law of shares: the weights follow exactly from what the inputs hold, for any settings and codecs, and the output is that
 * of these weights. A group that is too small for its share is refused.
 */
import { readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '#src/index.js';
import { atScale } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { anyInputs } from './any-inputs.js';
import { anySettings } from './any-settings.js';
import { recordsOf } from './reference-order.js';
import { expectReport, shuffleToFile } from './shuffle-under-test.js';
import { orderCopies, weightsOfPlainShares } from './weighed-order.js';

const directory = useMemoryDirectory();

const tempDirs = () => readdirSync(directory.temp).map((name) => join(directory.temp, name));

const anyMix = fc.record({
  unit: fc.constantFrom('records' as const, 'bytes' as const),
  shares: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 6, maxLength: 6 }),
  epochs: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 6, maxLength: 6 }),
  // Often more than there is, which is refused.
  total: fc.option(fc.integer({ min: 1, max: 3000 }), { nil: undefined, freq: 1 }),
});

/** A number as docs/ORDER.md counts it: in parts of 10^-15, cut off. */
function partsOf(text: string): bigint {
  const [, digits = '', part = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e(.+))?$/.exec(text) ?? expect.fail(text);
  const power = Number(exponent) - part.length + 15;
  return power >= 0 ? BigInt(digits + part) * 10n ** BigInt(power) : BigInt(digits + part) / 10n ** BigInt(-power);
}

/** To all digits that a number has. */
function numberOfParts(parts: bigint): unknown {
  const digits = parts.toString().padStart(16, '0');
  return expect.closeTo(Number(`${digits.slice(0, -15)}.${digits.slice(-15)}`), 9);
}

describe('shares', () => {
  it('give the weights that follow from the inputs, whatever the settings', async () => {
    let refused = 0;
    const property = fc.asyncProperty(
      anyInputs,
      fc.string(),
      anySettings,
      anyMix,
      async (inputs, seed, settings, mix) => {
        const records = inputs.map((input) => recordsOf(input, 0x0a));
        const sizeOf = (input: readonly Buffer[]) =>
          mix.unit === 'records' ? input.length : Buffer.concat(input).byteLength;
        const plain = {
          shares: mix.shares.slice(0, inputs.length).map(BigInt),
          maxEpochs: mix.epochs.map(BigInt),
          amounts: records.map((input) => BigInt(sizeOf(input))),
          total: mix.total === undefined ? undefined : BigInt(mix.total),
        };
        const groups = inputs.map((_, i) => ({
          name: `group ${i}`,
          inputs: [`in-${i}`],
          share: `${mix.shares[i] ?? 0}.0`,
          max_epochs: mix.epochs[i],
        }));
        const job = { inputs, seed, settings, mix: { groups, unit: mix.unit, total: mix.total } };
        const weights = plain.amounts.includes(0n) ? undefined : weightsOfPlainShares(plain);
        if (weights === undefined) {
          refused += 1;
          await expect(shuffleToFile(directory, job)).rejects.toThrow(UsageError);
          for (const path of tempDirs()) {
            expect(readdirSync(path)).toEqual([]);
            rmdirSync(path);
          }
          return;
        }
        const ordered = orderCopies(records, weights, seed);
        const { bytes, report } = await shuffleToFile(directory, job);
        expect(bytes.equals(Buffer.concat(ordered))).toBe(true);
        expectReport(report, ordered);
        expect(report.groups?.map(({ read }) => BigInt(read[mix.unit]))).toEqual(plain.amounts);
      },
    );
    const numRuns = atScale(12, 30, 3000);
    await fc.assert(property, { numRuns });
    expect(refused).toBeGreaterThan(0);
    expect(refused).toBeLessThan((9 / 10) * numRuns);
  });

  it('of a field follow from its sums', async () => {
    const number = fc.oneof(
      fc.nat({ max: 9 }).map(String),
      fc.integer({ min: 1, max: 10 ** 15 - 1 }).map(String),
      fc.integer({ min: 0, max: 99_999 }).map((cents) => (cents / 100).toFixed(2)),
      fc.double({ min: 0, max: 1, noNaN: true }).map(String),
      fc.constantFrom('0.1', '0.2', '-0', '-0.0', '1e-7', '1.5e3', '12.3456789012345678'),
    );
    const record = fc.tuple(number, fc.string(), fc.boolean()).map(([n, text, blanks]) => {
      const json = JSON.stringify({ text, other: { n: 5 }, n: 0, rest: [text] }).replace('"n":0', () => `"n":${n}`);
      return `${blanks ? json.replace('"n":', '"n" : ').replace(',"rest"', ' , "rest"') : json}\n`;
    });
    const input = fc.array(record, { minLength: 1, maxLength: 30 }).map((lines) => Buffer.from(lines.join('')));
    const inputs = fc.array(input, { minLength: 1, maxLength: 4 });
    const property = fc.asyncProperty(inputs, anySettings, async (texts, settings) => {
      const records = texts.map((text) => recordsOf(text, 0x0a));
      const numberOf = (line: Buffer) => partsOf(/^.*"n" ?: ?([-+.\de]+) ?, ?"rest"/s.exec(line.toString())?.[1] ?? '');
      const plain = {
        shares: records.map((_, i) => BigInt(i + 1)),
        maxEpochs: records.map(() => 3n),
        amounts: records.map((lines) => lines.reduce((sum, line) => sum + numberOf(line), 0n)),
        total: undefined,
      };
      fc.pre(!plain.amounts.includes(0n));
      const groups = records.map((_, i) => ({ name: `group ${i}`, inputs: `in-${i}`, share: i + 1 }));
      const mix = { unit: '.n', max_epochs: 3, groups };
      const { bytes, report } = await shuffleToFile(directory, { inputs: texts, seed: 'n', settings, mix });
      expect(report.groups?.map(({ unit }) => unit?.read)).toEqual(plain.amounts.map(numberOfParts));
      const weights = weightsOfPlainShares(plain) ?? [];
      expect(bytes.equals(Buffer.concat(orderCopies(records, weights, 'n')))).toBe(true);
      const writtenOf = (input: number) => records.map((lines, i) => (i === input ? lines : []));
      const sums = records.map((_, i) =>
        orderCopies(writtenOf(i), weights, 'n').reduce((sum, line) => sum + numberOf(line), 0n),
      );
      expect(report.groups?.map(({ unit }) => unit?.weighed)).toEqual(sums.map(numberOfParts));
      const epochs = report.groups?.map(({ read, weighed }) => weighed.records / Math.max(1, read.records));
      expect(report.groups?.map((group) => group.epochs)).toEqual(epochs);
    });
    await fc.assert(property, { numRuns: atScale(4, 15, 1500) });
  });

  it('hold in the output, on worker threads, too', async () => {
    const lines = (name: string, count: number) =>
      Buffer.from(Array.from({ length: count }, (_, i) => `${name} ${i}\n`).join(''));
    const inputs = [lines('wiki', 1500), lines('code', 5000), lines('more code', 750)];
    const settings = { workers: 2, memoryBytes: 2 ** 26, tempDirCount: 1, encodings: ['gzip', 'plain'] as const };
    const mix = {
      unit: 'bytes' as const,
      max_epochs: 3,
      groups: [
        { name: 'wiki', inputs: 'in-0', share: 0.75 },
        { name: 'code', inputs: ['in-1', 'in-2'], share: 0.25 },
      ],
    };
    const tuning = { sliceBytes: 5000, inline: false };
    const { report } = await shuffleToFile(directory, { inputs, seed: '1', mix, settings: { ...settings, tuning } });
    const [wiki, code] = report.groups ?? [];
    expect(wiki).toMatchObject({ name: 'wiki', factor: 3, inputCount: 1, weighed: { records: 4500 } });
    expect(code).toMatchObject({ name: 'code', inputCount: 2, read: { records: 5750 } });
    expect((code?.weighed.bytes ?? 0) / report.bytes).toBeCloseTo(0.25, 2);
  });
});
