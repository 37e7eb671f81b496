/** Columns in the names of directories, with the types and values that DuckDB 1.5 gives them. */
import { describe, expect, it } from 'vitest';
import { InputError } from '#src/errors.js';
import { hiveColumnsOf, hiveTextsIn, hiveValueOf, withHiveColumns } from '#src/formats/rows/parquet/hive-columns.js';
import { readKeyValues } from '#src/formats/rows/parquet/key-values.js';
import { nameOfLeaf } from '#src/formats/rows/parquet/leaf.js';
import { ARROW_SCHEMA, readArrowSchema } from './plain-arrow-schema.js';
import { columnOrdersOf, keyValuesOf, type PlainElement, tableOf } from './plain-footer.js';

const pathOf = (text: string) => `k=${text}/part.parquet`;

/** Days, microseconds, whole numbers, or text. */
function typedValue(text: string): unknown {
  const [hive = expect.fail('there is none')] = hiveColumnsOf([pathOf(text)], true);
  const value = hiveValueOf(hive, pathOf(text));
  if (value === undefined) return [hive.type, null];
  const bytes = Buffer.from(value);
  if (hive.type === 'VARCHAR') return [hive.type, bytes.subarray(4).toString()];
  return [hive.type, hive.type === 'DATE' ? bytes.readInt32LE() : bytes.readBigInt64LE()];
}

const NOON = 1_704_196_800_000_000n;

describe('columns in the names of directories', () => {
  it.each<[string, string, unknown]>([
    ['0', 'BIGINT', 0n],
    ['-7', 'BIGINT', -7n],
    [' 12 ', 'BIGINT', 12n],
    ['-9223372036854775808', 'BIGINT', -(2n ** 63n)],
    ['9223372036854775808', 'VARCHAR', '9223372036854775808'],
    ['07', 'VARCHAR', '07'],
    ['+7', 'VARCHAR', '+7'],
    ['1.5', 'VARCHAR', '1.5'],
    ['%37', 'VARCHAR', '7'],
    ['2024-01-02', 'DATE', 19_724],
    ['2024-1-2', 'DATE', 19_724],
    ['1969-12-31', 'DATE', -1],
    ['24-01-02', 'DATE', -710_761],
    ['2023-02-29', 'VARCHAR', '2023-02-29'],
    ['20240102', 'BIGINT', 20_240_102n],
    ['2024-01-02 12:00:00', 'TIMESTAMP', NOON],
    ['2024-01-02T12:00', 'TIMESTAMP', NOON],
    ['2024-01-02 12:00:00.1234567', 'TIMESTAMP', NOON + 123_456n],
    ['2024-01-02T12:00:00Z', 'TIMESTAMP', NOON],
    ['2024-01-02T12:00:00+02:00', 'VARCHAR', '2024-01-02T12:00:00+02:00'],
    ['2024-01-02 12%3A00', 'VARCHAR', '2024-01-02 12:00'],
    ['2024-01-02 12:60', 'VARCHAR', '2024-01-02 12:60'],
    ['a%20b%2Fc%C3%A9%zz+', 'VARCHAR', 'a b/cé%zz+'],
    ['', 'VARCHAR', ''],
    ['__HIVE_DEFAULT_PARTITION__', 'VARCHAR', null],
    ['null', 'VARCHAR', null],
    ['%4eULL', 'VARCHAR', 'NULL'],
  ])('%j are of type %s', (text, type, value) => {
    expect(typedValue(text)).toEqual([type, value]);
  });

  it('have one type in all files, in which nulls do not count, and the order of their names', () => {
    const typesOf = (...paths: string[]) => hiveColumnsOf(paths, true).map(({ name, type }) => `${name} ${type}`);
    expect(typesOf('b=1/B=x/p', 'b=null/B=y/p', 'b=3/B=1/p')).toEqual(['B VARCHAR', 'b BIGINT']);
    expect(typesOf('b=1/p', 'b=2024-01-02/p')).toEqual(['b VARCHAR']);
    expect(typesOf('/d/b=1/b=x/p', '/d/b=2/p')).toEqual(['b BIGINT']);
    expect(typesOf('a=b=c/=d/e=?/f=g')).toEqual([]);
    expect([...hiveTextsIn('s3://bucket/lang=en/y=/part')]).toEqual([
      ['lang', 'en'],
      ['y', ''],
    ]);
  });

  it('must be the same in all files', () => {
    const paths = ['a=1/p', 'a=1/b=2/q'];
    expect(() => hiveColumnsOf(paths, true)).toThrow(InputError);
    expect(() => hiveColumnsOf(paths, true)).toThrow(/^a=1\/b=2\/q names a, b in its directories, but a=1\/p a; /);
    expect(hiveColumnsOf(paths, false)).toHaveLength(2);
    expect(() => hiveValueOf({ name: 'k', type: 'VARCHAR' }, pathOf('%FF'))).toThrow(/value of k is not UTF-8/);
  });

  const struct: PlainElement = { name: 's', children: ['x', 'y'].map((name) => ({ name, type: 'INT64' })) };
  const columns: readonly PlainElement[] = [
    { name: 'a', type: 'INT64' },
    { name: 'at', type: 'INT64' },
    struct,
    { name: 'l', type: 'INT64' },
  ];

  it('come behind the columns of the file, or replace those with their names', () => {
    const spark = 'org.apache.spark.sql.parquet.row.metadata';
    const fieldsOf = (...names: string[]) => names.map((name) => ({ name }));
    const schema = tableOf(columns, {
      columnOrders: columnOrdersOf(5),
      keyValues: keyValuesOf({
        'ARROW:schema': ARROW_SCHEMA,
        [spark]: JSON.stringify({ fields: fieldsOf('a', 'at', 's', 'l') }),
        'avro.schema': '{}',
      }),
    });
    const [s, z] = [
      { name: 'S', type: 'DATE' },
      { name: 'z', type: 'BIGINT' },
    ] as const;
    const { schema: made, origins, replaced } = withHiveColumns(schema, [s, z]);
    expect(made.leaves.map(nameOfLeaf)).toEqual(['a', 'at', 's', 'l', 'z']);
    expect(made.leaves.map(({ type, maxDefinition }) => `${type} ${maxDefinition}`).slice(2)).toEqual([
      'INT32 1',
      'INT64 0',
      'INT64 1',
    ]);
    expect([origins, replaced, made.columnOrders]).toEqual([[0, 1, s, 4, z], ['s'], columnOrdersOf(5)]);
    const pairs = Object.fromEntries(readKeyValues(made.keyValues).map(({ key, value = '' }) => [key, value]));
    expect(Object.keys(pairs)).toEqual(['ARROW:schema', spark]);
    expect(readArrowSchema(pairs['ARROW:schema'] ?? '').fields.map(({ name }) => name)).toEqual([
      'a',
      'at',
      's',
      'l',
      'z',
    ]);
    const added = (name: string, type: string) => ({ name, type, nullable: true, metadata: {} });
    expect(JSON.parse(pairs[spark] ?? '')).toEqual({
      fields: [...fieldsOf('a', 'at'), added('s', 'date'), ...fieldsOf('l'), added('z', 'long')],
    });
  });
});
