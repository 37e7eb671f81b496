/** The blocks of the pool, and what they hold: fetched or awaited bytes of objects. */
import { FetchChannel, type Fetcher, type HeldBlock } from './fetch-channel.js';

export interface Block extends HeldBlock {
  readonly path: string;
  readonly validator: string;
  readonly end: number;
  /** True if its bytes are there. */
  isThere: boolean;
  /** True if nobody is known who still reads it. */
  isDone: boolean;
  /** True if its bytes are counted in the checksum of the object. */
  isCounted: boolean;
  lastUse: number;
  /** Ends when the bytes are there; fails if they do not come. */
  readonly coming: Promise<void>;
  arrived(): void;
  failed(error: unknown): void;
}

export class Blocks {
  readonly channel: FetchChannel;
  readonly #held: (Block | undefined)[];
  /** The blocks by what they begin with. */
  readonly #byStart = new Map<string, Block>();
  #clock = 0;

  constructor(fetcher: Fetcher) {
    this.channel = new FetchChannel(fetcher);
    this.#held = Array.from({ length: fetcher.pool.byteLength / fetcher.blockBytes });
  }

  get count(): number {
    return this.#held.length;
  }

  /** Blocks that nobody reads any more. */
  get freeCount(): number {
    return this.#held.filter((block) => block === undefined || (block.isThere && block.isDone)).length;
  }

  /** The block with this byte of this version. */
  find(path: string, validator: string, position: number): Block | undefined {
    return (
      this.#byStart.get(nameOf(path, validator, position)) ??
      this.#held.find(
        (block) =>
          block !== undefined &&
          position >= block.start &&
          position < block.end &&
          block.path === path &&
          block.validator === validator,
      )
    );
  }

  /** @param isNeeded whether the reader says when it is done with them. */
  given(blocks: readonly Block[], isNeeded: boolean): void {
    for (const block of blocks) {
      block.lastUse = ++this.#clock;
      if (isNeeded) block.isDone = false;
    }
  }

  /** @param isAhead whether nobody waits for it: then nothing that may still be read makes room for it. */
  take(path: string, validator: string, start: number, end: number, isAhead: boolean): Block | undefined {
    const index = this.#freeIndex(isAhead);
    if (index === undefined) return undefined;
    let resolve = () => {};
    let reject = (_: unknown) => {};
    const coming = new Promise<void>((...settle) => {
      [resolve, reject] = settle;
    });
    // Whoever waits for it hears of the failure.
    coming.catch(() => {});
    const block: Block = {
      path,
      validator,
      block: index,
      generation: this.channel.generationOf(index),
      start,
      end,
      byteLength: end - start,
      isThere: false,
      isDone: false,
      isCounted: false,
      lastUse: ++this.#clock,
      coming,
      arrived: () => {
        block.isThere = true;
        resolve();
      },
      failed: (error) => {
        if (this.#held[index] === block) this.#held[index] = undefined;
        this.#forget(block);
        reject(error);
      },
    };
    const former = this.#held[index];
    if (former !== undefined) this.#forget(former);
    this.#held[index] = block;
    this.#byStart.set(nameOf(path, validator, start), block);
    return block;
  }

  finished(blocks: readonly HeldBlock[]): void {
    for (const { block, generation } of blocks) {
      const held = this.#held[block];
      if (held?.generation === generation) held.isDone = true;
    }
  }

  #forget(block: Block): void {
    const name = nameOf(block.path, block.validator, block.start);
    if (this.#byStart.get(name) === block) this.#byStart.delete(name);
  }

  #freeIndex(isAhead: boolean): number | undefined {
    const leased = new Set<number>();
    for (;;) {
      let first: number | undefined;
      let firstRank = Number.POSITIVE_INFINITY;
      for (const [index, block] of this.#held.entries()) {
        const mayGo = block === undefined || (block.isThere && (block.isDone || !isAhead));
        if (!mayGo || rank(block) >= firstRank || leased.has(index)) continue;
        first = index;
        firstRank = rank(block);
      }
      if (first === undefined || this.channel.replace(first)) return first;
      leased.add(first);
    }
  }
}

function nameOf(path: string, validator: string, start: number): string {
  return `${start} ${validator} ${path}`;
}

/** Beyond all uses. */
const NEEDED = 2 ** 52;

function rank(block: Block | undefined): number {
  if (block === undefined) return -1;
  return block.isDone ? block.lastUse : block.lastUse + NEEDED;
}
