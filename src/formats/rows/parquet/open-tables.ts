/** Files of rows: their footers are read before the job, and their schemas become one. */
import { createHash } from 'node:crypto';
import { UsageError } from '../../../errors.js';
import { yieldAndCheckAbortAt } from '../../../floor/pause.js';
import { readBytes, withFileAsync } from '../../../io/files.js';
import { openInput, prefetchInputs } from '../../../places/inputs/input-kinds.js';
import { andOtherInputs, nameSome } from '../../../values/format-numbers.js';
import type { RowFacts, RowsFile, RowsRequest } from '../row-format.js';
import { type ByteRanges, type FileFooter, readFooter } from './footer.js';
import { hiveColumnsOf, hiveTextsIn, hiveValueOf, withHiveColumns } from './hive-columns.js';
import { withWideIndices } from './key-values.js';
import { type Leaf, valueBytesOf } from './leaf.js';
import type { ColumnChunk, PageCodec } from './row-group.js';
import { type HiveColumn, shownPath, type TableSchema } from './schema.js';
import { selectColumns } from './select-columns.js';
import type { TableSpec } from './table-spec.js';
import { findLeafSources, type LeafSource, schemaDifferenceError, unifySchemas } from './unify-schemas.js';

/** Values that take less than their lengths are stored once where they are equal: then they are thought to have this. */
const USUAL_VALUE_BYTES = 16;
/** The most that a page of a column takes, with a dictionary before it, as usual programs write them. */
const USUAL_PAGE_BYTES = 2 * 2 ** 20;

interface OpenedTables {
  readonly facts: readonly ParquetFacts[];
  readonly rows: TableSpec;
}

export interface ParquetFacts extends RowFacts {
  /** The codec of its first column chunk; undefined: it has no rows. */
  readonly codec: PageCodec | undefined;
}

/** The options of Parquet inputs. */
interface ParquetChoice {
  /** The columns that are read, by their names. Absent: all. */
  readonly columns?: readonly string[] | undefined;
  /** True if rows have the columns that the names of their directories say. Absent: no. */
  readonly hive?: boolean | undefined;
}

/**
 * Reads the footer of each input.
 * @throws InputError if a footer is damaged, or the schema of an input is not that of the first one.
 */
export async function openTables(inputs: readonly RowsFile[], request: RowsRequest): Promise<OpenedTables> {
  const { signal, onWarning } = request;
  const { columns, hive }: ParquetChoice = request.choice;
  const facts: ParquetFacts[] = [];
  let first: { readonly path: string; readonly rows: TableSchema } | undefined;
  let table: TableSpec | undefined;
  const seen = new Set<string>();
  const withOtherKeys: string[] = [];
  const otherKeys = new Set<string>();
  const hiveColumns = hive === true ? askedHiveColumns(inputs, request) : undefined;
  const replacedColumns = new Set<string>();
  const lost = new Map<string, string>();
  const ends = await prefetchInputs(
    inputs.map(({ path }) => path),
    'last-bytes',
  );
  for (const input of inputs) {
    await yieldAndCheckAbortAt(facts.length, signal);
    await ends(input.path, signal);
    const { path } = input;
    facts.push(
      await withFooter(input, async (footer) => {
        const { schema, replaced } = withHiveColumns(footer.schema, hiveColumnsAt(hiveColumns, path));
        for (const name of replaced) replacedColumns.add(name);
        if (hive !== true) noteLost(lost, schema, path);
        const digest = digestOf(schema);
        if (table === undefined || !seen.has(digest)) {
          seen.add(digest);
          const own = columnsOf(schema, path, first === undefined, { columns, onWarning });
          const unified =
            table === undefined
              ? { schema: withNames(own, hiveColumns), ignored: [] }
              : unifySchemas(table.schema, own);
          const others =
            table === undefined || table.schema === first?.rows ? (first?.path ?? path) : 'the inputs before';
          if ('difference' in unified) throw schemaDifferenceError(unified.difference, others, path);
          first ??= { path, rows: unified.schema };
          if (unified.ignored.length > 0) withOtherKeys.push(path);
          for (const key of unified.ignored) otherKeys.add(key);
          table = { format: 'Parquet', schema: unified.schema, codec: table?.codec, columns };
        }
        const { schema: rows } = table;
        const measured = await measure(footer, sourcesIn(footer, table, path), rows, signal);
        table = { ...table, codec: table.codec ?? measured.codec };
        return measured;
      }),
    );
  }
  const [other] = withOtherKeys;
  if (other !== undefined)
    onWarning(
      `${other}${andOtherInputs(withOtherKeys.length - 1)} has other metadata than ${first?.path}, which counts: ${nameSome([...otherKeys])}`,
    );
  tellOfHiveColumns(lost, replacedColumns, onWarning);
  if (table === undefined) throw new RangeError('there is no input');
  const { schema } = table;
  if (inputs.length === 1) return { facts, rows: table };
  return { facts, rows: { ...table, schema: { ...schema, keyValues: withWideIndices(schema.keyValues) } } };
}

