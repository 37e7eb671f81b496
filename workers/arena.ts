/**
 * The linear memory of one thread for one job. It may grow to its allowance, and beyond it only with spare memory, which is
 * promised to no other thread. It never shrinks, so spare memory becomes part of the allowance for good.
 */
import type { JobControl } from '../src/floor/job-control.js';
import { ARENA_START, Kernel, MAX_ARENA_BYTES } from './kernel/kernel.js';

export class Arena {
  readonly kernel = new Kernel();
  readonly #control: JobControl;
  #allowanceBytes = 0;

  constructor(control: JobControl) {
    this.#control = control;
  }

  /** @param byteLength the allowance in the job's plan; this thread may have grown beyond it. */
  allow(byteLength: number): void {
    this.#allowanceBytes = Math.max(this.#allowanceBytes, byteLength);
  }

  get allowanceBytes(): number {
    return this.#allowanceBytes;
  }

  holds(end: number): boolean {
    return end <= this.kernel.bytes.byteLength;
  }

  /** Makes addresses [ARENA_START, end) usable; their contents stay. False, without a change: the budget forbids it. */
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

  /** The address of a buffer for reads, which overlies all else: every arena has room for a read window. */
  reserveForReads(byteLength: number): number {
    if (this.reserve(ARENA_START + byteLength)) return ARENA_START;
    throw new RangeError(`an arena has no room for the ${byteLength} bytes of a read`);
  }
}

export class ArenaLayout {
  #next: number;

  constructor(startAddress = ARENA_START) {
    this.#next = startAddress;
  }

  take(byteLength: number, alignment = 16): number {
    const start = Math.ceil(this.#next / alignment) * alignment;
    this.#next = start + byteLength;
    return start;
  }

  get end(): number {
    return this.#next;
  }
}
