/** Row groups that are read in parts by a page index: the same rows, and what is said of an index that is wrong. */
import { describe, expect, it } from 'vitest';
import { errorOf } from '../../../fixtures/error-of.ts';
import {
  column,
  type PagePlace,
  type PlainTable,
  rowsOf,
  writeParquet,
} from '../../../fixtures/parquet/parquet-file.ts';
import { useTestDirectory } from '../../../fixtures/temp-directory.ts';
import { openParts, rowsOfParts } from './table-parts.ts';

const directory = useTestDirectory();

const list = (i: number, width: number) => (i % 7 === 0 ? null : Array.from({ length: i % width }, (_, k) => i * k));

/** Columns of all shapes, whose pages begin at other rows. */
const INDEXED: PlainTable = {
  rows: 1000,
  rowsPerGroup: 700,
  claim: (pages) => pages,
  columns: [
    column('id', 'INT64', (i) => BigInt(i), { pages: { entriesPerPage: 11, withCrc: true } }),
    column('text', 'BYTE_ARRAY', (i) => (i % 5 === 0 ? null : `text ${i % 9} `.repeat(1 + (i % 3))), {
      repetitions: ['optional'],
      pages: { encoding: 'RLE_DICTIONARY', dictionaryPages: 3, entriesPerPage: 10, codec: 'SNAPPY' },
    }),
    column('kind', 'INT32', (i) => i % 3, { pages: { encoding: 'PLAIN_DICTIONARY', entriesPerPage: 23 } }),
    column('flag', 'BOOLEAN', (i) => i % 2 === 0, { pages: { entriesPerPage: 29, version: 2 } }),
    column('blob', 'BYTE_ARRAY', (i) => Buffer.alloc(150 + (i % 50), i), { pages: { entriesPerPage: 3 } }),
    {
      path: ['tags', 'list', 'item'],
      repetitions: ['optional', 'repeated', 'optional'],
      type: 'INT32',
      valueAt: (i) => list(i, 4),
      pages: { entriesPerPage: 17, version: 2, codec: 'GZIP' },
    },
    {
      path: ['words', 'list', 'list', 'item'],
      repetitions: ['optional', 'repeated', 'repeated', 'required'],
      type: 'BYTE_ARRAY',
      valueAt: (i) => list(i, 3)?.map((n) => [`a${n % 20}`, 'b']) ?? null,
      pages: { encoding: 'RLE_DICTIONARY', entriesPerPage: 13 },
    },
  ],
};

const hex = (rows: readonly Buffer[]) => rows.map((row) => row.toString('hex'));
const SLICE = { sliceBytes: 14_000 };

describe('parts of row groups', () => {
  it('have the same rows', async () => {
    const path = writeParquet(directory.path('in'), INDEXED);
    const { rows, coverage } = await rowsOfParts([path], SLICE);
    expect(coverage.length).toBeGreaterThan(2);
    expect(coverage.map(({ start }) => start).slice(1)).toEqual(coverage.map(({ end }) => end).slice(0, -1));
    expect(hex(rows)).toEqual(hex(rowsOf(INDEXED)));
  });

  it('begin where pages of the largest column do, and are about equal', async () => {
    const { parts } = await openParts([writeParquet(directory.path('in'), INDEXED)], SLICE);
    const starts = parts.map((part) => (part.kind === 'rows' ? part.start : -1));
    expect(starts.every((start) => (start % 700) % 3 === 0)).toBe(true);
    const counts = starts.map((start, i) => (starts[i + 1] ?? INDEXED.rows) - start);
    expect(Math.max(...counts)).toBeLessThan(2 * Math.min(...counts));
  });

  it('have only the chosen columns', async () => {
    const path = writeParquet(directory.path('in'), INDEXED);
    const columns = INDEXED.columns.filter(({ path: [name] }) => name === 'tags' || name === 'blob');
    const { rows, parts } = await rowsOfParts([path], { columns: ['tags', 'blob'], sliceBytes: 10_000 });
    expect(parts.length).toBeGreaterThan(2);
    expect(hex(rows)).toEqual(hex(rowsOf({ ...INDEXED, columns })));
  });

  it('are not made where they would read much twice', async () => {
    const wide = column('wide', 'BYTE_ARRAY', () => 'x'.repeat(30), { pages: { entriesPerPage: 340 } });
    const path = writeParquet(directory.path('in'), { ...INDEXED, columns: [...INDEXED.columns, wide] });
    expect((await openParts([path], SLICE)).parts).toHaveLength(2);
  });
});

