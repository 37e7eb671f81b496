/**
 * What is known of an output when pass 1 is over: where it is cut into shards, and which bytes stand around the records
 * of each shard, such as the header of a table or the end of an archive. One output is one shard.
 */

import type { MemberEncoder } from '../formats/codec.js';
import type { Compression } from '../formats/encoder-table.js';
import type { Hdf5Rows } from '../formats/rows/hdf5/rows-spec.js';
import type { WrittenTable } from '../formats/rows/parquet/table-output.js';
import type { OpenFile } from '../io/files.js';
import type { ShardCuts } from '../plan/shard-cuts.js';
import type { UnitCuts } from '../plan/unit-cuts.js';

export interface OutputLayout {
  readonly cuts: ShardCuts;
  readonly ends: StoredEnds;
  readonly recordBytes: number;
  readonly compression: Compression | undefined;
  /** Absent: the output has records, one after the other. */
  readonly table?: WrittenTable | undefined;
  /** As `table`, of HDF5 files. */
  readonly hdf5?: Hdf5Rows | undefined;
  /** Where row groups, or chunks that are written together, begin. Absent: there are none. */
  readonly units?: UnitCuts | undefined;
  /**
   * How a record gets its place: it is known beforehand; a task that knows how much it will write claims it in turn; or
   * it follows those before it, as in any output that is compressed or a table.
   */
  readonly kind: 'placed' | 'claimed' | 'appended';
}

/** The bytes around the records of a shard, as they are read. Only what a header says of the records differs by shard. */
export interface ShardEnds {
  /** Length of the header, the same in every shard, so that the place of each record is known beforehand. */
  readonly headerBytes: number;
  /** @param recordBytes of all records of the shard. */
  headerOf(recordBytes: number): Uint8Array;
  readonly trailer: Uint8Array;
}

const NOTHING = new Uint8Array();

export const NO_ENDS: ShardEnds = { headerBytes: 0, headerOf: () => NOTHING, trailer: NOTHING };

export function bytesAround({ headerBytes, trailer }: ShardEnds): number {
  return headerBytes + trailer.byteLength;
}

/** The ends as the file stores them: as they are, or compressed. */
export interface StoredEnds {
  readonly headerBytes: number;
  /** @param content undefined: of a stream, whose header comes first. */
  headerOf(recordBytes: number, content?: FileContent): Uint8Array;
  /** What follows the regions of a file, in pieces. */
  trailerOf(content: FileContent): Iterable<Uint8Array>;
  /** Absent: what the end of a file says follows from this file alone. @param contents of all files of the output. */
  commonEnds?(contents: readonly FileContent[]): StoredEnds;
}

/** The ends of the files of an output that has all its records. */
export function finalEnds(ends: StoredEnds, contents: readonly FileContent[]): StoredEnds {
  return ends.commonEnds?.(contents) ?? ends;
}

/** The part of a file that is there before its end is made: a header or room for it, and all records. */
export interface FileContent {
  readonly path: string;
  readonly byteLength: number;
  /** Bytes of its records, decompressed. */
  readonly recordBytes: number;
  /** To read what tells about it. */
  open(): OpenFile;
}

/** The length of what follows the regions of a file. Where that is an index of them, this reads what they say. */
export function trailerBytesOf(ends: StoredEnds, content: FileContent): number {
  let byteLength = 0;
  for (const piece of ends.trailerOf(content)) byteLength += piece.byteLength;
  return byteLength;
}

export function storedEnds(ends: ShardEnds, encoder: MemberEncoder | undefined): StoredEnds {
  const { headerBytes, trailer } = ends;
  const headerOf = (recordBytes: number) => {
    const header = ends.headerOf(recordBytes);
    // A header of another length would overwrite the first record, or leave a gap before it.
    if (header.byteLength === headerBytes) return header;
    throw new RangeError(`a header of ${header.byteLength} bytes, expected ${headerBytes}`);
  };
  const piecesOf = (bytes: Uint8Array) => (bytes.byteLength === 0 ? [] : [bytes]);
  if (encoder === undefined) return { headerBytes, headerOf, trailerOf: () => piecesOf(trailer) };
  // The header is stored uncompressed: its length must not depend on what it says of the records.
  const store = (header: Uint8Array) => (headerBytes === 0 ? NOTHING : encoder.store(header));
  const trailerMember = encoder.encode(trailer);
  return {
    headerBytes: store(new Uint8Array(headerBytes)).byteLength,
    headerOf: (recordBytes) => store(headerOf(recordBytes)),
    trailerOf: ({ recordBytes }) => {
      // An empty file is no file of its codec: it needs one member.
      const isNeeded = trailer.byteLength > 0 || headerBytes + recordBytes === 0;
      return isNeeded ? [trailerMember] : [];
    },
  };
}
