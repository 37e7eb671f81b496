/** Rows of tables, read in parts: as they were made, whatever the form of the file. */
import { utimesSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { errorOf } from '../../../fixtures/error-of.ts';
import { column, type PlainTable, rowsOf, writeParquet } from '../../../fixtures/parquet/parquet-file.ts';
import { useTestDirectory } from '../../../fixtures/temp-directory.ts';
import { rowsOfParts } from './table-parts.ts';

const directory = useTestDirectory();

const textAt = (i: number) => `text ${i} `.repeat(1 + (i % 9));

/** Columns of several shapes and encodings, with pages that end at different rows. */
const MIXED: PlainTable = {
  rows: 1000,
  rowsPerGroup: 300,
  columns: [
    column('id', 'INT64', (i) => BigInt(i), { pages: { entriesPerPage: 70, withCrc: true } }),
    column('text', 'BYTE_ARRAY', textAt, {
      repetitions: ['optional'],
      pages: { encoding: 'RLE_DICTIONARY', dictionaryPages: 1, entriesPerPage: 130, codec: 'SNAPPY' },
      valueAt: (i) => (i % 5 === 0 ? null : textAt(i)),
    }),
    {
      path: ['tags', 'list', 'item'],
      repetitions: ['optional', 'repeated', 'optional'],
      type: 'INT32',
      valueAt: (i) => (i % 7 === 0 ? null : Array.from({ length: i % 4 }, (_, k) => (k === 1 ? null : i * k))),
      pages: { entriesPerPage: 37, version: 2, codec: 'GZIP' },
    },
  ],
};

const hex = (rows: readonly Buffer[]) => rows.map((row) => row.toString('hex'));

describe('the rows of a table', () => {
  it('are those that the file was made of', async () => {
    const path = writeParquet(directory.path('a'), MIXED);
    const { rows, coverage } = await rowsOfParts([path]);
    expect(hex(rows)).toEqual(hex(rowsOf(MIXED)));
    const rowBytes = rowsOf(MIXED).reduce((sum, row) => sum + row.byteLength, 0);
    expect(coverage).toMatchObject([{ start: 0, end: 1000, rowBytes }]);
  });

  it('are the same in parts, which are whole row groups', async () => {
    const path = writeParquet(directory.path('a'), MIXED);
    const { rows, coverage } = await rowsOfParts([path], { sliceBytes: 10_000 });
    expect(hex(rows)).toEqual(hex(rowsOf(MIXED)));
    expect(coverage.map(({ start, end }) => [start, end])).toEqual([
      [0, 300],
      [300, 600],
      [600, 900],
      [900, 1000],
    ]);
  });

  it('have the columns of the first file, and nulls where any file may have some', async () => {
    const value = (i: number) => i;
    const of = (...columns: PlainTable['columns']): PlainTable => ({ rows: 20, columns });
    const first = of(column('a', 'INT32', value), column('b', 'INT32', value));
    const other = of(column('b', 'INT32', value, { repetitions: ['optional'] }), column('a', 'INT32', value));
    const paths = [writeParquet(directory.path('a'), first), writeParquet(directory.path('b'), other)];
    const { rows } = await rowsOfParts(paths);
    const unified = of(column('a', 'INT32', value), column('b', 'INT32', value, { repetitions: ['optional'] }));
    expect(hex(rows)).toEqual(hex([...rowsOf(unified), ...rowsOf(unified)]));
  });

  it('may be longer than what is read at a time', async () => {
    const long = column('blob', 'BYTE_ARRAY', (i) => Buffer.alloc(300_000 * (i % 3), i + 1), {
      pages: { entriesPerPage: 4 },
    });
    const table: PlainTable = { rows: 12, columns: [long] };
    const path = writeParquet(directory.path('a'), table);
    expect(Buffer.concat((await rowsOfParts([path])).rows).equals(Buffer.concat(rowsOf(table)))).toBe(true);
    const tooLong = await errorOf(rowsOfParts([path], { maxRecordBytes: 400_000 }));
    expect(tooLong.message).toMatch(/a: row 2 is longer than the 400000 bytes/);
  });

  it('may be none, or have no values', async () => {
    const none: PlainTable = { rows: 0, columns: [column('a', 'INT32', () => 1)] };
    expect((await rowsOfParts([writeParquet(directory.path('a'), none)])).coverage).toMatchObject([
      { start: 0, end: 0 },
    ]);
    const nulls: PlainTable = { rows: 9, columns: [column('a', 'INT32', () => null, { repetitions: ['optional'] })] };
    expect((await rowsOfParts([writeParquet(directory.path('b'), nulls)])).rows).toEqual(rowsOf(nulls));
  });
});

describe('a damaged table', () => {
  const damaged = (damage: (bytes: Buffer) => void, at = { column: 0, group: 1 }) =>
    writeParquet(directory.path('in'), {
      ...MIXED,
      onChunk: (bytes, ofColumn, group) => {
        if (ofColumn === at.column && group === at.group) damage(bytes);
      },
    });

  it('is refused by its checksum, with the place of the page', async () => {
    const path = damaged((bytes) => bytes.fill(0xff, 100, 110));
    const { code, message } = await errorOf(rowsOfParts([path]));
    expect(code).toBe('ERR_INPUT_CORRUPT');
    expect(message).toMatch(/in: row group 1, column id, page at byte \d+: its checksum \(CRC-32\) is wrong; /);
  });

  it('is refused when it changes while it is read', async () => {
    const path = writeParquet(directory.path('in'), MIXED);
    const { code, message } = await errorOf(rowsOfParts([path], { onRows: () => utimesSync(path, 1, 1) }));
    expect(code).toBe('ERR_INPUT_CHANGED');
    expect(message).toMatch(/in: the input changed during the job /);
  });

  it('is refused where a header is none', async () => {
    const path = damaged((bytes) => bytes.fill(0xff, 0, 30), { column: 2, group: 0 });
    const { message } = await errorOf(rowsOfParts([path]));
    expect(message).toMatch(/in: row group 0, column tags\.list\.item, page at byte \d+: /);
  });
});

describe('the memory of a table', () => {
  it('must hold a page of each column', async () => {
    const path = writeParquet(directory.path('a'), MIXED);
    const { code, message } = await errorOf(rowsOfParts([path], { memoryBytes: 20_000 }));
    expect(code).toBe('ERR_RECORD_TOO_LONG');
    expect(message).toMatch(/a page of each column does not fit the memory budget; expected `memoryBytes` of at least/);
  });
});

describe('the memory that a message names', () => {
  it('is enough, and not that of large pages in each column if one has them', async () => {
    const blob = column('blob', 'BYTE_ARRAY', (i) => Buffer.alloc(80_000, i + 1));
    const numbers = ['a', 'b', 'c', 'd', 'e'].map((name) => column(name, 'INT32', (i) => i));
    const path = writeParquet(directory.path('a'), { rows: 100, columns: [blob, ...numbers] });
    const { message } = await errorOf(rowsOfParts([path], { memoryBytes: 2 ** 24 }));
    const mebibytes = Number(/at least (\d+)M/.exec(message)?.[1]);
    expect(mebibytes).toBeLessThan(48);
    expect((await rowsOfParts([path], { memoryBytes: mebibytes * 2 ** 20 })).rows).toHaveLength(100);
  });
});
