/** What a joiner of rows says of a row that does not fit, and of pages with other values than the footer tells. */
import { expect, it } from 'vitest';
import { LeafReader } from '#src/formats/rows/parquet/columns/leaf-reader.js';
import { PageError } from '#src/formats/rows/parquet/columns/page-error.js';
import { RowJoiner } from '#src/formats/rows/parquet/columns/row-joiner.js';
import { makePages } from '../../../../fixtures/parquet/make-pages.ts';
import { entriesOf, type LeafShape, leafOf, type NestedValue } from '../../../../fixtures/parquet/rows-of-leaves.ts';
import { openMemory } from './joined-rows.ts';

function readerOf(type: LeafShape['type'], values: readonly NestedValue[]) {
  const shape: LeafShape = { path: ['a'], repetitions: ['required'], type };
  const memory = openMemory();
  const entries = values.flatMap((value) => entriesOf(shape, value));
  const [page = expect.fail('no page')] = makePages(leafOf(shape), entries, {});
  return { memory, page, reader: new LeafReader(memory, leafOf(shape), Uint8Array.of(0)) };
}

it('tells the size of a row that does not fit', () => {
  const { memory, page, reader } = readerOf('BYTE_ARRAY', ['x', 'y'.repeat(999)]);
  const joiner = new RowJoiner(memory, [reader]);
  reader.beginChunk({ codec: 'UNCOMPRESSED', valueCount: 2 });
  reader.addPage(page.header, page.body);
  const [rows, ends] = [memory.allocate(1002), memory.allocate(400)];
  if (rows === undefined || ends === undefined) return expect.fail('no memory');
  expect(joiner.join(rows, ends)).toEqual({ rowCount: 1, byteLength: 5, neededBytes: 0 });
  expect(joiner.join(rows, ends)).toEqual({ rowCount: 0, byteLength: 0, neededBytes: 1003 });
  expect(reader.availableRows).toBe(1);
});

it('refuses pages of fewer or more values than the footer says', () => {
  const { page, reader } = readerOf('INT32', [1, 2, 3]);
  reader.beginChunk({ codec: 'UNCOMPRESSED', valueCount: 2 });
  expect(() => reader.addPage(page.header, page.body)).toThrow('it has 3 values, but only 2 of its column are left');
  reader.beginChunk({ codec: 'UNCOMPRESSED', valueCount: 4 });
  reader.addPage(page.header, page.body);
  expect(() => reader.endChunk()).toThrow(new PageError('its pages end 1 value before those that the footer counts'));
});
