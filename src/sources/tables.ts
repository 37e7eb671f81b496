/** Files of rows: their footers are read before the job, and their schemas become one. */
import { type FileFooter, readFooter } from '../formats/parquet/footer.js';
import { type Leaf, valueBytesOf } from '../formats/parquet/leaf.js';
import type { PageCodec } from '../formats/parquet/page-codec.js';
import { type LeafSource, reconcile, schemasDiffer, unify } from '../formats/parquet/reconcile.js';
import type { ColumnChunk } from '../formats/parquet/row-group.js';
import type { TableSchema } from '../formats/parquet/schema.js';
import { selectColumns } from '../formats/parquet/select-columns.js';
import type { TableSpec } from '../formats/parquet/table-spec.js';
import { openForRead, readBytes, withFileAsync } from '../io/files.js';
import { hearSignalsAt } from '../pause.js';
import type { ReadSpec } from '../spec.js';
import { moreInputs } from './list-inputs.js';
import { type FileInput, holdsRows, type Input, type InputTable, type TableInput } from './source.js';

/** What a page of a column takes at most, with a dictionary before it, as usual programs write them. */
const USUAL_PAGE_BYTES = 2 * 2 ** 20;

interface TablesRequest {
  readonly read: ReadSpec;
  readonly signal: AbortSignal | undefined;
  readonly onWarning: (line: string) => void;
}

interface OpenedTables {
  readonly inputs: readonly Input[];
  readonly table: TableSpec;
}

/**
 * Reads the footer of each input.
 * @param inputs of rows, all of them.
 * @throws InputError if a footer is damaged, or the schema of an input is not that of the first one.
 */
export async function openTables(inputs: readonly Input[], request: TablesRequest): Promise<OpenedTables> {
  const { read, signal, onWarning } = request;
  const opened: TableInput[] = [];
  let first: { readonly path: string; readonly footer: TableSchema; readonly rows: TableSchema } | undefined;
  let table: TableSpec | undefined;
  const withOtherKeys: string[] = [];
  for (const input of inputs) {
    await hearSignalsAt(opened.length, signal);
    if (!holdsRows(input)) throw new RangeError(`${input.path} holds no rows`);
    const { path } = input;
    opened.push(
      await withFooter(input, async (footer) => {
        const { schema } = footer;
        const isAsFirst = first !== undefined && areSame(schema.elements, first.footer.elements);
        const own =
          isAsFirst && first !== undefined ? first.rows : columnsOf(schema, path, first === undefined, request);
        first ??= { path, footer: schema, rows: own };
        if (!areSame(schema.keyValues, first.footer.keyValues)) withOtherKeys.push(path);
        const unified = isAsFirst && table !== undefined ? { schema: table.schema } : unify(table?.schema ?? own, own);
        if ('difference' in unified) throw schemasDiffer(unified.difference, first.path, path);
        const measured = await measure(footer, sourcesIn(footer, unified.schema, read, path), unified.schema, signal);
        table = { schema: unified.schema, codec: table?.codec ?? measured.codec };
        return { ...input, table: measured.table };
      }),
    );
  }
  const [other] = withOtherKeys;
  if (other !== undefined)
    onWarning(
      `the metadata of ${other}${moreInputs(withOtherKeys.length - 1)} differs from that of ${first?.path}, which counts`,
    );
  if (table === undefined) throw new RangeError('there is no input');
  return { inputs: opened, table };
}

function columnsOf(
  schema: TableSchema,
  path: string,
  isFirst: boolean,
  { read: { columns }, onWarning }: TablesRequest,
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

function areSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : Buffer.compare(a, b) === 0;
}

/** @param use the file is open as long as it runs. */
export function withFooter<T>({ path, version }: FileInput, use: (footer: FileFooter) => Promise<T>): Promise<T> {
  return withFileAsync(openForRead(path, 'input'), async (file) => {
    const read = (position: number, byteLength: number) => readBytes(file, position, byteLength);
    return use(readFooter({ read }, version.byteLength, path));
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
  readonly storedBytes: number;
  /** What its rows take, about: values in dictionaries that repeat may make it more. */
  readonly rowBytes: number;
  /** A page of each column takes so much at the most, if its pages are as usual. */
  readonly pageBytes: number;
  readonly codec: PageCodec | undefined;
}

export function* measuredGroups(
  footer: FileFooter,
  sources: readonly LeafSource[],
  { leaves }: TableSchema,
): Generator<MeasuredGroup> {
  for (const { firstRow, columns, rows } of footer.rowGroups()) {
    let [storedBytes, rowBytes, pageBytes] = [0, 0, 0];
    let codec: PageCodec | undefined;
    for (const [i, { index }] of sources.entries()) {
      const [leaf, chunk] = [leaves[i], columns[index]];
      if (leaf === undefined || chunk === undefined) throw new RangeError(`there is no column ${index}`);
      const chunkBytes = rowBytesOf(leaf, chunk, rows);
      codec ??= chunk.codec;
      storedBytes += chunk.byteLength;
      rowBytes += chunkBytes;
      pageBytes += Math.min(chunkBytes, USUAL_PAGE_BYTES);
    }
    yield { firstRow, storedBytes, rowBytes, pageBytes, codec };
  }
}

function rowBytesOf(leaf: Leaf, { valueCount, uncompressedBytes }: ColumnChunk, rows: number): number {
  const levelBytes = (leaf.maxRepetition > 0 ? 4 * rows : 0) + (leaf.maxDefinition > 0 ? valueCount : 0);
  const valueBytes = valueBytesOf(leaf);
  return levelBytes + (valueBytes > 0 ? valueBytes * valueCount : Math.max(uncompressedBytes, 4 * valueCount));
}

async function measure(
  footer: FileFooter,
  sources: readonly LeafSource[],
  rows: TableSchema,
  signal: AbortSignal | undefined,
): Promise<{ readonly table: InputTable; readonly codec: PageCodec | undefined }> {
  let [storedBytes, rowBytes, pageBytes, count] = [0, 0, 0, 0];
  let codec: PageCodec | undefined;
  for (const group of measuredGroups(footer, sources, rows)) {
    if (count > 0) await hearSignalsAt(count, signal);
    count += 1;
    codec ??= group.codec;
    storedBytes += group.storedBytes;
    rowBytes += group.rowBytes;
    pageBytes = Math.max(pageBytes, group.pageBytes);
  }
  const { rows: rowCount, rowGroupCount: rowGroups } = footer;
  return { table: { format: 'Parquet', rows: rowCount, rowGroups, rowBytes, storedBytes, pageBytes }, codec };
}
