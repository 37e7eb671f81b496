/**
 * Writes the end of a file: the page index, then the footer. It is made from the descriptions in the staged file, each
 * of which says where the one before it ends. One description at a time is in memory, beside the footer.
 */
import { VerificationError } from '../../../errors.js';
import { listStagedUnits, type StagedUnitFile } from '../../staged-units.js';
import { type Leaf, PHYSICAL_TYPES } from './leaf.js';
import { ENCODINGS } from './page-header.js';
import { PAGE_CODECS } from './row-group.js';
import {
  byteLengthOfChunk,
  type ChunkBounds,
  type ChunkDescription,
  decodeDescription,
} from './row-group-description.js';
import type { TableSchema } from './schema.js';
import type { TableWriteSpec } from './table-output.js';
import { THRIFT, ThriftWriter } from './thrift.js';
import { footerPieces, PARQUET_MAGIC } from './write-footer.js';

/** The magic bytes, then row groups, each with its description. */
export interface StagedTable extends StagedUnitFile {
  readonly schema: TableSchema;
  readonly spec: TableWriteSpec;
  /** The writer as other programs show it: `pileshuf version 1.2.3`. */
  readonly createdBy: string;
}

/** Returns what is to be appended to a staged file that has all its row groups. */
export function* fileEnd(table: StagedTable): Generator<Uint8Array, void> {
  const { schema, createdBy, spec } = table;
  const groups = listStagedUnits(table, PARQUET_MAGIC.byteLength);
  const rowGroups: Uint8Array[] = [];
  let rows = 0;
  let end = table.byteLength;
  for (const [i, { start, description: read }] of groups.entries()) {
    const description = decodeDescription(read());
    const places = placeChunks(schema.leaves, description.chunks, start);
    for (const place of places) {
      place.columnIndex = encodeColumnIndex(place.chunk);
      place.columnIndexStart = end;
      end += place.columnIndex.byteLength;
      if (place.columnIndex.byteLength > 0) yield place.columnIndex;
    }
    for (const place of places) {
      const offsetIndex = encodeOffsetIndex(place);
      place.offsetIndexStart = end;
      place.offsetIndexBytes = offsetIndex.byteLength;
      end += offsetIndex.byteLength;
      yield offsetIndex;
    }
    const ordinal = groups.length <= MOST_ORDINALS ? i : undefined;
    rowGroups.push(encodeRowGroup(places, description.rows, ordinal, spec));
    rows += description.rows;
  }
  yield* footerPieces({ schema, rows, rowGroupCount: groups.length, rowGroups, createdBy });
}

interface PlacedChunk {
  readonly leaf: Leaf;
  readonly chunk: ChunkDescription;
  readonly start: number;
  /** Empty: there is none. */
  columnIndex: Uint8Array;
  columnIndexStart: number;
  offsetIndexStart: number;
  offsetIndexBytes: number;
}

function placeChunks(leaves: readonly Leaf[], chunks: readonly ChunkDescription[], start: number): PlacedChunk[] {
  if (chunks.length !== leaves.length)
    throw new VerificationError(`a row group has ${chunks.length} columns, expected ${leaves.length}`);
  let at = start;
  return leaves.flatMap((leaf, i) => {
    const chunk = chunks[i];
    if (chunk === undefined) return [];
    const place = {
      leaf,
      chunk,
      start: at,
      columnIndex: new Uint8Array(),
      columnIndexStart: 0,
      offsetIndexStart: 0,
      offsetIndexBytes: 0,
    };
    at += byteLengthOfChunk(chunk);
    return [place];
  });
}

const UNORDERED = 0;

/** Empty where a page has values but no bounds. */
function encodeColumnIndex({ pages }: ChunkDescription): Uint8Array {
  const nullPages = pages.map(({ nullCount, valueCount }) => nullCount === valueCount);
  if (pages.some(({ bounds }, i) => bounds === undefined && nullPages[i] === false)) return new Uint8Array();
  const writer = new ThriftWriter();
  const none = new Uint8Array();
  writer.struct(() => {
    writer.field(1).list(THRIFT.TRUE, pages.length, (i) => writer.boolean(nullPages[i] ?? false));
    writer.field(2).list(THRIFT.BINARY, pages.length, (i) => writer.binary(pages[i]?.bounds?.least ?? none));
    writer.field(3).list(THRIFT.BINARY, pages.length, (i) => writer.binary(pages[i]?.bounds?.most ?? none));
    writer.field(4).i32(UNORDERED);
    writer.field(5).list(THRIFT.I64, pages.length, (i) => writer.i64(pages[i]?.nullCount ?? 0));
  });
  return writer.take();
}

