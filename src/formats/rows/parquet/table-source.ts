/**
 * A part of a table: row groups, or a part of one, whose column chunks are read a page at a time and joined into rows. A row is opaque to all
 * that follows (`src/formats/rows/parquet/leaf.ts`); its position is its ordinal in the file.
 */

import { corruptInputError, counted, InputError, RecordOverMemoryError } from '../../../errors.js';
import { thenAlways, thenAlwaysAsync } from '../../../floor/cleanup.js';
import { inPhase } from '../../../floor/phase-clock.js';
import { copySharedBytes } from '../../../io/shared-bytes.js';
import type { RegularInput } from '../../../places/inputs/input-source.js';
import { KnownEnds } from '../../known-ends.js';
import type { RecordSource } from '../../record-source.js';
import type { RowsContext, RowsPart } from '../row-format.js';
import { ChunkInput, ChunkPages, ConstantPages, PartPages, partOf, type RowRange } from './chunk-pages.js';
import { type ColumnMemory, MOST_REGION_BYTES, type Region } from './columns/column-memory.js';
import { type ChunkToDecode, LeafReader } from './columns/leaf-reader.js';
import { PageError, PageMemoryError } from './columns/page-error.js';
import { RowJoiner } from './columns/row-joiner.js';
import { type FileFooter, readFooter } from './footer.js';
import { nameOfLeaf } from './leaf.js';
import { sourcesIn } from './open-tables.js';
import { readPageHeader } from './page-header.js';
import { readPageTable } from './page-table.js';
import type { ColumnChunk, RowGroup } from './row-group.js';
import type { TableSpec } from './table-spec.js';
import { ThriftError } from './thrift.js';
import type { LeafSource } from './unify-schemas.js';

/** Longer headers of pages are not looked at for a message. */
const LARGEST_HEAD_BYTES = 64 * 1024;
/** A larger page has long values: its rows may have as many bytes. */
const USUAL_PAGE_BYTES = 2 * 2 ** 20;
/** Rows that are joined at a time stay in the core's cache. */
const JOINED_BYTES = 128 * 1024;
const MOST_JOINED_ROWS = 8192;

export async function withTable<T>(
  part: RowsPart,
  table: TableSpec,
  context: TableContext,
  use: (source: RecordSource) => Promise<T>,
): Promise<T> {
  const rows = new RowReader(part, table, context);
  return thenAlwaysAsync(
    () => use(rows.source()),
    () => rows.close(),
  );
}

interface TableContext extends RowsContext {
  /** The memory in which pages are decoded. */
  readonly columns: ColumnMemory;
}

interface JoinedRows {
  readonly address: number;
  readonly byteLength: number;
  readonly ends: Uint32Array;
}

/** A column of the file that rows have. */
interface OpenLeaf {
  readonly name: string;
  /** The index among the columns of the file; -1: none of them. */
  readonly index: number;
  /** Constant of the leaf, as in `LeafSource`. */
  readonly constant: LeafSource['constant'];
  readonly reader: LeafReader;
}

type PagesOfLeaf = ChunkPages | PartPages | ConstantPages;

class RowReader {
  readonly #part: RowsPart;
  readonly #input: RegularInput;
  readonly #context: RowsContext;
  readonly #columns: ColumnMemory;
  readonly #table: TableSpec;
  readonly #footer: FileFooter;
  readonly #leaves: OpenLeaf[] = [];
  #joiner: RowJoiner | undefined;
  readonly #pages: PagesOfLeaf[] = [];
  readonly #isEnded: boolean[] = [];
  #rows: Region | undefined;
  #ends: Region | undefined;
  /** The group that it reads, for messages. */
  #group = 0;
  #leaf: number | undefined;
  #page = 0;

  constructor(part: RowsPart, table: TableSpec, context: TableContext) {
    this.#part = part;
    this.#input = context.input;
    this.#context = context;
    this.#columns = context.columns;
    const { path, version } = part;
    this.#footer = readFooter({ read: bytesOf(this.#input) }, version.byteLength, path);
    this.#table = table;
  }

  #open(): RowJoiner {
    const { leaves } = this.#table.schema;
    const sources = sourcesIn(this.#footer, this.#table, this.#part.path);
    for (const [i, { index, definitionLevels, isUntyped, constant }] of sources.entries()) {
      const leaf = leaves[i];
      if (leaf === undefined) throw new RangeError(`rows have no leaf ${i}`);
      const fileLeaf = this.#footer.schema.leaves[index] ?? leaf;
      const levels = definitionLevels ?? Uint8Array.from({ length: leaf.maxDefinition + 1 }, (_, level) => level);
      const file = { maxRepetition: fileLeaf.maxRepetition, isUntyped };
      const reader = new LeafReader(this.#columns, leaf, levels, file);
      this.#leaves.push({ name: nameOfLeaf(leaf), index, constant, reader });
    }
    this.#joiner = new RowJoiner(
      this.#columns,
      this.#leaves.map(({ reader }) => reader),
    );
    return this.#joiner;
  }