const changed = (number: number, change: (page: PagePlace) => Partial<PagePlace>) => (pages: readonly PagePlace[]) =>
  pages.map((page, i) => (i === number ? { ...page, ...change(page) } : page));

describe('a page index that no pages can have', () => {
  it.each<[string, PlainTable['claim']]>([
    ['absent', undefined],
    ['of one column', (pages, i) => (i === 4 ? pages.slice(0, -1) : pages)],
  ])('is not used: %s', async (_, claim) => {
    const path = writeParquet(directory.path('in'), { ...INDEXED, claim });
    const { rows, parts } = await rowsOfParts([path], SLICE);
    expect(parts).toHaveLength(2);
    expect(hex(rows)).toEqual(hex(rowsOf(INDEXED)));
  });
});

describe('a page index that its pages do not bear out', () => {
  const refusal = async (index: number, claim: (pages: readonly PagePlace[]) => readonly PagePlace[]) => {
    const table = {
      ...INDEXED,
      claim: (pages: readonly PagePlace[], i: number) => (i === index ? claim(pages) : pages),
    };
    const { code, message } = await errorOf(rowsOfParts([writeParquet(directory.path('in'), table)], SLICE));
    expect(code).toBe('ERR_INPUT_CORRUPT');
    return message;
  };

  it.each([
    [4, 'blob', '3 rows begin in it; its header or page index claims 4'],
    [3, 'flag', 'its header claims 29 rows, and its page index 30'],
    [5, 'tags\\.list\\.item', 'its header claims \\d+ rows, and its page index \\d+'],
    [6, 'words\\.list\\.list\\.item', '\\d+ rows begin in it; its header or page index claims \\d+'],
  ])('is refused for rows that begin elsewhere, in column %i', async (index, name, problem) => {
    const message = await refusal(
      index,
      changed(1, ({ firstRow }) => ({ firstRow: firstRow + 1 })),
    );
    expect(message).toMatch(
      new RegExp(`in: row group 0, column ${name}, page at byte \\d+: ${problem}; make the file again$`),
    );
  });

  it('is refused for pages that begin elsewhere', async () => {
    const moved = await refusal(4, (pages) =>
      pages.map((page, i) => {
        if (i === 6) return { ...page, byteLength: page.byteLength + 5 };
        return i === 7 ? { ...page, start: page.start + 5, byteLength: page.byteLength - 5 } : page;
      }),
    );
    expect(moved).toMatch(/column blob, page at byte \d+: /);
  });

  it('is refused for a page that it leaves out before the others', async () => {
    const message = await refusal(0, (pages) =>
      pages.slice(1).map(({ firstRow, ...page }) => ({ ...page, firstRow: firstRow - 11 })),
    );
    expect(message).toMatch(/column id, page at byte 4: its page index does not list it; /);
  });

  it('is refused for a page that goes on with a row', async () => {
    const columns = INDEXED.columns.map((each, i) =>
      i === 6 ? { ...each, pages: { ...each.pages, endsWithRow: false } } : each,
    );
    const path = writeParquet(directory.path('in'), { ...INDEXED, columns });
    expect((await rowsOfParts([path])).rows).toHaveLength(INDEXED.rows);
    let takes = 0;
    const { message } = await errorOf(rowsOfParts([path], { ...SLICE, onRows: () => (takes += 1) }));
    // No part need begin with the page.
    expect(takes).toBeLessThan(3);
    expect(message).toMatch(/item, page at byte \d+: its first value continues a row, but no row begins before it; /);
  });
});
