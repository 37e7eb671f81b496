/** Options and operands are found as getopt_long finds them. */
import { describe, expect, it } from 'vitest';
import { findOptions } from '#src/cli/shuf/getopt.js';

const RULES = [
  { name: 'all', short: 'a' },
  { name: 'also' },
  { name: 'count', short: 'c', takesValue: true },
  { name: 'countdown', takesValue: true },
] as const;

function found(words: readonly string[], operandsEndOptions = false) {
  const { options, operands } = findOptions(words, RULES, operandsEndOptions);
  const given = [...options].map(({ name, value }) => `${name}:${value}`);
  return { given, operands };
}

describe('findOptions', () => {
  it.each([
    ['', [], []],
    ['x y', [], ['x', 'y']],
    ['-', [], ['-']],
    ['-a', ['all:'], []],
    ['x -a y --also z', ['all:', 'also:'], ['x', 'y', 'z']],
    ['-aa -a', ['all:', 'all:', 'all:'], []],
    ['-c3 -c 4', ['count:3', 'count:4'], []],
    ['-ac3', ['all:', 'count:3'], []],
    ['-ca3', ['count:a3'], []],
    ['-c -a', ['count:-a'], []],
    ['-c --', ['count:--'], []],
    ['--count=3 --count 4', ['count:3', 'count:4'], []],
    ['--count= --count==', ['count:', 'count:='], []],
    ['--countd=1', ['countdown:1'], []],
    ['--all --alo', ['all:'], [], "unrecognized option '--alo'"],
    ['--als', ['also:'], []],
    ['-a -- -a --x', ['all:'], ['-a', '--x']],
    ['x -- --', [], ['x', '--']],
  ])('of `%s`', (words, given, operands, problem?: string) => {
    const find = () => found(words === '' ? [] : words.split(' '));
    if (problem === undefined) expect(find()).toEqual({ given, operands });
    else expect(find).toThrow(problem);
  });

  it.each([
    ['--x', "unrecognized option '--x'"],
    ['--x=1', "unrecognized option '--x=1'"],
    ['--al', "option '--al' is ambiguous; possibilities: '--all' '--also'"],
    ['--co=2', "option '--co=2' is ambiguous; possibilities: '--count' '--countdown'"],
    ['--also=', "option '--also' doesn't allow an argument"],
    ['--count', "option '--count' requires an argument"],
    ['--countd', "option '--countdown' requires an argument"],
    ['-x', "invalid option -- 'x'"],
    ['-ax', "invalid option -- 'x'"],
    ['-a-', "invalid option -- '-'"],
    ['-ä', "invalid option -- 'ä'"],
    ['-c', "option requires an argument -- 'c'"],
    ['-ac', "option requires an argument -- 'c'"],
  ])('refuses `%s`', (words, message) => {
    expect(() => found(words.split(' '))).toThrow(expect.objectContaining({ message, hasHint: true }));
  });

  it('gives the options before a mistake', () => {
    const taken: string[] = [];
    const take = () => {
      for (const { name } of findOptions(['-a', 'x', '-c1', '--x', '-a'], RULES, false).options) taken.push(name);
    };
    expect(take).toThrow("'--x'");
    expect(taken).toEqual(['all', 'count']);
  });

  it('ends the options at the first operand if it must', () => {
    expect(found(['-a', 'x', '-c', '--', 'y'], true)).toEqual({ given: ['all:'], operands: ['x', '-c', '--', 'y'] });
  });
});
