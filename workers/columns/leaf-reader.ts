import type { Leaf } from '../../src/formats/parquet/leaf.js';
import type { ColumnMemory } from './column-memory.js';
import type { PageCodec } from './page-codecs.js';

/** What decoding needs of the header of a page; sizes and counts are whole numbers of at least 0. */
export interface PageToDecode {
  readonly kind: 'data' | 'data2' | 'dictionary' | 'other';
  readonly uncompressedBytes: number;
  readonly valueCount: number;
  /** The numbers of parquet.thrift. */
  readonly encoding: number;
  readonly definitionEncoding?: number | undefined;
  readonly repetitionEncoding?: number | undefined;
  /** Of version 2. */
  readonly definitionBytes?: number | undefined;
  readonly repetitionBytes?: number | undefined;
  readonly isCompressed?: boolean | undefined;
}

/** What decoding needs of a column chunk. */
export interface ChunkToDecode {
  readonly codec: PageCodec;
  /** Entries in all its pages. */
  readonly valueCount: number;
}

/** The pages of one leaf, one decoded page at a time. */
export declare class LeafReader {
  /**
   * @param leaf as rows have it.
   * @param definitions for each definition level of the file the level of `leaf`. Only the highest one gives the highest.
   */
  constructor(memory: ColumnMemory, leaf: Leaf, definitions: Uint8Array);
  /** Forgets the dictionary. All rows of the chunk before must have been joined. */
  beginChunk(chunk: ChunkToDecode): void;
  /**
   * A page of the dictionary or of data; others are passed over. All `availableRows` must have been joined.
   * @param body as it is stored, behind the header.
   * @throws PageError, PageMemoryError
   */
  addPage(page: PageToDecode, body: Uint8Array): void;
  /** The last row is whole. @throws PageError when the pages had fewer entries than the chunk. */
  endChunk(): void;
  /** Whole rows that were not joined yet. */
  get availableRows(): number;
  close(): void;
}
