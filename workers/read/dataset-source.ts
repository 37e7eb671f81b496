/**
 * A part of an HDF5 file: rows of several datasets, decoded a chunk at a time and put together. The position of a row is its
 * ordinal in the file.
 */
import { thenAlwaysAsync } from '../../src/cleanup.js';
import { UsageError, WindowOverMemoryError } from '../../src/errors.js';
import { framingOf } from '../../src/formats/framing-table.js';
import { type Dataset, RowReader, readerBytes } from '../../src/formats/rows/hdf5/dataset.js';
import { Hdf5Bytes } from '../../src/formats/rows/hdf5/hdf5-bytes.js';
import { inInput } from '../../src/formats/rows/hdf5/input-error.js';
import { type Hdf5Rows, joinedRowsOf } from '../../src/formats/rows/hdf5/rows-spec.js';
import { RegularInput } from '../../src/io/input-source.js';
import { inPhase } from '../../src/phase-clock.js';
import { datasetsIn } from '../../src/sources/datasets.js';
import type { InputPart } from '../../src/sources/input-part.js';
import { beginAt, PieceReader, type ReadContext, type UseOfSource } from './part-source.js';

type RowsPart = InputPart & { kind: 'table' };

export async function withDatasets<T>(
  part: RowsPart,
  rows: Hdf5Rows,
  { control, decoderMemory }: ReadContext,
  use: UseOfSource<T>,
): Promise<T> {
  const { path, version } = part;
  const input = new RegularInput(path, version, control, part.gate);
  const read = async () => {
    const file = new Hdf5Bytes((position, byteLength) => {
      control.throwIfAborted();
      const bytes = Buffer.allocUnsafeSlow(byteLength);
      const count = input.readAt(bytes, 0, byteLength, position);
      control.count('scatteredBytes', count);
      return bytes.subarray(0, count);
    }, version.byteLength);
    const datasets = inInput(path, () => datasetsIn(file, rows.datasets, path, 'the first input'));
    const spareBytes = readerBytes(datasets);
    if (!control.takeSpare(spareBytes)) {
      const message = `${path}: chunks of its datasets need ${spareBytes} bytes and do not fit the memory budget; expected \`memoryBytes\` of at least ${decoderMemory.budgetFor(spareBytes)}`;
      throw decoderMemory.mayFitAlone?.(spareBytes)
        ? new WindowOverMemoryError(message)
        : new UsageError(message, 'ERR_MEMORY_BUDGET');
    }
    const framing = framingOf({ kind: 'size', value: rows.rowBytes });
    const pieces = new PieceReader(piecesOf(part, file, datasets, rows.rowBytes));
    const source = {
      framing,
      begin: beginAt(framing, 0, 0),
      end: Number.POSITIVE_INFINITY,
      read: async (memory: { readonly bytes: Uint8Array }, at: number, most: number) => {
        const count = await pieces.read(memory, at, most);
        control.count('decodedBytes', count);
        return count;
      },
      finish: () => input.requireUnchanged(),
    };
    return thenAlwaysAsync(
      () => use(source),
      async () => control.giveSpare(spareBytes),
    );
  };
  return thenAlwaysAsync(read, () => input.close());
}

/** Some rows at a time, of all datasets. */
async function* piecesOf(
  part: RowsPart,
  file: Hdf5Bytes,
  datasets: readonly Dataset[],
  rowBytes: number,
): AsyncGenerator<Uint8Array, void> {
  const readers = inInput(part.path, () => datasets.map((dataset) => new RowReader(file, dataset)));
  const piece = new Uint8Array(joinedRowsOf(rowBytes) * rowBytes);
  const most = joinedRowsOf(rowBytes);
  for (let row = part.start; row < part.end; row += most) {
    const count = Math.min(most, part.end - row);
    let at = 0;
    for (const reader of readers) {
      inPhase('decompress', () => inInput(part.path, () => reader.copy(row, count, piece, at, rowBytes)));
      at += reader.rowBytes;
    }
    yield piece.subarray(0, count * rowBytes);
  }
}
