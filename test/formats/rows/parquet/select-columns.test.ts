/** `--columns`: what stays of a table and of its metadata. */
import { describe, expect, it } from 'vitest';
import { UsageError } from '#src/errors.js';
import { readKeyValues, withRowCount } from '#src/formats/rows/parquet/key-values.js';
import { nameOfLeaf } from '#src/formats/rows/parquet/leaf.js';
import { selectColumns } from '#src/formats/rows/parquet/select-columns.js';
import { ThriftWriter } from '#src/formats/rows/parquet/thrift.js';
import { drawsFor } from '../../../fixtures/draws.js';
import { ARROW_SCHEMA, readArrowSchema } from './plain-arrow-schema.js';
import { columnOrdersOf, keyValuesOf, type PlainElement, tableOf } from './plain-footer.js';

const struct = (name: string, ...fields: string[]): PlainElement => ({
  name,
  repetition: 1,
  children: fields.map((field) => ({ name: field, type: 'INT64', repetition: 1 })),
});
const list = (name: string, element: PlainElement): PlainElement => ({
  name,
  repetition: 1,
  converted: 3,
  children: [{ name: 'list', repetition: 2, children: [element] }],
});
const columns: readonly PlainElement[] = [
  { name: 'a', type: 'INT64', repetition: 1 },
  { name: 'at', type: 'INT64', repetition: 1, logical: 8 },
  struct('s', 'x', 'y'),
  list('l', struct('element', 'x', 'y')),
];
const table = tableOf(columns, { columnOrders: columnOrdersOf(6) });

const namesOf = (...names: string[]) => selectColumns(table, names, 'in').schema.leaves.map(nameOfLeaf);

function keysAfter(pairs: Readonly<Record<string, string>>, ...names: string[]) {
  const { schema, cut } = selectColumns({ ...table, keyValues: keyValuesOf(pairs) }, names, 'in');
  return { ...cut, pairs: Object.fromEntries(readKeyValues(schema.keyValues).map(({ key, value }) => [key, value])) };
}

describe('selectColumns', () => {
  it('keeps columns in the order of the table', () => {
    expect(namesOf('at', 'a')).toEqual(['a', 'at']);
    expect(namesOf('s.y', 'l.list.element.x')).toEqual(['s.y', 'l.list.element.x']);
    expect(namesOf('l')).toEqual(['l.list.element.x', 'l.list.element.y']);
    expect(selectColumns(table, ['a', 'at', 's', 'l'], 'in').schema).toBe(table);
  });

  it('writes the elements as if there were no others', () => {
    const { schema, cut } = selectColumns(table, ['s.y', 'a'], 'in');
    const expected = tableOf([{ name: 'a', type: 'INT64', repetition: 1 }, struct('s', 'y')], {
      columnOrders: columnOrdersOf(2),
    });
    expect(schema).toEqual(expected);
    expect(cut).toEqual({ shortened: [], dropped: [] });
  });

  it('finds columns whose names have dots', () => {
    const dotted = tableOf([{ name: 'a.b', type: 'INT64' }, struct('c', 'd.e', 'f')]);
    const found = selectColumns(dotted, ['a.b', 'c.d.e'], 'in').schema.leaves.map(({ path }) => path);
    expect(found).toEqual([['a.b'], ['c', 'd.e']]);
  });

  it.each<[string[], RegExp]>([
    [[], /^`columns` is empty/],
    [['At'], /^`columns`: in has no column At; did you mean at or a\?$/],
    [['y'], /has no column y; did you mean s\.y or l\.list\.element\.y or a\?$/],
    [['nothing'], /has no column nothing; it has a, at, s\.x, s\.y, l\.list\.element\.x and 1 more$/],
    [['s.'], /has no column s\.;/],
  ])('refuses %j', (names, line) => {
    expect(() => namesOf(...names)).toThrow(UsageError);
    expect(() => namesOf(...names)).toThrow(line);
  });

  it('keeps whole what is one value to readers', () => {
    const map: PlainElement = {
      name: 'm',
      repetition: 1,
      logical: 2,
      children: [
        {
          name: 'key_value',
          repetition: 2,
          children: [{ name: 'key', type: 'BYTE_ARRAY' }, struct('value', 'x', 'y')],
        },
      ],
    };
    const variant: PlainElement = {
      name: 'v',
      logical: 16,
      children: ['metadata', 'value'].map((name) => ({ name, type: 'BYTE_ARRAY' })),
    };
    const old: PlainElement = {
      name: 'o',
      logical: 3,
      children: [
        {
          name: 'array',
          repetition: 2,
          children: [
            { name: 'x', type: 'INT32' },
            { name: 'y', type: 'INT32' },
          ],
        },
      ],
    };
    const select = (...names: string[]) =>
      selectColumns(tableOf([map, variant, old]), names, 'in').schema.leaves.map(nameOfLeaf);
    expect(() => select('m.key_value.value')).toThrow(
      /^`columns` selects a part of m, a MAP; expected all of it: give m$/,
    );
    expect(() => select('m.key_value.key')).toThrow(/a part of m, a MAP/);
    expect(() => select('v.value')).toThrow(/a part of v, a VARIANT/);
    expect(() => select('o.array.x')).toThrow(/a part of o, a LIST/);
    expect(select('m.key_value.key', 'm.key_value.value.y')).toEqual(['m.key_value.key', 'm.key_value.value.y']);
  });
});

