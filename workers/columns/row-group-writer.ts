import type { Leaf } from '../../src/formats/parquet/leaf.js';
import type { TableWriteSpec } from '../../src/formats/parquet/table-write-spec.js';
import type { GateNumber, JobControl } from '../../src/job-control.js';
import type { ColumnMemory } from './column-memory.js';

/** What `TableSchema` says of the columns that are written. */
export interface WrittenSchema {
  readonly leaves: readonly Leaf[];
  readonly elements: Uint8Array;
  readonly columnOrders: Uint8Array | undefined;
}

export interface RowGroupWriterParts {
  readonly memory: ColumnMemory;
  readonly schema: WrittenSchema;
  readonly spec: TableWriteSpec;
  readonly control: JobControl;
  /** Finished pages go there when the job has no spare memory left. */
  readonly spill: {
    readonly gate: GateNumber;
    /** A new path in a temp directory, for a file that goes with its row group. */
    newPath(): string;
  };
}

/** A finished row group: its pages, and its description behind them. */
export interface RowGroupMember {
  readonly rows: number;
  /** Of all pieces. */
  readonly byteLength: number;
  /** A piece is good until the next one is asked for. May be asked for again until `release`. */
  pieces(): Iterable<Uint8Array>;
  /** Gives its memory back and removes its file. */
  release(): void;
}

/** Bytes of column memory that one writer may need, apart from values that are longer than a page. */
export declare function rowGroupWriterBytes(leaves: readonly Leaf[]): number;

/** Makes row groups of rows, one after the other. Its bytes follow from the rows and the spec alone. */
export declare class RowGroupWriter {
  constructor(parts: RowGroupWriterParts);
  /** Bytes of the rows since the last row group ended. */
  get rowBytes(): number;
  /**
   * The next rows of the row group; a row may begin in one piece and end in a later one.
   * @throws UsageError ERR_MEMORY_BUDGET when a row does not fit the column memory.
   */
  add(bytes: Uint8Array): void;
  /** Ends the row group, which must have a row. The next `add` begins another one. */
  end(): RowGroupMember;
  /** Gives all memory back, also that of a row group that did not end. */
  close(): void;
}
