/**
 * Calls of shuf, for a comparison with the real one. Each runs in a directory of its own with the files that
 * `makeFiles` makes, and may change them.
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ShufCase {
  readonly words: readonly string[];
  readonly stdin?: string | undefined;
  /** A file that is compared too. */
  readonly output?: string;
  /** The first version of coreutils with these words. Older ones end with the same status. */
  readonly since?: readonly [number, number];
}

export function makeFiles(directory: string): void {
  const write = (name: string, text: string) => writeFileSync(join(directory, name), text);
  write('abc', 'a\nb\nc\n');
  write('open', 'a\nb\nc');
  write('empty', '');
  write('blank', '\n\n\n');
  write('nul', 'a\0b\n\0c');
  write('lines', Array.from({ length: 1000 }, (_, i) => `${i}\n`).join(''));
  write('magic', '\x1f\x8b\x08 no gzip\nPK\x03\x04\n\x89HDF\r\n');
  write('source', 'some bytes that decide the order, more than GNU shuf needs for three lines');
  write('-', 'dash\n');
  mkdirSync(join(directory, 'dir'));
  symlinkSync('abc', join(directory, 'link'));
  symlinkSync('new', join(directory, 'dangling'));
}

const of = (words: string, more: Omit<ShufCase, 'words'> = {}): ShufCase => ({
  words: words === '' ? [] : words.split(' '),
  ...more,
});
const given = (words: readonly string[], more: Omit<ShufCase, 'words'> = {}): ShufCase => ({ words, ...more });

const options: readonly ShufCase[] = [
  'abc -z',
  '-z nul',
  '--zero-terminated nul',
  '--zero nul',
  'abc -n 2',
  '-n2 abc',
  '--head-count=2 abc',
  '--head=2 abc',
  '--head-count 2 abc',
  '-n 5 -n 2 -n 9 abc',
  '-n0 missing',
  '-n0 -',
  '-n 99999999999999999999999 abc',
  '-n 18446744073709551615 abc',
  '-n +2 abc',
  '-n 002 abc',
  '-e',
  '-e a b c',
  '-e a -- -b --c',
  'a b -e c',
  '-en2 a b c',
  '-ez a b',
  '-zen1 a b',
  '-e -n 2 a b c',
  '--echo a b',
  '--ec a b',
  '-e a -e b',
  '-- abc',
  '-- -n2',
  '-',
  '- -z',
  '-n 2 -- abc',
  '-n 2 abc --',
  'abc -- -z',
  '-i 5-4',
  '-i5-4 -n 3',
  '-i 1-0',
  '-n0 -i 1-9',
  '-n0 -r -i 1-9',
  '-r -n0 abc',
  '-rn0',
  'open',
  'blank',
  'empty',
  'magic',
  'link',
  './-',
  '--random-source=source abc',
  '--random-source source abc',
  '--random=source abc',
  '--random-source=source --random-source=source abc',
  '-n0 --random-source=missing abc',
  '--random-source=missing empty',
  '--random-source=missing -e',
].map((words) => of(words));

