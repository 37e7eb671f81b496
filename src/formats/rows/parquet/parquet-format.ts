/** Parquet as a format of rows: what jobs ask of it. What decodes and makes pages is loaded where it is needed. */
import { counted, InputError, UsageError } from '../../../errors.js';
import { zstdAdvice, zstdTableLogs } from '../../codecs/zstd-writer.js';
import type { RowFormat, SoughtColumn } from '../row-format.js';
import { type Annotation, annotationOfLeaf } from './annotation.js';
import { dictionaryLeavesOf } from './carried-dictionary.js';
import { rowGroupWriterBytes } from './columns/page-sizes.js';
import type { ByteRanges } from './footer.js';
import { type Leaf, nameOfLeaf } from './leaf.js';
import type { SoughtLeaf, ValueKind } from './leaf-value.js';
import {
  type MeasuredGroup,
  measuredGroups,
  openTables,
  type ParquetFacts,
  sourcesIn,
  withFooter,
} from './open-tables.js';
import { type PageTable, readPageTable } from './page-table.js';
import { tableEnds } from './table-ends.js';
import {
  completeTable,
  nameOfPageCompression,
  type TableChoice,
  type TableOutput,
  type WrittenTable,
  writtenCodecFor,
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
      const dictionaryLeaves = dictionaryLeavesOf(rows.schema);
      if (dictionaryLeaves.length === 0) return completed;
      const { readDictionaries } = await import('./read-dictionaries.js');
      const filled = files.filter((_, i) => facts[i]?.rows !== 0);
      return { ...completed, dictionaries: await readDictionaries(filled, rows, dictionaryLeaves, request) };
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
    if (codec === undefined || writtenCodecFor(codec) === written) return { byteLength: pageBytes, isGuess: false };
    if (written === 'UNCOMPRESSED') return { byteLength: rowBytes, isGuess: true };
    return { byteLength: codec === 'UNCOMPRESSED' ? rowBytes / USUAL_RATIO : pageBytes, isGuess: true };
  },

  compressionOf: nameOfPageCompression,

  openThread: async (control) => (await import('./table-thread.js')).tableThread(control),
};

/** Neighbours read a dictionary and a page of each column twice: a part has at least so many times their bytes. */
const LEAST_PARTS_ONCE = 16;

/** A place where a row group may be cut. */
interface RowCut {
  /** The row, counted in the row group. */
  readonly row: number;
  /** The part of the row group that lies before it. */
  readonly before: number;
}

/**
 * Cuts where pages begin in the column that has the most bytes. None: a column has no page index of use, or too few pages.
 */
function* rowCuts(
  file: ByteRanges,
  { chunks, rows, storedBytes }: Pick<MeasuredGroup, 'chunks' | 'rows' | 'storedBytes'>,
): Generator<RowCut> {
  let longest: PageTable | undefined;
  let [longestBytes, readTwiceBytes] = [0, 0];
  for (const chunk of chunks) {
    const table = readPageTable(file, chunk, rows);
    const [start] = table?.starts ?? [];
    if (table === undefined || start === undefined) return;
    const dictionaryBytes = start - chunk.start;
    const dataBytes = chunk.byteLength - dictionaryBytes;
    readTwiceBytes += dictionaryBytes + dataBytes / (table.starts.length - 1);
    if (dataBytes <= longestBytes) continue;
    longestBytes = dataBytes;
    longest = table;
  }
  const [first = 0, ...starts] = longest?.starts ?? [];
  const leastPart = (LEAST_PARTS_ONCE * readTwiceBytes) / storedBytes;
  let last = 0;
  for (const [i, start] of starts.entries()) {
    const before = (start - first) / longestBytes;
    if (before - last < leastPart || 1 - before < leastPart) continue;
    yield { row: longest?.rows[i + 1] ?? 0, before };
    last = before;
  }
}

/**
 * @param path of the file whose columns are named in messages.
 * @throws UsageError for what is not a path of names, InputError if no column has it, or one with other values.
 */
export function seekLeaf({ schema }: TableSpec, path: string, { text, keys, as }: SoughtColumn): SoughtLeaf {
  if (keys === undefined)
    throw new UsageError(`${text} selects no value in the rows of ${path}; expected a column, as in .url or .meta.url`);
  const refused = (problem: string) => new InputError('ERR_FIELD_MISSING', `${path}: ${problem}`);
  const isOnly = keys.length === 0;
  if (isOnly && schema.leaves.length !== 1)
    throw refused(`has ${counted(schema.leaves.length, 'column')} as ${text}; expected one column of numbers`);
  const name = isOnly ? schema.leaves.map(nameOfLeaf).join('') : keys.join('.');
  const index = schema.leaves.findIndex(
    (each) => isOnly || (each.path.length === keys.length && nameOfLeaf(each) === name),
  );
  const leaves = schema.leaves.slice(0, index + 1);
  const leaf = leaves[index];
  if (leaf === undefined)
    throw schema.leaves.some((each) => keys.every((part, i) => each.path[i] === part))
      ? refused(`column ${name} holds a list, a map or other columns; expected a column of single values`)
      : refused(`${text} names no column of its rows; expected the name of one`);
  if (leaf.maxRepetition > 0)
    throw refused(`column ${name} may have several values in a row; expected one that has one`);
  const annotation = annotationOfLeaf(schema, index);
  const kind = as === 'number' && isFloat(leaf) ? 'float' : valueKindOf(leaf, annotation);
  if (kind !== undefined && !(kind === 'text' && isOnly)) return { format: 'Parquet', leaves, kind };
  const type = annotation.kind === undefined ? leaf.type : `${leaf.type} (${annotation.kind})`;
  const expected = { value: 'strings or whole numbers', number: 'numbers' }[as];
  throw refused(`column ${name} has values of type ${type}; expected ${expected}`);
}

function isFloat({ type }: Leaf): boolean {
  return type === 'FLOAT' || type === 'DOUBLE';
}

const TEXTS = ['STRING', 'ENUM', 'JSON'];

/** @returns undefined: other values, as dates and decimal numbers are. */
function valueKindOf({ type }: Leaf, annotation: Annotation): ValueKind | undefined {
  const { kind, isUnsigned, logicalType, convertedType } = annotation;
  const isPlain = logicalType === '' && convertedType === '';
  if (type === 'BYTE_ARRAY') return isPlain || TEXTS.includes(kind ?? '') ? 'text' : undefined;
  if (type !== 'INT32' && type !== 'INT64') return undefined;
  if (!isPlain && kind !== 'INTEGER') return undefined;
  return isUnsigned ? 'unsigned' : 'signed';
}
