/** Whole files: leaves with pages of different sizes become rows together, over row groups. */
import { describe, expect, it } from 'vitest';
import { expandZstd } from '#src/formats/codecs/zstd-decoders.js';
import { LeafReader } from '#src/formats/rows/parquet/columns/leaf-reader.js';
import { PageError } from '#src/formats/rows/parquet/columns/page-error.js';
import { RowJoiner } from '#src/formats/rows/parquet/columns/row-joiner.js';
import { readFooter } from '#src/formats/rows/parquet/footer.js';
import { readPageHeader } from '#src/formats/rows/parquet/page-header.js';
import { drawsFor, noiseOf } from '../../../../fixtures/draws.ts';
import { compress } from '../../../../fixtures/parquet/compress-blocks.ts';
import { type MadeColumn, makeParquetFile } from '../../../../fixtures/parquet/make-file.ts';
import { entriesOf, leafOf, type NestedValue, rowBytesOf } from '../../../../fixtures/parquet/rows-of-leaves.ts';
import { joinedRows, openMemory, type PagesOfLeaf } from './joined-rows.ts';

const draw = drawsFor('whole rows');
const some = <T extends NestedValue>(count: number, value: (i: number) => T, nulls = 0): (T | null)[] =>
  Array.from({ length: count }, (_, i) => (draw() < nulls ? null : value(i)));

function columnsOf(rowCount: number): MadeColumn[] {
  const word = () => 'words of some length, and longer ones'.slice(0, Math.floor(draw() * 38));
  return [
    {
      path: ['id'],
      repetitions: ['required'],
      type: 'INT64',
      rows: some(rowCount, (i) => i),
      encoding: 'DELTA_BINARY_PACKED',
    },
    { path: ['text'], repetitions: ['optional'], type: 'BYTE_ARRAY', rows: some(rowCount, word, 0.1), version: 2 },
    {
      path: ['site'],
      repetitions: ['required'],
      type: 'BYTE_ARRAY',
      rows: some(rowCount, (i) => `s${i % 7}`),
      encoding: 'RLE_DICTIONARY',
      dictionaryPages: 2,
    },
    {
      path: ['score'],
      repetitions: ['optional'],
      type: 'DOUBLE',
      rows: some(rowCount, () => draw(), 0.02),
      encoding: 'BYTE_STREAM_SPLIT',
    },
    {
      path: ['level'],
      repetitions: ['optional'],
      type: 'INT32',
      rows: some(rowCount, (i) => i % 5),
      encoding: 'PLAIN_DICTIONARY',
    },
    {
      path: ['flag'],
      repetitions: ['optional'],
      type: 'BOOLEAN',
      rows: some(rowCount, (i) => i % 3 === 0, 0.5),
      encoding: 'RLE',
    },
    {
      path: ['hash'],
      repetitions: ['required'],
      type: 'FIXED_LEN_BYTE_ARRAY',
      typeLength: 16,
      rows: some(rowCount, (i) => noiseOf(16 + i).subarray(i)),
    },
    {
      path: ['meta', 'tokens', 'list', 'element'],
      repetitions: ['optional', 'optional', 'repeated', 'optional'],
      type: 'INT32',
      rows: some(rowCount, (i) => some(i % 6, (k) => k, 0.1), 0.1),
      entriesPerPage: 33,
    },
    { path: ['meta', 'empty'], repetitions: ['optional', 'optional'], type: 'INT96', rows: some(rowCount, () => null) },
  ];
}

/** The row groups of a file, as pages of each leaf. */
function groupsOf(file: Buffer): PagesOfLeaf[][] {
  const footer = readFooter({ read: (at, byteLength) => file.subarray(at, at + byteLength) }, file.byteLength, 'made');
  return [...footer.rowGroups()].map(({ columns }) =>
    columns.map(({ start, byteLength, codec }, i) => {
      const pages: PagesOfLeaf['pages'][number][] = [];
      for (let at = start; at < start + byteLength; ) {
        const { header, headerBytes } = readPageHeader(file, at) ?? expect.fail('a header is cut off');
        const bodyAt = at + headerBytes;
        at = bodyAt + header.compressedBytes;
        pages.push({ header, body: file.subarray(bodyAt, at) });
      }
      return { leaf: footer.schema.leaves[i] ?? expect.fail('no leaf'), codec, pages };
    }),
  );
}

function onlyChunk(column: MadeColumn): PagesOfLeaf {
  return groupsOf(makeParquetFile([column]))[0]?.[0] ?? expect.fail('no chunk');
}

function wantedRows(columns: readonly MadeColumn[]): Buffer[] {
  return Array.from({ length: columns[0]?.rows.length ?? 0 }, (_, i) =>
    Buffer.concat(columns.map((column) => rowBytesOf(leafOf(column), entriesOf(column, column.rows[i] ?? null)))),
  );
}

