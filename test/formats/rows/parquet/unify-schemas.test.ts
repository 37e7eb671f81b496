/** Files of one table with different schemas: what is made one, and what is not. */
import { describe, expect, it } from 'vitest';
import type { TableSchema } from '#src/formats/rows/parquet/schema.js';
import { selectColumns } from '#src/formats/rows/parquet/select-columns.js';
import type { ThriftWriter } from '#src/formats/rows/parquet/thrift.js';
import { findLeafSources, schemaDifferenceError, unifySchemas } from '#src/formats/rows/parquet/unify-schemas.js';
import { keyValuesOf, type PlainElement, tableOf } from './plain-footer.js';

function unified(target: TableSchema, ...others: readonly TableSchema[]): TableSchema {
  let schema = target;
  for (const other of others) {
    const result = unifySchemas(schema, other);
    schema = 'schema' in result ? result.schema : expect.fail(JSON.stringify(result.difference));
  }
  return schema;
}

/** `index`, or `index: levels`. */
function mapped(target: TableSchema, other: TableSchema, columns?: readonly string[]): string[] {
  const result = findLeafSources(target, other, columns);
  if ('difference' in result) return [Object.values(result.difference).join(' | ')];
  return result.leaves.map(({ index, definitionLevels }) =>
    definitionLevels === undefined ? `${index}` : `${index}: ${[...definitionLevels]}`,
  );
}

const text = { name: 'text', type: 'BYTE_ARRAY', converted: 0, logical: 1 } as const;
const id = { name: 'id', type: 'INT64' } as const;

