/**
 * What a job knows of an input before its bytes are read: where it lies, what tells that it has changed, how it is stored.
 * Whoever plans or reports asks these functions. Only what lists the inputs and what opens them knows what kinds of places
 * there are; `cuts.ts` says where an input may be cut, and `workers/read` opens its parts.
 */
import type { Codec } from '../formats/codec.js';
import type { Finding } from '../formats/first-look.js';
import type { Header } from '../formats/header.js';
import type { RowFormat } from '../formats/recognition.js';
import type { RecordList } from '../formats/record-format.js';
import type { PageCodec } from '../formats/rows/parquet/page-codec.js';
import type { FileVersion } from '../io/files.js';
import type { ReadSpec } from '../spec.js';

/** Its place in the list is its ordinal. */
export type Input =
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly version: FileVersion;
      readonly codec: Codec | undefined;
      /** What its first bytes say, if they are plain. */
      readonly finding: Finding | undefined;
      /** `NO_HEADER` until the headers are read. */
      readonly header: InputHeader;
      /** The rows of a table, `unreadTable` until the footers are read. Absent: it holds records, one after the other. */
      readonly table?: InputTable | undefined;
    }
  | {
      readonly kind: 'stream';
      readonly path: string;
      readonly identity: string;
    }
  /** Records in memory; messages call them `path`. */
  | { readonly kind: 'list'; readonly path: string; readonly identity: string; readonly list: RecordList };

export type FileInput = Input & { readonly kind: 'file' };

export type InputHeader = Pick<Header, 'byteLength' | 'recordBytes' | 'isMarked'>;

export const NO_HEADER: InputHeader = { byteLength: 0, recordBytes: undefined };

export interface InputTable {
  readonly format: RowFormat;
  readonly rows: number;
  /** Where it may be cut; of HDF5, rows of the same chunks. */
  readonly rowGroups: number;
  /** Whether a row group seems to tell where its pages begin: then it may be cut. */
  readonly hasPageIndex: boolean;
  /** Rows in each of them but the last. Absent: the footer tells. */
  readonly groupRows?: number | undefined;
  /** What its rows take, about. */
  readonly rowBytes: number;
  /** In columns of which the footer does not tell it: they may take more. */
  readonly unsureBytes: number;
  /** Of the columns that are read. */
  readonly storedBytes: number;
  /** A page of each of them takes about so much memory at the most. */
  readonly pageBytes: number;
  /** Of its first column chunk; undefined: it has no rows. */
  readonly codec: PageCodec | undefined;
}

export function unreadTable(format: RowFormat): InputTable {
  const none = { rows: 0, rowGroups: 0, rowBytes: 0, unsureBytes: 0, storedBytes: 0, pageBytes: 0 };
  return { format, ...none, hasPageIndex: false, codec: undefined };
}

export type TableInput = FileInput & { readonly table: InputTable };

export function holdsRows(input: Input | undefined): input is TableInput {
  return input?.kind === 'file' && input.table !== undefined;
}

export function identityOf(input: Input): string {
  return input.kind === 'file' ? input.version.identity : input.identity;
}

/** Whether a later attempt, or another process, can read the same bytes. */
export function isKept(input: Input): input is FileInput {
  return input.kind === 'file';
}

/** Whether it gives its bytes once, and nobody knows how many. */
export function isReadOnce({ kind }: Input): boolean {
  return kind === 'stream';
}

/** Whether its decoded bytes can be read from any place on, as they are stored. */
export function isPlain(input: Input | undefined): input is FileInput {
  return input?.kind === 'file' && input.codec === undefined && !holdsRows(input);
}

/** Undefined: plain, or unknown before it is read. */
export function codecOf(input: Input): Codec | undefined {
  return input.kind === 'file' ? input.codec : undefined;
}

/** Of a stream, the header is known when its first bytes are read. */
export function headerBytesOf(input: Input | undefined): number {
  return input?.kind === 'file' ? input.header.byteLength : 0;
}

/** Undefined: unknown. */
export function storedBytesIn(input: Input): number | undefined {
  if (holdsRows(input)) return input.table.storedBytes;
  if (input.kind === 'list') return input.list.bytes.byteLength;
  return input.kind === 'file' ? input.version.byteLength : undefined;
}

/** Of streams, nothing is stored. */
export function storedBytesOf(inputs: readonly Input[]): number {
  return inputs.reduce((sum, input) => sum + (storedBytesIn(input) ?? 0), 0);
}

/** Where it ends: a place in its decoded bytes, or among its rows; undefined: only reading tells. */
export function endOfInput(input: Input): number | undefined {
  if (holdsRows(input)) return input.table.rows;
  return codecOf(input) === undefined ? storedBytesIn(input) : undefined;
}

/** What opens inputs that hold rows. */
export interface RowsRequest {
  readonly read: ReadSpec;
  readonly signal: AbortSignal | undefined;
  readonly onWarning: (line: string) => void;
  /** Whether rows are written, too. */
  readonly writes: boolean;
}
