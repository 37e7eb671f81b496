/** Joins leaves into rows, as `src/formats/rows/parquet/leaf.ts` lays them out. */
import type { ColumnMemory, Region } from './column-memory.js';
import type { LeafReader } from './leaf-reader.js';
import { PageMemoryError } from './page-error.js';

export interface JoinedRows {
  readonly rowCount: number;
  readonly byteLength: number;
  /** The bytes of the next row, if it does not fit and `rowCount` is 0; else 0. */
  readonly neededBytes: number;
}

export class RowJoiner {
  readonly #memory: ColumnMemory;
  readonly #leafCount: number;
  /** The address of the state of each leaf. */
  readonly #states: Region;

  /**
   * @param leaves of the same memory, in the order of rows. They stay the caller's.
   * @throws PageMemoryError
   */
  constructor(memory: ColumnMemory, leaves: readonly LeafReader[]) {
    this.#memory = memory;
    this.#leafCount = leaves.length;
    const byteLength = 4 * leaves.length;
    const states = memory.allocate(byteLength);
    if (states === undefined) throw new PageMemoryError(byteLength, 'a list of columns');
    this.#states = states;
    new Uint32Array(memory.bytes.buffer, states.address, leaves.length).set(leaves.map((leaf) => leaf.stateAddress));
  }

  /** The index of the first leaf from `from` on that has no whole row, and needs a page or the end of its chunk; -1: none. */
  starvedLeaf(from = 0): number {
    return this.#memory.wasm.findStarved(this.#states.address, this.#leafCount, from);
  }

  /**
   * Joins as many of the next rows as all leaves have and the regions hold.
   * @param ends gets a u32 for each row: its end, relative to the beginning of `rows`.
   */
  join(rows: Region, ends: Region): JoinedRows {
    const { wasm } = this.#memory;
    const mostRows = Math.floor(ends.byteLength / 4);
    const rowCount = wasm.joinRows(
      this.#states.address,
      this.#leafCount,
      mostRows,
      rows.address,
      rows.byteLength,
      ends.address,
    );
    return { rowCount, byteLength: wasm.joinedBytes.value, neededBytes: wasm.neededBytes.value };
  }

  close(): void {
    this.#memory.release(this.#states);
  }
}
