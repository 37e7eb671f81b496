/**
 * The size parser: every unit, every refusal with its message, and round trips over random sizes against separate
 * arithmetic.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '#src/index.js';
import { sizeWord } from '#src/values/format-numbers.js';
import { parseAmount, parseSize } from '#src/values/size.js';

const memory = { flag: '-S', allowPercentOf: () => 64_000_000_001 };
const noPercent = { flag: '--max-record' };

function refusalOf(text: string, rule: Parameters<typeof parseSize>[1] = memory): string {
  try {
    parseSize(text, rule);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(UsageError);
    return (thrown as UsageError).message;
  }
  throw new Error(`${text} was accepted`);
}

describe('parseSize', () => {
  it.each([
    ['1B', 1],
    ['4096B', 4096],
    ['1K', 1024],
    ['1k', 1024],
    ['1Ki', 1024],
    ['1KiB', 1024],
    ['1KB', 1000],
    ['1kB', 1000],
    ['512M', 512 * 1024 ** 2],
    ['512MiB', 512 * 1024 ** 2],
    ['512mib', 512 * 1024 ** 2],
    ['512MB', 512_000_000],
    ['2GiB', 2 * 1024 ** 3],
    ['2G', 2 * 1024 ** 3],
    ['2gb', 2_000_000_000],
    ['1.5G', 1.5 * 1024 ** 3],
    ['0.5K', 512],
    ['0.1K', 102],
    ['1.5B', 1],
    ['3T', 3 * 1024 ** 4],
    ['3TB', 3e12],
    ['007M', 7 * 1024 ** 2],
    ['8191.999999T', 9_007_199_253_641_480],
    ['9007199254740991B', Number.MAX_SAFE_INTEGER],
  ])('reads %s as %d bytes', (text, bytes) => {
    expect(parseSize(text, noPercent)).toBe(bytes);
  });

  it.each([
    ['50%', 32_000_000_000],
    ['100%', 64_000_000_001],
    ['12.5%', 8_000_000_000],
  ])('reads %s of memory as %d bytes', (text, bytes) => {
    expect(parseSize(text, memory)).toBe(bytes);
  });

  it('refuses a bare number with what to write', () => {
    expect(refusalOf('512')).toBe('-S 512: a bare number is ambiguous; write 512M or 512B');
    expect(refusalOf('1.5')).toBe('-S 1.5: a bare number is ambiguous; write 1.5M or 1.5B');
  });

  it.each([
    '2GiB5',
    '-1G',
    '+1G',
    '1e3G',
    '',
    ' 1G',
    '1G ',
    '1 G',
    '1,5G',
    '.5G',
    '1.G',
    '1..5G',
    'G',
    '%',
    '1G\n',
    '0x10M',
    '１G',
  ])('refuses %j with what is expected', (text) => {
    expect(refusalOf(text)).toBe(
      `-S ${text}: expected a number and a unit: 512M or 512MiB (powers of 1024), 512MB (powers of 1000), 512B (bytes), or 50% (of memory)`,
    );
  });

  it.each(['1P', '1KK', '1iB', '1Mo', '1bytes'])('refuses the unit of %s', (text) => {
    expect(refusalOf(text)).toMatch(/^-S \S+: unknown unit '\w+'; expected a number and a unit: /);
  });

  it('refuses nothing at all, in any unit', () => {
    for (const text of ['0', '0B', '0.0G', '000T', '0%']) {
      expect(refusalOf(text)).toBe(`-S ${text}: expected more than 0`);
    }
    expect(refusalOf('0.1B')).toBe('-S 0.1B: expected at least one byte');
  });

  it('refuses what is not a safe integer, and more than all memory', () => {
    expect(refusalOf('9007199254740992B')).toBe('-S 9007199254740992B: expected at most 9007199254740991 bytes');
    expect(refusalOf('8192T')).toBe('-S 8192T: expected at most 9007199254740991 bytes');
    expect(refusalOf('100.1%')).toBe('-S 100.1%: expected at most 100%');
  });

  it('refuses a percentage where there is nothing to take it of', () => {
    expect(refusalOf('50%', noPercent)).toBe(
      '--max-record 50%: a percentage is not possible here; expected a number and a unit: 512M or 512MiB (powers of 1024), 512MB (powers of 1000), 512B (bytes)',
    );
  });

  it('reads back thousandths of every decimal unit exactly', () => {
    const units = { KB: 1, MB: 1e3, GB: 1e6, TB: 1e9 };
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.entries(units)),
        fc.integer({ min: 1, max: 9_007_199 }),
        ([unit, scale], thousandths) => {
          const text = `${Math.floor(thousandths / 1000)}.${String(thousandths % 1000).padStart(3, '0')}${unit}`;
          expect(parseSize(text, noPercent)).toBe(thousandths * scale);
        },
      ),
    );
  });
});

describe('parseAmount', () => {
  it.each<[string, bigint | undefined]>([
    ['0', 0n],
    ['10', 10n],
    ['10K', 10_000n],
    ['10k', 10_000n],
    ['10KiB', undefined],
    ['10KB', 10_000n],
    ['1.5M', 1_500_000n],
    ['2TB', 2_000_000_000_000n],
    ['123456789012345678901', 123456789012345678901n],
    ['1.5', undefined],
    ['1.0001K', undefined],
    ['10B', 10_000_000_000n],
    ['0.5G', 500_000_000n],
    ['1BB', undefined],
    ['10%', undefined],
    ['1e3', undefined],
    ['-1', undefined],
    ['', undefined],
  ])('reads %j as a number of records', (text, amount) => {
    expect(parseAmount(text)).toBe(amount);
  });
});

describe('sizeWord', () => {
  it('gives back what was written, where that is short', () => {
    for (const word of ['64M', '8G', '1T', '512K', '1500M']) expect(sizeWord(parseSize(word, noPercent))).toBe(word);
    expect(sizeWord(64_000_000)).toBeUndefined();
    expect(sizeWord(12_345_679)).toBeUndefined();
  });
});
