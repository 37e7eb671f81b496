/**
 * The linear memory of one thread for one job, or its part of the memory that the threads of a job share. It may grow to its
 * allowance, and beyond it only with spare memory, which is promised to no other thread. It never shrinks, so spare memory
 * becomes part of the allowance for good.
 */
import type { JobControl } from '../src/floor/job-control.js';
import type { MemoryPart } from '../src/piles/linear-memory.js';
import { Kernel } from './kernel/kernel.js';

export class Arena {
  readonly #part: MemoryPart | undefined;
  readonly #control: JobControl;
  #kernel: Kernel | undefined;
  #allowanceBytes = 0;

  constructor(control: JobControl, part?: MemoryPart) {
    this.#control = control;
    this.#part = part;
  }

  /** A thread may have an arena that it never uses. */
  get kernel(): Kernel {
    this.#kernel ??= new Kernel(this.#part);
    return this.#kernel;
  }

  get start(): number {
    return this.kernel.arenaStart;
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

  /** Makes addresses [start, end) usable; their contents stay. False, without a change: there is no room for them. */
  reserve(end: number): boolean {
    const byteLength = end - this.start;
    if (byteLength > this.kernel.mostArenaBytes) return false;
    if (byteLength > this.#allowanceBytes) {
      if (!this.#control.takeSpare(byteLength - this.#allowanceBytes)) return false;
      this.#allowanceBytes = byteLength;
    }
    this.kernel.ensureArena(byteLength);
    return true;
  }

  /** The address of a buffer for reads, which overlies all else: every arena has room for a read window. */
  reserveForReads(byteLength: number): number {
    if (this.reserve(this.start + byteLength)) return this.start;
    throw new RangeError(`an arena has no room for the ${byteLength} bytes of a read`);
  }
}

export class ArenaLayout {
  #next: number;

  constructor(startAddress: number) {
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
