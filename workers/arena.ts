/**
 * The linear memory of one thread, for one job, under the job's budget: it may grow to its allowance,
 * and beyond it only with spare memory that nobody else was promised. It never shrinks, so spare
 * memory once taken stays part of the allowance.
 */
import type { JobControl } from '../src/job-control.js';
import { ARENA_START, Kernel, MAX_ARENA_BYTES } from './kernel/kernel.js';

export class Arena {
  readonly kernel = new Kernel();
  readonly #control: JobControl;
  #allowanceBytes = 0;

  constructor(control: JobControl) {
    this.#control = control;
  }

  /** What the job's plan allows each thread, beside which this one may have grown. */
  allow(byteLength: number): void {
    this.#allowanceBytes = Math.max(this.#allowanceBytes, byteLength);
  }

  /** What the arena may grow to without spare memory. */
  get allowanceBytes(): number {
    return this.#allowanceBytes;
  }

  /** Whether addresses up to `end` are usable without growing. */
  holds(end: number): boolean {
    return end <= this.kernel.bytes.byteLength;
  }

  /**
   * Makes addresses [ARENA_START, end) usable, contents kept.
   * @returns false when the budget does not allow it; nothing changed then.
   */
  reserve(end: number): boolean {
    const byteLength = end - ARENA_START;
    if (byteLength > MAX_ARENA_BYTES) return false;
    if (byteLength > this.#allowanceBytes) {
      if (!this.#control.takeSpare(byteLength - this.#allowanceBytes)) return false;
      this.#allowanceBytes = byteLength;
    }
    this.kernel.ensureArena(byteLength);
    return true;
  }
}

/** Lays regions out one behind the other. */
export class ArenaLayout {
  #next: number;

  constructor(startAddress = ARENA_START) {
    this.#next = startAddress;
  }

  /** @returns the region's first address, a multiple of `alignment`. */
  take(byteLength: number, alignment = 16): number {
    const start = Math.ceil(this.#next / alignment) * alignment;
    this.#next = start + byteLength;
    return start;
  }

  /** First address behind all regions. */
  get end(): number {
    return this.#next;
  }
}
