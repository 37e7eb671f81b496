/** Allocates buffers for parts of uploads from the block pool, first come first served. */
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '../errors.js';
import type { BlockCache, CachedBlock } from './block-cache.js';
import type { TransferBuffers } from './transfer-channel.js';

const PAUSE_MILLISECONDS = 2;
const MIB = 1024 * 1024;

export interface PartBuffer {
  readonly id: number;
  readonly blocks: readonly number[];
  pieces(byteLength: number): Iterable<Uint8Array>;
  /** Releases the blocks after so many bytes: a part is shorter than its buffer at the end of an object. */
  shrink(byteLength: number): void;
  release(): void;
}

export class PartBuffers {
  readonly #writers: number;
  readonly #blocks: BlockCache;
  readonly #blockBytes: number;
  readonly #pool: Uint8Array;
  readonly #buffers = new Map<number, PartBuffer>();
  #count = 0;
  #largestBytes = 1;
  /** Resolves when the caller that came last is served. */
  #served: Promise<unknown> = Promise.resolve();

  /** @param writers that may each hold one buffer. */
  constructor(blocks: BlockCache, { pool, blockBytes }: TransferBuffers, writers: number) {
    this.#writers = writers;
    this.#blocks = blocks;
    this.#blockBytes = blockBytes;
    this.#pool = new Uint8Array(pool);
  }

  allocate(byteLength: number): Promise<PartBuffer> {
    const taken = this.#served.then(() => this.#allocate(byteLength));
    this.#served = taken.catch(() => {});
    return taken;
  }

  /** Returns whether each writer can still have a buffer beside so many stashed ones. */
  canStash(count: number): boolean {
    return count + this.#writers <= Math.floor(this.#pool.byteLength / this.#largestBytes);
  }

  /** Returns the buffer with an id. Its caller releases it. */
  find(id: number): PartBuffer {
    const found = this.#buffers.get(id);
    if (found === undefined) throw new RangeError(`there is no buffer ${id}`);
    return found;
  }

  async #allocate(byteLength: number): Promise<PartBuffer> {
    const count = Math.ceil(byteLength / this.#blockBytes);
    if (count > this.#blocks.count)
      throw new UsageError(
        `parts of uploads have ${Math.ceil(byteLength / MIB)} MiB, and the memory has room for ${Math.floor(this.#pool.byteLength / MIB)}; raise \`memoryBytes\``,
        'ERR_MEMORY_BUDGET',
      );
    this.#largestBytes = Math.max(this.#largestBytes, count * this.#blockBytes);
    const id = this.#count++;
    const blocks: CachedBlock[] = [];
    while (blocks.length < count) {
      const start = blocks.length * this.#blockBytes;
      const block = this.#blocks.allocate(`buffer ${id}`, '', start, start + this.#blockBytes, false);
      if (block === undefined) await sleep(PAUSE_MILLISECONDS);
      else blocks.push(block);
    }
    const buffer: PartBuffer = {
      id,
      blocks: blocks.map(({ block }) => block),
      pieces: (wanted) => this.#pieces(blocks, wanted),
      shrink: (wanted) => {
        for (const block of blocks.splice(Math.ceil(wanted / this.#blockBytes))) block.fail(undefined);
      },
      release: () => {
        this.#buffers.delete(id);
        // The blocks never get bytes for readers.
        for (const block of blocks) block.fail(undefined);
      },
    };
    this.#buffers.set(id, buffer);
    return buffer;
  }

  *#pieces(blocks: readonly CachedBlock[], byteLength: number): Iterable<Uint8Array> {
    for (const { block, start } of blocks) {
      if (start >= byteLength) return;
      const from = block * this.#blockBytes;
      yield this.#pool.subarray(from, from + Math.min(this.#blockBytes, byteLength - start));
    }
  }
}
