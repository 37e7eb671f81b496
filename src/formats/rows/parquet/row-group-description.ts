/** Describes a row group as the end of a file needs it, as a Thrift struct. */
import { encodeUnitDescription } from '../../staged-units.js';
import { THRIFT, ThriftReader, ThriftWriter } from './thrift.js';

export interface Bounds {
  readonly least: Uint8Array;
  readonly most: Uint8Array;
}

/** Bounds of a chunk, which say whether they are values of it. */
export interface ChunkBounds extends Bounds {
  readonly isLeastExact: boolean;
  readonly isMostExact: boolean;
}

/** A page of data. */
export interface PageDescription {
  /** The bytes with the header. */
  readonly byteLength: number;
  readonly rows: number;
  readonly nullCount: number;
  /** Bounds as statistics have them; undefined if they are not sure, or if all values are NaN. */
  readonly bounds: Bounds | undefined;
  readonly encoding: number;
  /** Entries, nulls included. */
  readonly valueCount: number;
}

/** Its pages lie one after the other, that of the dictionary first. */
export interface ChunkDescription {
  /** The bytes of the page of the dictionary with its header; 0: there is none. */
  readonly dictionaryBytes: number;
  /** The bytes of all pages, with their headers. */
  readonly uncompressedBytes: number;
  readonly bounds: ChunkBounds | undefined;
  readonly pages: readonly PageDescription[];
}

export interface RowGroupDescription {
  readonly rows: number;
  /** The chunks in the order of the leaves. */
  readonly chunks: readonly ChunkDescription[];
}

export function byteLengthOfChunk({ dictionaryBytes, pages }: ChunkDescription): number {
  return pages.reduce((sum, { byteLength }) => sum + byteLength, dictionaryBytes);
}

export function encodeDescription({ rows, chunks }: RowGroupDescription): Uint8Array {
  const writer = new ThriftWriter();
  writer.struct(() => {
    writer.field(1).i64(rows);
    writer.field(2).list(THRIFT.STRUCT, chunks.length, (i) => {
      const chunk = chunks[i];
      if (chunk !== undefined) writer.struct(() => writeChunk(writer, chunk));
    });
  });
  return encodeUnitDescription(
    writer.take(),
    chunks.reduce((sum, chunk) => sum + byteLengthOfChunk(chunk), 0),
  );
}

function writeChunk(
  writer: ThriftWriter,
  { dictionaryBytes, uncompressedBytes, bounds, pages }: ChunkDescription,
): void {
  writer.field(1).i64(dictionaryBytes);
  writer.field(2).i64(uncompressedBytes);
  writer.field(3).list(THRIFT.STRUCT, pages.length, (i) => {
    const page = pages[i];
    if (page === undefined) return;
    writer.struct(() => {
      writer.field(1).i64(page.byteLength);
      writer.field(2).i64(page.rows);
      writer.field(3).i64(page.nullCount);
      if (page.bounds !== undefined) writer.field(4).binary(page.bounds.least).field(5).binary(page.bounds.most);
      writer.field(6).i32(page.encoding);
      writer.field(7).i64(page.valueCount);
    });
  });
  if (bounds === undefined) return;
  writer.field(4).binary(bounds.least).field(5).binary(bounds.most);
  if (!bounds.isLeastExact) writer.field(6).boolean(false);
  if (!bounds.isMostExact) writer.field(7).boolean(false);
}

export function decodeDescription(struct: Uint8Array): RowGroupDescription {
  const reader = new ThriftReader(struct);
  let rows = 0;
  const chunks: ChunkDescription[] = [];
  reader.struct((field) => {
    if (field === 1) rows = reader.i64();
    else reader.list(() => chunks.push(readChunk(reader)));
  });
  return { rows, chunks };
}

function readChunk(reader: ThriftReader): ChunkDescription {
  const pages: PageDescription[] = [];
  let [dictionaryBytes, uncompressedBytes, isLeastExact, isMostExact] = [0, 0, true, true];
  const bounds: Partial<Record<'least' | 'most', Uint8Array>> = {};
  reader.struct((field) => {
    if (field === 1) dictionaryBytes = reader.i64();
    else if (field === 2) uncompressedBytes = reader.i64();
    else if (field === 3) reader.list(() => pages.push(readPage(reader)));
    else if (field === 4) bounds.least = reader.binary();
    else if (field === 5) bounds.most = reader.binary();
    else if (field === 6) isLeastExact = reader.boolean();
    else isMostExact = reader.boolean();
  });
  const found = boundsOf(bounds);
  return { dictionaryBytes, uncompressedBytes, bounds: found && { ...found, isLeastExact, isMostExact }, pages };
}

function readPage(reader: ThriftReader): PageDescription {
  let [byteLength, rows, nullCount, encoding, valueCount] = [0, 0, 0, 0, 0];
  const bounds: Partial<Record<'least' | 'most', Uint8Array>> = {};
  reader.struct((field) => {
    if (field === 1) byteLength = reader.i64();
    else if (field === 2) rows = reader.i64();
    else if (field === 3) nullCount = reader.i64();
    else if (field === 4) bounds.least = reader.binary();
    else if (field === 5) bounds.most = reader.binary();
    else if (field === 6) encoding = reader.i32();
    else valueCount = reader.i64();
  });
  return { byteLength, rows, nullCount, bounds: boundsOf(bounds), encoding, valueCount };
}

function boundsOf({ least, most }: Partial<Record<'least' | 'most', Uint8Array>>): Bounds | undefined {
  return least === undefined || most === undefined ? undefined : { least, most };
}
