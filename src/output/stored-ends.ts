/** What stands around the records of each shard, as it lies in the file: as it is, or compressed. */
import type { MemberEncoder } from '../formats/codec.js';
import type { ShardEnds } from './shard-ends.js';

export interface StoredEnds {
  readonly headerBytes: number;
  /** @param recordBytes of all records of the shard. */
  headerOf(recordBytes: number): Uint8Array;
  trailerOf(recordBytes: number): Uint8Array;
}

const NOTHING = new Uint8Array();

/** @param encoder undefined: nothing is compressed. */
export function storedEnds(ends: ShardEnds, encoder: MemberEncoder | undefined): StoredEnds {
  const { headerBytes, trailer } = ends;
  const headerOf = (recordBytes: number) => {
    const header = ends.headerOf(recordBytes);
    // Else it would lie on the first record, or not reach it.
    if (header.byteLength === headerBytes) return header;
    throw new RangeError(`a header of ${header.byteLength} bytes, expected ${headerBytes}`);
  };
  if (encoder === undefined) return { headerBytes, headerOf, trailerOf: () => trailer };
  // Not compressed: its length must not depend on what it says of the records.
  const store = (header: Uint8Array) => (headerBytes === 0 ? NOTHING : encoder.store(header));
  const trailerMember = encoder.encode(trailer);
  return {
    headerBytes: store(new Uint8Array(headerBytes)).byteLength,
    headerOf: (recordBytes) => store(headerOf(recordBytes)),
    trailerOf: (recordBytes) => {
      // A file without a member is none of its codec.
      const isNeeded = trailer.byteLength > 0 || headerBytes + recordBytes === 0;
      return isNeeded ? trailerMember : NOTHING;
    },
  };
}
