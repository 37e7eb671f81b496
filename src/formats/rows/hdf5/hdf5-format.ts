/** HDF5 as a format of rows. */
import { UsageError } from '../../../errors.js';
import { closeFile, readBytes } from '../../../io/files.js';
import type { FileContent, StoredEnds } from '../../stored-ends.js';
import type { RowFormat, RowsOutput } from '../row-format.js';
import { datasetMembers } from './dataset-members.js';
import { withDatasets } from './dataset-source.js';
import { fileEndsOf } from './file-end.js';
import { type Hdf5Facts, openDatasets } from './open-datasets.js';
import { type Hdf5Output, type Hdf5Rows, writerBytes } from './rows-spec.js';

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

  seek(_, path, { text }) {
    throw new UsageError(`${path} holds HDF5 data, and ${text} selects no value of its rows; leave it out`);
  },

  writerBytes: ({ rows }: WrittenDatasets) => writerBytes(rows.datasets),
  unitOf: ({ rows, write }: WrittenDatasets) => ({ exactly: write.unitRows, rowBytes: rows.rowBytes }),
  endsOf: ({ rows, write }: WrittenDatasets) => hdf5Ends(rows, write),

  openThread: async (control) => ({
    openPart: withDatasets,
    openWriter: ({ rows }: WrittenDatasets, place) => datasetMembers(rows, place, control),
  }),
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
