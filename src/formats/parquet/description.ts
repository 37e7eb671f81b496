/** What the end of a file needs to say of each row group. In a staged file, it follows the pages of the row group. */

/** A page of data. */
export interface PageDescription {
  /** Where its header begins, counted from the first byte of the row group. */
  readonly start: number;
  /** With its header. */
  readonly byteLength: number;
  readonly firstRow: number;
  readonly nullCount: number;
  /** As statistics have them; undefined: not known, or there is no value. */
  readonly bounds: Bounds | undefined;
}

export interface Bounds {
  readonly least: Uint8Array;
  readonly most: Uint8Array;
}

export interface ChunkDescription {
  /** Where the page of the dictionary begins; undefined: there is none. */
  readonly dictionaryStart: number | undefined;
  /** With headers. */
  readonly byteLength: number;
  readonly uncompressedBytes: number;
  /** Entries of all pages. */
  readonly valueCount: number;
  /** Encodings of the values of pages: how many pages of data have them. Numbers of parquet.thrift. */
  readonly encodings: readonly { readonly encoding: number; readonly pageCount: number }[];
  readonly pages: readonly PageDescription[];
}

export interface RowGroupDescription {
  readonly rows: number;
  /** Of all pages, with headers. The description follows them. */
  readonly byteLength: number;
  /** In the order of the leaves. */
  readonly chunks: readonly ChunkDescription[];
}
