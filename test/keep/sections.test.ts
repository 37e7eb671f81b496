/** The names of the directories of sections, and the ranges of their keys on piles. */
import { describe, expect, it } from 'vitest';
import { parseSelector } from '#src/formats/selector.js';
import {
  completeSectionName,
  rangesOf,
  sectionDirectory,
  sectionRanges,
  valueOfDirectory,
} from '#src/keep/sections.js';

/** The characters that Hive escapes: `FileUtils.charToEscape`. */
const OF_HIVE = new Set([...Array.from({ length: 31 }, (_, i) => i + 1), 0x7f, ...Buffer.from('"#%\'*/:=?\\{[]^')]);

describe('sectionDirectory', () => {
  it('escapes each byte that Hive escapes, and no other', () => {
    for (let code = 1; code < 128; code++) {
      const text = String.fromCharCode(code);
      const escaped = OF_HIVE.has(code) ? `%${code.toString(16).toUpperCase().padStart(2, '0')}` : text;
      expect(sectionDirectory({ name: 'source' }, `"a${text}`)).toBe(`source=a${escaped}`);
      expect(valueOfDirectory(`source=a${escaped}`)).toBe(`a${text}`);
    }
  });

  it.each([
    ['é as UTF-8', '"\xc3\xa9', 'source=é', 'é'],
    ['bytes that are not UTF-8', '"a\xff', 'source=a%FF', 'a\ufffd'],
    ['a number', '12', 'source=12', '12'],
    ['null', 'null', 'source=__HIVE_DEFAULT_PARTITION__', null],
    ['no characters', '"', 'source=__HIVE_DEFAULT_PARTITION__', null],
    ['the word null', '"null', 'source=null', 'null'],
  ])('names %s', (_, text, directory, value) => {
    expect(sectionDirectory({ name: 'source' }, text)).toBe(directory);
    expect(valueOfDirectory(directory)).toBe(value);
  });

  it('refuses names that file systems do not take', () => {
    const eAcute = '\xc3\xa9';
    for (const text of [`"${'x'.repeat(253)}`, `"x${eAcute.repeat(126)}`, `"${'/'.repeat(84)}x`])
      expect(Buffer.byteLength(sectionDirectory({ name: 's' }, text))).toBe(255);
    for (const text of [`"${'x'.repeat(254)}`, `"${eAcute.repeat(127)}`, `"${'/'.repeat(85)}`, '"a\0'])
      expect(() => sectionDirectory({ name: 's' }, text)).toThrow('can name no directory');
  });
});

describe('completeSectionName', () => {
  const nameOf = (selector: string, given?: string) => completeSectionName(given, parseSelector(selector, '`each`'));

  it.each([
    ['.site', 'site'],
    ['.metadata.site', 'site'],
    ['."a/b=%"', 'a%2Fb%3D%25'],
    ['."é"', 'é'],
    [`."${'x'.repeat(200)}"`, 'x'.repeat(200)],
    ['csv:site', 'site'],
    ['csv:3', 'value'],
    ['/(a)/', 'value'],
    ['key', 'key'],
  ])('of %s is %s', (selector, name) => {
    expect(nameOf(selector)).toBe(name);
    expect(nameOf(selector, 'given')).toBe('given');
  });

  it('refuses names of hidden directories, and those that are too long', () => {
    for (const selector of [
      '.""',
      '.".site"',
      '."\\u0000"',
      '."a\\u0000"',
      `."${'x'.repeat(201)}"`,
      `."${'/'.repeat(67)}"`,
    ])
      expect(() => nameOf(selector)).toThrow('expected a name of 1 to 200 bytes, no dot first');
  });
});

describe('sectionRanges', () => {
  it('are as wide as the shares of the values, and apart from those of other values', () => {
    const ranges = sectionRanges(
      new Map(['"a', '"b', '7'].map((text, i) => [text, { records: 2, bytes: 1000 * (i + 1) }])),
    );
    const rangeOf = rangesOf({ ranges });
    let end = 0n;
    for (const [i, text] of ['"a', '"b', '7'].entries()) {
      const { firstKey, width } = rangeOf(text);
      expect(firstKey).toBeGreaterThanOrEqual(end);
      expect(Number(width) / 2 ** 64).toBeCloseTo(((63 / 64) * (i + 1)) / 6, 9);
      end = firstKey + width;
    }
    const firstKeys = ['"c', 'null', '"7'].map((text) => {
      const { firstKey, width } = rangeOf(text);
      expect(firstKey).toBeGreaterThanOrEqual(end);
      expect(firstKey + width).toBeLessThanOrEqual(2n ** 64n);
      expect(width).toBe(1n);
      return firstKey;
    });
    expect(new Set(firstKeys).size).toBe(3);
    expect(rangesOf({ ranges: [] })('"c').firstKey).toBeLessThan(2n ** 64n);
  });

  it('are far apart for values that the sample has not', () => {
    const rangeOf = rangesOf({ ranges: [] });
    const firstKeys = Array.from({ length: 2000 }, (_, i) => rangeOf(`${i}`).firstKey);
    expect(new Set(firstKeys).size).toBe(2000);
    for (let eighth = 0n; eighth < 8n; eighth++) {
      const inside = firstKeys.filter((key) => key >> 61n === eighth).length;
      expect(Math.abs(inside - 250)).toBeLessThan(125);
    }
  });

  it('leave as many keys to other values as the values take that a sample has once', () => {
    const values = (counts: readonly number[]) =>
      sectionRanges(new Map(counts.map((records, i) => [`"${i}`, { records, bytes: 100 * records }])));
    const part = (counts: readonly number[]) =>
      values(counts).reduce((sum, { width }) => sum + Number(width), 0) / 2 ** 64;
    expect(part([7, 1, 2])).toBeCloseTo(0.9, 9);
    expect(part([1, 1, 1])).toBeCloseTo(0.5, 9);
    expect(part([5, 5])).toBeCloseTo(63 / 64, 9);
    expect(values([])).toEqual([]);
  });
});
