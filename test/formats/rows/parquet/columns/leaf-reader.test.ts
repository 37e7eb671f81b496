/** Pages of every encoding and shape, made by the tests themselves, become the rows that they were made of. */
import { describe, expect, it } from 'vitest';
import { PHYSICAL_TYPES, type PhysicalType } from '#src/formats/rows/parquet/leaf.js';
import { PAGE_CODECS, type PageCodec } from '#src/formats/rows/parquet/row-group.js';
import { drawsFor, noiseOf } from '../../../../fixtures/draws.ts';
import { hadoopLz4 } from '../../../../fixtures/parquet/compress-blocks.ts';
import { encodingsOf } from '../../../../fixtures/parquet/encode-values.ts';
import { makePages, type PageOptions } from '../../../../fixtures/parquet/make-pages.ts';
import type { LeafShape, NestedValue } from '../../../../fixtures/parquet/rows-of-leaves.ts';
import { entriesOf, leafOf, rowBytesOf } from '../../../../fixtures/parquet/rows-of-leaves.ts';
import { type JoinOptions, joinedRows, openMemory } from './joined-rows.ts';

const shared = openMemory();

const WIDE = 'abcdefghijklmnop';

/** Values of a type, with the ends of its range among them. */
function valuesOf(type: PhysicalType, typeLength: number, count: number, different = 20): Exclude<NestedValue, null>[] {
  const draw = drawsFor(`${type} ${typeLength}`);
  const whole = (most: number) => Math.floor(draw() * most);
  const drawn = Array.from({ length: different }, (_, i) => {
    if (type === 'BOOLEAN') return draw() < 0.3;
    if (type === 'INT32') return [0, -1, 2 ** 31 - 1, -(2 ** 31)][i] ?? whole(2 ** 32) - 2 ** 31;
    if (type === 'INT64') {
      return [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n)][i] ?? BigInt(whole(2 ** 53)) * BigInt(whole(2048) - 1024);
    }
    if (type === 'FLOAT' || type === 'DOUBLE') return [0, -0, Number.NaN, Number.POSITIVE_INFINITY][i] ?? draw() * 1e6;
    if (type === 'BYTE_ARRAY') {
      return ['', 'a', WIDE, WIDE.repeat(40)][i] ?? WIDE.slice(0, whole(9)) + String(whole(1e6)).repeat(whole(5));
    }
    return Buffer.from(noiseOf(typeLength + 5 * i).subarray(5 * i));
  });
  return Array.from({ length: count }, () => drawn[whole(different)] ?? 0);
}

function expectRows(column: LeafShape, rows: readonly NestedValue[], options: PageOptions, join?: JoinOptions): void {
  const leaf = leafOf(column);
  const entries = rows.map((row) => entriesOf(column, row));
  const pages = makePages(leaf, entries.flat(), options);
  const read = joinedRows([{ leaf, codec: options.codec ?? 'UNCOMPRESSED', pages }], { memory: shared, ...join });
  const wanted = entries.map((each) => rowBytesOf(leaf, each).toString('hex'));
  expect(read.map((row) => row.toString('hex'))).toEqual(wanted);
}

const TYPES: readonly (readonly [PhysicalType, number])[] = [
  ...Object.keys(PHYSICAL_TYPES)
    .filter((type) => type !== 'FIXED_LEN_BYTE_ARRAY')
    .map((type) => [type as PhysicalType, type === 'INT96' ? 12 : 0] as const),
  ...[1, 2, 4, 5, 8, 16, 33].map((width) => ['FIXED_LEN_BYTE_ARRAY', width] as const),
];
const CASES = TYPES.flatMap(([type, width]) =>
  encodingsOf({ type, typeLength: width }).map((encoding) => ({ type, width, encoding })),
);

