/**
 * An output of tables: each file is row groups, an index of their pages, and a footer. The last bytes of each row group
 * describe it. So the ends of all files follow from the bytes before them, whoever wrote them and when, and one end after the
 * other is made.
 */

import { closeFile, readBytes } from '../../../io/files.js';
import { ownVersion } from '../../../io/shipped-files.js';
import type { FileContent, StoredEnds } from '../../stored-ends.js';
import { dictionaryLeavesOf, plainLeavesIn, withPlainLeaves } from './carried-dictionary.js';
import { nameOfLeaf } from './leaf.js';
import type { TableSchema } from './schema.js';
import type { WrittenTable } from './table-output.js';
import { fileEnd } from './write-file-end.js';
import { PARQUET_MAGIC } from './write-footer.js';

export function tableEnds(table: WrittenTable, onWarning: (line: string) => void): StoredEnds {
  const endsOf = (each: WrittenTable): StoredEnds => ({
    headerBytes: PARQUET_MAGIC.byteLength,
    headerOf: () => PARQUET_MAGIC,
    trailerOf: (content) => endOfTable(each, content),
  });
  let common: StoredEnds | undefined;
  const commonEnds = (contents: readonly FileContent[]) => {
    common ??= endsOf({ ...table, rows: { ...table.rows, schema: commonSchema(table, contents, onWarning) } });
    return common;
  };
  return { ...endsOf(table), commonEnds };
}

/** Readers take a column of several files for a dictionary in all of them or in none. */
function commonSchema(
  { rows: { schema }, write: { dictionaries = [] } }: WrittenTable,
  contents: readonly FileContent[],
  onWarning: (line: string) => void,
): TableSchema {
  const carried = dictionaries.map(({ leaf }) => leaf);
  const outgrown = new Set<number>();
  for (const content of carried.length === 0 ? [] : contents) {
    const units = openUnits(content);
    try {
      for (const leaf of plainLeavesIn(units, carried)) outgrown.add(leaf);
    } finally {
      units.close();
    }
  }
  for (const [i, leaf] of schema.leaves.entries()) {
    if (!outgrown.has(i)) continue;
    const problem = `the categories of ${nameOfLeaf(leaf)} take more than a dictionary page of the output`;
    onWarning(
      `${problem}: the column is written as plain values; use smaller row groups (\`rowGroupRows\`), or begin with an input that has all categories`,
    );
  }
  const plain = dictionaryLeavesOf(schema).filter(({ leaf }) => outgrown.has(leaf) || !carried.includes(leaf));
  return withPlainLeaves(schema, new Set(plain.map(({ leaf }) => leaf)));
}

function* endOfTable(
  { rows: { schema }, write: spec }: WrittenTable,
  content: FileContent,
): Generator<Uint8Array, void> {
  const units = openUnits(content);
  try {
    yield* fileEnd({ schema, spec, createdBy: `pileshuf version ${ownVersion()}`, ...units });
  } finally {
    units.close();
  }
}

function openUnits({ path, byteLength, open }: FileContent) {
  const hasRows = byteLength > PARQUET_MAGIC.byteLength;
  const file = hasRows ? open() : undefined;
  const read = (position: number, count: number) =>
    file === undefined ? new Uint8Array() : readBytes(file, position, count);
  const close = () => file && closeFile(file);
  return { path, byteLength, read, close };
}
