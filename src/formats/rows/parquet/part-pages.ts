/**
 * The pages of a column chunk that hold some of its rows, with its dictionary. What the page index claims is compared with
 * each page. Every page is read by one part of its row group or another, so each wrong claim is found.
 */
import { counted } from '../../../errors.js';
import { type ChunkInput, ChunkPages, type StoredPage } from './chunk-pages.js';
import { PageError } from './columns/page-error.js';
import { type PageTable, pageOfRow } from './page-table.js';
import type { ColumnChunk } from './row-group.js';

/** Rows [from, to) of a row group. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

export class PartPages {
  readonly #table: PageTable;
  readonly #dictionary: ChunkPages;
  readonly #data: ChunkPages;
  #page: number;
  /** Rows of its first page that come before the part. */
  readonly rowsBefore: number;

  constructor(source: ChunkInput, chunk: ColumnChunk, table: PageTable, { from, to }: RowRange) {
    const { starts, rows } = table;
    const pagesIn = (start: number, end: number, countedFrom: number) =>
      new ChunkPages(source, { ...partOf(chunk), start, byteLength: end - start }, countedFrom);
    const startOf = (page: number) => starts[page] ?? 0;
    const first = pageOfRow(table, from);
    this.#table = table;
    this.#page = first;
    this.rowsBefore = from - (rows[first] ?? 0);
    // What several parts read is counted by the first of them.
    this.#dictionary = pagesIn(chunk.start, startOf(0), from === 0 ? chunk.start : Number.POSITIVE_INFINITY);
    const ownStart = startOf(this.rowsBefore > 0 ? first + 1 : first);
    this.#data = pagesIn(startOf(first), startOf(pageOfRow(table, to - 1) + 1), ownStart);
  }

  get position(): number {
    return this.#dictionary.isAtEnd ? this.#data.position : this.#dictionary.position;
  }

  get isAtEnd(): boolean {
    return this.#dictionary.isAtEnd && this.#data.isAtEnd;
  }

  /** @returns undefined: the part has no more. @throws PageError, ThriftError, PageMemoryError */
  next(): StoredPage | undefined {
    if (!this.#dictionary.isAtEnd) {
      const page = this.#dictionary.next();
      if (page?.header.kind === 'data') throw new PageError('its page index does not tell of it');
      return page;
    }
    const page = this.#data.next();
    return page && this.#checked(page);
  }

  #checked({ header, body }: StoredPage): StoredPage {
    const { starts, rows } = this.#table;
    const rowCount = (rows[this.#page + 1] ?? 0) - (rows[this.#page] ?? 0);
    this.#page += 1;
    if (header.kind !== 'data' || this.#data.position !== starts[this.#page])
      throw new PageError(`its page index claims values up to byte ${starts[this.#page]}`);
    if (header.rows !== undefined && header.rows !== rowCount)
      throw new PageError(`its header claims ${counted(header.rows, 'row')}, and its page index ${rowCount}`);
    return { header: { ...header, rows: rowCount }, body };
  }
}

/** Returns the part of a chunk, so that nobody waits for values that another part reads. */
export function partOf(chunk: ColumnChunk): ColumnChunk {
  return { ...chunk, valueCount: Number.POSITIVE_INFINITY };
}