describe('a leaf', () => {
  for (const { type, width, encoding } of CASES) {
    const typeLength = type === 'INT96' ? 0 : width;
    it(`of ${type}${typeLength || ''} in ${encoding}: required, optional, in lists of lists`, () => {
      const values = valuesOf(type, width, 200);
      const options = { encoding, entriesPerPage: 80 };
      const shape = { path: ['a'], type, typeLength };
      expectRows({ ...shape, repetitions: ['required'] }, values, options);
      const withNulls = values.map((value, i) => (i % 7 === 3 ? null : value));
      for (const version of [1, 2] as const) {
        expectRows({ ...shape, repetitions: ['optional'] }, withNulls, { ...options, version });
      }
      const lists = Array.from({ length: 40 }, (_, i): NestedValue => {
        if (i % 11 === 5) return null;
        return Array.from({ length: i % 4 }, (_, j) => withNulls.slice(3 * i + j, 3 * i + 2 * j));
      });
      const nested: LeafShape = {
        path: ['a', 'list', 'list', 'item'],
        repetitions: ['optional', 'repeated', 'repeated', 'optional'],
        type,
        typeLength,
      };
      for (const version of [1, 2] as const) expectRows(nested, lists, { ...options, entriesPerPage: 16, version });
    });
  }

  const text: LeafShape = { path: ['text'], repetitions: ['optional'], type: 'BYTE_ARRAY' };
  const list: LeafShape = { path: ['t', 'e'], repetitions: ['optional', 'repeated'], type: 'INT32' };
  const words = valuesOf('BYTE_ARRAY', 0, 500);

  for (const codec of Object.keys(PAGE_CODECS) as PageCodec[]) {
    it(`is decompressed from ${codec}`, () => {
      for (const version of [1, 2] as const) {
        expectRows(text, words, { codec, version, entriesPerPage: 200 });
        expectRows(text, words.slice(0, 3), { codec, version, entriesPerPage: 1 });
        expectRows(text, [null, null], { codec, version });
        expectRows(text, [noiseOf(5000), 'x'.repeat(70_000), 'ab'.repeat(300), noiseOf(17)], { codec, version });
      }
    });
  }

  it('is read from a page of LZ4 with several blocks in a frame, as Hadoop makes of large ones', () => {
    const shape: LeafShape = { path: ['a'], repetitions: ['required'], type: 'INT64' };
    const entries = Array.from({ length: 999 }, (_, i) => entriesOf(shape, i % 60));
    const [page] = makePages(leafOf(shape), entries.flat(), {});
    if (page === undefined) throw new RangeError('no page');
    const [a, b, c] = [page.body.subarray(0, 1000), page.body.subarray(1000, 1001), page.body.subarray(1001)];
    for (const frames of [[[a, b, c]], [[a], [b, c]], [[a, b], [c]]]) {
      const pages = [{ header: page.header, body: hadoopLz4(frames) }];
      const read = joinedRows([{ leaf: leafOf(shape), codec: 'LZ4', pages }], { memory: shared });
      expect(Buffer.concat(read).equals(page.body)).toBe(true);
    }
  });

  it('is read from an old page of LZ4 without a frame', () => {
    const leaf = leafOf(text);
    const entries = words.map((word) => entriesOf(text, word));
    const pages = makePages(leaf, entries.flat(), { codec: 'LZ4_RAW' });
    const read = joinedRows([{ leaf, codec: 'LZ4', pages }]);
    expect(read).toEqual(entries.map((each) => rowBytesOf(leaf, each)));
  });

  it('has a row that goes on over many pages', () => {
    const long = Array.from({ length: 300 }, (_, i) => i);
    for (const encoding of ['PLAIN', 'RLE_DICTIONARY', 'DELTA_BINARY_PACKED'] as const) {
      for (const entriesPerPage of [1, 7, 100, 300]) {
        expectRows(list, [[1], long, [], null, long, [2]], { encoding, entriesPerPage });
      }
    }
    expectRows(list, [long, long], { encoding: 'RLE_DICTIONARY', entriesPerPage: 9, dictionaryPages: 30 });
  });

  it('goes from a dictionary to plain values in the middle of a row', () => {
    const shape: LeafShape = { path: ['a', 'b'], repetitions: ['repeated', 'optional'], type: 'BYTE_ARRAY' };
    const lists = Array.from({ length: 40 }, (_, i) => words.slice(i, i + (i % 9)));
    expectRows(shape, lists, { encoding: 'PLAIN_DICTIONARY', entriesPerPage: 10, dictionaryPages: 3 });
    expectRows(text, words, { encoding: 'RLE_DICTIONARY', entriesPerPage: 100, dictionaryPages: 2 });
  });

  it('has old bit-packed levels', () => {
    const lists = Array.from({ length: 50 }, (_, i) => (i % 5 === 0 ? null : words.slice(i, i + (i % 4))));
    const shape: LeafShape = { path: ['a', 'b'], repetitions: ['optional', 'repeated'], type: 'BYTE_ARRAY' };
    expectRows(shape, lists, { levels: 'BIT_PACKED', entriesPerPage: 13 });
    expectRows(text, words, { levels: 'BIT_PACKED' });
  });

  it('has whole numbers whose differences wrap around', () => {
    const shape: LeafShape = { path: ['a'], repetitions: ['required'], type: 'INT64' };
    const ends = [2n ** 63n - 1n, -(2n ** 63n), 0n, -1n, 2n ** 62n];
    const rows = Array.from({ length: 400 }, (_, i) => ends[(i * i) % ends.length] ?? 0n);
    expectRows(shape, rows, { encoding: 'DELTA_BINARY_PACKED' });
    const small = rows.map((_, i) => BigInt(i) * 1_000_003n);
    expectRows(shape, small, { encoding: 'DELTA_BINARY_PACKED' });
  });

  it('with all nulls, with levels up to 20, and empty', () => {
    expectRows(text, Array(1000).fill(null), { entriesPerPage: 400 });
    expectRows(text, [], {});
    const deep: LeafShape = {
      path: Array.from({ length: 20 }, (_, i) => `g${i}`),
      repetitions: Array(20).fill('optional'),
      type: 'BOOLEAN',
    };
    const leaf = leafOf(deep);
    const entries = Array.from({ length: 300 }, (_, i) => {
      const definition = (i * 7) % 21;
      return definition === 20 ? { repetition: 0, definition, value: Buffer.of(1) } : { repetition: 0, definition };
    });
    const pages = makePages(leaf, entries, {});
    expect(joinedRows([{ leaf, codec: 'UNCOMPRESSED', pages }])).toEqual(
      entries.map((each) => rowBytesOf(leaf, [each])),
    );
  });

  it('that is required in the file and optional in the table', () => {
    const required: LeafShape = { ...text, repetitions: ['required'] };
    const pages = makePages(
      leafOf(required),
      words.flatMap((word) => entriesOf(required, word)),
      {},
    );
    const read = joinedRows([{ leaf: leafOf(text), codec: 'UNCOMPRESSED', pages, definitions: Uint8Array.of(1) }]);
    expect(read).toEqual(words.map((word) => rowBytesOf(leafOf(text), entriesOf(text, word))));

    const inner: LeafShape = {
      path: ['a', 'b', 'c'],
      repetitions: ['required', 'repeated', 'optional'],
      type: 'BYTE_ARRAY',
    };
    const outer: LeafShape = { ...inner, repetitions: ['optional', 'repeated', 'optional'] };
    const rows = words.slice(0, 60).map((_, i) => (i % 3 === 0 ? [] : [words[i] ?? '', null]));
    const own = makePages(
      leafOf(inner),
      rows.flatMap((row) => entriesOf(inner, row)),
      { entriesPerPage: 10 },
    );
    const mapped = joinedRows([
      { leaf: leafOf(outer), codec: 'UNCOMPRESSED', pages: own, definitions: Uint8Array.of(1, 2, 3) },
    ]);
    expect(mapped).toEqual(rows.map((row) => rowBytesOf(leafOf(outer), entriesOf(outer, row))));
  });

  it('leaves no memory behind', () => {
    const memory = openMemory(300_000);
    for (let i = 0; i < 30; i++) expectRows(list, [[1, 2, 3], null, [4]], { entriesPerPage: 2 }, { memory });
    expectRows(text, [noiseOf(60_000)], {}, { memory, roomBytes: 16 });
  });
});
