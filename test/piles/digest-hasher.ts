/** Checksums of segments without a kernel, for bytes at any place. */
import { createHash, type Hash } from 'node:crypto';
import type { SegmentHasher } from '#src/piles/segments.js';

export class DigestHasher implements SegmentHasher {
  #hash: Hash | undefined;

  hash(bytes: Uint8Array, offset: number, byteLength: number): bigint {
    return first8Bytes(createHash('sha256').update(bytes.subarray(offset, offset + byteLength)));
  }

  begin(): void {
    this.#hash = createHash('sha256');
  }

  add(bytes: Uint8Array, offset: number, byteLength: number): void {
    this.#hash?.update(bytes.subarray(offset, offset + byteLength));
  }

  checksum(): bigint {
    if (this.#hash === undefined) throw new Error('no checksum was begun');
    return first8Bytes(this.#hash.copy());
  }
}

function first8Bytes(hash: Hash): bigint {
  return hash.digest().readBigUInt64LE();
}
