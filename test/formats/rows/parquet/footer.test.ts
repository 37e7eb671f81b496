/** Footers: what they say, and what they may not. */
import { describe, expect, it } from 'vitest';
import { InputError } from '#src/errors.js';
import { sortOrdersOf } from '#src/formats/rows/parquet/annotation.js';
import { type FileFooter, readFooter } from '#src/formats/rows/parquet/footer.js';
import { THRIFT, ThriftWriter } from '#src/formats/rows/parquet/thrift.js';
import { unifySchemas } from '#src/formats/rows/parquet/unify-schemas.js';
import { drawsFor } from '../../../fixtures/draws.js';
import { atScale } from '../../../fixtures/scale.js';
import {
  columnOrdersOf,
  DATA_BYTES,
  fileOf,
  keyValuesOf,
  type PlainChunk,
  type PlainGroup,
  plainGroups,
  tableOf,
} from './plain-footer.js';

const table = tableOf(
  [
    { name: 'id', type: 'INT64' },
    { name: 'text', type: 'BYTE_ARRAY', repetition: 1, converted: 0, logical: 1 },
  ],
  { keyValues: keyValuesOf({ key: 'value' }), columnOrders: columnOrdersOf(2) },
);
const groups = plainGroups(table, [3, 0, 4]);

function open(file: Buffer): FileFooter {
  return readFooter({ read: (at, length) => file.subarray(at, at + length) }, file.byteLength, 'in');
}

function readAll(file: Buffer): void {
  const { schema, rowGroups } = open(file);
  // What is carried as bytes is read at any time.
  sortOrdersOf(schema);
  unifySchemas(table, schema);
  for (const _ of rowGroups());
}

/** The file with other claims of the second chunk of the first row group. */
function claiming(claims: Partial<PlainChunk>): Buffer {
  const changed = (group: PlainGroup) => ({
    ...group,
    chunks: group.chunks.map((chunk, i) => (i === 1 ? { ...chunk, ...claims } : chunk)),
  });
  return fileOf(
    table,
    groups.map((group, i) => (i === 0 ? changed(group) : group)),
  );
}

