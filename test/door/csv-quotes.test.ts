/** Quotes in CSV that are mere text, and would join lines. */
import { describe } from 'vitest';
import { testDoor } from './door-case.js';

const advice = '; if quotes are mere text in this input, give --lines --header 1 (--lines alone if it has no header)';
const inField = `is a double quote in a field that does not begin with one${advice}`;
const behind = `is text after the double quote that ends a field${advice}`;

describe('a double quote in CSV', () => {
  testDoor([
    {
      name: 'in a field',
      files: { 'a.csv': 'id,size\n1,6" pipe\n2,8" pipe\n3,x\n' },
      argv: '--csv --header 1 a.csv',
      badInput: `a.csv: byte 11 ${inField}`,
    },
    {
      name: 'in a field, as lines behind a header',
      files: { 'a.csv': 'id,size\n1,6" pipe\n2,8" pipe\n' },
      argv: '--lines --header 1 a.csv',
      records: ['id,size\n', '1,6" pipe\n', '2,8" pipe\n'],
    },
    {
      name: 'behind a space',
      files: { a: 'a, "b"\n' },
      argv: '--csv a',
      badInput: `a: byte 3 ${inField}`,
    },
    {
      name: 'that is closed too early',
      files: { a: '"a"b\n' },
      argv: '--csv a',
      badInput: `a: byte 3 ${behind}`,
    },
    {
      name: 'that is closed before a space',
      files: { a: '"a" ,b\n' },
      argv: '--csv a',
      badInput: `a: byte 3 ${behind}`,
    },
    {
      name: 'before a CR that ends no line',
      files: { a: '"a"\rb\n' },
      argv: '--csv a',
      badInput: `a: byte 4 ${behind}`,
    },
    {
      name: 'that is not closed',
      files: { a: 'x\n"a\nb\n' },
      argv: '--csv a',
      badInput: `a: byte 2 begins a record with a double quote that is not closed before the input ends${advice}`,
    },
    {
      name: 'beside all that separates fields',
      files: { a: '"";"a""b"\t"c"|"d"\r\n"""",\n,""' },
      argv: '--csv a',
      records: ['"";"a""b"\t"c"|"d"\r\n', '"""",\n', ',""\n'],
    },
  ]);
});
