/**
 * Says what is known of an output when pass 1 is over: where it is cut into shards, and which bytes stand around the
 * records of each shard, such as the header of a table or the end of an archive. One output is one shard.
 */

import type { MemberEncoder } from '../formats/codec.js';
import type { Compression } from '../formats/encoder-table.js';
import type { RowsOutput } from '../formats/rows/row-format.js';
import type { FileContent, StoredEnds } from '../formats/stored-ends.js';
import type { ShardCuts } from '../plan/shard-cuts.js';
import type { UnitCuts } from '../plan/unit-cuts.js';

export interface OutputLayout {
  readonly cuts: ShardCuts;
  readonly ends: StoredEnds;
  readonly recordBytes: number;
  readonly compression: Compression | undefined;
  /** The rows of the output. Absent: the output has records, one after the other. */
  readonly rows?: RowsOutput | undefined;
  /** The rows at which a unit begins, whose rows are written together. Absent: there are none. */
  readonly units?: UnitCuts | undefined;
  /**
   * How a record gets its place: it is known beforehand; a task that knows how much it will write claims it in turn; or
   * it follows those before it, as in any output that is compressed or holds rows.
   */
  readonly kind: 'placed' | 'claimed' | 'appended';
}

/** The header and trailer of a shard before compression. Only what a header says of the records differs by shard. */
export interface PlainEnds {
  /** Length of the header, the same in every shard, so that the place of each record is known beforehand. */
  readonly headerBytes: number;
  /** @param recordBytes of all records of the shard. */
  headerOf(recordBytes: number): Uint8Array;
  readonly trailer: Uint8Array;
}

const NOTHING = new Uint8Array();

export const NO_PLAIN_ENDS: PlainEnds = { headerBytes: 0, headerOf: () => NOTHING, trailer: NOTHING };

export function bytesAround({ headerBytes, trailer }: PlainEnds): number {
  return headerBytes + trailer.byteLength;
}

/** Returns the length of what follows the regions of a file. Where that is an index of them, this reads what they say. */
export function trailerBytesOf(ends: StoredEnds, content: FileContent): number {
  let byteLength = 0;
  for (const piece of ends.trailerOf(content)) byteLength += piece.byteLength;
  return byteLength;
}

export function storedEnds(ends: PlainEnds, encoder: MemberEncoder | undefined): StoredEnds {
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
      // An empty file is not a file of its codec: it needs one member.
      const isNeeded = trailer.byteLength > 0 || headerBytes + recordBytes === 0;
      return isNeeded ? [trailerMember] : [];
    },
  };
}
