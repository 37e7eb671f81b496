/** Rows become a row group that holds the same rows, in the encodings that suit them; the bytes follow from the rows alone. */
import { existsSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { ColumnMemory } from '#src/formats/rows/parquet/columns/column-memory.js';
import { pageCompressionOf, type WrittenCodec } from '#src/formats/rows/parquet/table-output.js';
import { isBefore, valueOrdersOf } from '#src/formats/rows/parquet/value-order.js';
import { drawsFor, noiseOf } from '../../../../fixtures/draws.ts';
import { withLength } from '../../../../fixtures/parquet/encode-values.ts';
import { rowBytesOf } from '../../../../fixtures/parquet/rows-of-leaves.ts';
import { useTestDirectory } from '../../../../fixtures/temp-directory.ts';
import {
  type Column,
  describeGroup,
  drawRows,
  MadeGroups,
  makeGroup,
  PLAIN,
  pagesOf,
  plainValue,
  readGroup,
  schemaOf,
} from './row-groups.ts';

const hex = (rows: readonly Uint8Array[]) => Buffer.concat(rows).toString('hex');

const TYPES: readonly Pick<Column, 'type' | 'typeLength'>[] = [
  { type: 'BOOLEAN' },
  { type: 'INT32' },
  { type: 'INT64' },
  { type: 'INT96' },
  { type: 'FLOAT' },
  { type: 'DOUBLE' },
  { type: 'BYTE_ARRAY' },
  ...[1, 2, 4, 8, 33].map((typeLength) => ({ type: 'FIXED_LEN_BYTE_ARRAY' as const, typeLength })),
];
const SHAPES = [[0], [1], [1, 0, 1], [2], [1, 2, 1], [2, 2], [2, 0, 2, 1]];
const ALL = TYPES.flatMap((each, i) =>
  [0, 1, 2].map((j) => ({ ...each, repetitions: SHAPES[(i + 3 * j) % 7] ?? [0] })),
);

/** One of `different` values of a type, short unless it is of any length. */
function drawnValue(draw: () => number, different: number) {
  return ({ type, typeLength }: { readonly type: string; readonly typeLength: number }): Buffer => {
    const number = Math.floor(draw() * different);
    if (type === 'BOOLEAN') return Buffer.of(number % 2);
    if (type === 'BYTE_ARRAY') return Buffer.from('value '.repeat(number % 7) + number);
    const widths: Readonly<Record<string, number>> = { INT32: 4, FLOAT: 4, INT64: 8, DOUBLE: 8, INT96: 12 };
    const bytes = Buffer.alloc(Math.max(widths[type] ?? typeLength, 4));
    bytes.writeInt32LE((number * 7919) % 2 ** 31);
    return bytes.subarray(0, widths[type] ?? typeLength);
  };
}

function tableOfAll(rows: number, different: number, columns: readonly Column[] = ALL) {
  const schema = schemaOf(columns);
  const draw = drawsFor(`rows ${rows} ${different}`);
  return { schema, rows: drawRows(schema, rows, draw, drawnValue(draw, different)) };
}

describe('RowGroupWriter', () => {
  const directory = useTestDirectory();

  it.each([13e6, 17e6])('copies a long row a few times, however little memory is left: %d', (moreBytes) => {
    const row = withLength(Buffer.alloc(12e6, 7));
    const schema = schemaOf([{ type: 'BYTE_ARRAY' }]);
    const allocate = vi.spyOn(ColumnMemory.prototype, 'allocate');
    const make = () => makeGroup(schema, [row], PLAIN, moreBytes);
    if (moreBytes < 14e6) expect(make).toThrow(/^no memory for \d+ bytes of a column /);
    else expect(readGroup(schema, make()).map((each) => each.equals(row))).toEqual([true]);
    expect(allocate.mock.calls.length).toBeLessThan(40);
    allocate.mockRestore();
  });

  it('keeps the rows of all types, nested in all ways', () => {
    for (const [count, different] of [
      [1, 5],
      [300, 3],
      [1300, 100_000],
    ] as const) {
      const { schema, rows } = tableOfAll(count, different);
      expect(hex(readGroup(schema, makeGroup(schema, rows)))).toBe(hex(rows));
    }
  });

  it('keeps rows of columns next to each other that have a value in all rows, in all but one, or in some', () => {
    const flat = [...TYPES, ...TYPES].flatMap((each, i) =>
      [0, 1].map((repetition) => ({ ...each, repetitions: [(i + repetition) % 2] })),
    );
    const schema = schemaOf(flat);
    const { leaves } = schema;
    const draw = drawsFor('values in most rows');
    const drawValue = drawnValue(draw, 1000);
    const nullShares = [0, 0, 1 / leaves.length / 64, 1 / leaves.length, 0.2, 1, 0];
    const rows = Array.from({ length: 64 * nullShares.length + 13 }, (_, row) =>
      Buffer.concat(
        leaves.map((leaf) => {
          const isNull = leaf.maxDefinition > 0 && draw() < (nullShares[Math.floor(row / 64)] ?? 0);
          const value = isNull ? {} : { value: plainValue(leaf, drawValue(leaf)) };
          return rowBytesOf(leaf, [{ repetition: 0, definition: isNull ? 0 : leaf.maxDefinition, ...value }]);
        }),
      ),
    );
    expect(hex(readGroup(schema, makeGroup(schema, rows)))).toBe(hex(rows));
  });

  it('gives the same bytes however the rows come, with any memory, and in each of its row groups', () => {
    const { schema, rows } = tableOfAll(700, 300);
    const bytes = makeGroup(schema, rows);
    const all = Buffer.concat(rows);
    const paths: string[] = [];
    const newPath = () => {
      paths.push(directory.path(`pages-${paths.length}`));
      return paths.at(-1) ?? '';
    };
    for (const spareBytes of [2 ** 30, 0, 20_000]) {
      const made = new MadeGroups(schema, PLAIN, { spareBytes, newPath });
      for (const pieceBytes of [13_331, all.byteLength, 61]) {
        const pieces = Array.from({ length: Math.ceil(all.byteLength / pieceBytes) }, (_, i) =>
          all.subarray(i * pieceBytes, (i + 1) * pieceBytes),
        );
        expect(made.make(pieces).equals(bytes)).toBe(true);
        expect(made.writer.rowBytes).toBe(0);
      }
      made.writer.close();
    }
    expect(paths).toHaveLength(6);
    expect(paths.filter((path) => existsSync(path))).toEqual([]);
  });

  it('removes its file when it is closed within a row group', () => {
    const schema = schemaOf([{ type: 'FIXED_LEN_BYTE_ARRAY', typeLength: 60_000 }]);
    const path = directory.path('pages');
    const { writer } = new MadeGroups(schema, PLAIN, { spareBytes: 0, newPath: () => path });
    for (let i = 0; i < 30; i++) writer.add(noiseOf(60_000));
    expect(existsSync(path)).toBe(true);
    writer.close();
    expect(existsSync(path)).toBe(false);
  });

  const codecs: readonly WrittenCodec[] = ['SNAPPY', 'GZIP', 'BROTLI', 'LZ4_RAW', 'UNCOMPRESSED', 'ZSTD'];
  for (const codec of codecs) {
    it(`compresses pages with ${codec}`, () => {
      const spec = pageCompressionOf(codec);
      const { schema, rows } = tableOfAll(250, 900);
      const bytes = makeGroup(schema, rows, spec);
      expect(hex(readGroup(schema, bytes, spec))).toBe(hex(rows));
      if (codec !== 'UNCOMPRESSED') expect(bytes.byteLength).toBeLessThan(makeGroup(schema, rows).byteLength);
    });
  }
});

/** How each of the pages of the only column is encoded. */
function encodingsOf(column: Column, values: readonly Uint8Array[], spec = PLAIN): string[] {
  const schema = schemaOf([column]);
  const [leaf] = schema.leaves;
  if (leaf === undefined) throw new Error('no leaf');
  const rows = values.map((value) => plainValue(leaf, value));
  const bytes = makeGroup(schema, rows, spec);
  expect(hex(readGroup(schema, bytes, spec))).toBe(hex(rows));
  return (pagesOf(bytes)[0] ?? []).map(({ header }) => `${header.kind} ${header.encoding}`);
}

const number = (value: number | bigint, byteLength = 8) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(value));
  return bytes.subarray(0, byteLength);
};

