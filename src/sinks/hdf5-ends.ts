/**
 * An output of datasets: each file is a superblock, chunks, and the structure that names them. The last bytes of each unit
 * describe its chunks. So both ends of a file follow from the bytes between them, whoever wrote them and when.
 */
import { fileEndOf, SUPERBLOCK_BYTES } from '../formats/hdf5/file-end.js';
import type { Hdf5Output, Hdf5Rows } from '../formats/hdf5/rows-spec.js';
import { closeFile, readBytes } from '../io/files.js';
import type { FileContent, StoredEnds } from './output-layout.js';

export function hdf5Ends({ datasets }: Hdf5Rows, { template }: Hdf5Output): StoredEnds {
  const endOf = ({ path, byteLength, open }: FileContent) => {
    const hasRows = byteLength > SUPERBLOCK_BYTES;
    const file = hasRows ? open() : undefined;
    const read = (position: number, count: number) =>
      file === undefined ? new Uint8Array() : readBytes(file, position, count);
    try {
      return fileEndOf(datasets, template, { path, byteLength, read });
    } finally {
      if (file !== undefined) closeFile(file);
    }
  };
  return {
    headerBytes: SUPERBLOCK_BYTES,
    headerOf: (_, content) => {
      if (content === undefined) throw new RangeError('the superblock is written when all rows are');
      return endOf(content).superblock;
    },
    trailerOf: (content) => endOf(content).pieces(),
  };
}