/** @param lost an example of each column that is left out. @param replaced columns that files have, too. */
function tellOfHiveColumns(
  lost: ReadonlyMap<string, string>,
  replaced: ReadonlySet<string>,
  onWarning: (line: string) => void,
): void {
  const [example] = lost.values();
  if (example !== undefined)
    onWarning(
      `${nameSome([...lost.keys()])}: columns that are only in names of directories, as in ${example}, are left out; \`hive\` adds them`,
    );
  if (replaced.size > 0)
    onWarning(`${nameSome([...replaced])}: taken from the names of directories, not from the files`);
}

/** @throws InputError, UsageError if the directories do not say the same columns, or none. */
function askedHiveColumns(inputs: readonly RowsFile[], { writes }: Pick<RowsRequest, 'writes'>): readonly HiveColumn[] {
  const hiveColumns = hiveColumnsOf(
    inputs.map(({ path }) => path),
    writes,
  );
  if (hiveColumns.length > 0) return hiveColumns;
  throw new UsageError(
    '`hive` takes columns from names of directories such as lang=en, and no input has one; leave it out',
  );
}

function withNames(schema: TableSchema, hiveColumns: readonly HiveColumn[] | undefined): TableSchema {
  return hiveColumns === undefined ? schema : { ...schema, hiveColumns };
}

/** Outputs have the columns themselves, and are compared with their inputs. */
function hiveColumnsAt(hiveColumns: readonly HiveColumn[] | undefined, path: string): readonly HiveColumn[] {
  if (hiveColumns === undefined) return [];
  const names = hiveTextsIn(path);
  return hiveColumns.filter(({ name }) => names.has(name));
}

/** @param lost a path with them, by columns that only its directories name. */
function noteLost(lost: Map<string, string>, { leaves }: TableSchema, path: string): void {
  for (const name of hiveTextsIn(path).keys())
    if (!lost.has(name) && !leaves.some((leaf) => leaf.path[0] === name)) lost.set(shownPath([name]), path);
}

function columnsOf(
  schema: TableSchema,
  path: string,
  isFirst: boolean,
  { columns, onWarning }: ParquetChoice & Pick<RowsRequest, 'onWarning'>,
): TableSchema {
  if (columns === undefined) return schema;
  const { schema: chosen, cut } = selectColumns(schema, columns, path);
  const { shortened, dropped } = cut;
  const changes = [
    ...(shortened.length > 0 ? [`shortened: ${shortened.join(', ')}`] : []),
    ...(dropped.length > 0 ? [`dropped: ${dropped.join(', ')}`] : []),
  ];
  if (isFirst && changes.length > 0)
    onWarning(`metadata of ${path} that describes all of its columns is ${changes.join('; ')}`);
  return chosen;
}

function digestOf({ elements, keyValues = new Uint8Array() }: TableSchema): string {
  return createHash('sha256').update(elements).update('\0').update(keyValues).digest('hex');
}

/** @param use the file is open as long as it runs. */
export function withFooter<T>(
  { path, version }: RowsFile,
  use: (footer: FileFooter, file: ByteRanges) => Promise<T>,
): Promise<T> {
  return withFileAsync(openInput(path), async (file) => {
    const ranges = { read: (position: number, byteLength: number) => readBytes(file, position, byteLength) };
    return use(readFooter(ranges, version.byteLength, path), ranges);
  });
}

