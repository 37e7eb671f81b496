/**
 * The linear memory in which a job holds its records: one for all threads, each with an instance of the kernel. Threads
 * take parts of it, one behind the other, and never give one back. It has a fixed size: at most 4 GiB, as addresses have 32
 * bits.
 *
 *     bytes taken u64 | threads u64 | ... | the kernel's constants | ARENA_START own parts of threads | taken parts
 */
import type { JobControl } from '../src/job-control.js';
import { askKeeper } from '../src/pile-sets/kept-memory.js';
import type { RecordMemoryHandle } from '../src/pile-sets/record-memory-handle.js';
import { BOUNDARY_TABLE_BYTES } from '../src/plan/arena-sizes.js';
import { OWN_BYTES } from '../src/plan/hold-plan.js';
import { ARENA_START, fixedMemory, Kernel } from './kernel/kernel.js';

const TAKEN_WORD = 0;
const THREADS_WORD = 1;

/** Bytes that a thread takes for itself. */
interface OwnPart {
  readonly address: number;
  readonly byteLength: number;
}

/** Memory that a thread has taken for the next records. */
export interface OpenPart {
  next: number;
  end: number;
}

export class RecordMemory {
  readonly kernel: Kernel;
  /** The boundary table of this thread. */
  readonly table: number;
  /** Room in which records can be put together. */
  readonly staging: number;
  /** Where this thread reads to. */
  readonly region: OpenPart = { next: 0, end: 0 };
  readonly #handle: RecordMemoryHandle;
  readonly #control: JobControl;
  readonly #words: BigInt64Array;
  #pass2Part: OwnPart | undefined;

  private constructor(handle: RecordMemoryHandle, kernel: Kernel, control: JobControl) {
    this.#handle = handle;
    this.#control = control;
    this.kernel = kernel;
    this.#words = new BigInt64Array(kernel.bytes.buffer, 0, 2);
    const { wasm } = kernel;
    const scratchBytes = wasm.scratchByteLength();
    const own = ARENA_START + OWN_BYTES * Number(Atomics.add(this.#words, THREADS_WORD, 1n));
    if (own + OWN_BYTES > handle.ownEnd) throw new RangeError('more threads use the memory for records than planned');
    wasm.useScratch(own);
    this.table = own + scratchBytes;
    this.staging = this.table + Math.ceil(BOUNDARY_TABLE_BYTES / 64) * 64;
  }

  static async open(handle: RecordMemoryHandle, control: JobControl): Promise<RecordMemory> {
    const { channelName, byteLength } = handle;
    if (channelName === undefined) return new RecordMemory(handle, new Kernel(fixedMemory(byteLength, false)), control);
    const [memory] = await askKeeper<WebAssembly.Memory>(channelName, control);
    return new RecordMemory(handle, new Kernel(memory), control);
  }

  /**
   * Takes a part for pass 1, and as much spare memory of the job.
   * @returns its address, a multiple of `alignment`; undefined: there is too little left.
   */
  take(byteLength: number, alignment = 64): number | undefined {
    if (!this.#control.takeSpare(byteLength)) return undefined;
    const address = this.#take(byteLength, alignment, this.#handle.pass1End);
    if (address === undefined) this.#control.giveSpare(byteLength);
    return address;
  }

  /**
   * Makes the region of this thread longer.
   * @returns false: the bytes behind it are taken, or there is too little left.
   */
  extendRegion(byteLength: number): boolean {
    const { region } = this;
    const { ownEnd, pass1End } = this.#handle;
    if (region.end + byteLength > pass1End || !this.#control.takeSpare(byteLength)) return false;
    const taken = BigInt(region.end - ownEnd);
    if (Atomics.compareExchange(this.#words, TAKEN_WORD, taken, taken + BigInt(byteLength)) === taken) {
      region.end += byteLength;
      return true;
    }
    this.#control.giveSpare(byteLength);
    return false;
  }

  /** The part of this thread for pass 2, the same for all its tasks. */
  pass2Part(byteLength: number): number {
    if (this.#pass2Part === undefined || this.#pass2Part.byteLength < byteLength) {
      const address = this.#take(byteLength, 4096, this.#handle.byteLength);
      if (address === undefined) throw new RangeError('the memory for records has no room for the tables of pass 2');
      this.#pass2Part = { address, byteLength };
    }
    return this.#pass2Part.address;
  }

  #take(byteLength: number, alignment: number, end: number): number | undefined {
    for (;;) {
      const taken = Atomics.load(this.#words, TAKEN_WORD);
      const address = Math.ceil((this.#handle.ownEnd + Number(taken)) / alignment) * alignment;
      if (address + byteLength > end) return undefined;
      const next = BigInt(address + byteLength - this.#handle.ownEnd);
      if (Atomics.compareExchange(this.#words, TAKEN_WORD, taken, next) === taken) return address;
    }
  }

  /** Where the parts end that all threads have taken. */
  get takenEnd(): number {
    return this.#handle.ownEnd + Number(Atomics.load(this.#words, TAKEN_WORD));
  }
}
