/** By which order min and max of a column are known. */
import { describe, expect, it } from 'vitest';
import { sortOrdersOf } from '#src/formats/rows/parquet/annotation.js';
import { THRIFT, type ThriftWriter, ThriftWriter as Writer } from '#src/formats/rows/parquet/thrift.js';
import { columnOrdersOf, type PlainElement, tableOf } from './plain-footer.js';

const integer = (isSigned: boolean) => (writer: ThriftWriter) =>
  void writer.field(1).raw(THRIFT.I8, Uint8Array.of(32)).field(2).boolean(isSigned);

const CASES: readonly [PlainElement, string | undefined][] = [
  [{ name: 'BOOLEAN', type: 'BOOLEAN' }, 'unsigned'],
  [{ name: 'INT32', type: 'INT32' }, 'signed'],
  [{ name: 'DOUBLE', type: 'DOUBLE' }, 'signed'],
  [{ name: 'INT96', type: 'INT96' }, undefined],
  [{ name: 'bytes', type: 'BYTE_ARRAY' }, 'unsigned'],
  [{ name: 'string', type: 'BYTE_ARRAY', logical: 1 }, 'text'],
  [{ name: 'old string', type: 'BYTE_ARRAY', converted: 0 }, 'text'],
  [{ name: 'unsigned', type: 'INT32', logical: 10, parameters: integer(false) }, 'unsigned'],
  [{ name: 'signed', type: 'INT32', logical: 10, parameters: integer(true) }, 'signed'],
  [{ name: 'old unsigned', type: 'INT64', converted: 14 }, 'unsigned'],
  [{ name: 'old signed', type: 'INT64', converted: 18 }, 'signed'],
  [{ name: 'decimal', type: 'INT64', converted: 5 }, 'signed'],
  [{ name: 'decimal of bytes', type: 'BYTE_ARRAY', converted: 5 }, undefined],
  [{ name: 'interval', type: 'FIXED_LEN_BYTE_ARRAY', typeLength: 12, converted: 21 }, undefined],
  [{ name: 'half', type: 'FIXED_LEN_BYTE_ARRAY', typeLength: 2, logical: 15 }, undefined],
  [{ name: 'uuid', type: 'FIXED_LEN_BYTE_ARRAY', typeLength: 16, logical: 14 }, 'unsigned'],
  [{ name: 'geometry', type: 'BYTE_ARRAY', logical: 17 }, undefined],
  [{ name: 'nothing', type: 'INT32', logical: 11 }, undefined],
  [{ name: 'logical type of later times', type: 'INT32', logical: 77 }, undefined],
  [{ name: 'field of later times', type: 'INT32', later: 'x' }, undefined],
];

describe('sortOrdersOf', () => {
  const elements = CASES.map(([element]) => element);

  it.each(CASES.map(([{ name }, order], i) => [name, order, i] as const))('of %s is %s', (_, order, i) => {
    const schema = tableOf([{ name: 'group', children: elements }], { columnOrders: columnOrdersOf(elements.length) });
    expect(sortOrdersOf(schema)[i]).toBe(order);
  });

  it('is not known where the file does not say it', () => {
    expect(sortOrdersOf(tableOf(elements)).some((order) => order !== undefined)).toBe(false);
    const writer = new Writer();
    writer.list(THRIFT.STRUCT, 2, (i) => writer.struct(() => writer.field(1 + i).struct(() => undefined)));
    const columnOrders = writer.take();
    expect(sortOrdersOf(tableOf(elements.slice(1, 3), { columnOrders }))).toEqual(['signed', undefined]);
  });
});
