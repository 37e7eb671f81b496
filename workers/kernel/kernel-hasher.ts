import { inPhase } from '../../src/phase-clock.js';
import type { SegmentHasher } from '../../src/pile-sets/segments.js';
import type { Kernel } from './kernel.js';

/** Checksums in pieces that may be under way at the same time need lanes of their own. */
const LANES = { segments: 0, output: 1 } as const;

export class KernelHasher implements SegmentHasher {
  readonly #of: { readonly kernel: Kernel };
  readonly #lane: number;

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
