/** Makes chunks of datasets of the records of a shuffle, which are rows. */
import { VerificationError } from '../../src/errors.js';
import { copyBox, copyBytes, gridOf, placesIn, productOf } from '../../src/formats/hdf5/chunk-box.js';
import { describeChunks } from '../../src/formats/hdf5/file-end.js';
import { encodeChunk } from '../../src/formats/hdf5/filters.js';
import type { Hdf5Rows, RowsDataset } from '../../src/formats/hdf5/rows-spec.js';
import { freeBytes } from '../../src/machine/free-bytes.js';
import { inPhase } from '../../src/phase-clock.js';
import type { Member, MemberWriter } from '../../src/sinks/member-writer.js';
import { type FinishedPage, FinishedPages } from '../columns/finished-pages.js';
import type { ShuffleSettings } from '../settings.js';
import { threadStateOf } from '../thread-state.js';
import { waitingPlaces } from './waiting-places.js';

/**
 * @param attemptName the beginning of the names of temp files.
 * @param turn of the task: those of several tasks begin with different disks.
 */
export function datasetMembers(
  job: ShuffleSettings,
  { datasets, rowBytes }: Hdf5Rows,
  attemptName: string,
  turn: number,
): MemberWriter {
  const newPlace = waitingPlaces(job, `${attemptName}-chunks`, turn);
  const { control } = threadStateOf(job);
  const newChunks = () => new FinishedPages(control, newPlace);
  let chunks = newChunks();
  const columns: WrittenColumn[] = [];
  for (const dataset of datasets) {
    const before = columns.at(-1);
    columns.push(new WrittenColumn(dataset, before === undefined ? 0 : before.at + before.rowBytes));
  }
  let count = 0;
  /** The beginning of a row that ends in a later piece. */
  const partial = Buffer.alloc(rowBytes);
  let partialBytes = 0;
  const addRows = (rows: Uint8Array) => {
    inPhase('transpose', () => {
      for (const column of columns) column.add(rows, rowBytes, chunks);
    });
    count += rows.byteLength / rowBytes;
  };
  return {
    endsWithBuffer: false,
    add: (records) => {
      let done = 0;
      if (partialBytes > 0) {
        done = Math.min(records.byteLength, rowBytes - partialBytes);
        partial.set(records.subarray(0, done), partialBytes);
        partialBytes += done;
        if (partialBytes < rowBytes) return;
        addRows(partial);
      }
      const whole = records.byteLength - done - ((records.byteLength - done) % rowBytes);
      addRows(records.subarray(done, done + whole));
      partial.set(records.subarray(done + whole));
      partialBytes = records.byteLength - done - whole;
    },
    end: () => {
      if (partialBytes > 0) throw new VerificationError(`the last row is cut off after ${partialBytes} bytes`);
      if (count === 0) return undefined;
      const ordered = columns.flatMap((column) => column.end(chunks));
      const member = memberOf(count, ordered, chunks);
      count = 0;
      chunks = newChunks();
      return member;
    },
    close: () => chunks.release(),
  };
}

function memberOf(rows: number, ordered: readonly FinishedPage[], chunks: FinishedPages): Member {
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

/** What one dataset gets of each row. */
class WrittenColumn {
  readonly rowBytes: number;
  /** Where it lies in a row. */
  readonly at: number;
  readonly #dataset: RowsDataset;
  readonly #blockRows: number;
  /** The rows that a chunk reaches over. */
  readonly #block: Buffer;
  #rows = 0;
  #finished: FinishedPage[] = [];

  constructor(dataset: RowsDataset, at: number) {
    this.at = at;
    this.rowBytes = dataset.rowBytes;
    this.#dataset = dataset;
    this.#blockRows = dataset.chunkLengths[0] ?? 1;
    this.#block = Buffer.alloc(this.#blockRows * dataset.rowBytes);
  }

  add(rows: Uint8Array, allBytes: number, chunks: FinishedPages): void {
    const { rowBytes, at } = this;
    for (let from = 0; from < rows.byteLength; from += allBytes) {
      copyBytes(rows, from + at, this.#block, this.#rows * rowBytes, rowBytes);
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
    const isWhole = lengths.every((length, i) => length === chunkLengths[i]);
    const chunkBytes = productOf(chunkLengths, elementBytes);
    for (const inRow of placesIn(gridOf(rowShape, chunkLengths.slice(1)))) {
      let chunk: Uint8Array = this.#block;
      if (!isWhole) {
        chunk = Buffer.alloc(chunkBytes);
        copyBox({ chunkLengths, lengths, place: [0, ...inRow], elementBytes }, chunk, this.#block, true);
      }
      const stored = inPhase('compress', () => encodeChunk(chunk, filters));
      this.#finished.push(chunks.add(NOTHING, stored));
      if (stored.buffer !== chunk.buffer) freeBytes(stored);
      if (!isWhole) freeBytes(chunk);
    }
  }
}
