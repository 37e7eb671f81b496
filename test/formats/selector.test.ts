/** Selectors of values: what each text selects, and which texts are refused; and the column that a header names. */
import { describe, expect, it } from 'vitest';
import { InputError, UsageError } from '#src/errors.js';
import type { FramingSpec } from '#src/formats/framing-table.js';
import { headerOfBytes } from '#src/formats/header.js';
import { seekLeaf } from '#src/formats/rows/parquet/parquet-format.js';
import { describeLack, parseSelector, withColumnNumber, withRowColumn } from '#src/formats/selector.js';
import { tableOf } from './rows/parquet/plain-footer.ts';

describe('a selector', () => {
  it.each<[string, object]>([
    ['.site', { kind: 'field', path: ['site'] }],
    ['.a."b.c".d', { kind: 'field', path: ['a', 'b.c', 'd'] }],
    ['.csv:site', { kind: 'field', path: ['csv:site'] }],
    ['csv:site', { kind: 'column', column: 'site', separator: 0x2c }],
    ['csv:3', { kind: 'column', column: 3, separator: 0x2c }],
    ['csv:"3"', { kind: 'column', column: '3', separator: 0x2c }],
    ['csv:3a', { kind: 'column', column: '3a', separator: 0x2c }],
    ['csv:a name, "b"', { kind: 'column', column: 'a name, "b"', separator: 0x2c }],
    ['csv:"a \\"b\\""', { kind: 'column', column: 'a "b"', separator: 0x2c }],
    ['csv:.site', { kind: 'column', column: '.site', separator: 0x2c }],
    ['tsv:1048576', { kind: 'column', column: 1_048_576, separator: 0x09 }],
    ['key', { kind: 'key', expression: undefined }],
    ['key:/^(\\d+)/', { kind: 'key', expression: { source: '^(\\d+)', flags: 'u' } }],
    ['/^(\\w+)\\t/', { kind: 'expression', expression: { source: '^(\\w+)\\t', flags: 'u' } }],
    ['/a/(b)/ims', { kind: 'expression', expression: { source: 'a/(b)', flags: 'imsu' } }],
    ['/x|(?<site>y)/', { kind: 'expression', expression: { source: 'x|(?<site>y)', flags: 'u' } }],
    ['/(?:a)\\((b)/', { kind: 'expression', expression: { source: '(?:a)\\((b)', flags: 'u' } }],
  ])('%s', (text, selected) => {
    const selector = parseSelector(text, '`splitBy`');
    expect(selector).toEqual({ text, ...selected });
    expect(structuredClone(selector)).toEqual(selector);
    expect(describeLack(selector)).toMatch(/^(no|a key) .*; expected /);
  });

  it.each<[string, RegExp]>([
    ['', /^`splitBy` "": expected a JSON field \(\.site, .*a column \(csv:site, .*key.*expression/],
    ['site', /^`splitBy` "site": expected a JSON field/],
    ['3', /expected a JSON field/],
    ['keys', /expected a JSON field/],
    ['csv', /expected a JSON field/],
    ['csv:', /expected a JSON field/],
    ['ssv:a', /expected a JSON field/],
    ['column:site', /expected a JSON field/],
    ['.', /expected the keys of a JSON field/],
    ['.a.', /expected the keys of a JSON field/],
    ['."a', /expected the keys of a JSON field/],
    ['."\\x"', /expected the keys of a JSON field/],
    [`.a${'.a'.repeat(32)}`, /expected the keys of a JSON field/],
    ['csv:0', /expected the number of a column, from 1 to 1048576/],
    ['csv:1048577', /expected the number of a column/],
    [`csv:${'9'.repeat(400)}`, /expected the number of a column/],
    ['csv:"a', /expected the name of a column in double quotes/],
    ['csv:"a" b', /expected the name of a column in double quotes/],
    ['/', /expected a regular expression between two slashes/],
    ['//', /expected a regular expression between two slashes/],
    ['/(a)', /expected a regular expression between two slashes/],
    ['key:', /expected a regular expression between two slashes/],
    ['key:a', /expected a regular expression between two slashes/],
    ['/a/', /has no group; expected parentheses/],
    ['/(?:a)/', /has no group; expected parentheses/],
    ['/\\(a\\)/', /has no group; expected parentheses/],
    ['/[(a)]/', /has no group; expected parentheses/],
    ['key:/a/', /has no group; expected parentheses/],
    ['/(a)/g', /expected no flags but i, m and s/],
    ['/(a)/y', /expected no flags but i, m and s/],
    ['/(a)/u', /expected no flags but i, m and s/],
    ['/(a)/ii', /expected no flags but i, m and s.*, each once/],
    ['/(a/', /is not a regular expression of JavaScript with the flag u: .*[Uu]nterminated/],
    ['/a)|(b/', /is not a regular expression of JavaScript/],
    ['/(a)\\-/', /is not a regular expression of JavaScript with the flag u/],
    ['/(a)|(?<!/', /is not a regular expression of JavaScript/],
    ['/(a)\\/', /is not a regular expression of JavaScript/],
  ])('%s is refused', (text, message) => {
    expect(() => parseSelector(text, '`splitBy`')).toThrow(UsageError);
    expect(() => parseSelector(text, '`splitBy`')).toThrow(message);
    expect(() => parseSelector(text, '`splitBy`')).toThrow(/^`splitBy` [^\n]*$/);
  });
});

describe('a column that a header names', () => {
  const CSV: FramingSpec = { kind: 'csv', value: null };
  const LINES: FramingSpec = { kind: 'lines', value: 1 };
  const find = (text: string, header: string | Buffer, framing: FramingSpec = CSV) => {
    const found = { path: 'in', header: headerOfBytes(Buffer.from(header)) };
    return withColumnNumber({ selector: parseSelector(text, ''), framing }, found).selector;
  };

  it.each([
    ['csv:site', 'id,site,text\n', 2],
    ['csv:id', 'id\n', 1],
    ['csv:id', '\ufeffid,site\r\n', 1],
    ['csv:text', 'id,site,text\r\n', 3],
    ['csv:site', '"id","site"\n', 2],
    ['csv:a, "b"', 'id,"a, ""b""","c"\n', 2],
    ['csv:"two\\nlines"', 'id,"two\nlines",x\n', 2],
    ['csv:x', '# a comment, x\nid,"two\nlines",x\n', 3],
    ['csv:"2"', '3,2,1\n', 2],
    ['csv:"\\u00e9"', 'a,é\n', 2],
    ['csv:""', 'a,,b\n', 2],
    ['tsv:site', 'id\tsite\n', 2],
  ])('%s of %j is %s', (text, header, column) => {
    expect(find(text, header)).toMatchObject({ text, column });
  });

  it('of lines has quotes in its name', () => {
    expect(find('tsv:"\\"a\\""', 'id\t"a"\t"b\n', LINES)).toMatchObject({ column: 2 });
    expect(() => find('tsv:a', 'id\t"a"\n', LINES)).toThrow('names no column');
  });

  it.each([
    ['csv:nope', 'id,site\n', /^in: csv:nope names no column of its header, which has "id", "site"; expected/],
    ['csv:id', 'id,site,id\n', /^in: csv:id names several columns of its header, which has /],
    ['csv:Id', 'id\n', /names no column/],
    ['csv:nope', `${'a,'.repeat(50)}b\n`, /"a", "a", …; expected/],
    ['csv:nope', Buffer.from([0xff, 0x00, 0x0a]), /names no column/],
  ])('%s of %j is refused', (text, header, message) => {
    expect(() => find(text, header)).toThrow(InputError);
    expect(() => find(text, header)).toThrow(message);
    expect(() => find(text, header)).toThrow(/^[^\n]*$/);
  });

  it('stays as it is if no header is known, or it has its number', () => {
    const rule = { selector: parseSelector('csv:site', ''), framing: CSV };
    expect(withColumnNumber(rule, undefined)).toBe(rule);
    expect(find('csv:7', 'id,site\n')).toMatchObject({ column: 7 });
    expect(find('.site', 'id,site\n')).toMatchObject({ kind: 'field' });
  });
});

describe('a column of a table', () => {
  const schema = tableOf([
    { name: 'site', type: 'BYTE_ARRAY' },
    { name: 'tags', repetition: 2, children: [{ name: 'tag', type: 'BYTE_ARRAY' }] },
    { name: 'score', type: 'FLOAT' },
  ]);
  const rows = { format: 'Parquet', schema, codec: undefined };
  const find = (text: string) =>
    withRowColumn({ selector: parseSelector(text, ''), framing: undefined }, (sought) => seekLeaf(rows, 'in', sought))
      .selector;

  it('is found by its name', () => expect(find('.site')).toMatchObject({ kind: 'row' }));

  it.each([
    ['.tags', 'in: column tags holds a list, a map or other columns; expected a column of single values'],
    ['.tags.tag', 'in: column tags.tag may have several values in a row; expected one that has one'],
    ['.score', 'in: column score has values of type FLOAT; expected strings or whole numbers'],
    ['.other', 'in: .other names no column of its rows; expected the name of one'],
  ])('that %s names is refused', (text, message) => expect(() => find(text)).toThrow(new RegExp(`^${message}$`)));
});
