/**
 * An output of datasets: each file is a head, chunks, and the indexes that name them. The last bytes of each unit describe its
 * chunks. So both ends of a file follow from the bytes between them, whoever wrote them and when.
 */

import { closeFile, readBytes } from '../../../io/files.js';
import type { FileContent, StoredEnds } from '../../stored-ends.js';
import { fileEndsOf } from './file-end.js';
import type { Hdf5Output, Hdf5Rows } from './rows-spec.js';

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
