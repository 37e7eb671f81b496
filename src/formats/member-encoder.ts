/**
 * The contract of what compresses outputs: bytes to one gzip member or one zstd frame, both called members here.
 * Members one behind the other are a valid file of their codec. `encoder-table.ts` lists them.
 */

export interface MemberEncoder {
  /** One member, in a buffer of its own that is no larger. */
  encode(bytes: Uint8Array): Uint8Array;
  /** The same without compression: as long as that of any other bytes of this number. */
  store(bytes: Uint8Array): Uint8Array;
}
