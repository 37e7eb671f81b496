/** Makes chunks of datasets of the records of a shuffle, which are rows. */
import { VerificationError } from '../../../errors.js';
import type { JobControl } from '../../../floor/job-control.js';
import { inPhase } from '../../../floor/phase-clock.js';
import { freeBytes } from '../../../machine/free-bytes.js';
import type { EncodedMember, MemberWriter } from '../../encoded-members.js';
import { type FinishedPage, FinishedPages, type PageBlocks } from '../finished-pages.js';
import type { UnitMemory } from '../row-format.js';
import { copyBox, copyBytes, gridOf, placesIn, productOf } from './chunk-box.js';
import { describeChunks } from './file-end.js';
import { encodeChunk } from './filters/chunk-filters.js';
import type { Hdf5Rows, RowsDataset } from './rows-spec.js';

export function datasetMembers(
  { datasets, rowBytes }: Hdf5Rows,
  { newSpillPlace }: UnitMemory,
  control: JobControl,
  blocks: PageBlocks,
): MemberWriter {
  const newChunks = () => new FinishedPages(control, blocks, newSpillPlace);
  let chunks = newChunks();
  const columns = datasets.map((dataset) => new WrittenColumn(dataset));
  let count = 0;
  /** A row that came in part. */
  const partial = Buffer.alloc(rowBytes);
  let partialBytes = 0;
  const addRows = (rows: Uint8Array) => {
    inPhase('transpose', () => {
      let at = 0;
      for (const column of columns) {
        column.add(rows, at, rowBytes, chunks);
        at += column.rowBytes;
      }
    });
    count += rows.byteLength / rowBytes;
  };
  return {
    add: (records) => {
      for (let at = 0, left = records.byteLength; left > 0; left = records.byteLength - at) {
        const isWhole = partialBytes === 0 && left >= rowBytes;
        const taken = records.subarray(at, at + (isWhole ? left - (left % rowBytes) : rowBytes - partialBytes));
        at += taken.byteLength;
        if (isWhole) addRows(taken);
        else {
          partial.set(taken, partialBytes);
          partialBytes = (partialBytes + taken.byteLength) % rowBytes;
          if (partialBytes === 0) addRows(partial);
        }
      }
    },
    end: () => {
      if (partialBytes > 0) throw new VerificationError(`the last row is cut off after ${partialBytes} bytes`);
      if (count === 0) return undefined;
      const ordered = columns.flatMap((column) => column.end(chunks));
      const unit = unitOf(chunks, ordered, count);
      count = 0;
      chunks = newChunks();
      return unit;
    },
    close: () => chunks.release(),
  };
}

function unitOf(chunks: FinishedPages, ordered: readonly FinishedPage[], rows: number): EncodedMember {
  const chunkBytes = ordered.map(({ byteLength }) => byteLength);
  const description = describeChunks(rows, chunkBytes);
  return {
    byteLength: chunkBytes.reduce((sum, byteLength) => sum + byteLength, description.byteLength),
    // The chunks have taken their memory, or lie in a file.
    memoryBytes: 0,
    description,
    *pieces() {
      yield* chunks.read(ordered);
      yield description;
    },
    release: () => chunks.release(),
  };
}

const NOTHING = new Uint8Array();

/** The part of each row that one dataset gets. */
class WrittenColumn {
  readonly rowBytes: number;
  readonly #dataset: RowsDataset;
  readonly #blockRows: number;
  /** The rows that a chunk reaches over. */
  readonly #block: Buffer;
  #rows = 0;
  #finished: FinishedPage[] = [];

  constructor(dataset: RowsDataset) {
    this.rowBytes = dataset.rowBytes;
    this.#dataset = dataset;
    this.#blockRows = dataset.chunkLengths[0] ?? 1;
    this.#block = Buffer.alloc(this.#blockRows * dataset.rowBytes);
  }

  /** @param at where its part of a row lies. */
  add(rows: Uint8Array, at: number, allBytes: number, chunks: FinishedPages): void {
    const { rowBytes } = this;
    for (let from = at; from < rows.byteLength; from += allBytes) {
      copyBytes(rows, from, this.#block, this.#rows * rowBytes, rowBytes);
      this.#rows += 1;
      if (this.#rows === this.#blockRows) this.#endBlock(chunks);
    }
  }

  /** @returns its chunks since the last end. */
  end(chunks: FinishedPages): readonly FinishedPage[] {
    if (this.#rows > 0) {
      this.#block.fill(0, this.#rows * this.rowBytes);
      this.#endBlock(chunks);
    }
    const finished = this.#finished;
    this.#finished = [];
    return finished;
  }

  #endBlock(chunks: FinishedPages): void {
    const { rowShape, chunkLengths, elementBytes, filters } = this.#dataset;
    this.#rows = 0;
    const lengths = [this.#blockRows, ...rowShape];
    const grid = gridOf(rowShape, chunkLengths.slice(1));
    for (const inRow of placesIn(grid)) {
      let chunk: Uint8Array = this.#block;
      if (lengths.some((length, i) => length !== chunkLengths[i])) {
        chunk = Buffer.alloc(productOf(chunkLengths, elementBytes));
        copyBox({ chunkLengths, lengths, place: [0, ...inRow], elementBytes }, chunk, this.#block, true);
      }
      const stored = inPhase('compress', () => encodeChunk(chunk, filters));
      this.#finished.push(chunks.add(NOTHING, stored));
      if (stored.buffer !== chunk.buffer) freeBytes(stored);
      if (chunk !== this.#block) freeBytes(chunk);
    }
  }
}