describe('a table', () => {
  it('is joined row by row, whatever its pages, groups and room', () => {
    const columns = columnsOf(400);
    const wanted = wantedRows(columns);
    const memory = openMemory();
    for (const options of [
      { entriesPerPage: 100, codec: 'SNAPPY' },
      { entriesPerPage: 7, rowsPerGroup: 90 },
      { entriesPerPage: 10_000, codec: 'GZIP' },
    ] as const) {
      const groups = groupsOf(makeParquetFile(columns, { keyValues: { a: 'b' }, ...options }));
      for (const join of [{ roomBytes: 1 }, { roomBytes: 1500, rowsAtOnce: 9 }, { roomBytes: 2 ** 20 }]) {
        const read = groups.flatMap((leaves) => joinedRows(leaves, { memory, ...join }));
        expect(Buffer.concat(read).equals(Buffer.concat(wanted))).toBe(true);
        expect(read.length).toBe(wanted.length);
      }
    }
  });

  it('goes on in the next row group with another dictionary', () => {
    const memory = openMemory();
    const column: MadeColumn = {
      path: ['a', 'b'],
      repetitions: ['repeated', 'optional'],
      type: 'BYTE_ARRAY',
      encoding: 'RLE_DICTIONARY',
      rows: some(30, (i) => some(i % 4, (k) => `${i} ${k}`)),
    };
    const reader = new LeafReader(memory, leafOf(column), Uint8Array.of(0, 1, 2));
    const joiner = new RowJoiner(memory, [reader]);
    const [rows, ends] = [memory.allocate(5000), memory.allocate(400)];
    if (rows === undefined || ends === undefined) return expect.fail('no memory');
    const read: Buffer[] = [];
    const join = () =>
      read.push(Buffer.from(memory.bytes.slice(rows.address, rows.address + joiner.join(rows, ends).byteLength)));
    for (const [{ codec, pages } = expect.fail('no leaf')] of groupsOf(
      makeParquetFile([column], { rowsPerGroup: 10 }),
    )) {
      reader.beginChunk({
        codec,
        valueCount: pages.reduce((sum, { header }) => sum + (header.kind === 'data' ? header.valueCount : 0), 0),
      });
      for (const { header, body } of pages) {
        expect(joiner.starvedLeaf()).toBe(0);
        reader.addPage(header, body);
        join();
      }
      reader.endChunk();
      join();
    }
    expect(Buffer.concat(read)).toEqual(Buffer.concat(wantedRows([column])));
  });

  it('tells the size of a row that does not fit', () => {
    const memory = openMemory();
    const column: MadeColumn = {
      path: ['a'],
      repetitions: ['required'],
      type: 'BYTE_ARRAY',
      rows: ['x', 'y'.repeat(999)],
    };
    const { leaf, codec, pages } = onlyChunk(column);
    const reader = new LeafReader(memory, leaf, Uint8Array.of(0));
    const joiner = new RowJoiner(memory, [reader]);
    reader.beginChunk({ codec, valueCount: 2 });
    for (const { header, body } of pages) reader.addPage(header, body);
    const [rows, ends] = [memory.allocate(1002), memory.allocate(400)];
    if (rows === undefined || ends === undefined) return expect.fail('no memory');
    expect(joiner.join(rows, ends)).toEqual({ rowCount: 1, byteLength: 5, neededBytes: 0 });
    expect(joiner.join(rows, ends)).toEqual({ rowCount: 0, byteLength: 0, neededBytes: 1003 });
    expect(reader.availableRows).toBe(1);
  });

  it('with pages of fewer or more values than the footer says is refused', () => {
    const memory = openMemory();
    const column: MadeColumn = { path: ['a'], repetitions: ['required'], type: 'INT32', rows: [1, 2, 3] };
    const { leaf, codec, pages } = onlyChunk(column);
    const [page = expect.fail('no page')] = pages;
    const reader = new LeafReader(memory, leaf, Uint8Array.of(0));
    reader.beginChunk({ codec, valueCount: 2 });
    expect(() => reader.addPage(page.header, page.body)).toThrow('it has 3 values, but only 2 of its column are left');
    reader.beginChunk({ codec, valueCount: 4 });
    reader.addPage(page.header, page.body);
    expect(() => reader.endChunk()).toThrow(new PageError('its pages end 1 value before those that the footer tells'));
  });
});

it('zstd decodes a page to its exact size', () => {
  const bytes = Buffer.concat([noiseOf(300_000), Buffer.alloc(2_000_000, 'ab')]);
  const frame = compress('ZSTD', bytes);
  const target = Buffer.alloc(bytes.byteLength);
  expandZstd(frame, target);
  expect(target.equals(bytes)).toBe(true);
  expect(() => expandZstd(frame, Buffer.alloc(bytes.byteLength - 1))).toThrow('it decodes to more bytes');
  expect(() => expandZstd(frame, Buffer.alloc(bytes.byteLength + 1))).toThrow('expected 2300001');
  expect(() => expandZstd(frame.subarray(0, 1000), target)).toThrow();
});
