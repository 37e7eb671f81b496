/** Files of rows: their footers are read before the job, and their schemas become one. */
import { createHash } from 'node:crypto';
import { type ByteRanges, type FileFooter, readFooter } from '../formats/parquet/footer.js';
import { type Leaf, valueBytesOf } from '../formats/parquet/leaf.js';
import type { PageCodec } from '../formats/parquet/page-codec.js';
import { type LeafSource, reconcile, schemasDiffer, unify } from '../formats/parquet/reconcile.js';
import type { ColumnChunk } from '../formats/parquet/row-group.js';
import type { TableSchema } from '../formats/parquet/schema.js';
import { selectColumns } from '../formats/parquet/select-columns.js';
import type { TableSpec } from '../formats/parquet/table-spec.js';
import { openForRead, readBytes, withFileAsync } from '../io/files.js';
import { isRemote } from '../io/remote-objects.js';
import { hearSignalsAt } from '../pause.js';
import { nameSome } from '../quantity.js';
import type { ReadSpec } from '../spec.js';
import { moreInputs } from './list-inputs.js';
import { type FileInput, holdsRows, type Input, type InputTable, type RowsRequest, type TableInput } from './source.js';

/** Values that take less than their lengths are stored once where they are equal: then they are thought to have this. */
const USUAL_VALUE_BYTES = 16;
/** What a page of a column takes at most, with a dictionary before it, as usual programs write them. */
const USUAL_PAGE_BYTES = 2 * 2 ** 20;

interface OpenedTables {
  readonly inputs: readonly Input[];
  readonly table: TableSpec;
}

/**
 * Reads the footer of each input.
 * @param inputs of rows, all of them.
 * @throws InputError if a footer is damaged, or the schema of an input is not that of the first one.
 */
export async function openTables(
  inputs: readonly Input[],
  request: Omit<RowsRequest, 'writes'>,
): Promise<OpenedTables> {
  const { read, signal, onWarning } = request;
  const opened: TableInput[] = [];
  let first: { readonly path: string; readonly rows: TableSchema } | undefined;
  let table: TableSpec | undefined;
  const seen = new Set<string>();
  const withOtherKeys: string[] = [];
  const otherKeys = new Set<string>();
  const isFar = inputs.some(({ path }) => isRemote(path));
  const ends = isFar ? (await import('../remote/remote-inputs.js')).endsOf(inputs.map(({ path }) => path)) : undefined;
  for (const input of inputs) {
    await hearSignalsAt(opened.length, signal);
    await ends?.(input.path, signal);
    if (!holdsRows(input)) throw new RangeError(`${input.path} holds no rows`);
    const { path } = input;
    opened.push(
      await withFooter(input, async (footer) => {
        const { schema } = footer;
        const digest = digestOf(schema);
        if (table === undefined || !seen.has(digest)) {
          seen.add(digest);
          const own = columnsOf(schema, path, first === undefined, request);
          const unified = table === undefined ? { schema: own, ignored: [] } : unify(table.schema, own);
          first ??= { path, rows: own };
          const others = table === undefined || table.schema === first.rows ? first.path : 'the inputs before';
          if ('difference' in unified) throw schemasDiffer(unified.difference, others, path);
          if (unified.ignored.length > 0) withOtherKeys.push(path);
          for (const key of unified.ignored) otherKeys.add(key);
          table = { schema: unified.schema, codec: table?.codec };
        }
        const { schema: rows } = table;
        const measured = await measure(footer, sourcesIn(footer, rows, read, path), rows, signal);
        table = { schema: rows, codec: table.codec ?? measured.codec };
        return { ...input, table: measured };
      }),
    );
  }
  const [other] = withOtherKeys;
  if (other !== undefined)
    onWarning(
      `${other}${moreInputs(withOtherKeys.length - 1)} has other metadata than ${first?.path}, which counts: ${nameSome([...otherKeys])}`,
    );
  if (table === undefined) throw new RangeError('there is no input');
  return { inputs: opened, table };
}

