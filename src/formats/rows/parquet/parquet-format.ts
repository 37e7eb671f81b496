/** Parquet as a format of rows: what jobs ask of it. What decodes and makes pages is loaded where it is needed. */
import { zstdTableLogs } from '../../codecs/zstd-tables.js';
import { zstdAdvice } from '../../codecs/zstd-writer.js';
import type { RowFormat } from '../row-format.js';
import { rowGroupWriterBytes } from './columns/page-sizes.js';
import { dictionaryLeavesOf } from './kept-dictionary.js';
import { nameOfLeaf } from './leaf.js';
import type { SoughtLeaf } from './leaf-value.js';
import { measuredGroups, openTables, type ParquetFacts, sourcesIn, withFooter } from './open-tables.js';
import { rowCuts } from './row-cuts.js';
import { seekLeaf } from './seek-leaf.js';
import { tableEnds } from './table-ends.js';
import {
  completeTable,
  nameOfPageCompression,
  type TableChoice,
  type TableOutput,
  type WrittenTable,
  writtenFor,
} from './table-output.js';
import type { TableSpec } from './table-spec.js';

/** Text usually compresses to a fourth. */
const USUAL_RATIO = 4;

export const PARQUET: RowFormat = {
  insteadOfCompress: 'give `parquetCodec`, and name the output .parquet',
  needsFile: false,
  hasMates: false,

  async open(files, request) {
    const { facts, rows } = await openTables(files, request);
    const complete = async (choice: TableChoice): Promise<TableOutput> => {
      const completed = completeTable(choice, rows.codec);
      const advice = completed.codec === 'ZSTD' ? zstdAdvice() : undefined;
      if (advice !== undefined) request.onWarning(advice);
      const asked = dictionaryLeavesOf(rows.schema);
      if (asked.length === 0) return completed;
      const { readDictionaries } = await import('./read-dictionaries.js');
      const filled = files.filter((_, i) => facts[i]?.rows !== 0);
      return { ...completed, dictionaries: await readDictionaries(filled, rows, asked, request) };
    };
    return { facts, rows, complete };
  },

  async cut(file, _, rows: TableSpec, cuts) {
    await withFooter(file, async (footer, bytes) => {
      let [storedStart, decodedStart] = [0, 0];
      for (const group of measuredGroups(footer, sourcesIn(footer, rows, file.path), rows.schema)) {
        const { firstRow, storedBytes, rowBytes } = group;
        if (firstRow > 0) cuts.add({ start: firstRow, storedStart, decodedStart });
        for (const { row, before } of cuts.isWorthCutting(rowBytes) ? rowCuts(bytes, group) : [])
          cuts.add({
            start: firstRow + row,
            storedStart: storedStart + Math.floor(before * storedBytes),
            decodedStart: decodedStart + before * rowBytes,
          });
        storedStart += storedBytes;
        decodedStart += rowBytes;
      }
    });
  },

  seek: seekLeaf,

  choiceOf: ({ leaves }: SoughtLeaf) => ({ columns: leaves.slice(-1).map(nameOfLeaf) }),

  writerBytes: ({ rows, write }: WrittenTable) => rowGroupWriterBytes(rows.schema.leaves, write.dictionaries),
  tableLogs: ({ write: { codec, level } }: WrittenTable) => (codec === 'ZSTD' ? zstdTableLogs(level) : []),
  unitOf: ({ write }: WrittenTable) => ({ bytes: write.rowGroupBytes, records: write.rowGroupRows }),
  endsOf: tableEnds,

  expectStored: ({ codec, storedBytes, rowBytes }: ParquetFacts, { codec: written }: TableOutput) => {
    // Pages of a few rows are mostly headers, and a row group of many rows has none such.
    const pageBytes = Math.min(storedBytes, rowBytes);
    if (codec === undefined || writtenFor(codec) === written) return { byteLength: pageBytes, isGuess: false };
    if (written === 'UNCOMPRESSED') return { byteLength: rowBytes, isGuess: true };
    return { byteLength: codec === 'UNCOMPRESSED' ? rowBytes / USUAL_RATIO : pageBytes, isGuess: true };
  },

  compressionOf: nameOfPageCompression,

  openThread: async (control) => (await import('./table-thread.js')).tableThread(control),
};
