/**
 * Checksums of segments and of written output, computed by the kernel on its own memory.
 */

import { inPhase } from '../../src/phase-clock.js';
import type { SegmentHasher } from '../../src/pile-sets/segments.js';
import type { Kernel } from './kernel.js';

/** The checksums in pieces that may be under way at the same time; each needs its own lane of the kernel. */
const LANES = { segments: 0, output: 1 } as const;

export class KernelHasher implements SegmentHasher {
  readonly #of: { readonly kernel: Kernel };
  readonly #lane: number;

  /** @param bytesOf the kind of bytes that come in pieces. */
  constructor(of: { readonly kernel: Kernel }, bytesOf: keyof typeof LANES) {
    this.#of = of;
    this.#lane = LANES[bytesOf];
  }

  hash(bytes: Uint8Array, offset: number, byteLength: number): bigint {
    const address = this.#addressOf(bytes, offset);
    return BigInt.asUintN(
      64,
      inPhase('hash', () => this.#of.kernel.wasm.recordHash(address, byteLength)),
    );
  }

  begin(): void {
    this.#of.kernel.wasm.beginHash(this.#lane);
  }

  add(bytes: Uint8Array, offset: number, byteLength: number): void {
    const address = this.#addressOf(bytes, offset);
    inPhase('hash', () => this.#of.kernel.wasm.addToHash(this.#lane, address, address + byteLength));
  }

  checksum(): bigint {
    return BigInt.asUintN(64, this.#of.kernel.wasm.hashOfPieces(this.#lane));
  }

  #addressOf(bytes: Uint8Array, offset: number): number {
    if (bytes.buffer !== this.#of.kernel.bytes.buffer) throw new RangeError('bytes to hash lie outside of the kernel');
    return bytes.byteOffset + offset;
  }
}
