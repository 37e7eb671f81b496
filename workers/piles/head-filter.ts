/** Leaves records out of a scatter that cannot be among the head of the order, while the limit of the job falls. */
import type { Kernel } from '../kernel/kernel.js';
import { type HeadLimit, SLOT_COUNT } from './head-limit.js';

/** Bytes of the histogram in the arena. */
export const HISTOGRAM_BYTES = 4 * SLOT_COUNT;

/** Each thread may keep this part of the head before the others know of it. */
const UNTOLD_SHARE = 1 / 256;

export class HeadFilter {
  readonly #kernel: Kernel;
  readonly #limit: HeadLimit;
  readonly #histogram: number;
  readonly #mostUntold: number;
  #untold = 0;

  /** @param histogram the address of `HISTOGRAM_BYTES`. */
  constructor(kernel: Kernel, limit: HeadLimit, histogram: number) {
    this.#kernel = kernel;
    this.#limit = limit;
    this.#histogram = histogram;
    this.#mostUntold = limit.headCount * UNTOLD_SHARE;
    kernel.bytes.fill(0, histogram, histogram + HISTOGRAM_BYTES);
    this.#follow();
  }

  /** Call it behind each scatter of a boundary table. */
  scattered(): void {
    this.#untold += this.#kernel.wasm.takeKeptCount() >>> 0;
    if (this.#untold > this.#mostUntold && this.#tell()) this.#untold = 0;
    this.#follow();
  }

  /** Call it behind the last scatter. */
  end(): void {
    while (!this.#tell());
  }

  #tell(): boolean {
    return this.#limit.tryAdd(new Uint32Array(this.#kernel.bytes.buffer, this.#histogram, SLOT_COUNT));
  }

  #follow(): void {
    this.#kernel.wasm.keepUpTo(this.#limit.largestKey, this.#histogram);
  }
}
