/** A last record that lacks its end gets that of the record before it. */
import { gzipSync } from 'node:zlib';
import { describe } from 'vitest';
import { testDoor } from './door-case.js';

describe('a last record without its end', () => {
  testDoor([
    { name: 'behind CRLF', files: { a: 'a\r\nb' }, argv: 'a', records: ['a\r\n', 'b\r\n'] },
    { name: 'behind CRLF, compressed', files: { a: gzipSync('a\r\nb') }, argv: 'a', records: ['a\r\n', 'b\r\n'] },
    { name: 'behind a newline', files: { a: 'a\r\nb\nc' }, argv: 'a', records: ['a\r\n', 'b\n', 'c\n'] },
    { name: 'behind an empty line', files: { a: 'a\r\n\nb' }, argv: 'a', records: ['a\r\n', '\n', 'b\n'] },
    { name: 'that is the only one', files: { a: 'a' }, argv: 'a', records: ['a\n'] },
    {
      name: 'behind a header',
      files: { a: 'h\r\na\r\nb' },
      argv: '--header 1 a',
      records: ['h\r\n', 'a\r\n', 'b\r\n'],
    },
    { name: 'that has the CR', files: { a: 'a\nb\r' }, argv: 'a', records: ['a\n', 'b\r\n'] },
    {
      name: 'that is equal to another one',
      files: { a: 'b\r\na\r\nb' },
      argv: '--unique a',
      summary: / 2 records, /,
      records: ['a\r\n', 'b\r\n'],
    },
    { name: 'of CSV', files: { a: '"x\n"\r\n1,"2"' }, argv: '--csv a', records: ['"x\n', '"\r\n', '1,"2"\r\n'] },
    {
      name: 'of several lines',
      files: { a: '1\r\n2\n3\r\n4', b: '1\r\n2' },
      argv: '--lines-per-record 2 a b',
      records: ['1\r\n', '2\n', '3\r\n', '4\n', '1\r\n', '2\r\n'],
    },
    {
      name: 'of a paragraph',
      files: { a: 'a\r\n\r\nb' },
      argv: '--paragraphs a',
      records: ['a\r\n', '\r\n', 'b\r\n', '\r\n'],
    },
    { name: 'that ends in NUL', files: { a: 'a\r\n\0b' }, argv: '-z a', records: ['a\r\n', '\0b\0'] },
    {
      name: 'that ends in the newline that is asked for',
      files: { a: 'a\r\nb' },
      argv: ['--delimiter', '\\n', 'a'],
      records: ['a\r\n', 'b\n'],
    },
    {
      name: 'that the header is',
      files: { a: '#1\r\n#2', b: '#1\r\n#2\r\nx\r\n' },
      argv: '--header 2 a b',
      records: ['#1\r\n', '#2\r\n', 'x\r\n'],
    },
  ]);
});
