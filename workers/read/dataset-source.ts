/**
 * A part of an HDF5 file: rows of several datasets, decoded a chunk at a time and put together. The position of a row is its
 * ordinal in the file.
 */
import { thenAlwaysAsync } from '../../src/cleanup.js';
import { UsageError, WindowOverMemoryError } from '../../src/errors.js';
import { framingOf } from '../../src/formats/framing-table.js';
import { copyBytes } from '../../src/formats/hdf5/chunk-box.js';
import { type Dataset, RowBlocks, rowBytesOf } from '../../src/formats/hdf5/dataset.js';
import { Hdf5Bytes } from '../../src/formats/hdf5/hdf5-bytes.js';
import { inInput } from '../../src/formats/hdf5/input-error.js';
import type { Hdf5Rows } from '../../src/formats/hdf5/rows-spec.js';
import { RegularInput } from '../../src/io/input-source.js';
import { inPhase } from '../../src/phase-clock.js';
import { datasetsIn, readerBytes } from '../../src/sources/datasets.js';
import type { InputPart } from '../../src/sources/input-part.js';
import { beginAt, type PartSource, type ReadContext, type UseOfSource } from './part-source.js';

type RowsPart = InputPart & { kind: 'table' };

export async function withDatasets<T>(
  part: RowsPart,
  rows: Hdf5Rows,
  context: ReadContext,
  use: UseOfSource<T>,
): Promise<T> {
  const { control } = context;
  const input = new RegularInput(part.path, part.version, control, part.gate);
  const read = async () => {
    const file = new Hdf5Bytes((position, byteLength) => {
      control.throwIfAborted();
      const bytes = Buffer.allocUnsafeSlow(byteLength);
      const count = input.readAt(bytes, 0, byteLength, position);
      control.count('scatteredBytes', count);
      return bytes.subarray(0, count);
    }, part.version.byteLength);
    const datasets = inInput(part.path, () => datasetsIn(file, rows.datasets, part.path, 'the first input'));
    const spareBytes = readerBytes(datasets);
    takeMemory(spareBytes, part.path, context);
    return thenAlwaysAsync(
      () => use(sourceOf(part, file, datasets, rows, context, input)),
      async () => control.giveSpare(spareBytes),
    );
  };
  return thenAlwaysAsync(read, () => input.close());
}

function takeMemory(byteLength: number, path: string, { control, decoderMemory }: ReadContext): void {
  if (control.takeSpare(byteLength)) return;
  const message = `${path}: chunks of its datasets need ${byteLength} bytes and do not fit the memory budget; expected \`memoryBytes\` of at least ${decoderMemory.budgetFor(byteLength)}`;
  throw decoderMemory.mayFitAlone?.(byteLength)
    ? new WindowOverMemoryError(message)
    : new UsageError(message, 'ERR_MEMORY_BUDGET');
}

function sourceOf(
  part: RowsPart,
  file: Hdf5Bytes,
  datasets: readonly Dataset[],
  { rowBytes }: Hdf5Rows,
  { control }: ReadContext,
  input: RegularInput,
): PartSource {
  const framing = framingOf({ kind: 'size', value: rowBytes });
  const columns: Column[] = [];
  for (const dataset of datasets) {
    const before = columns.at(-1);
    columns.push(new Column(file, dataset, before === undefined ? 0 : before.at + before.rowBytes));
  }
  let row = part.start;
  /** A row of which a piece was given. */
  let whole: Uint8Array = new Uint8Array();
  return {
    framing,
    begin: beginAt(framing, 0, 0),
    end: Number.POSITIVE_INFINITY,
    read: ({ bytes }, at, most) => {
      let count = Math.min(most, whole.byteLength);
      if (count > 0) {
        bytes.set(whole.subarray(0, count), at);
        whole = whole.subarray(count);
      } else {
        const isWhole = most >= rowBytes;
        const rows = Math.min(isWhole ? Math.floor(most / rowBytes) : 1, part.end - row);
        const to = isWhole ? bytes : new Uint8Array(rows * rowBytes);
        inInput(part.path, () => {
          for (const column of columns) column.copy(row, rows, to, isWhole ? at : 0, rowBytes);
        });
        row += rows;
        count = Math.min(most, rows * rowBytes);
        if (!isWhole) {
          bytes.set(to.subarray(0, count), at);
          whole = to.subarray(count);
        }
      }
      control.count('decodedBytes', count);
      return count;
    },
    finish: () => input.requireUnchanged(),
  };
}

/** What one dataset gives to each row. */
class Column {
  readonly rowBytes: number;
  /** Where it lies in a row. */
  readonly at: number;
  readonly #blocks: RowBlocks;
  readonly #block: Uint8Array;
  #known = -1;

  constructor(file: Hdf5Bytes, dataset: Dataset, at: number) {
    this.at = at;
    this.rowBytes = rowBytesOf(dataset);
    this.#blocks = new RowBlocks(file, dataset);
    const [rows = 0] = dataset.shape.lengths;
    this.#block = Buffer.allocUnsafeSlow(Math.min(this.#blocks.rows, rows) * this.rowBytes);
  }

  /** Puts its part of some rows to their places. */
  copy(first: number, rows: number, to: Uint8Array, toAt: number, allBytes: number): void {
    const { rowBytes, at } = this;
    const inBlock = this.#blocks.rows;
    for (let row = first; row < first + rows; ) {
      const block = Math.floor(row / inBlock);
      if (block !== this.#known) {
        inPhase('decompress', () => this.#blocks.read(block, this.#block));
        this.#known = block;
      }
      const end = Math.min(first + rows, (block + 1) * inBlock);
      let from = (row - block * inBlock) * rowBytes;
      let place = toAt + (row - first) * allBytes + at;
      if (rowBytes === allBytes) {
        to.set(this.#block.subarray(from, from + (end - row) * rowBytes), place);
        row = end;
      }
      for (; row < end; row++, from += rowBytes, place += allBytes) copyBytes(this.#block, from, to, place, rowBytes);
    }
  }
}