describe('unifySchemas and findLeafSources', () => {
  it('leave equal schemas as they are', () => {
    const [one, other] = [tableOf([id, text]), tableOf([id, text])];
    expect(unified(one, other)).toBe(one);
    expect(mapped(one, other)).toEqual(['0', '1']);
  });

  it('find columns in another order, also in groups', () => {
    const point = (...names: string[]): PlainElement => ({
      name: 'point',
      repetition: 1,
      children: names.map((name) => ({ name, type: 'DOUBLE' })),
    });
    const [one, other] = [tableOf([id, point('x', 'y'), text]), tableOf([text, point('y', 'x'), id])];
    expect(unified(one, other)).toBe(one);
    expect(mapped(one, other)).toEqual(['3', '2', '1', '0']);
  });

  it('match columns of one name in their order', () => {
    const [one, other] = [tableOf([id, text, id]), tableOf([id, id, text])];
    expect(mapped(one, other)).toEqual(['0', '2', '1']);
  });

  it('make optional what is optional anywhere, and raise the levels of the others', () => {
    const list = (outer: number, struct: number, leaf: number) =>
      tableOf([
        {
          name: 'a',
          repetition: outer,
          fieldId: 4,
          children: [
            {
              name: 'list',
              repetition: 2,
              children: [{ name: 's', repetition: struct, children: [{ name: 'v', type: 'INT32', repetition: leaf }] }],
            },
          ],
        },
      ]);
    const target = unified(list(0, 0, 1), list(1, 0, 1), list(0, 1, 0));
    expect(target).toEqual(list(1, 1, 1));
    expect(mapped(target, list(1, 1, 1))).toEqual(['0']);
    // In the target 0 is not a list, 1 an empty one, 2 no struct, 3 no value.
    expect(mapped(target, list(0, 0, 0))).toEqual(['0: 1,4']);
    expect(mapped(target, list(0, 0, 1))).toEqual(['0: 1,3,4']);
    expect(mapped(target, list(1, 0, 0))).toEqual(['0: 0,1,4']);
    expect(mapped(target, list(0, 1, 0))).toEqual(['0: 1,2,4']);
    expect(mapped(target, list(0, 1, 1))).toEqual(['0: 1,2,3,4']);
    expect(mapped(list(0, 0, 1), list(1, 0, 1))).toEqual(['a | is required | is optional']);
  });

  const timestamp = (isUtc: boolean, unit: number): PlainElement => ({
    name: 'at',
    type: 'INT64',
    logical: 8,
    converted: 10,
    parameters: (writer: ThriftWriter) =>
      void writer
        .field(1)
        .boolean(isUtc)
        .field(2)
        .struct(() => writer.field(unit).struct(() => undefined)),
  });
  const bare = { name: 'at', type: 'INT64' } as const;

  it.each<[string, PlainElement, PlainElement]>([
    ['logical types beside the older ones alone', text, { ...text, logical: 1, converted: 0 }],
    ['no logical type where the older one is the same', text, { name: 'text', type: 'BYTE_ARRAY', converted: 0 }],
    ['no older type where the logical one is the same', text, { name: 'text', type: 'BYTE_ARRAY', logical: 1 }],
    ['a time in UTC by its older type', timestamp(true, 2), { ...bare, converted: 10 }],
    ['other field ids', { ...id, fieldId: 1 }, { ...id, fieldId: 2 }],
    ['the type of a group', { name: 'g', children: [id], type: 'INT32' }, { name: 'g', children: [id] }],
  ])('take %s for the same', (_, one, other) => {
    for (const [a, b] of [
      [one, other],
      [other, one],
    ] as const) {
      const target = tableOf([a]);
      expect(unified(target, tableOf([b]))).toBe(target);
    }
  });

  it.each<[string, PlainElement, PlainElement, RegExp]>([
    [
      'types',
      id,
      { ...id, type: 'INT32' },
      /^b: its column id is int32, but in a it is int64; write one of the files again/,
    ],
    [
      'lengths',
      { ...id, type: 'FIXED_LEN_BYTE_ARRAY', typeLength: 2 },
      { ...id, type: 'FIXED_LEN_BYTE_ARRAY', typeLength: 3 },
      /binary of 3 bytes, .* of 2 bytes/,
    ],
    ['units', timestamp(true, 2), timestamp(true, 3), /column at is timestamp\[ns, UTC\], .* is timestamp\[us, UTC\]/],
    ['zones', timestamp(true, 2), timestamp(false, 2), /column at is timestamp\[us\], .* is timestamp\[us, UTC\]/],
    [
      'a local time by its older type',
      timestamp(false, 2),
      { ...bare, converted: 10 },
      /column at is timestamp\[us, UTC\], .* is timestamp\[us\]/,
    ],
    ['no annotation', text, { name: 'text', type: 'BYTE_ARRAY' }, /column text is binary, but in a it is string/],
    [
      'a later annotation',
      { ...id, later: '1' },
      { ...id, later: '2' },
      /column id is int64 with fields of a later version/,
    ],
    ['a group', id, { name: 'id', children: [id] }, /column id is struct, but in a it is int64/],
    ['a list', id, { ...id, repetition: 2 }, /column id is repeated, but in a it is required/],
    ['names', id, text, /column id is missing, but in a it exists; name the columns/],
  ])('refuse other %s', (_, one, other, line) => {
    const result = unifySchemas(tableOf([one]), tableOf([other]));
    const difference = 'difference' in result ? result.difference : expect.fail('it was taken');
    expect(schemaDifferenceError(difference, 'a', 'b').message).toMatch(line);
    expect(findLeafSources(tableOf([one]), tableOf([other]))).toEqual({ difference });
  });

  it('refuse columns that are new, unless they are not selected', () => {
    const [one, other] = [tableOf([id]), tableOf([text, id])];
    expect(mapped(one, other)).toEqual(['text | is missing | exists']);
    expect(mapped(one, other, ['id'])).toEqual(['1']);
    expect(mapped(one, tableOf([text]), ['id'])).toEqual(['id | exists | is missing']);
  });

  it('look at selected columns alone', () => {
    const [one, other] = [
      tableOf([id, text, { name: 'x', type: 'INT32' }]),
      tableOf([{ name: 'x', type: 'INT96' }, text, id]),
    ];
    const target = selectColumns(one, ['text', 'id'], 'in').schema;
    expect(unified(target, selectColumns(other, ['text', 'id'], 'in').schema)).toBe(target);
    expect(mapped(target, other, ['text', 'id'])).toEqual(['2', '1']);
  });

  it('tell what of the metadata may matter', () => {
    const withKeys = (fieldId: number, pairs: Readonly<Record<string, string>>) =>
      tableOf([{ ...id, fieldId }], { keyValues: keyValuesOf(pairs) });
    const range = (stop: number) => JSON.stringify({ index_columns: [{ kind: 'range', start: 0, stop, step: 1 }] });
    const one = withKeys(1, { a: '1', pandas: range(5), num_rows: '5', 'org.apache.spark.version': '3' });
    const two = withKeys(2, { b: '1', pandas: range(6), num_rows: '6' });
    expect(unifySchemas(one, two)).toEqual({ schema: one, ignored: ['`a`', '`b`', 'field ids'] });
    expect(unifySchemas(one, withKeys(1, { a: '1' }))).toEqual({ schema: one, ignored: [] });
    const indexed = withKeys(1, { pandas: JSON.stringify({ index_columns: ['id'] }) });
    expect(unifySchemas(indexed, withKeys(1, { pandas: range(5) }))).toEqual({
      schema: indexed,
      ignored: ['`pandas`'],
    });
  });

  it('drop descriptions that are good for one of the files alone', () => {
    const avro = (text: string) => tableOf([id], { keyValues: keyValuesOf({ k: 'v', 'parquet.avro.schema': text }) });
    const unifiedKeys = unifySchemas(avro('{"a":1}'), avro('{"a":2}'));
    expect(unifiedKeys).toEqual({
      schema: tableOf([id], { keyValues: keyValuesOf({ k: 'v' }) }),
      ignored: ['`parquet.avro.schema`'],
    });
  });

  it('tell dates in the calendar of old versions of Spark from others', () => {
    const date = { name: 'd', type: 'INT32', converted: 6 } as const;
    const keyValues = keyValuesOf({ 'org.apache.spark.legacyDateTime': '' });
    const difference = {
      column: 'd',
      expected: 'is in the Gregorian calendar',
      got: 'is in the Julian calendar before 1582',
    };
    expect(unifySchemas(tableOf([date]), tableOf([date], { keyValues }))).toEqual({ difference });
    expect(unifySchemas(tableOf([id]), tableOf([id], { keyValues }))).toEqual({ schema: tableOf([id]), ignored: [] });
  });

  const list = (kind: number, entries: string, ...children: readonly PlainElement[]): PlainElement => ({
    name: 'l',
    repetition: 1,
    logical: kind,
    children: [{ name: entries, repetition: 2, children }],
  });
  const value = (name: string): PlainElement => ({ name, type: 'INT32', repetition: 1 });

  it('take names within lists and maps for the same', () => {
    const one = tableOf([list(3, 'list', value('element'))]);
    const map = tableOf([list(2, 'key_value', { ...value('key'), repetition: 0 }, value('value'))]);
    const otherMap = tableOf([list(2, 'map', { ...value('k'), repetition: 0 }, value('v'))]);
    for (const [a, b] of [
      [one, tableOf([list(3, 'bag', value('array_element'))])],
      [map, otherMap],
    ] as const) {
      expect(unified(a, b)).toBe(a);
      expect(mapped(a, b)).toEqual(a.leaves.map((_, i) => `${i}`));
    }
    // Old writers repeat the element itself.
    expect(mapped(one, tableOf([list(3, 'array', value('item'))]))).toEqual(['l.list | exists | is missing']);
  });

  it('give a column of nulls the type of the other file, whatever it is', () => {
    const untyped = { name: 'l', type: 'INT32', repetition: 1, logical: 11 } as const;
    const struct = { name: 'element', repetition: 1, children: [value('a'), value('b')] };
    const typed = tableOf([id, list(3, 'list', struct)]);
    const target = unified(tableOf([id, untyped]), typed);
    expect(target).toEqual(typed);
    expect(unified(typed, tableOf([untyped, id]))).toBe(typed);
    expect(mapped(target, tableOf([untyped, id]))).toEqual(['1', '0: 0,4', '0: 0,4']);
    const lists = tableOf([id, list(3, 'list', { ...untyped, name: 'item' })]);
    expect(unified(lists, typed)).toEqual(typed);
    expect(mapped(typed, lists)).toEqual(['0', '1: 0,1,2,4', '1: 0,1,2,4']);
    const required = tableOf([{ ...untyped, repetition: 0 }]);
    expect(mapped(tableOf([value('l')]), required)).toEqual(['l | is int32 | is null']);
  });
});
