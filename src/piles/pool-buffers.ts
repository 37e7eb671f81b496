/**
 * The pile buffers of a thread in the linear memory of the pool. A full one becomes a segment where it lies, and another
 * takes its place. The others stay for the next slice.
 */
export class PoolBuffers {
  readonly #takeBuffer: () => number | undefined;
  readonly #addresses: number[];

  private constructor(takeBuffer: () => number | undefined, addresses: number[]) {
    this.#takeBuffer = takeBuffer;
    this.#addresses = addresses;
  }

  /**
   * Returns undefined if there is no room for a buffer of each pile.
   * @param takeBuffer returns the address of a new buffer; undefined: there is no room.
   */
  static open(pileCount: number, takeBuffer: () => number | undefined): PoolBuffers | undefined {
    const addresses: number[] = [];
    while (addresses.length < pileCount) {
      const address = takeBuffer();
      if (address === undefined) return undefined;
      addresses.push(address);
    }
    return new PoolBuffers(takeBuffer, addresses);
  }

  addressOf(pile: number): number {
    const address = this.#addresses[pile];
    if (address === undefined) throw new RangeError(`pile ${pile} has no buffer`);
    return address;
  }

  /** Gives a pile another buffer. Returns its address; undefined: there is no room, and the pile keeps its own. */
  replace(pile: number): number | undefined {
    const address = this.#takeBuffer();
    if (address !== undefined) this.#addresses[pile] = address;
    return address;
  }
}