describe('the encoding of a column', () => {
  const draw = drawsFor('encodings');
  const whole = (most: number) => Math.floor(draw() * most);
  const noise = noiseOf(8 * 5000);
  const site = () => Buffer.from(`https://www.site-${whole(90)}.example`);
  const ends = [2n ** 63n - 1n, -(2n ** 63n), 0n, -1n];
  const DICTIONARY = ['dictionary PLAIN', 'data RLE_DICTIONARY'];
  const DELTA = ['data DELTA_BINARY_PACKED'];

  it.each<[string, readonly string[], Column['type'], number, (i: number) => Uint8Array]>([
    ['few texts', DICTIONARY, 'BYTE_ARRAY', 6000, site],
    ['few numbers', DICTIONARY, 'INT64', 6000, () => number(whole(2) * 2 ** 50 + whole(2))],
    ['so few texts that these are all', DICTIONARY, 'BYTE_ARRAY', 400, site],
    ['one number', DICTIONARY, 'INT64', 50, () => number(2 ** 50)],
    ['numbers of a short range', DELTA, 'INT64', 9000, () => number(1.6e12 + whole(2 ** 31))],
    ['numbers that descend', DELTA, 'INT64', 5000, (i) => number(-i)],
    ['numbers, some at the ends', DELTA, 'INT64', 5000, (i) => number(i < 4000 ? i : (ends[whole(4)] ?? 0n))],
    ['short numbers', DELTA, 'INT32', 5000, (i) => number(i < 4200 ? i : (whole(2) || -1) * (2 ** 31 - 1), 4)],
    ['doubles that differ', ['data PLAIN'], 'DOUBLE', 5000, (i) => noise.subarray(8 * i, 8 * i + 8)],
    ['numbers that differ', ['data PLAIN'], 'INT64', 5000, (i) => noise.subarray(8 * i, 8 * i + 8)],
    ['long texts', ['data PLAIN'], 'BYTE_ARRAY', 40, () => Buffer.alloc(5000, 1)],
  ])('suits %s', (_, expected, type, count, valueAt) => {
    const values = Array.from({ length: count }, (_each, i) => valueAt(i));
    expect(encodingsOf({ type }, values)).toEqual(expected);
  });

  it('falls back to plain when the dictionary becomes too large', () => {
    const values = Array.from({ length: 15_000 }, (_, i) =>
      Buffer.from(`${'value '.repeat(15)}${i < 5000 ? whole(50) : i}`),
    );
    const encodings = encodingsOf({ type: 'BYTE_ARRAY' }, values);
    expect(encodings.slice(0, 2)).toEqual(['dictionary PLAIN', 'data RLE_DICTIONARY']);
    expect(encodings.slice(2)).toContain('data PLAIN');
    const short = Array.from({ length: 4500 }, () => Buffer.from(`value ${whole(9)}`));
    const last = encodingsOf({ type: 'BYTE_ARRAY' }, [...short, Buffer.alloc(600_000)]);
    expect(last).toEqual(['dictionary PLAIN', 'data RLE_DICTIONARY', 'data PLAIN']);
  });
});

