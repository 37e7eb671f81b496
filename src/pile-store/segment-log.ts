/** Segments in the order in which they are written, in columns. */
export class SegmentLog {
  readonly piles: number[] = [];
  readonly places: number[] = [];
  readonly byteLengths: number[] = [];
  readonly inRam: boolean[] = [];
  readonly checksums: bigint[] = [];

  add(pile: number, place: number, byteLength: number, inRam: boolean, checksum: bigint): void {
    this.piles.push(pile);
    this.places.push(place);
    this.byteLengths.push(byteLength);
    this.inRam.push(inRam);
    this.checksums.push(checksum);
  }
}
