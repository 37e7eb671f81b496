/** HDF5 as a format of rows. */
import { UsageError, WindowOverMemoryError } from '../../../errors.js';
import { thenAlwaysAsync } from '../../../floor/cleanup.js';
import { inPhase } from '../../../floor/phase-clock.js';
import { closeFile, readBytes } from '../../../io/files.js';
import { framingOf } from '../../framing-table.js';
import { PieceReader, type RecordSource } from '../../record-source.js';
import type { FileContent, StoredEnds } from '../../stored-ends.js';
import { PageBlocks } from '../finished-pages.js';
import type { RowFormat, RowsContext, RowsOutput, RowsPart } from '../row-format.js';
import { type Dataset, RowReader, readerBytes } from './dataset.js';
import { datasetMembers } from './dataset-members.js';
import { fileEndsOf } from './file-end.js';
import { Hdf5Bytes, withInputErrors } from './hdf5-bytes.js';
import { datasetsIn, type Hdf5Facts, openDatasets } from './open-datasets.js';
import { seekDataset } from './row-value.js';
import { type Hdf5Output, type Hdf5Rows, joinedRowsOf, writerBytes } from './rows-spec.js';

interface WrittenDatasets extends RowsOutput {
  readonly rows: Hdf5Rows;
  readonly write: Hdf5Output;
}

export const HDF5: RowFormat = {
  insteadOfCompress: 'leave it out: chunks are compressed as in the first input',
  needsFile: true,
  hasMates: true,

  open: openDatasets,

  /** Cuts where chunks begin. */
  async cut(_file, { rows, groupRows, rowBytes, storedBytes }: Hdf5Facts, _rows, cuts) {
    for (let start = groupRows; start < rows; start += groupRows) {
      const storedStart = Math.floor((start / rows) * storedBytes);
      cuts.add({ start, storedStart, decodedStart: start * (rowBytes / rows) });
    }
  },

  seek: seekDataset,

  writerBytes: ({ rows }: WrittenDatasets) => writerBytes(rows.datasets),
  unitOf: ({ rows, write }: WrittenDatasets) => ({ exactly: write.unitRows, rowBytes: rows.rowBytes }),
  endsOf: ({ rows, write }: WrittenDatasets) => hdf5Ends(rows, write),

  openThread: async (control) => {
    const blocks = new PageBlocks(control);
    return {
      openPart: withDatasets,
      openWriter: ({ rows }: WrittenDatasets, place) => datasetMembers(rows, place, control, blocks),
    };
  },
};

export function hdf5Ends({ datasets }: Hdf5Rows, { head }: Hdf5Output): StoredEnds {
  const endsOf = ({ path, byteLength, open }: FileContent) => {
    const hasRows = byteLength > head.byteLength;
    const file = hasRows ? open() : undefined;
    const read = (position: number, count: number) =>
      file === undefined ? new Uint8Array() : readBytes(file, position, count);
    try {
      return fileEndsOf(datasets, head, { path, byteLength, read });
    } finally {
      if (file !== undefined) closeFile(file);
    }
  };
  return {
    headerBytes: head.byteLength,
    headerNeedsContent: true,
    headerOf: (_, content) => {
      if (content === undefined) throw new RangeError('the head is written when all rows are');
      return endsOf(content).head;
    },
    trailerOf: (content) => endsOf(content).tail(),
  };
}

/** Reads rows of several datasets, decoded a chunk at a time and put together. The position of a row is its ordinal in the file. */
async function withDatasets<T>(
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
  const datasets = withInputErrors(path, () => datasetsIn(file, rows.datasets, path, 'the first input'));
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
  const readers = withInputErrors(part.path, () => datasets.map((dataset) => new RowReader(file, dataset)));
  const piece = new Uint8Array(joinedRowsOf(rowBytes) * rowBytes);
  const most = joinedRowsOf(rowBytes);
  for (let row = part.start; row < part.end; row += most) {
    const count = Math.min(most, part.end - row);
    let at = 0;
    for (const reader of readers) {
      inPhase('decompress', () => withInputErrors(part.path, () => reader.copy(row, count, piece, at, rowBytes)));
      at += reader.rowBytes;
    }
    yield piece.subarray(0, count * rowBytes);
  }
}