describe('a kept dictionary', () => {
  const schema = schemaOf([{ type: 'BYTE_ARRAY', repetitions: [1] }]);
  const rowWith = (text: string) => Buffer.concat([Buffer.of(1), withLength(Buffer.from(text))]);
  const NULL = Buffer.of(0);
  const keeping = (...texts: readonly string[]) => {
    const values = Buffer.concat(texts.map((text) => withLength(Buffer.from(text))));
    return { ...PLAIN, dictionaries: [{ leaf: 0, count: texts.length, values }] };
  };
  const shown = (bytes: Buffer) =>
    pagesOf(bytes)[0]?.map(({ header, body }) =>
      header.kind === 'dictionary' ? body.toString().replace(/.\0\0\0/g, ' ') : header.encoding,
    );

  it('begins each chunk, and what it lacks comes after it', () => {
    const made = new MadeGroups(schema, keeping('no row', 'b', 'a'));
    for (const [texts, expected] of [
      [['a', 'c', 'b', 'd'], ' no row b a c d'],
      [[], ' no row b a'],
    ] as const) {
      const rows = [NULL, ...texts.map(rowWith)];
      const bytes = made.make(rows);
      expect(shown(bytes)).toEqual([expected, 'RLE_DICTIONARY']);
      expect(hex(readGroup(schema, bytes))).toBe(hex(rows));
    }
    made.writer.close();
  });

  it('of any size keeps its page; only more new values than usual ones end it', () => {
    const texts = Array.from({ length: 20_000 }, (_, i) => `a category with the number ${i}`);
    const rows = texts.map(rowWith);
    const made = new MadeGroups(schema, keeping(...texts));
    const whole = made.make(rows);
    expect(new Set(shown(whole)?.slice(1))).toEqual(new Set(['RLE_DICTIONARY']));
    expect(hex(readGroup(schema, whole))).toBe(hex(rows));
    const others = texts.map((text) => rowWith(`of others, ${text}`));
    expect(shown(made.make([...others, ...rows]))).toContain('PLAIN');
    made.writer.close();
  });
});

