/** The names of the directories of sections, and the ranges of their keys on piles. */
import { describe, expect, it } from 'vitest';
import { rangeOfUnseen, sectionDirectory, sectionRanges, valueOfDirectory } from '#src/keep/sections.js';

/** The characters that Hive escapes: `FileUtils.charToEscape`. */
const OF_HIVE = new Set([...Array.from({ length: 31 }, (_, i) => i + 1), 0x7f, ...Buffer.from('"#%\'*/:=?\\{[]^')]);

describe('sectionDirectory', () => {
  it('escapes each byte that Hive escapes, and no other', () => {
    for (let code = 1; code < 128; code++) {
      const text = String.fromCharCode(code);
      const escaped = OF_HIVE.has(code) ? `%${code.toString(16).toUpperCase().padStart(2, '0')}` : text;
      expect(sectionDirectory('source', `"a${text}`)).toBe(`source=a${escaped}`);
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
    expect(sectionDirectory('source', text)).toBe(directory);
    expect(valueOfDirectory(directory)).toBe(value);
  });

  it('refuses names that file systems do not take', () => {
    expect(sectionDirectory('s', `"${'x'.repeat(253)}`)).toHaveLength(255);
    for (const text of [`"${'x'.repeat(254)}`, `"${'/'.repeat(85)}`, '"a\0'])
      expect(() => sectionDirectory('s', text)).toThrow('can name no directory');
  });
});

describe('sectionRanges', () => {
  it('are as wide as the shares of the values, and apart from those of other values', () => {
    const ranges = sectionRanges(new Map([7n, 2n ** 63n, 5n].map((hash, i) => [hash, 1000 * (i + 1)])));
    expect(ranges.map(({ hash }) => hash)).toEqual([5n, 7n, 2n ** 63n]);
    expect(ranges.map(({ width }) => Number(width) / 2 ** 64 / 6).every((part) => part > 0.027)).toBe(true);
    let end = 0n;
    for (const { firstKey, width } of ranges) {
      expect(firstKey).toBeGreaterThanOrEqual(end);
      end = firstKey + width;
    }
    for (const hash of [0n, 3n, 2n ** 64n - 1n]) {
      const { firstKey, width } = rangeOfUnseen(hash, ranges);
      expect(firstKey).toBeGreaterThanOrEqual(end);
      expect(firstKey + width).toBeLessThanOrEqual(2n ** 64n);
      expect(rangeOfUnseen(hash, [])).toEqual({ hash, firstKey: hash, width: 1n });
    }
  });
});
