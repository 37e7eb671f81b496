/** What the words of shuf ask for, and the words of each refusal. */
import { describe, expect, it } from 'vitest';
import { parseShufWords, type ShufJob } from '#src/cli/shuf/shuf-call.js';

const DEFAULTS: ShufJob = {
  kind: 'shuffle',
  source: { kind: 'file', path: undefined },
  headCount: undefined,
  repeat: false,
  zeroTerminated: false,
  output: undefined,
  randomSource: undefined,
};

const parse = (words: string) => parseShufWords(words === '' ? [] : words.split(' '), false);
const rangeOf = (low: bigint, high: bigint) => ({ source: { kind: 'range', range: { low, high } } }) as const;

describe('parseShufWords', () => {
  it.each<[string, Partial<ShufJob>]>([
    ['', {}],
    ['-', {}],
    ['f', { source: { kind: 'file', path: 'f' } }],
    ['-- -e', { source: { kind: 'file', path: '-e' } }],
    ['-e', { source: { kind: 'words', words: [] } }],
    ['a -e - b', { source: { kind: 'words', words: ['a', '-', 'b'] } }],
    ['-i 1-9', rangeOf(1n, 9n)],
    ['--input=0-18446744073709551614', rangeOf(0n, 2n ** 64n - 2n)],
    ['-i1-18446744073709551615', rangeOf(1n, 2n ** 64n - 1n)],
    ['-i 007-+08', rangeOf(7n, 8n)],
    ['-i 5-4', rangeOf(5n, 4n)],
    ['-n 3', { headCount: 3n }],
    ['-n 9 -n 3 -n 5', { headCount: 3n }],
    ['-n 0', { headCount: 0n }],
    ['-n 18446744073709551615', { headCount: 2n ** 64n - 1n }],
    ['-n 18446744073709551616', {}],
    ['-n 18446744073709551616 -n 7', { headCount: 7n }],
    ['-r', { repeat: true }],
    ['--re -rr', { repeat: true }],
    ['-z', { zeroTerminated: true }],
    ['-o x -o x', { output: 'x' }],
    ['--random-source=s --random-source s', { randomSource: 's' }],
    ['-rzn3 -e a', { repeat: true, zeroTerminated: true, headCount: 3n, source: { kind: 'words', words: ['a'] } }],
  ])('takes `%s`', (words, job) => {
    expect(parse(words)).toEqual({ ...DEFAULTS, ...job });
  });

  it.each([
    ['--help -x', 'help'],
    ['a b c --help', 'help'],
    ['--version --foo', 'version'],
    ['-e --ver', 'version'],
  ])('prints for `%s`', (words, kind) => {
    expect(parse(words)).toEqual({ kind });
  });

  it.each([
    ['-n x', "invalid line count: 'x'"],
    ['-n 1k', "invalid line count: '1k'"],
    ['-n 18446744073709551616k', "invalid line count: '18446744073709551616k'"],
    ['-n -1', "invalid line count: '-1'"],
    ['--head-count=', "invalid line count: ''"],
    ['-i 1', "invalid input range: '1'"],
    ['-i 5-3', "invalid input range: '5-3'"],
    ['-i a-b', "invalid input range: 'a-b'"],
    ['-i 1-b', "invalid input range: '1-b'"],
    ['-i -1-3', "invalid input range: '-1-3'"],
    ['-i 1-2-3', "invalid input range: '1-2-3'"],
    ['-i 0-18446744073709551615', "invalid input range: '0-18446744073709551615'"],
    [
      '-i 2-18446744073709551616',
      "invalid input range: '2-18446744073709551616': Value too large for defined data type",
    ],
    ['-i 18446744073709551616', "invalid input range: '18446744073709551616': Value too large for defined data type"],
    ['-i 1-18446744073709551616k', "invalid input range: '1-18446744073709551616k'"],
    ['-i 1-2 -i 1-2', 'multiple -i options specified'],
    ['-i 1-2 -i x', 'multiple -i options specified'],
    ['-o a -o b', 'multiple output files specified'],
    ['--random-source a --random-source b', 'multiple random sources specified'],
  ])('refuses `%s`', (words, message) => {
    expect(() => parse(words)).toThrow(expect.objectContaining({ message, hasHint: false }));
  });

  it.each([
    ['-e -i 1-2', 'cannot combine -e and -i options'],
    ['a b', "extra operand 'b'"],
    ['a b c', "extra operand 'b'"],
    ['-i 1-2 a b', "extra operand 'a'"],
    ['--e=3', "option '--echo' doesn't allow an argument"],
    ['--r', "option '--r' is ambiguous; possibilities: '--random-source' '--repeat'"],
    ['-q', "invalid option -- 'q'"],
  ])('refuses `%s` with a hint', (words, message) => {
    expect(() => parse(words)).toThrow(expect.objectContaining({ message, hasHint: true }));
  });

  it('refuses the first of several mistakes', () => {
    expect(() => parse('-n x --foo')).toThrow('invalid line count');
    expect(() => parse('--foo -n x')).toThrow('unrecognized option');
    expect(() => parse('a b -n x')).toThrow('invalid line count');
  });

  it('takes words behind an operand for operands, if it must', () => {
    expect(() => parseShufWords(['a', '-n1'], true)).toThrow("extra operand '-n1'");
    expect(parseShufWords(['-e', 'a', '-z'], true)).toMatchObject({ source: { words: ['a', '-z'] } });
  });
});
