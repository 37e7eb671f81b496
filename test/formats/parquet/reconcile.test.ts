/** Files of one table with different schemas: what is made one, and what is not. */
import { describe, expect, it } from 'vitest';
import { reconcile, schemasDiffer, unify } from '#src/formats/parquet/reconcile.js';
import type { TableSchema } from '#src/formats/parquet/schema.js';
import { selectColumns } from '#src/formats/parquet/select-columns.js';
import type { ThriftWriter } from '#src/formats/parquet/thrift.js';
import { keyValuesOf, type PlainElement, tableOf } from './plain-footer.js';

function unified(target: TableSchema, ...others: readonly TableSchema[]): TableSchema {
  let schema = target;
  for (const other of others) {
    const result = unify(schema, other);
    schema = 'schema' in result ? result.schema : expect.fail(JSON.stringify(result.difference));
  }
  return schema;
}

/** `index`, or `index: levels`. */
function mapped(target: TableSchema, other: TableSchema, columns?: readonly string[]): string[] {
  const result = reconcile(target, other, columns);
  if ('difference' in result) return [Object.values(result.difference).join(' | ')];
  return result.leaves.map(({ index, definitionLevels }) =>
    definitionLevels === undefined ? `${index}` : `${index}: ${[...definitionLevels]}`,
  );
}

const text = { name: 'text', type: 'BYTE_ARRAY', converted: 0, logical: 1 } as const;
const id = { name: 'id', type: 'INT64' } as const;

describe('unify and reconcile', () => {
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
    // In the target 0 is no list, 1 an empty one, 2 no struct, 3 no value.
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
    ['types', id, { ...id, type: 'INT32' }, /^b: its column id is INT32, but in a is INT64; all inputs/],
    [
      'lengths',
      { ...id, type: 'FIXED_LEN_BYTE_ARRAY', typeLength: 2 },
      { ...id, type: 'FIXED_LEN_BYTE_ARRAY', typeLength: 3 },
      /ARRAY of 3 bytes, .* of 2 bytes/,
    ],
    ['units', timestamp(true, 2), timestamp(true, 3), /column at is INT64 that is TIMESTAMP \(8c11/],
    ['zones', timestamp(true, 2), timestamp(false, 2), /column at is INT64 that is TIMESTAMP/],
    [
      'a local time by its older type',
      timestamp(false, 2),
      { ...bare, converted: 10 },
      /column at is INT64 that is TIMESTAMP \(10\)/,
    ],
    [
      'no annotation',
      text,
      { name: 'text', type: 'BYTE_ARRAY' },
      /column text is BYTE_ARRAY, but in a is BYTE_ARRAY that is STRING/,
    ],
    ['a later annotation', { ...id, later: '1' }, { ...id, later: '2' }, /column id is INT64/],
    ['a group', id, { name: 'id', children: [id] }, /column id is a group, but in a is INT64/],
    ['a list', id, { ...id, repetition: 2 }, /column id is repeated, but in a is required/],
    ['names', id, text, /column id is missing, but in a exists/],
  ])('refuse other %s', (_, one, other, line) => {
    const result = unify(tableOf([one]), tableOf([other]));
    const difference = 'difference' in result ? result.difference : expect.fail('it was taken');
    expect(schemasDiffer(difference, 'a', 'b').message).toMatch(line);
    expect(reconcile(tableOf([one]), tableOf([other]))).toEqual({ difference });
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

  it('tell what of the metadata is not taken', () => {
    const range = (stop: number) => JSON.stringify({ index_columns: [{ kind: 'range', start: 0, stop, step: 1 }] });
    const one = tableOf([{ ...id, fieldId: 1 }], {
      keyValues: keyValuesOf({ a: '1', pandas: range(5), 'ARROW:schema': 'x' }),
    });
    const two = tableOf([{ ...id, fieldId: 2 }], {
      keyValues: keyValuesOf({ b: '1', pandas: range(6), 'ARROW:schema': 'y' }),
    });
    expect(unify(one, two)).toEqual({ schema: one, ignored: ['`a`', '`b`', 'field ids'] });
    const three = tableOf([{ ...id, fieldId: 1 }], {
      keyValues: keyValuesOf({ a: '1', pandas: range(5), 'ARROW:schema': 'y' }),
    });
    expect(unify(one, three)).toEqual({ schema: one, ignored: ['`ARROW:schema`'] });
  });
});
