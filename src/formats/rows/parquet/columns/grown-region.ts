import { UsageError } from '../../../../errors.js';
import type { ColumnMemory, Region } from './column-memory.js';

/** Allocators round up little requests; growing by a byte each time would copy everything each time. */
const LEAST_BYTES = 256;

const NONE: Region = { address: 0, byteLength: 0 };

/** A region that is replaced by a larger one when more is needed. */
export class GrownRegion {
  readonly #memory: ColumnMemory;
  #region: Region = NONE;

  constructor(memory: ColumnMemory) {
    this.#memory = memory;
  }

  get address(): number {
    return this.#region.address;
  }

  get byteLength(): number {
    return this.#region.byteLength;
  }

  /**
   * @param usedBytes the first bytes, which stay; the others need not.
   * @param usualBytes it grows by halves up to so many, if there is memory, and beyond them to what is needed.
   * @throws UsageError ERR_MEMORY_BUDGET
   */
  ensure(neededBytes: number, usedBytes = 0, usualBytes = 0): number {
    if (neededBytes <= this.byteLength) return this.address;
    const byteLength = Math.max(neededBytes, Math.min(usualBytes, Math.ceil(1.5 * this.byteLength)), LEAST_BYTES);
    if (usedBytes === 0) this.release();
    const region = this.#memory.allocate(byteLength) ?? this.#memory.allocate(neededBytes);
    if (region === undefined)
      throw new UsageError(
        `no memory for ${neededBytes} bytes of a column beside the others of its row group; raise \`memoryBytes\`, or use fewer \`workers\``,
        'ERR_MEMORY_BUDGET',
      );
    this.#replace(region, usedBytes);
    return region.address;
  }

  /** Makes as small as usual what a long value has made larger than `mostBytes`. */
  trim(mostBytes: number, usedBytes: number, usualBytes: number): void {
    if (this.byteLength <= mostBytes) return;
    const region = this.#memory.allocate(usualBytes);
    if (region !== undefined) this.#replace(region, usedBytes);
  }

  #replace(region: Region, usedBytes: number): void {
    if (usedBytes > 0) this.#memory.wasm.copy(region.address, this.address, usedBytes);
    this.release();
    this.#region = region;
  }

  release(): void {
    if (this.byteLength > 0) this.#memory.release(this.#region);
    this.#region = NONE;
  }
}
