/** Finds where a row group may be cut into slices: where a page index tells which rows pages hold. */
import type { ByteRanges } from './footer.js';
import type { MeasuredGroup } from './open-tables.js';
import { type PageTable, readPageTable } from './page-table.js';

/** Neighbours read a dictionary and a page of each column twice: a part has at least so many times their bytes. */
const LEAST_PARTS_ONCE = 16;

/** A place where a row group may be cut. */
interface RowCut {
  /** The row, counted in the row group. */
  readonly row: number;
  /** The part of the row group that lies before it. */
  readonly before: number;
}

/**
 * Cuts where pages begin in the column that has the most bytes. None: a column has no page index of use, or too few pages.
 */
export function* rowCuts(
  file: ByteRanges,
  { chunks, rows, storedBytes }: Pick<MeasuredGroup, 'chunks' | 'rows' | 'storedBytes'>,
): Generator<RowCut> {
  let longest: PageTable | undefined;
  let [longestBytes, readTwiceBytes] = [0, 0];
  for (const chunk of chunks) {
    const table = readPageTable(file, chunk, rows);
    const [start] = table?.starts ?? [];
    if (table === undefined || start === undefined) return;
    const dictionaryBytes = start - chunk.start;
    const dataBytes = chunk.byteLength - dictionaryBytes;
    readTwiceBytes += dictionaryBytes + dataBytes / (table.starts.length - 1);
    if (dataBytes <= longestBytes) continue;
    longestBytes = dataBytes;
    longest = table;
  }
  const [first = 0, ...starts] = longest?.starts ?? [];
  const leastPart = (LEAST_PARTS_ONCE * readTwiceBytes) / storedBytes;
  let last = 0;
  for (const [i, start] of starts.entries()) {
    const before = (start - first) / longestBytes;
    if (before - last < leastPart || 1 - before < leastPart) continue;
    yield { row: longest?.rows[i + 1] ?? 0, before };
    last = before;
  }
}
