/**
 * Reads where the pages of a column chunk lie and which rows they hold, as its offset index claims. A claim that no
 * page can have makes the index useless: pages are found one after another then. Whoever reads pages by it compares it
 * with each of them.
 */
import type { ByteRanges } from './footer.js';
import type { ColumnChunk } from './row-group.js';
import { ThriftError, ThriftReader } from './thrift.js';

export interface PageTable {
  /** The start of each page of data in the file, and the end of the last one. */
  readonly starts: readonly number[];
  /** The first row of each page, counted in the row group, and the rows of the row group. */
  readonly rows: readonly number[];
}

/** The most bytes of an index: of a hundred thousand pages and more. */
const MOST_INDEX_BYTES = 4 * 2 ** 20;

/** @returns undefined: there is no index of use. */
export function readPageTable(file: ByteRanges, chunk: ColumnChunk, rows: number): PageTable | undefined {
  const { offsetIndex } = chunk;
  if (offsetIndex === undefined || offsetIndex.byteLength > MOST_INDEX_BYTES) return undefined;
  try {
    return checked(parse(file.read(offsetIndex.start, offsetIndex.byteLength)), chunk, rows);
  } catch (error) {
    if (error instanceof ThriftError) return undefined;
    throw error;
  }
}

interface Place {
  start: number;
  byteLength: number;
  firstRow: number;
}

function parse(bytes: Uint8Array): readonly Place[] {
  const places: Place[] = [];
  const reader = new ThriftReader(bytes);
  reader.struct((field) => {
    if (field !== 1) return;
    reader.list(() => {
      const place: Place = { start: -1, byteLength: -1, firstRow: -1 };
      reader.struct((each) => {
        if (each === 1) place.start = reader.i64();
        else if (each === 2) place.byteLength = reader.i32();
        else if (each === 3) place.firstRow = reader.i64();
      });
      places.push(place);
    });
  });
  return places;
}

/** The pages must lie one after another up to the end of the chunk, and each must begin at a later row. */
function checked(places: readonly Place[], { start, byteLength }: ColumnChunk, rows: number): PageTable | undefined {
  const end = start + byteLength;
  const [first] = places;
  if (first === undefined || first.start < start || first.firstRow !== 0) return undefined;
  const isRight = places.every((place, i) => {
    const next = places[i + 1] ?? { start: end, firstRow: rows };
    return place.byteLength > 0 && place.start + place.byteLength === next.start && place.firstRow < next.firstRow;
  });
  if (!isRight) return undefined;
  return {
    starts: [...places.map((place) => place.start), end],
    rows: [...places.map(({ firstRow }) => firstRow), rows],
  };
}

/** The page that holds a row. */
export function pageOfRow({ rows }: PageTable, row: number): number {
  let [low, high] = [0, rows.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((rows[middle] ?? 0) <= row) low = middle;
    else high = middle;
  }
  return low;
}
