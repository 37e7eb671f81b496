/** Values as people write them: delimiters, programs, times. */
import { describe, expect, it } from 'vitest';
import { UsageError } from '#src/index.js';
import { parseDecompressProgram } from '#src/options/parse-options.js';
import { parseDelimiter, parseDuration } from '#src/values/parse-values.js';

describe('a delimiter', () => {
  it.each([
    ['---', '2d2d2d'],
    ['\\r\\n', '0d0a'],
    ['\\n\\n', '0a0a'],
    ['\\x1e', '1e'],
    ['\\xFF\\x00a', 'ff0061'],
    ['\\0', '00'],
    ['\\t|\\\\n', '097c5c6e'],
    ['é', 'c3a9'],
    ['\n', '0a'],
    ['\\xEF\\xBF\\xBD', 'efbfbd'],
  ])('%j is %s', (text, hex) => {
    expect(Buffer.from(parseDelimiter(text, '--delimiter')).toString('hex')).toBe(hex);
  });

  it.each(['', '\\', 'a\\', '\\x', '\\x1', '\\xg0', '\\q', '\\u0041', '\ufffd', 'a\ufffdb'])('%j is none', (text) => {
    expect(() => parseDelimiter(text, '--delimiter')).toThrow(UsageError);
  });
});

describe('a program to decompress', () => {
  it.each<[string, string[]]>([
    ['xz', ['xz']],
    ['xz -dc -T0', ['xz', '-dc', '-T0']],
    ['  xz \t -dc\n', ['xz', '-dc']],
    [`sh -c 'xz -dc | cat'`, ['sh', '-c', 'xz -dc | cat']],
    [`sh -c "xz -dc | cat"`, ['sh', '-c', 'xz -dc | cat']],
    [`'/a b/xz' -dc`, ['/a b/xz', '-dc']],
    [`a'b c'"d e"f`, ['ab cd ef']],
    [`x '' ""`, ['x', '', '']],
    [`x "'" '"'`, ['x', "'", '"']],
    ['x $HOME *.xz ; | > \\n a\\ b', ['x', '$HOME', '*.xz', ';', '|', '>', '\\n', 'a\\', 'b']],
    [`x "a\\"`, ['x', 'a\\']],
  ])('%j is %j', (text, words) => {
    expect(parseDecompressProgram(text, '--decompress-program')).toEqual(words);
  });

  it.each([
    ['', /expected a program and its arguments, such as 'xz -dc'/],
    [' \t', /expected a program/],
    [`'' -dc`, /expected a program/],
    [`xz '-dc`, /^--decompress-program xz '-dc: the quote ' is not closed$/],
    [`xz "-dc'`, /the quote " is not closed/],
    [`don't`, /the quote ' is not closed/],
    [`'a'b"`, /the quote " is not closed/],
  ])('%j is none', (text, message) => {
    expect(() => parseDecompressProgram(text, '--decompress-program')).toThrow(UsageError);
    expect(() => parseDecompressProgram(text, '--decompress-program')).toThrow(message);
  });
});

describe('parseDuration', () => {
  it('reads a whole number and a unit', () => {
    const read = ['90s', '10m', '12h', '30d', '4w', '0', '0d'].map((text) => parseDuration(text, '--keep'));
    expect(read).toEqual([90e3, 600e3, 43_200e3, 2_592_000e3, 2_419_200e3, 0, 0]);
  });

  it.each(['', '5', '-1d', '1.5h', '1y', '1 d', 'd', '1e3d', '1234567890s', '1D'])('refuses %j', (text) => {
    expect(() => parseDuration(text, '--keep')).toThrow(
      `--keep ${text}: expected a whole number and a unit, such as 90s, 12h, 30d or 4w`,
    );
  });
});
