/** A cache of blocks of objects in the shared pool: those that are there, and those that requests under way will fill. */
import { type BlockReference, type TransferBuffers, TransferChannel } from './transfer-channel.js';

export interface CachedBlock extends BlockReference {
  readonly path: string;
  readonly validator: string;
  readonly end: number;
  /** True when its bytes are there. */
  isReady: boolean;
  /** True if no reader is known to need it any more. */
  isReleased: boolean;
  /** True if its bytes were added to the checksum of the object. */
  isInChecksum: boolean;
  lastUse: number;
  /** Resolves when the bytes are there; rejects if they do not come. */
  readonly ready: Promise<void>;
  markReady(): void;
  fail(error: unknown): void;
}

export class BlockCache {
  readonly channel: TransferChannel;
  readonly #blocks: (CachedBlock | undefined)[];
  /** Blocks by object and first byte. */
  readonly #byStart = new Map<string, CachedBlock>();
  #clock = 0;

  constructor(buffers: TransferBuffers) {
    this.channel = new TransferChannel(buffers);
    this.#blocks = Array.from({ length: buffers.pool.byteLength / buffers.blockBytes });
  }

  get count(): number {
    return this.#blocks.length;
  }

  /** Number of blocks that may be evicted for a prefetch. */
  get freeCount(): number {
    return this.#blocks.filter((block) => block === undefined || (block.isReady && block.isReleased)).length;
  }

  /** Returns the block that has this byte of this version. */
  find(path: string, validator: string, position: number): CachedBlock | undefined {
    return (
      this.#byStart.get(cacheKey(path, validator, position)) ??
      this.#blocks.find(
        (block) =>
          block !== undefined &&
          position >= block.start &&
          position < block.end &&
          block.path === path &&
          block.validator === validator,
      )
    );
  }

  /** @param isPinned whether they stay until their reader releases them. */
  markUsed(blocks: readonly CachedBlock[], isPinned: boolean): void {
    for (const block of blocks) {
      block.lastUse = ++this.#clock;
      if (isPinned) block.isReleased = false;
    }
  }

  /** @param isPrefetch whether no reader waits for it: then it evicts only released blocks. */
  allocate(path: string, validator: string, start: number, end: number, isPrefetch: boolean): CachedBlock | undefined {
    const index = this.#evict(isPrefetch);
    if (index === undefined) return undefined;
    let resolve = () => {};
    let reject = (_: unknown) => {};
    const coming = new Promise<void>((...settle) => {
      [resolve, reject] = settle;
    });
    // Its readers get the failure. Without a reader, nobody handles the rejection.
    coming.catch(() => {});
    const block: CachedBlock = {
      path,
      validator,
      block: index,
      generation: this.channel.generationOf(index),
      start,
      end,
      byteLength: end - start,
      isReady: false,
      isReleased: false,
      isInChecksum: false,
      lastUse: ++this.#clock,
      ready: coming,
      markReady: () => {
        block.isReady = true;
        resolve();
      },
      fail: (error) => {
        if (this.#blocks[index] === block) this.#blocks[index] = undefined;
        this.#removeFromIndex(block);
        reject(error);
      },
    };
    const former = this.#blocks[index];
    if (former !== undefined) this.#removeFromIndex(former);
    this.#blocks[index] = block;
    this.#byStart.set(cacheKey(path, validator, start), block);
    return block;
  }

  release(blocks: readonly BlockReference[]): void {
    for (const { block, generation } of blocks) {
      const held = this.#blocks[block];
      if (held?.generation === generation) held.isReleased = true;
    }
  }

  #removeFromIndex(block: CachedBlock): void {
    const name = cacheKey(block.path, block.validator, block.start);
    if (this.#byStart.get(name) === block) this.#byStart.delete(name);
  }

  #evict(isPrefetch: boolean): number | undefined {
    const leased = new Set<number>();
    for (;;) {
      let first: number | undefined;
      let firstRank = Number.POSITIVE_INFINITY;
      for (const [index, block] of this.#blocks.entries()) {
        const isEvictable = block === undefined || (block.isReady && (block.isReleased || !isPrefetch));
        if (!isEvictable || evictionRank(block) >= firstRank || leased.has(index)) continue;
        first = index;
        firstRank = evictionRank(block);
      }
      if (first === undefined || this.channel.invalidate(first)) return first;
      leased.add(first);
    }
  }
}

function cacheKey(path: string, validator: string, start: number): string {
  return `${start} ${validator} ${path}`;
}

/** Rank of blocks that were not released: above the number of any use. */
const PINNED_RANK = 2 ** 52;

function evictionRank(block: CachedBlock | undefined): number {
  if (block === undefined) return -1;
  return block.isReleased ? block.lastUse : block.lastUse + PINNED_RANK;
}
