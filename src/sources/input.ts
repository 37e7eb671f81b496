/**
 * Says what a job knows of an input before its bytes are read: where it lies, what tells that it has changed, how it is
 * stored. Whoever plans or reports asks these functions. Only what lists the inputs and what opens them knows what
 * kinds of places there are; `cut-points.ts` says where an input may be cut, and `workers/read` opens its parts.
 */

import type { List } from '../floor/paged-list.js';
import type { Codec } from '../formats/codec.js';
import type { Finding } from '../formats/first-bytes.js';
import type { Header } from '../formats/header.js';
import type { RecordList } from '../formats/record-format.js';
import type { RowFacts } from '../formats/rows/row-format.js';
import type { FileVersion } from '../io/files.js';

/** The facts of files. Of other inputs they are unknown. */
interface Unknown {
  readonly version?: undefined;
  readonly codec?: undefined;
  readonly finding?: undefined;
  readonly header?: undefined;
  readonly rows?: undefined;
}

/** Its place in the list is its ordinal. */
export type Input =
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly version: FileVersion;
      readonly codec: Codec | undefined;
      /** The finding of its first bytes, if they are plain. */
      readonly finding: Finding | undefined;
      /** `NO_HEADER` until the headers are read. */
      readonly header: InputHeader;
      /** `unreadRows` until they are read. Absent: it holds records, one after the other. */
      readonly rows?: RowFacts | undefined;
      readonly list?: undefined;
    }
  | (Unknown & { readonly kind: 'stream'; readonly path: string; readonly identity: string; readonly list?: undefined })
  /** Records in memory; messages call them `path`. */
  | (Unknown & { readonly kind: 'list'; readonly path: string; readonly identity: string; readonly list: RecordList });

/** The inputs of a job, in order. */
export type Inputs = List<Input>;

export type FileInput = Input & { readonly kind: 'file' };

export type InputHeader = Pick<Header, 'byteLength' | 'recordBytes' | 'isMarked'>;

export const NO_HEADER: InputHeader = { byteLength: 0, recordBytes: undefined };

export function* pathsOf(inputs: Inputs): Generator<string, void> {
  for (const { path } of inputs) yield path;
}

/** Returns the facts of all inputs that hold rows. */
export function allRowsOf(inputs: Inputs): readonly RowFacts[] {
  return inputs.flatMap(({ rows }) => (rows === undefined ? [] : [rows]));
}

/** The unit in which its places are counted. */
export function unitOf(input: Input | undefined): 'row' | 'byte' {
  return input?.rows === undefined ? 'byte' : 'row';
}

export function identityOf(input: Input): string {
  return input.kind === 'file' ? input.version.identity : input.identity;
}

/** Returns whether it is a file, or lies on another machine as one: a later attempt, or another process, reads the same bytes. */
export function isFileInput(input: Input): input is FileInput {
  return input.kind === 'file';
}

/** Returns whether it gives its bytes once, and nobody knows how many. */
export function isReadOnce(input: Input): input is Input & { readonly kind: 'stream' } {
  return input.kind === 'stream';
}

/** Returns whether its decoded bytes can be read from any place on, as they are stored. */
export function isPlain(input: Input | undefined): input is FileInput {
  return input?.version !== undefined && input.codec === undefined && input.rows === undefined;
}

/** Returns the length of the header. That of a stream is known when its first bytes are read. */
export function headerBytesOf(input: Input | undefined): number {
  return input?.header?.byteLength ?? 0;
}

/** Returns the stored bytes. Undefined: they are unknown. */
export function storedBytesIn(input: Input): number | undefined {
  return input.list?.bytes.byteLength ?? input.rows?.storedBytes ?? input.version?.byteLength;
}

/** Sums the stored bytes. Streams have none. */
export function storedBytesOf(inputs: Inputs): number {
  return inputs.reduce((sum, input) => sum + (storedBytesIn(input) ?? 0), 0);
}

/** Returns where it ends: a place in its decoded bytes, or among its rows; undefined: only reading tells. */
export function endOfInput(input: Input): number | undefined {
  return input.rows?.rows ?? (input.codec === undefined ? storedBytesIn(input) : undefined);
}

/** Returns the number of its records. Undefined: only reading tells. */
export function recordsIn({ list, rows }: Input): number | undefined {
  return list?.ends.length ?? rows?.rows;
}
