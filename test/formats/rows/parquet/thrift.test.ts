/** Thrift's compact protocol: written and read, skipped, and refused where it lies. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { THRIFT, ThriftError, ThriftReader, ThriftWriter } from '#src/formats/rows/parquet/thrift.js';

/** A struct with a value of every type. */
function everything(): Uint8Array {
  const writer = new ThriftWriter();
  writer.struct(() => {
    writer
      .field(1)
      .i32(-7)
      .field(2)
      .i64(2 ** 40)
      .field(3)
      .boolean(true)
      .field(4)
      .boolean(false)
      .field(5)
      .binary('text');
    writer.field(30).list(THRIFT.I32, 20, (i) => writer.i32(i));
    writer.field(31).list(THRIFT.TRUE, 3, (i) => writer.boolean(i === 1));
    writer.field(32).struct(() => writer.field(1).struct(() => writer.field(16).binary('')));
    writer.field(33).raw(THRIFT.DOUBLE, new Uint8Array(8));
    writer.field(34).raw(THRIFT.UUID, new Uint8Array(16));
    writer.field(35).raw(THRIFT.I8, Uint8Array.of(255));
    writer.field(36).raw(THRIFT.MAP, Uint8Array.of(2, 0x85, 1, 0x61, 2, 1, 0x62, 4));
    writer.field(37).raw(THRIFT.MAP, Uint8Array.of(0));
    writer.field(2000).raw(THRIFT.SET, Uint8Array.of(0x25, 2, 4));
    writer.field(1).i32(9);
  });
  return writer.take();
}

describe('ThriftWriter', () => {
  it('writes the bytes of the specification', () => {
    const writer = new ThriftWriter();
    writer.struct(() => {
      writer.field(1).i32(1).field(2).i64(-300).field(20).boolean(true);
      writer.field(21).list(THRIFT.BINARY, 2, () => writer.binary('ab'));
    });
    const expected = [0x15, 0x02, 0x16, 0xd7, 0x04, 0x01, 40, 0x19, 0x28, 2, 0x61, 0x62, 2, 0x61, 0x62, 0];
    expect([...writer.take()]).toEqual(expected);
  });
});

describe('ThriftReader', () => {
  it('reads what was written', () => {
    const values = new Map<number, unknown>();
    const reader = new ThriftReader(everything());
    reader.struct((field) => {
      if (field === 1) values.set(field, reader.i32());
      else if (field === 2) values.set(field, reader.i64());
      else if (field === 3 || field === 4) values.set(field, reader.boolean());
      else if (field === 5) values.set(field, reader.string());
      else if (field === 30) {
        let sum = 0;
        reader.list((i) => {
          // Elements that are not read are skipped.
          if (i % 2 === 0) sum += reader.i32();
        });
        values.set(field, sum);
      } else if (field === 2000) {
        const found: number[] = [];
        reader.list(() => found.push(reader.i32()));
        values.set(field, found);
      }
    });
    const expected = { 1: 9, 2: 2 ** 40, 3: true, 4: false, 5: 'text', 30: 90, 2000: [1, 2] };
    expect(Object.fromEntries(values)).toEqual(expected);
    expect(reader.position).toBe(everything().byteLength);
  });

  it('gives any value as bytes that are written again the same', () => {
    const bytes = everything();
    const writer = new ThriftWriter();
    const reader = new ThriftReader(bytes);
    writer.struct(() =>
      reader.struct((field) => {
        const { type, bytes: raw } = reader.raw();
        writer.field(field).raw(type, raw);
      }),
    );
    expect(writer.take()).toEqual(bytes);
  });

  it('reads all whole numbers that a file can hold', () => {
    const anyNumber = fc.oneof(
      fc.integer(),
      fc.integer({ min: -(2 ** 51), max: 2 ** 51 }),
      fc.constantFrom(2 ** 52 - 1),
    );
    fc.assert(
      fc.property(anyNumber, (number) => {
        const reader = new ThriftReader(new ThriftWriter().i64(number).take(), 0, THRIFT.I64);
        expect(reader.i64()).toBe(number);
      }),
    );
  });

  it('keeps names apart that are not UTF-8', () => {
    const stringOf = (...bytes: number[]) =>
      new ThriftReader(new ThriftWriter().binary(Uint8Array.from(bytes)).take(), 0, THRIFT.BINARY).string();
    expect(stringOf(0xff)).not.toBe(stringOf(0xfe));
    expect(stringOf(...Buffer.from('\ufffdé'))).toBe('\ufffdé');
  });

  it('says of every cut that the bytes may be too few', () => {
    const bytes = everything();
    for (let length = 0; length < bytes.byteLength; length += 1) {
      const read = () => new ThriftReader(bytes.subarray(0, length)).skip();
      expect(read).toThrow(expect.objectContaining({ isCutOff: true }));
    }
  });

  it.each<[string, number[]]>([
    ['a list of 2^31 structs', [0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0]],
    ['a text of 2^40 bytes', [0x18, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20, 0]],
    ['a map of 2^31 entries', [0x1b, 0xff, 0xff, 0xff, 0xff, 0x07, 0x88, 0]],
    ['a number without end', [0x16, ...Array(20).fill(0xff), 0]],
    ['a type that does not exist', [0x1e, 0, 0]],
    ['lists in lists', [0x19, ...Array(1000).fill(0x19), 0]],
    ['structs in structs', [...Array(1000).fill(0x1c), 0]],
    ['maps in maps', Array(100).fill([0x1b, 1, 0xbb]).flat()],
  ])('refuses %s, read or skipped', (_, bytes) => {
    const reader = new ThriftReader(Uint8Array.from(bytes));
    expect(() => reader.skip()).toThrow(ThriftError);
    const readAll = (of: ThriftReader): void => of.struct(() => readAll(of));
    const read = new ThriftReader(Uint8Array.from(bytes));
    expect(() => read.struct(() => read.raw())).toThrow(ThriftError);
    if (bytes[0] === 0x1c) expect(() => readAll(new ThriftReader(Uint8Array.from(bytes)))).toThrow(/nested more/);
  });

  it('refuses values of another type, and numbers that do not fit', () => {
    const of = (write: (writer: ThriftWriter) => void) => {
      const writer = new ThriftWriter();
      write(writer);
      return writer.take();
    };
    expect(() =>
      new ThriftReader(
        of((writer) => writer.i64(2 ** 31)),
        0,
        THRIFT.I64,
      ).i32(),
    ).toThrow(/2147483648 .*32 bits/);
    expect(() =>
      new ThriftReader(
        of((writer) => writer.i64(2 ** 52)),
        0,
        THRIFT.I64,
      ).i64(),
    ).toThrow(/52 bits/);
    expect(() =>
      new ThriftReader(
        of((writer) => writer.binary('x')),
        0,
        THRIFT.BINARY,
      ).i64(),
    ).toThrow(/type binary stands where i64/);
  });
});
