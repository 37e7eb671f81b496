/** The value of `--decompress-program`. */
import { describe, expect, it } from 'vitest';
import { parseDecompressProgram } from '#src/cli/decompress-program.js';
import { UsageError } from '#src/index.js';

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
    expect(parseDecompressProgram(text)).toEqual(words);
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
    expect(() => parseDecompressProgram(text)).toThrow(UsageError);
    expect(() => parseDecompressProgram(text)).toThrow(message);
  });
});