describe('the pages of a column', () => {
  it('have at most 1 MiB, or one batch of rows, and begin with rows', () => {
    const schema = schemaOf([{ type: 'BYTE_ARRAY', repetitions: [2] }, { type: 'INT32' }]);
    const draw = drawsFor('pages');
    const noise = noiseOf(3_000_000);
    const rows = drawRows(schema, 900, draw, ({ type }, _, row) => {
      const start = Math.floor(draw() * 1e6);
      return noise.subarray(
        start,
        start + (type === 'INT32' ? 4 : row === 400 ? 1_500_000 : Math.floor(draw() * 3000)),
      );
    });
    const bytes = makeGroup(schema, rows, PLAIN, 2 ** 26);
    expect(hex(readGroup(schema, bytes))).toBe(hex(rows));
    const [chunk] = describeGroup(bytes).chunks;
    const sizes = (pagesOf(bytes)[0] ?? []).map(({ header }) => header.uncompressedBytes);
    expect(sizes.filter((size) => size > 1024 * 1024)).toHaveLength(1);
    expect(Math.max(...sizes)).toBeGreaterThan(1_500_000);
    expect(sizes.length).toBeLessThan(10);
    expect(chunk?.pages.reduce((sum, page) => sum + page.rows, 0)).toBe(900);
    expect(chunk?.uncompressedBytes).toBe(chunk?.pages.reduce((sum, page) => sum + page.byteLength, 0));
  });
});

