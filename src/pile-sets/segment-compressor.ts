/**
 * The contracts of what makes segments smaller on their way to disk, and of what makes them what they were.
 */
export interface SegmentCompressor {
  /**
   * @param bytes at most `MOST_COMPRESSED_BYTES`.
   * @returns fewer bytes that stand for them, good until the next call; undefined when there are none.
   */
  compress(bytes: Uint8Array): Uint8Array | undefined;
}

export interface SegmentExpander {
  /**
   * Fills all of `target` with what was compressed to `bytes`.
   * @throws Error, of any kind, when that is another number of bytes, or `bytes` are damaged.
   */
  expand(bytes: Uint8Array, target: Uint8Array): void;
}
