/** What an offset index claims of pages: taken if pages can lie so, else of no use. */
import { describe, expect, it } from 'vitest';
import { pageOfRow, readPageTable } from '#src/formats/rows/parquet/page-table.js';
import { offsetIndexOf, type PagePlace } from '../../../fixtures/parquet/parquet-file.ts';

const CHUNK = {
  codec: 'ZSTD',
  start: 100,
  byteLength: 900,
  valueCount: 50,
  uncompressedBytes: 900,
  nullCount: 0,
  plainBytes: undefined,
} as const;

/** Behind a dictionary of 100 bytes. */
const PAGES: readonly PagePlace[] = [
  { start: 200, byteLength: 300, firstRow: 0 },
  { start: 500, byteLength: 200, firstRow: 7 },
  { start: 700, byteLength: 300, firstRow: 20 },
];

function tableOf(bytes: Buffer) {
  const read = (at: number, byteLength: number) => bytes.subarray(at - 5000, at - 5000 + byteLength);
  return readPageTable({ read }, { ...CHUNK, offsetIndex: { start: 5000, byteLength: bytes.byteLength } }, 50);
}

const changed = (number: number, change: Partial<PagePlace>) =>
  PAGES.map((page, i) => (i === number ? { ...page, ...change } : page));

describe('an offset index', () => {
  it('tells where pages lie, and which one holds a row', () => {
    const table = tableOf(offsetIndexOf(PAGES));
    expect(table).toEqual({ starts: [200, 500, 700, 1000], rows: [0, 7, 20, 50] });
    expect([0, 6, 7, 19, 20, 49].map((row) => table && pageOfRow(table, row))).toEqual([0, 0, 1, 1, 2, 2]);
    expect(readPageTable({ read: () => expect.fail() }, { ...CHUNK, offsetIndex: undefined }, 50)).toBeUndefined();
  });

  it.each<[string, readonly PagePlace[]]>([
    ['without pages', []],
    ['before its column chunk', changed(0, { start: 99, byteLength: 401 })],
    ['beyond its column chunk', changed(2, { byteLength: 301 })],
    ['with a gap', changed(1, { byteLength: 199 })],
    ['with pages that overlap', changed(1, { start: 499 })],
    ['with an empty page', [...changed(2, { byteLength: 300 }), { start: 1000, byteLength: 0, firstRow: 30 }]],
    ['without the last page', PAGES.slice(0, -1)],
    ['without the first row', changed(0, { firstRow: 1 })],
    ['with rows below 0', changed(1, { firstRow: -1 })],
    ['with rows that do not ascend', changed(1, { firstRow: 20 })],
    ['with more rows than there are', changed(2, { firstRow: 50 })],
  ])('is of no use %s', (_, places) => {
    expect(tableOf(offsetIndexOf(places))).toBeUndefined();
  });

  it('is of no use if it is not a Thrift', () => {
    const bytes = offsetIndexOf(PAGES);
    for (let byteLength = 0; byteLength < bytes.byteLength; byteLength++)
      expect(tableOf(bytes.subarray(0, byteLength))).toBeUndefined();
    expect(tableOf(Buffer.alloc(40, 0xff))).toBeUndefined();
  });
});
