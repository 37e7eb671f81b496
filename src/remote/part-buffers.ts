/** Buffers for parts of uploads: blocks of the pool, given whole, first come first served. */
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '../errors.js';
import type { Block, Blocks } from './blocks.js';
import type { Fetcher } from './fetch-channel.js';

const PAUSE_MILLISECONDS = 2;
const MIB = 1024 * 1024;

export interface PartBuffer {
  readonly id: number;
  readonly blocks: readonly number[];
  pieces(byteLength: number): Iterable<Uint8Array>;
  giveBack(): void;
}

export class PartBuffers {
  readonly #writers: number;
  readonly #blocks: Blocks;
  readonly #blockBytes: number;
  readonly #pool: Uint8Array;
  readonly #held = new Map<number, PartBuffer>();
  #count = 0;
  #largestBytes = 1;
  /** Resolves when the caller that came last is served. */
  #served: Promise<unknown> = Promise.resolve();

  /** @param writers who may each hold one. */
  constructor(blocks: Blocks, { pool, blockBytes }: Fetcher, writers: number) {
    this.#writers = writers;
    this.#blocks = blocks;
    this.#blockBytes = blockBytes;
    this.#pool = new Uint8Array(pool);
  }

  take(byteLength: number): Promise<PartBuffer> {
    const taken = this.#served.then(() => this.#take(byteLength));
    this.#served = taken.catch(() => {});
    return taken;
  }

  /** Returns whether each writer can have a buffer beside so many that nobody writes to. */
  canKeep(count: number): boolean {
    return count + this.#writers <= Math.floor(this.#pool.byteLength / this.#largestBytes);
  }

  /** Whoever names it gives it back. */
  find(id: number): PartBuffer {
    const found = this.#held.get(id);
    if (found === undefined) throw new RangeError(`nobody holds buffer ${id}`);
    return found;
  }

  async #take(byteLength: number): Promise<PartBuffer> {
    const count = Math.ceil(byteLength / this.#blockBytes);
    if (count > this.#blocks.count)
      throw new UsageError(
        `parts of uploads have ${Math.ceil(byteLength / MIB)} MiB, and the memory has room for ${Math.floor(this.#pool.byteLength / MIB)}; raise \`memoryBytes\``,
        'ERR_MEMORY_BUDGET',
      );
    this.#largestBytes = Math.max(this.#largestBytes, count * this.#blockBytes);
    const id = this.#count++;
    const blocks: Block[] = [];
    while (blocks.length < count) {
      const start = blocks.length * this.#blockBytes;
      const block = this.#blocks.take(`buffer ${id}`, '', start, start + this.#blockBytes, false);
      if (block === undefined) await sleep(PAUSE_MILLISECONDS);
      else blocks.push(block);
    }
    const held: PartBuffer = {
      id,
      blocks: blocks.map(({ block }) => block),
      pieces: (wanted) => this.#pieces(blocks, wanted),
      giveBack: () => {
        this.#held.delete(id);
        // Their bytes never come for those who read.
        for (const block of blocks) block.failed(undefined);
      },
    };
    this.#held.set(id, held);
    return held;
  }

  *#pieces(blocks: readonly Block[], byteLength: number): Iterable<Uint8Array> {
    for (const { block, start } of blocks) {
      if (start >= byteLength) return;
      const from = block * this.#blockBytes;
      yield this.#pool.subarray(from, from + Math.min(this.#blockBytes, byteLength - start));
    }
  }
}