function columnsOf(
  schema: TableSchema,
  path: string,
  isFirst: boolean,
  { read: { columns }, onWarning }: Pick<RowsRequest, 'read' | 'onWarning'>,
): TableSchema {
  if (columns === undefined) return schema;
  const { schema: chosen, cut } = selectColumns(schema, columns, path);
  const { shortened, dropped } = cut;
  const told = [
    ...(shortened.length > 0 ? [`shortened: ${shortened.join(', ')}`] : []),
    ...(dropped.length > 0 ? [`dropped: ${dropped.join(', ')}`] : []),
  ];
  if (isFirst && told.length > 0)
    onWarning(`metadata of ${path} that describes all of its columns is ${told.join('; ')}`);
  return chosen;
}

function digestOf({ elements, keyValues = new Uint8Array() }: TableSchema): string {
  return createHash('sha256').update(elements).update('\0').update(keyValues).digest('hex');
}

/** @param use the file is open as long as it runs. */
export function withFooter<T>(
  { path, version }: FileInput,
  use: (footer: FileFooter, file: ByteRanges) => Promise<T>,
): Promise<T> {
  return withFileAsync(openForRead(path, 'input'), async (file) => {
    const ranges = { read: (position: number, byteLength: number) => readBytes(file, position, byteLength) };
    return use(readFooter(ranges, version.byteLength, path), ranges);
  });
}

/** Where the columns of rows lie in a file. */
export function sourcesIn(
  footer: FileFooter,
  rows: TableSchema,
  { columns }: Pick<ReadSpec, 'columns'>,
  path: string,
): readonly LeafSource[] {
  const reconciled = reconcile(rows, footer.schema, columns);
  if ('leaves' in reconciled) return reconciled.leaves;
  throw schemasDiffer(reconciled.difference, 'the first input', path);
}

/** A row group, of the columns that are read. */
export interface MeasuredGroup {
  readonly firstRow: number;
  readonly rows: number;
  readonly chunks: readonly ColumnChunk[];
  readonly storedBytes: number;
  /** What its rows take, about. */
  readonly rowBytes: number;
  /** In columns of which the footer does not tell it. */
  readonly unsureBytes: number;
  /** A page of each column takes so much at the most, if its pages are as usual. */
  readonly pageBytes: number;
}

export function* measuredGroups(
  footer: FileFooter,
  sources: readonly LeafSource[],
  { leaves }: TableSchema,
): Generator<MeasuredGroup> {
  for (const { firstRow, columns, rows } of footer.rowGroups()) {
    let [storedBytes, rowBytes, unsureBytes, pageBytes] = [0, 0, 0, 0];
    const chunks: ColumnChunk[] = [];
    for (const [i, { index }] of sources.entries()) {
      const [leaf, chunk] = [leaves[i], columns[index]];
      if (leaf === undefined || chunk === undefined) throw new RangeError(`there is no column ${index}`);
      const chunkBytes = rowBytesOf(leaf, chunk, rows);
      chunks.push(chunk);
      storedBytes += chunk.byteLength;
      rowBytes += chunkBytes;
      if (valueBytesOf(leaf) === 0 && chunk.plainBytes === undefined) unsureBytes += chunkBytes;
      pageBytes += Math.min(chunkBytes, USUAL_PAGE_BYTES);
    }
    yield { firstRow, rows, chunks, storedBytes, rowBytes, unsureBytes, pageBytes };
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
): Promise<InputTable> {
  let [storedBytes, rowBytes, unsureBytes, pageBytes, count] = [0, 0, 0, 0, 0];
  let hasPageIndex = false;
  let codec: PageCodec | undefined;
  for (const group of measuredGroups(footer, sources, rows)) {
    if (count > 0) await hearSignalsAt(count, signal);
    count += 1;
    codec ??= group.chunks[0]?.codec;
    hasPageIndex ||= group.chunks.every(({ offsetIndex }) => offsetIndex !== undefined);
    storedBytes += group.storedBytes;
    rowBytes += group.rowBytes;
    unsureBytes += group.unsureBytes;
    pageBytes = Math.max(pageBytes, group.pageBytes);
  }
  const { rows: rowCount, rowGroupCount: rowGroups } = footer;
  const counts = { rows: rowCount, rowGroups, rowBytes, unsureBytes, storedBytes, pageBytes };
  return { format: 'Parquet', ...counts, hasPageIndex, codec };
}