const pandas = (names: readonly string[], stop = 2, ...index: unknown[]) =>
  JSON.stringify({
    index_columns: [{ kind: 'range', start: 0, stop, step: 1 }, ...index],
    columns: names.map((name) => ({ name })),
  });

describe('metadata', () => {
  it('is cut down with the columns', () => {
    const features = (...names: string[]) =>
      JSON.stringify({
        info: { features: Object.fromEntries(names.map((name) => [name, { dtype: 'x' }])) },
        fingerprint: '1',
      });
    const geo = (...names: string[]) =>
      JSON.stringify({
        version: '1',
        primary_column: 'a',
        columns: Object.fromEntries(names.map((name) => [name, {}])),
      });
    const spark = (...names: string[]) => JSON.stringify({ type: 'struct', fields: names.map((name) => ({ name })) });
    const SPARK = 'org.apache.spark.sql.parquet.row.metadata';
    const all = ['a', 'at', 's', 'l'];
    const pairs = {
      k: 'v',
      pandas: pandas(all, 2, 'at'),
      huggingface: features(...all),
      geo: geo(...all),
      [SPARK]: spark(...all),
    };
    expect(keysAfter({ ...pairs, 'iceberg.schema': '{}' }, 'a', 's')).toEqual({
      shortened: ['pandas', 'huggingface', 'geo', SPARK],
      dropped: ['iceberg.schema'],
      pairs: {
        k: 'v',
        pandas: pandas(['a', 's']),
        huggingface: features('a', 's'),
        geo: geo('a', 's'),
        [SPARK]: spark('a', 's'),
      },
    });
    // What describes the fields of a struct is not cut down.
    expect(keysAfter(pairs, 'at', 's.x')).toMatchObject({
      shortened: ['pandas'],
      dropped: ['huggingface', 'geo', SPARK],
    });
    // As JavaScript would give names another order.
    expect(keysAfter({ huggingface: features('a', '7') }, 'a').dropped).toEqual(['huggingface']);
    expect(keysAfter({ huggingface: 'no JSON', pandas: '[]' }, 'a')).toEqual({
      shortened: [],
      dropped: ['huggingface', 'pandas'],
      pairs: {},
    });
  });

  it('of Arrow is cut down with the columns', () => {
    const arrowAfter = (...names: string[]) => {
      const { pairs, dropped } = keysAfter({ 'ARROW:schema': ARROW_SCHEMA }, ...names);
      const text = pairs['ARROW:schema'];
      return text === undefined ? dropped : readArrowSchema(text);
    };
    const leaf = (name: string) => ({ name, isNullable: true, fields: [] });
    expect(arrowAfter('a', 's.y')).toEqual({
      fields: [leaf('a'), { ...leaf('s'), fields: [leaf('y')] }],
      metadata: { k: 'v', pandas: pandas(['a', 's']) },
    });
    expect(arrowAfter('l')).toMatchObject({ fields: [{ name: 'l' }], metadata: { k: 'v', pandas: pandas([]) } });
    expect(arrowAfter('l.list.element.x')).toEqual(['ARROW:schema']);
    const other = keysAfter({ 'ARROW:schema': 'AAAA' }, 'a');
    expect(other).toEqual({ shortened: [], dropped: ['ARROW:schema'], pairs: {} });
  });

  it('of Arrow may be damaged', () => {
    const bytes = Buffer.from(ARROW_SCHEMA, 'base64');
    const draw = drawsFor('damaged schemas of Arrow');
    for (let i = 0; i < 1000; i += 1) {
      const damaged = Buffer.from(bytes);
      damaged[Math.floor(draw() * bytes.byteLength)] = Math.floor(draw() * 256);
      const { shortened, dropped } = keysAfter({ 'ARROW:schema': damaged.toString('base64') }, 'a', 's.y');
      expect([...shortened, ...dropped]).toEqual(['ARROW:schema']);
    }
  });

  it('says how many rows pandas finds, also within the schema of Arrow', () => {
    const keyValues = keyValuesOf({ k: 'v', 'ARROW:schema': ARROW_SCHEMA, pandas: pandas(['a', 's']) });
    const pairs = readKeyValues(withRowCount(keyValues, 123_456));
    expect(pairs.map(({ key }) => key)).toEqual(['k', 'ARROW:schema', 'pandas']);
    expect(pairs[2]?.value).toBe(pandas(['a', 's'], 123_456));
    const arrow = readArrowSchema(pairs[1]?.value ?? '');
    expect(arrow).toMatchObject({ metadata: { k: 'v', pandas: pandas(['a', 's'], 123_456) } });
    expect(arrow.fields).toEqual(readArrowSchema(ARROW_SCHEMA).fields);
  });

  it('keeps blanks, and changes the digits of a range of other rows alone', () => {
    const written = (range: string) =>
      `{"index_columns": [${range}], "columns": [{"name": "{\\"kind\\": \\"range\\"}"}], "creator": {"stop": 2}}`;
    const table = (range: string) => keyValuesOf({ pandas: written(range) });
    const range = '{"kind": "range", "name": null, "start" : 10, "stop": 20, "step": 2}';
    const right = table(range);
    expect(withRowCount(right, 5)).toBe(right);
    const changed = '{"kind": "range", "name": null, "start" : 0, "stop": 123, "step": 1}';
    expect(withRowCount(right, 123)).toEqual(table(changed));
    const named = readKeyValues(
      withRowCount(table('{"kind": "range", "name": "{", "start": 0, "stop": 2, "step": 1}'), 3),
    );
    expect(JSON.parse(named[0]?.value ?? '')).toMatchObject({ index_columns: [{ name: '{', stop: 3 }] });
  });

  it('has one size in the schema of Arrow where the number of digits is the same', () => {
    const counted = (rows: number) => {
      const [changed] = readKeyValues(withRowCount(keyValuesOf({ 'ARROW:schema': ARROW_SCHEMA }), rows));
      return changed?.value ?? '';
    };
    expect(counted(7)).toHaveLength(counted(8).length);
    expect(readArrowSchema(counted(7)).metadata).toEqual({ k: 'v', pandas: pandas(['a', 's'], 7) });
    expect(counted(2)).toBe(ARROW_SCHEMA);
  });

  it('stays byte for byte where pandas does not number the rows', () => {
    const writer = new ThriftWriter();
    writer.list(12, 2, (i) =>
      writer.struct(() => writer.field(1).binary(Uint8Array.of(0xff, i)).field(7).boolean(true)),
    );
    const odd = writer.take();
    expect(withRowCount(odd, 5)).toBe(odd);
    expect(withRowCount(undefined, 5)).toBeUndefined();
    const named = keyValuesOf({ pandas: JSON.stringify({ index_columns: ['id'], columns: [] }) });
    expect(withRowCount(named, 5)).toBe(named);
  });
});
