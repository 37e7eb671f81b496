/**
 * The linear memory in which pages of columns are decoded and made, one for each thread that needs it. Regions come and go:
 * pages have any size. What is allocated counts against an allowance, and beyond it against the spare memory of the job.
 */
import type * as functions from '#src/formats/rows/parquet/columns/columns.js';
import type { JobControl } from '../../../../floor/job-control.js';
import { compiledProgram } from '../../../../io/shipped-files.js';

export type ColumnFunctions = typeof functions;

const PAGE_BYTES = 65536;
/** The most memory, without the last pages: the end of a region and a little more are addresses, too. */
const MOST_BYTES = 2 ** 32 - 2 * PAGE_BYTES;
/** How far loops may read or write beyond the end of a region. */
const SLACK_BYTES = 32;
/** The bytes that the allocator adds to a region, and the slack. */
const OVERHEAD_BYTES = 16 + SLACK_BYTES;
/** The size from which on the allocator takes any free block of the same class for one that is large enough. */
const LARGE_BLOCK_BYTES = 2 ** 29;
const CLASS_BYTES = 2 ** 25;
/** The largest class begins there. */
export const MOST_REGION_BYTES = 2 ** 30 - CLASS_BYTES - SLACK_BYTES;

export interface Region {
  readonly address: number;
  readonly byteLength: number;
}

export class ColumnMemory {
  readonly wasm: ColumnFunctions;
  readonly #control: Pick<JobControl, 'takeSpare' | 'giveSpare'>;
  readonly #memory: WebAssembly.Memory;
  #allowanceBytes: number;
  #allocatedBytes = 0;
  #spareBytes = 0;
  #bytes: Uint8Array;

  /** @param allowanceBytes what the plan of the job gives this memory. */
  constructor(control: Pick<JobControl, 'takeSpare' | 'giveSpare'>, allowanceBytes: number) {
    this.#control = control;
    this.#allowanceBytes = allowanceBytes;
    this.#memory = new WebAssembly.Memory({ initial: 1, maximum: MOST_BYTES / PAGE_BYTES });
    this.#bytes = new Uint8Array(this.#memory.buffer);
    const abort = () => {
      throw new Error('the column kernel aborted');
    };
    const instance = new WebAssembly.Instance(compiledProgram('columns.wasm', import.meta.url), {
      env: { memory: this.#memory, abort },
    });
    this.wasm = instance.exports as unknown as ColumnFunctions;
  }

  /** All of it. Never hold it across `allocate`. */
  get bytes(): Uint8Array {
    if (this.#bytes.buffer !== this.#memory.buffer) this.#bytes = new Uint8Array(this.#memory.buffer);
    return this.#bytes;
  }

  /** @param byteLength what all of it may take without asking. It may have taken spare memory before. */
  allow(byteLength: number): void {
    this.#allowanceBytes = Math.max(this.#allowanceBytes, byteLength - this.#spareBytes);
  }

  /** The bytes that its regions take. */
  get allocatedBytes(): number {
    return this.#allocatedBytes;
  }

  /** @returns undefined, without a change: the budget, or what one memory can address, forbids it. */
  allocate(byteLength: number): Region | undefined {
    const takenBytes = byteLength + OVERHEAD_BYTES;
    const missingBytes = this.#allocatedBytes + takenBytes - this.#allowanceBytes - this.#spareBytes;
    if (this.#allocatedBytes + takenBytes > MOST_BYTES || byteLength > MOST_REGION_BYTES) return undefined;
    if (missingBytes > 0) {
      if (!this.#control.takeSpare(missingBytes)) return undefined;
      this.#spareBytes += missingBytes;
    }
    const address = this.#addressOfNew(byteLength);
    if (address === undefined) return undefined;
    this.#allocatedBytes += takenBytes;
    return { address, byteLength };
  }

  /** Allocates a region. Undefined: the system gives no more memory, or what is free lies in pieces. */
  #addressOfNew(byteLength: number): number | undefined {
    const blockBytes = byteLength + SLACK_BYTES;
    // The least size of a class fits in all of its blocks.
    const isLarge = blockBytes + OVERHEAD_BYTES > LARGE_BLOCK_BYTES;
    try {
      // Addresses above 2 GiB come as negative numbers.
      return this.wasm.allocate(isLarge ? CLASS_BYTES * Math.ceil(blockBytes / CLASS_BYTES) : blockBytes) >>> 0;
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) return undefined;
      throw error;
    }
  }

  release({ address, byteLength }: Region): void {
    this.wasm.release(address);
    this.#allocatedBytes -= byteLength + OVERHEAD_BYTES;
  }
}
