/** Segments in the order in which they are written, in columns. */

/** Contiguous bytes of one pile, at least one. */
export interface Segment {
  /** A byte offset in the data file or in the memory pool. */
  readonly place: number;
  readonly byteLength: number;
  /** What it takes in the data file: less when it is compressed, 0 when it lies in the memory pool. */
  readonly diskBytes: number;
  /** Of the bytes as they are in the end, so that it tells of all that may happen to them on the way. */
  readonly checksum: bigint;
}

export class SegmentLog {
  readonly piles: number[] = [];
  readonly places: number[] = [];
  readonly byteLengths: number[] = [];
  readonly diskBytes: number[] = [];
  readonly checksums: bigint[] = [];

  add(pile: number, { place, byteLength, diskBytes, checksum }: Segment): void {
    this.piles.push(pile);
    this.places.push(place);
    this.byteLengths.push(byteLength);
    this.diskBytes.push(diskBytes);
    this.checksums.push(checksum);
  }
}
