/** The value of `--delimiter`. */
import { describe, expect, it } from 'vitest';
import { parseDelimiter } from '#src/cli/delimiter.js';
import { UsageError } from '#src/index.js';

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
    expect(Buffer.from(parseDelimiter(text)).toString('hex')).toBe(hex);
  });

  it.each(['', '\\', 'a\\', '\\x', '\\x1', '\\xg0', '\\q', '\\u0041', '\ufffd', 'a\ufffdb'])('%j is none', (text) => {
    expect(() => parseDelimiter(text)).toThrow(UsageError);
  });
});