describe('bounds and counts', () => {
  const columns: readonly Column[] = [
    { type: 'INT32' },
    { type: 'INT32', converted: 13 },
    { type: 'INT64' },
    { type: 'INT64', converted: 14 },
    { type: 'FLOAT' },
    { type: 'DOUBLE', repetitions: [1] },
    { type: 'BOOLEAN' },
    { type: 'BYTE_ARRAY', repetitions: [1] },
    { type: 'FIXED_LEN_BYTE_ARRAY', typeLength: 9 },
    { type: 'BYTE_ARRAY', repetitions: [2] },
    { type: 'FIXED_LEN_BYTE_ARRAY', typeLength: 3, converted: 5 },
    { type: 'FIXED_LEN_BYTE_ARRAY', typeLength: 13, converted: 5 },
  ];

  /** Compared one by one. */
  function expectBounds(count: number, different: number): void {
    const schema = schemaOf(columns);
    const orders = valueOrdersOf(schema);
    const draw = drawsFor(`bounds ${different}`);
    const pool = Array.from({ length: different }, () => Buffer.from(noiseOf(1000).subarray(Math.floor(draw() * 980))));
    const values: Buffer[][] = columns.map(() => []);
    const rows = drawRows(schema, count, draw, ({ type, typeLength }, index) => {
      const noise = pool[Math.floor(draw() * different)] ?? Buffer.of();
      const widths: Readonly<Record<string, number>> = { INT32: 4, FLOAT: 4, INT64: 8, DOUBLE: 8 };
      let value = Buffer.from(noise.subarray(0, widths[type] ?? typeLength));
      if (type === 'BOOLEAN') value = Buffer.of((noise[0] ?? 0) % 2);
      // Most begin alike, and some are the beginnings of others.
      if (type === 'BYTE_ARRAY')
        value = Buffer.concat([Buffer.from('https://'), noise.subarray(0, (noise[1] ?? 0) % 12)]);
      // No NaN.
      if (type === 'FLOAT' || type === 'DOUBLE') value[value.byteLength - 1] = 0x40;
      values[index]?.push(value);
      return value;
    });
    const { chunks } = describeGroup(makeGroup(schema, rows));
    for (const [i, order] of orders.entries()) {
      expect(order).not.toBe('none');
      const sorted = [...(values[i] ?? [])].sort(
        (a, b) => Number(isBefore(order, b, a)) - Number(isBefore(order, a, b)),
      );
      const { bounds, pages } = chunks[i] ?? {};
      const found = [bounds, pages?.[0]?.bounds].flatMap((each) => [each?.least, each?.most]);
      const wanted = [sorted[0], sorted.at(-1)].map((each) => each?.toString('hex'));
      expect(found.map((each) => each && Buffer.from(each).toString('hex'))).toEqual([...wanted, ...wanted]);
      const entries = pages?.reduce((sum, page) => sum + page.valueCount - page.nullCount, 0);
      expect(entries).toBe(values[i]?.length);
    }
  }

  it('are those of the values, with a dictionary and without', () => {
    expectBounds(400, 5);
    expectBounds(600, 5000);
  });

  const boundsOf = (column: Column, values: readonly Uint8Array[]) => {
    const schema = schemaOf([column]);
    const [leaf] = schema.leaves;
    const rows = values.map((value) => (leaf === undefined ? value : plainValue(leaf, value)));
    const [chunk] = describeGroup(makeGroup(schema, rows)).chunks;
    return chunk?.bounds && [chunk.bounds.least, chunk.bounds.most].map((each) => Buffer.from(each).toString('hex'));
  };
  const textBoundsOf = (converted: number, ...texts: readonly (string | Buffer)[]) => {
    const schema = schemaOf([{ type: 'BYTE_ARRAY', converted }]);
    const rows = texts.map((text) => withLength(Buffer.from(text)));
    const { least, most, isLeastExact, isMostExact } =
      describeGroup(makeGroup(schema, rows)).chunks[0]?.bounds ?? expect.fail('no bounds');
    return [Buffer.from(least).toString(), isLeastExact, Buffer.from(most).toString(), isMostExact];
  };
  const doubles = (...all: readonly number[]) =>
    all.map((each) => {
      const bytes = Buffer.alloc(8);
      bytes.writeDoubleLE(each);
      return bytes;
    });

  it('leave NaN out', () => {
    const { NaN: nan } = Number;
    const bounds = boundsOf({ type: 'DOUBLE' }, doubles(nan, 1, nan, 2, nan));
    expect(bounds).toEqual(doubles(1, 2).map((each) => each.toString('hex')));
    expect(boundsOf({ type: 'DOUBLE' }, doubles(nan, nan))).toBeUndefined();
    // With a dictionary, and a page of NaN alone, of which the index of pages cannot tell.
    const many = boundsOf({ type: 'DOUBLE' }, [...Array(140_000).fill(doubles(nan)[0]), ...doubles(3)]);
    expect(many).toEqual(doubles(3, 3).map((each) => each.toString('hex')));
  });

  it('of longer values are cut to texts that include them', () => {
    const [a64, text, bytes] = ['a'.repeat(64), 0, 20];
    expect(textBoundsOf(text, a64, `${a64}b`)).toEqual([a64, true, `${'a'.repeat(63)}b`, false]);
    expect(textBoundsOf(text, `${a64}b`, 'b'.repeat(64))).toEqual([a64, false, 'b'.repeat(64), true]);
    expect(textBoundsOf(text, `${'é'.repeat(32)}x`)).toEqual(['é'.repeat(32), false, `${'é'.repeat(31)}ê`, false]);
    // A character of four bytes is cut off; one is the last of its length; one comes before the surrogates.
    const cut = `${'a'.repeat(62)}😀`;
    expect(textBoundsOf(text, cut)).toEqual(['a'.repeat(62), false, `${'a'.repeat(61)}b`, false]);
    const last = `${'a'.repeat(60)}\u{10ffff}`;
    expect(textBoundsOf(text, `${last}x`)).toEqual([last, false, `${'a'.repeat(59)}b`, false]);
    expect(textBoundsOf(text, `${'a'.repeat(61)}\ud7ff.`)[2]).toBe(`${'a'.repeat(61)}\ue000`);
    expect(textBoundsOf(bytes, Buffer.alloc(70, 0x61))).toEqual([a64, false, `${'a'.repeat(63)}b`, false]);
    const ones = [Buffer.alloc(70, 0xff)];
    expect(boundsOf({ type: 'BYTE_ARRAY' }, ones)).toBeUndefined();
    expect(boundsOf({ type: 'BYTE_ARRAY', converted: 0 }, ones)).toBeUndefined();
    expect(boundsOf({ type: 'BYTE_ARRAY' }, [Buffer.concat([Buffer.of(7), ...ones])])?.[1]).toBe('08');
  });

  it('are missing where they are not sure', () => {
    expect(boundsOf({ type: 'INT96' }, [Buffer.alloc(12)])).toBeUndefined();
    expect(boundsOf({ type: 'BYTE_ARRAY', converted: 5 }, [Buffer.of(1)])).toBeUndefined();
    expect(
      boundsOf({ type: 'FIXED_LEN_BYTE_ARRAY', typeLength: 12, converted: 21 }, [Buffer.alloc(12)]),
    ).toBeUndefined();
  });

  it('give both zeros the sign that includes the other', () => {
    const both = ['0000000000000080', '0000000000000000'];
    expect(boundsOf({ type: 'DOUBLE' }, doubles(0, 0))).toEqual(both);
    expect(boundsOf({ type: 'DOUBLE' }, doubles(-0))).toEqual(both);
  });
});