function encodeOffsetIndex({ chunk, start }: PlacedChunk): Uint8Array {
  const writer = new ThriftWriter();
  let at = start + chunk.dictionaryBytes;
  let row = 0;
  writer.struct(() => {
    writer.field(1).list(THRIFT.STRUCT, chunk.pages.length, (i) => {
      const { byteLength = 0, rows = 0 } = chunk.pages[i] ?? {};
      writer.struct(() => writer.field(1).i64(at).field(2).i32(byteLength).field(3).i64(row));
      at += byteLength;
      row += rows;
    });
  });
  return writer.take();
}

/** A footer has the ordinals of all row groups, or of none: they are i16. */
const MOST_ORDINALS = 2 ** 15;

function encodeRowGroup(
  places: readonly PlacedChunk[],
  rows: number,
  ordinal: number | undefined,
  spec: TableWriteSpec,
): Uint8Array {
  const writer = new ThriftWriter();
  writer.struct(() => {
    writer.field(1).list(THRIFT.STRUCT, places.length, (i) => {
      const place = places[i];
      if (place !== undefined) writeColumnChunk(writer, place, spec);
    });
    writer.field(2).i64(places.reduce((sum, { chunk }) => sum + chunk.uncompressedBytes, 0));
    writer.field(3).i64(rows);
    writer.field(5).i64(places[0]?.start ?? 0);
    writer.field(6).i64(places.reduce((sum, { chunk }) => sum + byteLengthOfChunk(chunk), 0));
    if (ordinal !== undefined) writer.field(7).i16(ordinal);
  });
  return writer.take();
}

function writeColumnChunk(writer: ThriftWriter, place: PlacedChunk, spec: TableWriteSpec): void {
  writer.struct(() => {
    writer.field(2).i64(0);
    writer.field(3).struct(() => writeMetaData(writer, place, spec));
    writer.field(4).i64(place.offsetIndexStart).field(5).i32(place.offsetIndexBytes);
    if (place.columnIndex.byteLength === 0) return;
    writer.field(6).i64(place.columnIndexStart).field(7).i32(place.columnIndex.byteLength);
  });
}

const DATA_PAGE = 0;
const DICTIONARY_PAGE = 2;

function writeMetaData(writer: ThriftWriter, { leaf, chunk, start }: PlacedChunk, { codec }: TableWriteSpec): void {
  const { dictionaryBytes, pages, uncompressedBytes, bounds } = chunk;
  const counts = new Map<number, number>();
  for (const { encoding } of pages) counts.set(encoding, (counts.get(encoding) ?? 0) + 1);
  const stats = [...counts].map(([encoding, count]) => ({ type: DATA_PAGE, encoding, count }));
  if (dictionaryBytes > 0) stats.unshift({ type: DICTIONARY_PAGE, encoding: ENCODINGS.PLAIN, count: 1 });
  // Levels are of RLE.
  const encodings = [...new Set([...stats.map(({ encoding }) => encoding), ENCODINGS.RLE])];
  const sum = (of: 'valueCount' | 'nullCount') => pages.reduce((total, page) => total + page[of], 0);
  writer.field(1).i32(PHYSICAL_TYPES[leaf.type]);
  writer.field(2).list(THRIFT.I32, encodings.length, (i) => writer.i32(encodings[i] ?? 0));
  writer.field(3).list(THRIFT.BINARY, leaf.path.length, (i) => writer.binary(leaf.path[i] ?? ''));
  writer.field(4).i32(PAGE_CODECS[codec]);
  writer.field(5).i64(sum('valueCount'));
  writer.field(6).i64(uncompressedBytes);
  writer.field(7).i64(byteLengthOfChunk(chunk));
  writer.field(9).i64(start + dictionaryBytes);
  if (dictionaryBytes > 0) writer.field(11).i64(start);
  writer.field(12).struct(() => writeStatistics(writer, sum('nullCount'), bounds));
  writer.field(13).list(THRIFT.STRUCT, stats.length, (i) => {
    const { type = 0, encoding = 0, count = 0 } = stats[i] ?? {};
    writer.struct(() => writer.field(1).i32(type).field(2).i32(encoding).field(3).i32(count));
  });
}

function writeStatistics(writer: ThriftWriter, nullCount: number, bounds: ChunkBounds | undefined): void {
  writer.field(3).i64(nullCount);
  if (bounds === undefined) return;
  writer.field(5).binary(bounds.most).field(6).binary(bounds.least);
  writer.field(7).boolean(bounds.isMostExact).field(8).boolean(bounds.isLeastExact);
}
