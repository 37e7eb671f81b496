/**
 * An output of tables: each file is row groups, an index of their pages, and a footer. The last bytes of each row group
 * describe it. So the end of a file follows from the bytes before it, whoever wrote them and when, and one end after the other
 * is made.
 */
import { fileEnd } from '../formats/rows/parquet/file-end.js';
import type { WrittenTable } from '../formats/rows/parquet/table-output.js';
import { PARQUET_MAGIC } from '../formats/rows/parquet/write-footer.js';
import { closeFile, readBytes } from '../io/files.js';
import { ownVersion } from '../io/own-version.js';
import type { FileContent, StoredEnds } from './output-layout.js';

export function tableEnds(table: WrittenTable): StoredEnds {
  return {
    headerBytes: PARQUET_MAGIC.byteLength,
    headerOf: () => PARQUET_MAGIC,
    trailerOf: (content) => endOfTable(table, content),
  };
}

function* endOfTable(
  { schema, write }: WrittenTable,
  { path, byteLength, open }: FileContent,
): Generator<Uint8Array, void> {
  const hasRows = byteLength > PARQUET_MAGIC.byteLength;
  const file = hasRows ? open() : undefined;
  const read = (position: number, count: number) =>
    file === undefined ? new Uint8Array() : readBytes(file, position, count);
  try {
    yield* fileEnd({ schema, spec: write, createdBy: `pileshuf version ${ownVersion()}`, path, byteLength, read });
  } finally {
    if (file !== undefined) closeFile(file);
  }
}
