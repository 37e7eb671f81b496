/**
 * The checksum of segments, computed by the kernel on its own memory.
 */
import type { SegmentHasher } from '../src/pile-store/segment-hasher.js';
import type { Kernel } from './kernel/kernel.js';

export class KernelHasher implements SegmentHasher {
  readonly #kernel: Kernel;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  hash(bytes: Uint8Array, offset: number, byteLength: number): bigint {
    return BigInt.asUintN(64, this.#kernel.run.recordHash(this.#addressOf(bytes, offset), byteLength));
  }

  begin(): void {
    this.#kernel.run.beginHash();
  }

  add(bytes: Uint8Array, offset: number, byteLength: number): void {
    const address = this.#addressOf(bytes, offset);
    this.#kernel.run.addToHash(address, address + byteLength);
  }

  checksum(): bigint {
    return BigInt.asUintN(64, this.#kernel.run.hashOfPieces());
  }

  #addressOf(bytes: Uint8Array, offset: number): number {
    if (bytes.buffer !== this.#kernel.bytes.buffer) throw new RangeError('bytes to hash lie outside of the kernel');
    return bytes.byteOffset + offset;
  }
}
