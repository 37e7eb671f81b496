/** Segments in the order in which they are written, in columns. */
import type { Segment } from './pile-set-index.js';

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
