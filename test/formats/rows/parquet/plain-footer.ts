/** Parquet files of which only the footer counts: what lies before it is zeros. */
import { PHYSICAL_TYPES, type PhysicalType } from '#src/formats/rows/parquet/leaf.js';
import { readSchema, type TableSchema } from '#src/formats/rows/parquet/schema.js';
import { THRIFT, ThriftWriter } from '#src/formats/rows/parquet/thrift.js';
import { footerPieces } from '#src/formats/rows/parquet/write-footer.js';

export interface PlainElement {
  readonly name: string;
  readonly type?: PhysicalType;
  readonly typeLength?: number;
  /** 0 required (the default), 1 optional, 2 repeated. */
  readonly repetition?: number;
  readonly children?: readonly PlainElement[];
  readonly converted?: number;
  readonly fieldId?: number;
  /** The number of a logical type, and its fields if it has some. */
  readonly logical?: number;
  readonly parameters?: (writer: ThriftWriter) => void;
  /** Written as field 99. */
  readonly later?: string;
}

export function elementsOf(root: PlainElement): Uint8Array {
  const all: PlainElement[] = [];
  const visit = (element: PlainElement): void => {
    all.push(element);
    element.children?.forEach(visit);
  };
  visit(root);
  const writer = new ThriftWriter();
  writer.list(THRIFT.STRUCT, all.length, (i) => {
    const element = all[i];
    if (element !== undefined) writeElement(writer, element, i === 0);
  });
  return writer.take();
}

function writeElement(writer: ThriftWriter, element: PlainElement, isRoot: boolean): void {
  const { name, type, typeLength, repetition = 0, children, converted, fieldId, logical, parameters, later } = element;
  writer.struct(() => {
    if (type !== undefined) writer.field(1).i32(PHYSICAL_TYPES[type]);
    if (typeLength !== undefined) writer.field(2).i32(typeLength);
    if (!isRoot) writer.field(3).i32(repetition);
    writer.field(4).binary(name);
    if (children !== undefined) writer.field(5).i32(children.length);
    if (converted !== undefined) writer.field(6).i32(converted);
    if (fieldId !== undefined) writer.field(9).i32(fieldId);
    if (logical !== undefined) writer.field(10).struct(() => writer.field(logical).struct(() => parameters?.(writer)));
    if (later !== undefined) writer.field(99).binary(later);
  });
}

export function tableOf(children: readonly PlainElement[], more: Partial<TableSchema> = {}): TableSchema {
  const elements = elementsOf({ name: 'schema', children });
  return {
    version: 2,
    elements,
    leaves: readSchema(elements).leaves,
    columnOrders: undefined,
    keyValues: undefined,
    ...more,
  };
}

export function keyValuesOf(pairs: Readonly<Record<string, string>>): Uint8Array {
  const entries = Object.entries(pairs);
  const writer = new ThriftWriter();
  writer.list(THRIFT.STRUCT, entries.length, (i) => {
    const [key = '', value = ''] = entries[i] ?? [];
    writer.struct(() => writer.field(1).binary(key).field(2).binary(value));
  });
  return writer.take();
}

/** All ordered as their type says. */
export function columnOrdersOf(count: number): Uint8Array {
  const writer = new ThriftWriter();
  writer.list(THRIFT.STRUCT, count, () => writer.struct(() => writer.field(1).struct(() => undefined)));
  return writer.take();
}

export interface PlainChunk {
  readonly path: readonly string[];
  readonly type: number;
  readonly codec: number;
  readonly values: number;
  readonly byteLength: number;
  readonly dataStart: number;
  readonly dictionaryStart?: number;
  readonly uncompressedBytes?: number;
  readonly nullCount?: number;
  /** Of the statistics of sizes. */
  readonly plainBytes?: number;
  readonly filePath?: string;
  readonly isEncrypted?: boolean;
  readonly offsetIndex?: { readonly start: number; readonly byteLength: number };
}

export interface PlainGroup {
  readonly rows: number;
  readonly chunks: readonly PlainChunk[];
}

export function rowGroupStruct({ rows, chunks }: PlainGroup): Uint8Array {
  const writer = new ThriftWriter();
  writer.struct(() => {
    writer.field(1).list(THRIFT.STRUCT, chunks.length, (i) => {
      const chunk = chunks[i];
      if (chunk !== undefined) writeChunk(writer, chunk);
    });
    writer.field(2).i64(0).field(3).i64(rows);
  });
  return writer.take();
}

function writeChunk(writer: ThriftWriter, chunk: PlainChunk): void {
  writer.struct(() => {
    if (chunk.filePath !== undefined) writer.field(1).binary(chunk.filePath);
    writer.field(2).i64(0).field(3);
    writer.struct(() => {
      writer
        .field(1)
        .i32(chunk.type)
        .field(2)
        .list(THRIFT.I32, 1, () => writer.i32(0));
      writer.field(3).list(THRIFT.BINARY, chunk.path.length, (i) => writer.binary(chunk.path[i] ?? ''));
      writer.field(4).i32(chunk.codec).field(5).i64(chunk.values);
      writer
        .field(6)
        .i64(chunk.uncompressedBytes ?? chunk.byteLength)
        .field(7)
        .i64(chunk.byteLength);
      writer.field(9).i64(chunk.dataStart);
      if (chunk.dictionaryStart !== undefined) writer.field(11).i64(chunk.dictionaryStart);
      const { nullCount = 0, plainBytes } = chunk;
      writer.field(12).struct(() => writer.field(3).i64(nullCount).field(5).binary('max').field(7).boolean(true));
      if (plainBytes !== undefined) writer.field(16).struct(() => writer.field(1).i64(plainBytes));
    });
    const { offsetIndex } = chunk;
    if (offsetIndex !== undefined) writer.field(4).i64(offsetIndex.start).field(5).i32(offsetIndex.byteLength);
    if (chunk.isEncrypted === true) writer.field(8).struct(() => writer.field(1).struct(() => undefined));
  });
}

/** One row group after another, each with a chunk of 100 bytes a leaf. */
export function plainGroups({ leaves }: TableSchema, counts: readonly number[]): PlainGroup[] {
  return counts.map((rows, group) => ({
    rows,
    chunks: leaves.map(({ path, type }, i) => ({
      path,
      type: PHYSICAL_TYPES[type],
      codec: 6,
      values: rows,
      byteLength: 100,
      dataStart: 4 + 100 * (group * leaves.length + i),
    })),
  }));
}

export const DATA_BYTES = 2000;

export function fileOf(
  schema: TableSchema,
  groups: readonly PlainGroup[],
  { rows = groups.reduce((sum, group) => sum + group.rows, 0), createdBy = 'test' } = {},
): Buffer {
  const rowGroups = groups.map(rowGroupStruct);
  const pieces = footerPieces({ schema, rows, rowGroupCount: groups.length, rowGroups, createdBy });
  return Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(DATA_BYTES), ...pieces]);
}
