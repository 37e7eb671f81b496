/** Headers of pages: what they say, when more bytes are needed, and what they may not say. */
import { describe, expect, it } from 'vitest';
import { type PageHeader, readPageHeader } from '#src/formats/rows/parquet/page-header.js';
import { ThriftError, ThriftWriter } from '#src/formats/rows/parquet/thrift.js';
import { drawsFor } from '../../../fixtures/draws.js';

type Sizes = readonly [type: number, uncompressedBytes: number, compressedBytes: number];

function headerOf(
  [type, uncompressed, compressed]: Sizes,
  write: (writer: ThriftWriter) => void,
  crc?: number,
): Uint8Array {
  const writer = new ThriftWriter();
  writer.struct(() => {
    writer.field(1).i32(type).field(2).i32(uncompressed).field(3).i32(compressed);
    if (crc !== undefined) writer.field(4).i32(crc);
    write(writer);
  });
  return writer.take();
}

/** Fields from 1 on, numbers and booleans. */
const described =
  (field: number, ...values: (number | boolean)[]) =>
  (writer: ThriftWriter) =>
    writer.field(field).struct(() => {
      for (const [i, value] of values.entries()) {
        writer.field(i + 1);
        if (typeof value === 'boolean') writer.boolean(value);
        else writer.i32(value);
      }
      writer.field(9).struct(() => writer.field(5).binary('statistics'));
    });

const common = {
  levelsApart: false,
  uncompressedBytes: 100,
  compressedBytes: 60,
  crc: undefined,
  definitionEncoding: 'RLE',
  repetitionEncoding: 'RLE',
  rows: undefined,
  nullCount: undefined,
  definitionBytes: 0,
  repetitionBytes: 0,
  isCompressed: true,
} as const;

const page1 = headerOf([0, 100, 60], described(5, 10, 8, 4, 3), -1);
const page2 = headerOf([3, 100, 60], described(8, 10, 2, 5, 6, 20, 40, false));

describe('readPageHeader', () => {
  it.each<[string, Uint8Array, PageHeader]>([
    [
      'a data page',
      page1,
      {
        ...common,
        kind: 'data',
        crc: 2 ** 32 - 1,
        valueCount: 10,
        encoding: 'RLE_DICTIONARY',
        definitionEncoding: 'BIT_PACKED',
      },
    ],
    [
      'a data page of version 2',
      page2,
      {
        ...common,
        kind: 'data',
        levelsApart: true,
        valueCount: 10,
        nullCount: 2,
        rows: 5,
        encoding: 'DELTA_LENGTH_BYTE_ARRAY',
        definitionBytes: 20,
        repetitionBytes: 40,
        isCompressed: false,
      },
    ],
    [
      'a dictionary page',
      headerOf([2, 100, 60], described(7, 10, 2, true)),
      { ...common, kind: 'dictionary', valueCount: 10, encoding: 'PLAIN_DICTIONARY' },
    ],
    [
      'an index page',
      headerOf([1, 100, 60], described(6)),
      { ...common, kind: 'other', valueCount: 0, encoding: 'PLAIN' },
    ],
    [
      'a page of later times',
      headerOf([7, 100, 60], described(12)),
      { ...common, kind: 'other', valueCount: 0, encoding: 'PLAIN' },
    ],
  ])('reads that of %s, at any place', (_, bytes, header) => {
    const placed = Buffer.concat([Buffer.alloc(3, 255), bytes, Buffer.alloc(100, 255)]);
    expect(readPageHeader(placed, 3)).toEqual({ header, headerBytes: bytes.byteLength });
  });

  it('asks for more bytes until the header is whole', () => {
    for (const bytes of [page1, page2])
      for (let length = 0; length < bytes.byteLength; length += 1)
        expect(readPageHeader(bytes.subarray(0, length), 0)).toBeUndefined();
  });

  it('asks for 16 MiB at most', () => {
    const endless = Buffer.concat([headerOf([0, 1, 1], () => undefined).subarray(0, -1), Buffer.alloc(2 ** 24, 0x88)]);
    expect(() => readPageHeader(endless, 0)).toThrow(ThriftError);
  });

  it.each<[string, Uint8Array, RegExp]>([
    ['no size', headerOf([0, -5, 60], described(5, 10, 0, 3, 3)), /lacks its size/],
    ['no number of values', headerOf([0, 100, 60], described(5)), /lacks its number of values/],
    ['no description', headerOf([0, 100, 60], () => undefined), /does not describe a page of its type/],
    [
      'the description of another page',
      headerOf([0, 100, 60], described(7, 10, 0)),
      /does not describe a page of its type/,
    ],
    ['an unknown encoding', headerOf([0, 100, 60], described(5, 10, 77, 3, 3)), /has encoding 77, which is not read/],
    [
      'too many levels',
      headerOf([3, 100, 60], described(8, 10, 2, 5, 0, 21, 40)),
      /claims 40 and 21 bytes of levels in 60/,
    ],
    ['negative levels', headerOf([3, 100, 60], described(8, 10, 2, 5, 0, -1, 1)), /claims 1 and -1 bytes of levels/],
    ['negative rows', headerOf([3, 100, 60], described(8, 10, 2, -5, 0, 1, 1)), /less than 0 rows/],
  ])('refuses %s', (_, bytes, line) => {
    expect(() => readPageHeader(bytes, 0)).toThrow(line);
  });

  it('reads mutated headers, or refuses them', () => {
    const draw = drawsFor('mutated page headers');
    for (let i = 0; i < 3000; i += 1) {
      const mutated = Uint8Array.from(i % 2 === 0 ? page1 : page2);
      mutated[Math.floor(draw() * mutated.byteLength)] = Math.floor(draw() * 256);
      try {
        const read = readPageHeader(mutated, 0);
        expect(read?.header.valueCount ?? 0).toBeGreaterThanOrEqual(0);
        expect(read?.header.compressedBytes ?? 0).toBeGreaterThanOrEqual(0);
      } catch (error) {
        expect(error).toBeInstanceOf(ThriftError);
      }
    }
  });
});