const refusals: readonly ShufCase[] = [
  '-n x',
  '-n 1k',
  '-n -1',
  '-n 1.5',
  '-n 0x5',
  '-nx abc -q',
  '-q -nx',
  '--head-count=',
  '--head-count=x',
  '-n',
  '-rn',
  '-o',
  '-i',
  '--i',
  '--head',
  '--out',
  '--random',
  'abc open',
  'abc open empty',
  '-i 1-2 abc',
  '-i 1-2 abc open',
  '-e a -i 1-2',
  '-i 1-2 -e a',
  '-i 5-3',
  '-i 1',
  '-i a',
  '-i 99999999999999999999999',
  '-i 0-18446744073709551615',
  '-i 1-2 -i 3-4',
  '-i 1-2 -i 1-2',
  '-i x -i y',
  '-o x -o y abc',
  '--random-source=x --random-source=y abc',
  '--random-source=missing abc',
  '--random-source=empty abc',
  '--random-source=dir abc',
  '--random-source=missing missing',
  '--random-source=missing -re',
  '-r empty',
  '-re',
  '-r -n 3 empty',
  '-ri4-3',
  '-n1 -ri5-4',
  'missing',
  'missing/x',
  'abc/x',
  'dir',
  '-o dir abc',
  '-o missing/x abc',
  '-o abc/x abc',
  '-o new/ abc',
  '-o dir missing',
  '-n0 -o missing/x',
  '-x',
  '-ex',
  '-e -x a',
  '-?',
  '-h',
  '--foo',
  '--foo=3',
  '--echos a',
  '--r abc',
  '--re=1 abc',
  '--h',
  '--he=2 abc',
  '--=3',
  '--e=3',
  '--repeat=',
  '--zero=1',
  '--help=3',
  '--v=2',
  'abc -n x -i',
  '-x --help',
].map((words) => of(words));

const awkward: readonly ShufCase[] = [
  given(['-n', '']),
  given(['-n', ' 2', 'abc']),
  given(['-n', '\t\n\v\f\r2', 'abc']),
  given(['-n', '2 ', 'abc']),
  given(['-n', '+ 2', 'abc']),
  given(['-n', "it's"]),
  given(['-n', 'a\nb\tc\\d\x01\x7f']),
  given(['']),
  given(['', 'abc']),
  given(['-o', '', 'abc']),
  given(['--random-source=', 'abc']),
  given(['-e', '', 'a']),
  given(['-e', 'a\nb', 'c']),
  given(['-e', '-z', 'a\nb', 'c']),
  given(['-i', ''], { since: [9, 2] }),
  ...['a-b', '1-', '-1-3', '1-x', '1-2-3', '1--3', '1 -3', '1-3 ', '1-3k'].map((range) =>
    given(['-i', range], { since: [9, 2] }),
  ),
  given(['-i', '1-99999999999999999999999'], { since: [9, 2] }),
  given(['-i', '99999999999999999999-3'], { since: [9, 2] }),
  given(['-i', '1-99999999999999999999k'], { since: [9, 2] }),
  given(['-i', ' 5- +4']),
  ...[
    'a b',
    "a'b",
    'a"b',
    '$x',
    '~x',
    'x~',
    '#x',
    'x#',
    'a:b',
    'a=b',
    '{',
    'a{',
    'a\nb',
    'a\n\tb\n',
    "a'b$",
    '?',
    '\\',
  ].map((name) => given(['--', name])),
];

const outputs: readonly ShufCase[] = [
  of('abc -o new', { output: 'new' }),
  of('-onew abc', { output: 'new' }),
  of('-o new -o new abc', { output: 'new' }),
  of('--output=abc abc', { output: 'abc' }),
  of('-o abc', { output: 'abc', stdin: 'x\ny\n' }),
  of('-o link abc', { output: 'abc' }),
  of('-o dangling abc', { output: 'new' }),
  of('-o - abc', { output: '-' }),
  of('-o new empty', { output: 'new' }),
  of('-n0 -o abc lines', { output: 'abc' }),
  of('-e a b -o new', { output: 'new' }),
  of('-z nul -o nul', { output: 'nul' }),
  of('-o abc missing', { output: 'abc' }),
  of('-o abc --random-source=missing lines', { output: 'abc' }),
  of('-o /dev/null abc'),
  of('-o /dev/full abc'),
];

const inputs: readonly ShufCase[] = [
  of('', { stdin: '' }),
  of('', { stdin: '\n' }),
  of('', { stdin: 'a\nb\nc\n' }),
  of('', { stdin: 'a\nb\nc' }),
  of('-', { stdin: 'x\ny' }),
  of('-z', { stdin: '\0\0a' }),
  of('-n 1', { stdin: 'same\nsame\n' }),
  of('lines'),
];

export const shufCases: readonly ShufCase[] = [...inputs, ...options, ...refusals, ...awkward, ...outputs];
