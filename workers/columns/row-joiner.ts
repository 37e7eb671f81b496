import type { ColumnMemory, Region } from './column-memory.js';
import type { LeafReader } from './leaf-reader.js';

export interface JoinedRows {
  readonly rowCount: number;
  readonly byteLength: number;
  /** Above 0: the next row does not fit and has this many bytes. Only when `rowCount` is 0. */
  readonly neededBytes: number;
}

/** Joins the leaves into rows, as `src/formats/parquet/leaf.ts` lays them out. */
export declare class RowJoiner {
  /** @param leaves of the same memory, in the order of rows. They stay the caller's. */
  constructor(memory: ColumnMemory, leaves: readonly LeafReader[]);
  /**
   * The index of the first leaf from `from` on without a whole row, which needs its next page, or the end of its chunk;
   * -1: none.
   */
  starvedLeaf(from?: number): number;
  /**
   * As many of the next rows as all leaves have and the regions hold.
   * @param ends gets a u32 for each row: its end, relative to the beginning of `rows`.
   */
  join(rows: Region, ends: Region): JoinedRows;
  close(): void;
}