describe('readFooter', () => {
  it('gives what was written, byte for byte', () => {
    const footer = open(fileOf(table, groups, { createdBy: 'me' }));
    expect(footer).toMatchObject({ schema: table, rows: 7, createdBy: 'me', rowGroupCount: 3 });
    expect([0, 1, 2, 3].map(footer.firstRowOf)).toEqual([0, 3, 3, 7]);
    const chunk = (start: number, valueCount: number) => ({
      codec: 'ZSTD',
      start,
      byteLength: 100,
      valueCount,
      uncompressedBytes: 100,
      nullCount: 0,
      plainBytes: undefined,
    });
    expect([...footer.rowGroups()]).toEqual([
      { rows: 3, firstRow: 0, columns: [chunk(4, 3), chunk(104, 3)], byteLength: 200 },
      { rows: 0, firstRow: 3, columns: [chunk(204, 0), chunk(304, 0)], byteLength: 200 },
      { rows: 4, firstRow: 3, columns: [chunk(404, 4), chunk(504, 4)], byteLength: 200 },
    ]);
    expect([...footer.rowGroups(2, 3)]).toEqual([...footer.rowGroups()].slice(2));
  });

  it('reads a large footer, with two calls', () => {
    const large = tableOf(Array.from({ length: 5000 }, (_, i) => ({ name: `column ${i}`, type: 'DOUBLE' })));
    const file = fileOf(large, []);
    let calls = 0;
    const read = (at: number, length: number) => {
      calls += 1;
      return file.subarray(at, at + length);
    };
    expect(readFooter({ read }, file.byteLength, 'in').schema.leaves).toHaveLength(5000);
    // And one for the first bytes.
    expect(calls).toBe(3);
  });

  it('takes the footers of programs that count or place otherwise', () => {
    expect(open(fileOf(table, groups, { rows: 0 })).rows).toBe(7);
    const startOf = (claims: Partial<PlainChunk>) => [...open(claiming(claims)).rowGroups()][0]?.columns[1]?.start;
    expect(startOf({ dataStart: 150, dictionaryStart: 104, byteLength: 50 })).toBe(104);
    expect(startOf({ dictionaryStart: 0 })).toBe(104);
    expect(startOf({ dataStart: 0, dictionaryStart: 104 })).toBe(104);
    const bytesOf = (createdBy: string) =>
      [...open(fileOf(table, groups, { createdBy })).rowGroups()][0]?.columns[1]?.byteLength;
    expect(bytesOf('parquet-mr version 1.2.8 (build x)')).toBe(200);
    expect(bytesOf('parquet-mr')).toBe(200);
    expect(bytesOf('parquet-mr version 1.12.0')).toBe(100);
  });

  it.each<[string, Buffer, RegExp]>([
    ['nothing', Buffer.alloc(0), /^in: its 0 bytes are too few for a Parquet file; make the file again$/],
    ['no footer', Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(99)]), /^in: byte 99 is not the PAR1 that ends/],
    [
      'no beginning',
      Buffer.concat([Buffer.alloc(4), fileOf(table, groups).subarray(4)]),
      /^in: byte 0 is not the PAR1 that begins/,
    ],
    ['an encrypted footer', Buffer.concat([Buffer.alloc(50), Buffer.from('PARE')]), /^in is encrypted Parquet/],
    [
      'a footer larger than the file',
      Buffer.concat([Buffer.from('PAR1'), Buffer.from([255, 255, 255, 127]), Buffer.from('PAR1')]),
      /^in: byte 4 claims a footer of 2147483647 bytes in a file of 12; make the file again$/,
    ],
    [
      'too few column orders',
      fileOf({ ...table, columnOrders: columnOrdersOf(1) }, groups),
      /^in: its footer: it claims 1 column orders of 2 columns; make the file again$/,
    ],
    [
      'no schema',
      Buffer.from('PAR1\0\x01\0\0\0PAR1', 'latin1'),
      /^in: its footer: it has no schema; make the file again$/,
    ],
    [
      'other numbers of rows',
      fileOf(table, groups, { rows: 8 }),
      /^in: its footer: it claims 8 rows, and its row groups 7; make the file again$/,
    ],
  ])('refuses %s', (_, file, line) => {
    expect(() => open(file)).toThrow(line);
  });

  it.each<[string, Buffer, RegExp]>([
    ['LZO', claiming({ codec: 3 }), /^in: row group 0: column text: it is compressed with LZO, which is not read/],
    ['an unknown codec', claiming({ codec: 99 }), /compressed with codec 99/],
    ['an encrypted column', claiming({ isEncrypted: true }), /^in: row group 0: column text: it is encrypted/],
    ['data of another file', claiming({ filePath: 'a\nb' }), /column text: its data lies in another file, a\\u000ab;/],
    ['another type', claiming({ type: 1 }), /column text: its column chunk has type 1; expected BYTE_ARRAY/],
    ['another column', claiming({ path: ['id'] }), /column text: its column chunk is that of another column/],
    ['a part of a path', claiming({ path: [] }), /that of another column/],
    ['fewer values than rows', claiming({ values: 2 }), /column text: its column chunk claims 2 values of 3 rows/],
    [
      'bytes behind the data',
      claiming({ byteLength: DATA_BYTES }),
      /column text: its column chunk claims bytes 104 to 2104; expected bytes 4 to 2004/,
    ],
    ['the magic bytes', claiming({ dataStart: 3 }), /column text: its column chunk claims bytes 3 to 103/],
    ['a negative size', claiming({ byteLength: -1 }), /has no size/],
    ['an absurd place', claiming({ dataStart: 2 ** 51 }), /claims bytes 2251799813685248 to/],
    ['chunks that overlap', claiming({ dataStart: 103 }), /^in: row group 0: two column chunks overlap at byte 103 /],
    [
      'chunks of two row groups that overlap',
      claiming({ dataStart: 250 }),
      /^in: its footer: two column chunks overlap at byte 250 /,
    ],
    [
      'too few chunks',
      fileOf(table, [{ rows: 3, chunks: [] }]),
      /^in: row group 0: it has 0 column chunks; expected 2/,
    ],
    [
      'too many chunks',
      fileOf(
        table,
        groups.map(({ rows, chunks }) => ({ rows, chunks: [...chunks, ...chunks] })),
      ),
      /^in: row group 0: it has more than 2 column chunks; make the file again$/,
    ],
  ])('refuses row groups with %s', (_, file, line) => {
    expect(() => open(file)).not.toThrow();
    expect(() => readAll(file)).toThrow(line);
  });

  it('refuses 2^31 row groups and other bombs at once', () => {
    const bomb = (write: (writer: ThriftWriter) => void) => {
      const writer = new ThriftWriter();
      write(writer);
      const footer = writer.end().take();
      const ending = Buffer.alloc(8);
      ending.writeUInt32LE(footer.byteLength);
      ending.write('PAR1', 4);
      return Buffer.concat([Buffer.from('PAR1'), footer, ending]);
    };
    const hugeList = Uint8Array.of(0xfc, 0xff, 0xff, 0xff, 0xff, 0x07);
    expect(() => open(bomb((writer) => writer.field(2).raw(THRIFT.LIST, hugeList)))).toThrow(
      /claims 2147483647 bytes of/,
    );
    expect(() => open(bomb((writer) => writer.field(4).raw(THRIFT.LIST, hugeList)))).toThrow(
      /claims 2147483647 bytes of/,
    );
    const emptyGroups = (count: number) => (writer: ThriftWriter) =>
      writer.field(4).list(THRIFT.STRUCT, count, () => writer.struct(() => undefined));
    expect(() => open(bomb(emptyGroups(100_000)))).toThrow(/row group without a number of rows/);
  });

  it('reads mutated footers the same, or refuses them in one line', () => {
    const file = fileOf(table, groups);
    const draw = drawsFor('mutated footers');
    const whole = (below: number) => Math.floor(draw() * below);
    const start = 4 + DATA_BYTES;
    let refused = 0;
    const tries = atScale(4000, 20_000, 100_000);
    for (let i = 0; i < tries; i += 1) {
      const mutated = Buffer.from(file);
      const changes = 1 + whole(3);
      for (let change = 0; change < changes; change += 1) {
        const at = start + whole(file.byteLength - start - 8);
        mutated[at] = [0xff, 0x7f, 0, (mutated[at] ?? 0) ^ (1 << whole(8)), whole(256)][whole(5)] ?? 0;
      }
      try {
        readAll(mutated);
      } catch (error) {
        refused += 1;
        if (!(error instanceof InputError) || /\n/.test(error.message)) throw error;
      }
    }
    expect(refused).toBeGreaterThan(tries / 3);
  });
});