describe('a row that does not fit the schema', () => {
  const schema = schemaOf([
    { type: 'INT32', repetitions: [1] },
    { type: 'BOOLEAN', repetitions: [2, 1, 2] },
  ]);
  const none = Buffer.of(0);
  const list = (...bytes: readonly number[]) => Buffer.of(bytes[0] ?? 0, 0, 0, ...bytes.slice(1));

  it('is an error that names the column', () => {
    expect(() => makeGroup(schema, [Buffer.concat([none, list(1, 0, 0, 0)])])).not.toThrow();
    const broken = [
      [[Buffer.of(2), list(1, 0, 0, 0)], 'c0'],
      [[none, list(0, 0, 0, 0)], 'c1'],
      [[none, list(2, 0, 0, 0, 0, 0)], 'c1'],
      [[none, list(2, 0, 0, 3, 0, 0)], 'c1'],
      [[none, list(1, 0, 0, 4)], 'c1'],
      [[none, list(1, 0x80, 0, 2)], 'c1'],
    ] as const;
    for (const [parts, name] of broken) {
      expect(() => makeGroup(schema, [Buffer.concat(parts)]), name).toThrow(new RegExp(`does not fit.*${name}`));
    }
  });

  it('names the column among neighbours that have a value', () => {
    const flat = schemaOf([{ type: 'INT32' }, { type: 'BOOLEAN', repetitions: [1] }, { type: 'BOOLEAN' }]);
    const rowOf = (...bytes: readonly number[]) => Buffer.of(9, 9, 9, 9, ...bytes);
    expect(() => makeGroup(flat, [rowOf(1, 1, 1), rowOf(0, 1)])).not.toThrow();
    expect(() => makeGroup(flat, [rowOf(1, 1, 1), rowOf(2, 1, 1)])).toThrow(/does not fit.*c1/);
    expect(() => makeGroup(flat, [rowOf(1, 1, 1), rowOf(1, 2, 1)])).toThrow(/does not fit.*c1/);
    expect(() => makeGroup(flat, [rowOf(1, 1, 1), rowOf(1, 1, 2)])).toThrow(/does not fit.*c2/);
    expect(() => makeGroup(flat, [rowOf(1, 1, 1), rowOf(1, 1)])).toThrow('cut off after 13 bytes');
  });

  it('is an error when its end is missing', () => {
    expect(() => makeGroup(schema, [none])).toThrow('cut off after 1 byte');
    expect(() => makeGroup(schema, [none, list(9, 0, 0)])).toThrow('cut off');
    expect(() => makeGroup(schemaOf([{ type: 'BYTE_ARRAY' }]), [Buffer.of(255, 255, 255, 255, 1)])).toThrow('cut off');
  });
});
