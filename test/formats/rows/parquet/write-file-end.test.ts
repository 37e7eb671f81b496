/** The end of a file: found from the descriptions alone, and right in each place that it names. */
import { describe, expect, it } from 'vitest';
import { readFooter } from '#src/formats/rows/parquet/footer.js';
import { readPageHeader } from '#src/formats/rows/parquet/page-header.js';
import { encodeDescription, type RowGroupDescription } from '#src/formats/rows/parquet/row-group-description.js';
import type { TableSchema } from '#src/formats/rows/parquet/schema.js';
import { THRIFT, ThriftReader } from '#src/formats/rows/parquet/thrift.js';
import { fileEnd, type StagedTable } from '#src/formats/rows/parquet/write-file-end.js';
import { listStagedUnits } from '#src/formats/staged-units.js';
import { drawsFor } from '../../../fixtures/draws.ts';
import { drawRows, makeGroup, PLAIN, plainValue, schemaOf } from './columns/row-groups.ts';

const MAGIC = Buffer.from('PAR1');

function staged(schema: TableSchema, groups: readonly Uint8Array[]): StagedTable & { readonly bytes: Buffer } {
  const bytes = Buffer.concat([MAGIC, ...groups]);
  return {
    schema,
    spec: PLAIN,
    createdBy: 'pileshuf version 1.2.3',
    path: 'a.parquet',
    byteLength: bytes.byteLength,
    bytes,
    read: (position, byteLength) => bytes.subarray(position, position + byteLength),
  };
}

const fileOf = (table: ReturnType<typeof staged>) =>
  Buffer.concat([table.bytes, ...[...fileEnd(table)].map((piece) => Buffer.from(piece))]);

type Plain = number | boolean | string | Plain[] | { [field: number]: Plain };

/** Thrift as lists and objects; binaries in hex. Lists of booleans are short. */
function plainOf(reader: ThriftReader, type: number): Plain {
  if (type === THRIFT.STRUCT) {
    const fields: { [field: number]: Plain } = {};
    reader.struct((field) => {
      const raw = reader.raw();
      const areBooleans = raw.type === THRIFT.LIST && ((raw.bytes[0] ?? 0) & 15) <= THRIFT.FALSE;
      fields[field] = areBooleans
        ? [...raw.bytes.subarray(1)].map((byte) => byte === THRIFT.TRUE)
        : plainOf(new ThriftReader(raw.bytes, 0, raw.type), raw.type);
    });
    return fields;
  }
  if (type === THRIFT.LIST) {
    const list: Plain[] = [];
    reader.list(() => {
      const raw = reader.raw();
      list.push(plainOf(new ThriftReader(raw.bytes, 0, raw.type), raw.type));
    });
    return list;
  }
  if (type === THRIFT.BINARY) return Buffer.from(reader.binary()).toString('hex');
  return type === THRIFT.TRUE || type === THRIFT.FALSE ? type === THRIFT.TRUE : reader.i64();
}

const structAt = (bytes: Buffer, at: number) => plainOf(new ThriftReader(bytes, at), THRIFT.STRUCT);

const field = (value: Plain | undefined, ...path: readonly number[]): Plain | undefined =>
  path.reduce<Plain | undefined>(
    (each, name) => (typeof each === 'object' ? (each as { [name: number]: Plain })[name] : undefined),
    value,
  );

