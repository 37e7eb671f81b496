/**
 * What stands around the records of a shard: the header of a table or of an array, the end of an archive. One output
 * is one shard.
 */

/** The same for all shards but for what a header says of their records. */
export interface ShardEnds {
  /** Length of the header, the same in every shard, so that the place of each record is known beforehand. */
  readonly headerBytes: number;
  /** @param recordBytes of all records of the shard. */
  headerOf(recordBytes: number): Uint8Array;
  readonly trailer: Uint8Array;
}

const NOTHING = new Uint8Array();

/** Of outputs that are records and nothing else. */
export const NO_ENDS: ShardEnds = { headerBytes: 0, headerOf: () => NOTHING, trailer: NOTHING };

/** Bytes that each shard has besides its records. */
export function bytesAround({ headerBytes, trailer }: ShardEnds): number {
  return headerBytes + trailer.byteLength;
}