  source(): RecordSource {
    const ends = new KnownEnds();
    const { control } = this.#context;
    const batches = this.#joined();
    let batch: JoinedRows = { address: 0, byteLength: 0, ends: new Uint32Array() };
    let given = 0;
    return {
      framing: ends.framing(),
      read: ({ bytes }, at, most) => {
        if (given === batch.byteLength) {
          const next = inPhase('transpose', () => this.#inPlace(() => batches.next()));
          if (next.done === true) return 0;
          batch = next.value;
          given = 0;
          ends.follow(batch.ends);
        }
        const from = batch.address + given;
        const count = Math.min(most, batch.byteLength - given);
        const rows = this.#columns.bytes.subarray(from, from + count);
        inPhase('transpose', () => copySharedBytes(rows, bytes, at));
        given += count;
        control.count('decodedBytes', count);
        return count;
      },
    };
  }

  close(): void {
    thenAlways(
      () => this.#joiner?.close(),
      () => {
        for (const { reader } of this.#leaves) reader.close();
        for (const region of [this.#rows, this.#ends]) if (region !== undefined) this.#columns.release(region);
      },
    );
  }

  *#joined(): Generator<JoinedRows, void> {
    const { start, end } = this.#part;
    const { rowGroupCount } = this.#footer;
    const joiner = this.#open();
    const { control, decoderMemory } = this.#context;
    const source = new ChunkInput(this.#input, control, decoderMemory, this.#leaves.length);
    let first = 0;
    while (first < rowGroupCount && this.#footer.firstRowOf(first + 1) <= start) first += 1;
    this.#group = first;
    for (const group of this.#footer.rowGroups(first)) {
      if (group.firstRow >= end) return;
      const range = { from: Math.max(0, start - group.firstRow), to: Math.min(group.rows, end - group.firstRow) };
      const isWhole = range.to - range.from === group.rows;
      for (const [i, { index, constant }] of this.#leaves.entries()) {
        if (constant !== undefined) {
          const valueCount = range.to - range.from;
          this.#begin(i, new ConstantPages(constant, valueCount), { codec: 'UNCOMPRESSED', valueCount });
          continue;
        }
        const chunk = group.columns[index];
        if (chunk === undefined) throw new RangeError(`the row group has no column ${index}`);
        if (isWhole) this.#begin(i, new ChunkPages(source, chunk), chunk);
        else this.#beginPart(i, this.#partPages(source, chunk, group, range), chunk);
      }
      yield* this.#rowsOf(range.to - range.from, joiner);
      // Another part reads the rest of the last pages.
      if (range.to === group.rows) this.#finish(group);
      this.#group += 1;
    }
  }

  #begin(i: number, pages: PagesOfLeaf, chunk: ChunkToDecode): void {
    this.#leaves[i]?.reader.beginChunk(chunk);
    this.#pages[i] = pages;
    this.#isEnded[i] = false;
  }

  #partPages(source: ChunkInput, chunk: ColumnChunk, { rows }: RowGroup, range: RowRange): PartPages {
    const table = readPageTable({ read: bytesOf(this.#input) }, chunk, rows);
    if (table !== undefined) return new PartPages(source, chunk, table, range);
    // The plan cut the row group by it.
    this.#input.requireUnchanged();
    throw new RangeError(`the page index of row group ${this.#group} is gone`);
  }

  #beginPart(i: number, pages: PartPages, chunk: ColumnChunk): void {
    const { rowsBefore } = pages;
    this.#begin(i, pages, partOf(chunk));
    const reader = this.#leaves[i]?.reader;
    if (rowsBefore === 0 || reader === undefined) return;
    while (reader.availableRows === 0 && this.#decodePage(i));
    reader.skipRows(rowsBefore);
  }

  *#rowsOf(rowCount: number, joiner: RowJoiner): Generator<JoinedRows, void> {
    this.#rows ??= this.#allocate(JOINED_BYTES);
    this.#ends ??= this.#allocate(4 * MOST_JOINED_ROWS);
    for (let left = rowCount; left > 0; ) {
      this.#feed(rowCount, joiner);
      const [rows, ends] = [this.#rows, { ...this.#ends, byteLength: 4 * Math.min(left, MOST_JOINED_ROWS) }];
      const joined = joiner.join(rows, ends);
      left -= joined.rowCount;
      if (joined.neededBytes > 0) {
        this.#columns.release(this.#rows);
        this.#rows = undefined;
        this.#rows = this.#allocate(joined.neededBytes);
      } else {
        const { buffer } = this.#columns.bytes;
        const { address } = rows;
        yield { address, byteLength: joined.byteLength, ends: new Uint32Array(buffer, ends.address, joined.rowCount) };
      }
    }
  }

  /** Decodes the next pages of all leaves that have no whole row. */
  #feed(rowCount: number, joiner: RowJoiner): void {
    for (let i = joiner.starvedLeaf(); i >= 0; i = joiner.starvedLeaf(i)) {
      if (inPhase('decode', () => this.#decodePage(i))) continue;
      if (this.#isEnded[i] === true) throw new PageError(`has fewer rows than the ${rowCount} of its row group`);
      this.#endChunk(i);
    }
    this.#leaf = undefined;
  }

  #decodePage(i: number): boolean {
    const pages = this.#pages[i];
    if (pages === undefined) throw new RangeError(`there is no leaf ${i}`);
    this.#leaf = i;
    this.#page = pages.position;
    this.#context.control.throwIfAborted();
    const page = pages.next();
    if (page === undefined) return false;
    this.#leaves[i]?.reader.addPage(page.header, page.body);
    return true;
  }

  #endChunk(i: number): void {
    this.#leaf = i;
    this.#leaves[i]?.reader.endChunk();
    this.#isEnded[i] = true;
  }

  /** All columns must end with the row group. */
  #finish({ rows }: RowGroup): void {
    for (const [i, { reader }] of this.#leaves.entries()) {
      const pages = this.#pages[i];
      if (pages?.isAtEnd === true && this.#isEnded[i] !== true) this.#endChunk(i);
      this.#leaf = i;
      if (pages?.isAtEnd !== true || reader.availableRows > 0)
        throw new PageError(`has more rows than the ${rows} of its row group`);
      pages.next();
    }
    this.#leaf = undefined;
  }

  #allocate(byteLength: number): Region {
    const region = this.#columns.allocate(byteLength);
    if (region === undefined) throw new PageMemoryError(byteLength, 'rows');
    return region;
  }

  /** Says of an error where it was found. */
  #inPlace<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      const isDamage = error instanceof PageError || error instanceof ThriftError;
      const column = this.#leaf === undefined ? '' : `, column ${this.#leaves[this.#leaf]?.name}`;
      const group = `row group ${this.#group}${column}`;
      if (isDamage)
        throw corruptInputError(
          this.#part.path,
          `${group}, page at byte ${this.#page}: ${error.message}; make the file again`,
          {
            cause: error,
          },
        );
      if (error instanceof PageMemoryError) throw this.#recordOverMemoryError(group, error);
      throw error;
    }
  }

  #recordOverMemoryError(place: string, { neededBytes, thenBytes }: PageMemoryError): InputError {
    const { decoderMemory } = this.#context;
    const knownBytes = this.#columns.allocatedBytes + decoderMemory.reservedBytes + neededBytes + thenBytes;
    if (neededBytes > MOST_REGION_BYTES)
      return new InputError(
        'ERR_RECORD_TOO_LONG',
        `${this.#part.path}: ${place}: a page has ${counted(neededBytes, 'byte')}, more than the ${MOST_REGION_BYTES} that a thread can decode; write the file again with smaller pages`,
      );
    const isRow = this.#leaf === undefined && neededBytes > JOINED_BYTES;
    // What has no room for its stored bytes is not counted yet.
    const seen = isRow ? this.#leaves.length : (this.#leaf ?? -1) + (thenBytes > 0 ? 0 : 1);
    const toCome = this.#leaves.slice(seen).map((_, i) => this.#nextPageBytes(seen + i));
    const allBytes = toCome.reduce((sum, byteLength) => sum + byteLength, knownBytes);
    // Of a row that is joined, the bytes are known. Another one is joined beside its pages, and may have all that is large.
    const large = [neededBytes, ...toCome].filter((byteLength) => byteLength > USUAL_PAGE_BYTES);
    const rowBytes = large.reduce(
      (sum, byteLength) => sum + byteLength,
      large.length > 0 ? this.#columns.allocatedBytes : 0,
    );
    const budget = isRow
      ? decoderMemory.budgetFor(allBytes, neededBytes)
      : decoderMemory.budgetFor(allBytes + rowBytes, rowBytes);
    const message = `${this.#part.path}: ${place}: a page of each column does not fit the memory budget; expected \`memoryBytes\` of at least ${budget}`;
    return decoderMemory.mayFitAlone?.(allBytes)
      ? new RecordOverMemoryError(message)
      : new InputError('ERR_RECORD_TOO_LONG', message);
  }

  /** Bytes of the next page of a column and of a dictionary before it, as far as their headers tell. */
  #nextPageBytes(i: number): number {
    const read = bytesOf(this.#input);
    let bytes = 0;
    try {
      for (let at = this.#pages[i]?.position; at !== undefined; ) {
        const { header, headerBytes } = readPageHeader(read(at, LARGEST_HEAD_BYTES), 0) ?? {};
        bytes += header?.uncompressedBytes ?? 0;
        at = header?.kind === 'dictionary' ? at + (headerBytes ?? 0) + header.compressedBytes : undefined;
      }
    } catch (error) {
      // Who reads the page tells of it.
      if (!(error instanceof ThriftError)) throw error;
    }
    return bytes;
  }
}

function bytesOf(input: RegularInput) {
  return (position: number, byteLength: number): Uint8Array => {
    const bytes = Buffer.allocUnsafeSlow(byteLength);
    return bytes.subarray(0, input.readAt(bytes, 0, byteLength, position));
  };
}
