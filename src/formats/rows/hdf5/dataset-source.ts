/**
 * A part of an HDF5 file: rows of several datasets, decoded a chunk at a time and put together. The position of a row is its
 * ordinal in the file.
 */

import { UsageError, WindowOverMemoryError } from '../../../errors.js';
import { thenAlwaysAsync } from '../../../floor/cleanup.js';
import { inPhase } from '../../../floor/phase-clock.js';
import { framingOf } from '../../framing-table.js';
import { PieceReader, type RecordSource } from '../../record-source.js';
import type { RowsContext, RowsPart } from '../row-format.js';
import { type Dataset, RowReader, readerBytes } from './dataset.js';
import { Hdf5Bytes, inInput } from './hdf5-bytes.js';
import { datasetsIn } from './open-datasets.js';
import { type Hdf5Rows, joinedRowsOf } from './rows-spec.js';

export async function withDatasets<T>(
  part: RowsPart,
  rows: Hdf5Rows,
  { input, control, decoderMemory }: RowsContext,
  use: (source: RecordSource) => Promise<T>,
): Promise<T> {
  const { path, version } = part;
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
  const pieces = new PieceReader(piecesOf(part, file, datasets, rows.rowBytes));
  const source = {
    framing: framingOf({ kind: 'size', value: rows.rowBytes }),
    read: async (memory: { readonly bytes: Uint8Array }, at: number, most: number) => {
      const count = await pieces.read(memory, at, most);
      control.count('decodedBytes', count);
      return count;
    },
  };
  return thenAlwaysAsync(
    () => use(source),
    async () => control.giveSpare(spareBytes),
  );
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