/** Returns where the columns of rows lie in a file. */
export function sourcesIn(
  footer: FileFooter,
  { schema: rows, columns }: Pick<TableSpec, 'schema' | 'columns'>,
  path: string,
): readonly LeafSource[] {
  const { schema, origins } = withHiveColumns(footer.schema, hiveColumnsAt(rows.hiveColumns, path));
  const reconciled = findLeafSources(rows, schema, columns);
  if ('leaves' in reconciled)
    return reconciled.leaves.map((source) => {
      const origin = origins[source.index] ?? -1;
      if (typeof origin === 'number') return { ...source, index: origin };
      return { ...source, index: -1, constant: hiveValueOf(origin, path) ?? null };
    });
  throw schemaDifferenceError(reconciled.difference, 'the first input', path);
}

/** A row group, of the columns that are read. */
export interface MeasuredGroup {
  readonly firstRow: number;
  readonly rows: number;
  readonly chunks: readonly ColumnChunk[];
  readonly storedBytes: number;
  /** The bytes that its rows take, about. */
  readonly rowBytes: number;
  /** The bytes in columns of which the footer does not tell it. */
  readonly unsureBytes: number;
  /** A page of each column takes so much at the most, if its pages are as usual. */
  readonly readerBytes: number;
}

export function* measuredGroups(
  footer: FileFooter,
  sources: readonly LeafSource[],
  { leaves }: TableSchema,
): Generator<MeasuredGroup> {
  for (const { firstRow, columns, rows } of footer.rowGroups()) {
    let [storedBytes, rowBytes, unsureBytes, readerBytes] = [0, 0, 0, 0];
    const chunks: ColumnChunk[] = [];
    for (const [i, { index, constant }] of sources.entries()) {
      if (constant !== undefined) {
        rowBytes += rows * (1 + (constant?.byteLength ?? 0));
        continue;
      }
      const [leaf, chunk] = [leaves[i], columns[index]];
      if (leaf === undefined || chunk === undefined) throw new RangeError(`there is no column ${index}`);
      const chunkBytes = rowBytesOf(leaf, chunk, rows);
      chunks.push(chunk);
      storedBytes += chunk.byteLength;
      rowBytes += chunkBytes;
      if (valueBytesOf(leaf) === 0 && chunk.plainBytes === undefined) unsureBytes += chunkBytes;
      readerBytes += Math.min(chunkBytes, USUAL_PAGE_BYTES);
    }
    yield { firstRow, rows, chunks, storedBytes, rowBytes, unsureBytes, readerBytes };
  }
}

function rowBytesOf(leaf: Leaf, chunk: ColumnChunk, rows: number): number {
  const { valueCount, nullCount, uncompressedBytes, plainBytes } = chunk;
  const values = valueCount - nullCount;
  // Repeated leaves have definition levels only where one is below the highest.
  const hasDefinitions = leaf.maxRepetition > 0 ? nullCount > 0 : leaf.maxDefinition > 0;
  const levelBytes =
    (leaf.maxRepetition > 0 ? 4 * rows : 0) +
    (leaf.maxRepetition > 1 ? valueCount : 0) +
    (hasDefinitions ? valueCount : 0);
  const valueBytes = valueBytesOf(leaf);
  if (valueBytes > 0) return levelBytes + valueBytes * values;
  if (plainBytes !== undefined) return levelBytes + plainBytes + 4 * values;
  return levelBytes + (uncompressedBytes < 4 * values ? USUAL_VALUE_BYTES * values : uncompressedBytes);
}

async function measure(
  footer: FileFooter,
  sources: readonly LeafSource[],
  rows: TableSchema,
  signal: AbortSignal | undefined,
): Promise<ParquetFacts> {
  let [storedBytes, rowBytes, unsureBytes, readerBytes, count] = [0, 0, 0, 0, 0];
  let hasPageIndex = false;
  let codec: PageCodec | undefined;
  for (const group of measuredGroups(footer, sources, rows)) {
    if (count > 0) await yieldAndCheckAbortAt(count, signal);
    count += 1;
    codec ??= group.chunks[0]?.codec;
    hasPageIndex ||= group.chunks.every(({ offsetIndex }) => offsetIndex !== undefined);
    storedBytes += group.storedBytes;
    rowBytes += group.rowBytes;
    unsureBytes += group.unsureBytes;
    readerBytes = Math.max(readerBytes, group.readerBytes);
  }
  const { rows: rowCount, rowGroupCount } = footer;
  const bytes = { rowBytes, unsureBytes, storedBytes, readerBytes };
  // A page index tells where pages begin.
  const mayBeCut = rowGroupCount > 1 || hasPageIndex;
  return { format: 'Parquet', rows: rowCount, ...bytes, isExact: false, mayBeCut, codec };
}