describe('fileEnd', () => {
  const schema = schemaOf([
    { type: 'INT32', repetitions: [1] },
    { type: 'BYTE_ARRAY', repetitions: [2], converted: 0 },
    { type: 'INT96' },
  ]);
  const draw = drawsFor('file end');
  const rowsOf = (count: number) =>
    drawRows(schema, count, draw, (leaf) =>
      plainValue(leaf, Buffer.from([0, 0, 0, ...(leaf.type === 'INT96' ? [0, 0, 0, 0, 0, 0, 0, 0] : []), draw() * 9])),
    );

  it('names each chunk, page and index', () => {
    const groups = [rowsOf(500), rowsOf(3), rowsOf(70)].map((rows) => makeGroup(schema, rows));
    const bytes = fileOf(staged(schema, groups));
    const footer = readFooter({ read: (at, byteLength) => bytes.subarray(at, at + byteLength) }, bytes.byteLength, 'a');
    expect(footer.rows).toBe(573);
    expect(footer.createdBy).toBe('pileshuf version 1.2.3');
    expect([...footer.rowGroups()].map(({ rows }) => rows)).toEqual([500, 3, 70]);

    const plain = structAt(bytes, bytes.byteLength - 8 - bytes.readUInt32LE(bytes.byteLength - 8));
    let end = staged(schema, groups).byteLength;
    for (const [ordinal, group] of (field(plain, 4) as Plain[]).entries()) {
      expect(field(group, 7)).toBe(ordinal);
      const columns = field(group, 1) as Plain[];
      for (const column of columns.filter((each) => field(each, 6) !== undefined)) {
        expect(field(column, 6)).toBe(end);
        end += Number(field(column, 7));
      }
      for (const [i, column] of columns.entries()) {
        const [start, byteLength] = [Number(field(column, 3, 11) ?? field(column, 3, 9)), Number(field(column, 3, 7))];
        const locations = field(structAt(bytes, Number(field(column, 4))), 1) as Plain[];
        expect(field(column, 4)).toBe(end);
        end += Number(field(column, 5));
        let [at, values] = [start, 0];
        const encodings = new Set<unknown>(['RLE']);
        if (readPageHeader(bytes, at)?.header.kind === 'dictionary') at = Number(field(column, 3, 9));
        expect(at).toBe(field(column, 3, 9));
        for (const location of locations) {
          expect(field(location, 1)).toBe(at);
          values += readPageHeader(bytes, at)?.header.valueCount ?? 0;
          encodings.add(readPageHeader(bytes, at)?.header.encoding);
          at += Number(field(location, 2));
        }
        expect(at).toBe(start + byteLength);
        expect(field(locations[0], 3)).toBe(0);
        expect(field(column, 3, 5)).toBe(values);
        const index = field(column, 6) === undefined ? undefined : structAt(bytes, Number(field(column, 6)));
        // Of INT96 no order is sure.
        expect(index === undefined).toBe(i === 2);
        if (index === undefined) continue;
        expect(field(index, 5)).toEqual([field(column, 3, 12, 3)]);
        expect(field(index, 2)).toEqual([field(column, 3, 12, 6) ?? '']);
        expect(field(index, 3)).toEqual([field(column, 3, 12, 5) ?? '']);
      }
      expect(field(group, 6)).toBe(columns.reduce<number>((sum, column) => sum + Number(field(column, 3, 7)), 0));
      expect(field(group, 2)).toBe(columns.reduce<number>((sum, column) => sum + Number(field(column, 3, 6)), 0));
    }
    expect(bytes.byteLength - 8 - bytes.readUInt32LE(bytes.byteLength - 8)).toBe(end);
  });

  it('is a footer alone when there are no rows', () => {
    const bytes = fileOf(staged(schema, []));
    const footer = readFooter({ read: (at, byteLength) => bytes.subarray(at, at + byteLength) }, bytes.byteLength, 'a');
    expect([footer.rows, footer.rowGroupCount]).toEqual([0, 0]);
  });

  it('refuses a staged file that does not consist of row groups, or is damaged', () => {
    const group = makeGroup(schema, rowsOf(5));
    expect(listStagedUnits(staged(schema, [group, group]), 4).map(({ start }) => start)).toEqual([
      4,
      4 + group.byteLength,
    ]);
    expect(() => fileOf(staged(schema, [Buffer.of(1), group]))).toThrow('a.parquet: no unit ends at byte 5');
    expect(() => fileOf(staged(schema, [group, Buffer.of(1)]))).toThrow('no unit ends at byte');
    const damaged = Buffer.from(group);
    damaged.writeUInt8(1 ^ damaged.readUInt8(group.byteLength - 30), group.byteLength - 30);
    expect(() => fileOf(staged(schema, [damaged]))).toThrow('damaged');
    expect(() => fileOf(staged(schemaOf([{ type: 'INT32' }]), [group]))).toThrow(
      'a row group has 3 columns, expected 1',
    );
  });

  it('marks pages of nulls in the column index, and has none where bounds are missing', () => {
    const bounds = { least: Buffer.of(1, 0, 0, 0), most: Buffer.of(2, 0, 0, 0) };
    const page = { byteLength: 50, rows: 9, nullCount: 0, bounds, encoding: 0, valueCount: 9 };
    const nulls = { ...page, nullCount: 9, bounds: undefined };
    const indexOf = (pages: RowGroupDescription['chunks'][0]['pages']) => {
      const one = schemaOf([{ type: 'INT32', repetitions: [1] }]);
      const ofChunk = { ...bounds, isLeastExact: true, isMostExact: false };
      const chunks = [{ dictionaryBytes: 0, uncompressedBytes: 100, bounds: ofChunk, pages }];
      const description = encodeDescription({ rows: 18, chunks });
      const table = staged(one, [Buffer.alloc(100), description]);
      const bytes = fileOf(table);
      const plain = structAt(bytes, bytes.byteLength - 8 - bytes.readUInt32LE(bytes.byteLength - 8));
      expect(field(plain, 4, 0, 1, 0, 3, 12)).toMatchObject({ 7: false, 8: true });
      const at = field(field(plain, 4, 0, 1, 0), 6);
      return at === undefined ? undefined : structAt(bytes, Number(at));
    };
    expect(indexOf([page, nulls])).toMatchObject({ 1: [false, true], 2: ['01000000', ''], 5: [0, 9] });
    expect(indexOf([page, { ...page, bounds: undefined }])).toBeUndefined();
  });
});
