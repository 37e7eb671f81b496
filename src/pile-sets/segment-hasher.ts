/**
 * The checksum of a segment: computed when it is written, and again when it was read.
 */
export interface SegmentHasher {
  /**
   * Checksum of a segment that lies in one piece.
   * @param bytes for this and for `add`, the memory that the hasher works on.
   */
  hash(bytes: Uint8Array, offset: number, byteLength: number): bigint;
  /** Begins the checksum of a segment that comes in pieces; meanwhile only `hash` may be used for others. */
  begin(): void;
  add(bytes: Uint8Array, offset: number, byteLength: number): void;
  /** That of all bytes added since `begin`; the same as `hash` gives, however they were cut. */
  checksum(): bigint;
}
