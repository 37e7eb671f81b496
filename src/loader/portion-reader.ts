/**
 * The records of one rank in one epoch, portion by portion: a few are loaded ahead while one is consumed. What is held
 * is that one and those ahead, in buffers that are used again and again.
 */
import type { LoadResult } from '../../workers/load-portion.js';
import { explainedByExpiry } from '../store/expired-meanwhile.js';
import { orderOfEpoch } from './epoch-order.js';
import type { LoaderSettings } from './loader-state.js';
import { rangeCountOfPile } from './portion-memory.js';
import { type PortionVisit, visitsOf } from './portion-visits.js';
import { shareOfRank } from './rank-share.js';
import type { StoreContents } from './store-contents.js';
import type { StoreView } from './store-view.js';

/** Records of a pile, in memory that is used again when the next portion is asked for. */
export interface LoadedPortion {
  /** One behind the other. */
  readonly bytes: Uint8Array;
  /** Where each of them ends in `bytes`. */
  readonly ends: Uint32Array;
}

/** What is read. */
export interface EpochPart extends LoaderSettings {
  readonly epoch: number;
  /** The first record of the rank's share that is given. */
  readonly from: number;
  readonly prefetchPiles: number;
}

/** Where portions go; undefined: one that is made when it is needed. */
export type PortionBuffers = (SharedArrayBuffer | undefined)[];

/** For the portions that are loaded ahead, and the one that is consumed. */
export function newBuffers(prefetchPiles: number): PortionBuffers {
  return Array.from({ length: prefetchPiles + 1 }, () => undefined);
}

export class PortionReader {
  readonly #view: StoreView;
  readonly #contents: StoreContents;
  readonly #epochKey: bigint | undefined;
  readonly #visits: Iterator<PortionVisit, void>;
  /** In the order in which they are consumed. */
  readonly #loading: Promise<LoadResult>[] = [];
  /** Those that nothing is loaded into, nor consumed from; all of them, when all portions were consumed. */
  readonly #buffers: PortionBuffers;
  #consumed: SharedArrayBuffer | undefined;

  private constructor(view: StoreView, contents: StoreContents, part: EpochPart, buffers: PortionBuffers) {
    const { settings } = view.snapshot;
    const { totals } = contents;
    const order = orderOfEpoch(settings.seed, part.epoch, part.reshuffle, settings.pileCount);
    const memory = {
      memoryBytes: view.limits.memoryBytes,
      threadCount: view.threads.count,
      bufferCount: part.prefetchPiles + 1,
    };
    const rangeCountOf = (pile: number) =>
      rangeCountOfPile(totals.records[pile] ?? 0, totals.recordBytes[pile] ?? 0, memory);
    const share = shareOfRank(view.records, part);
    this.#view = view;
    this.#contents = contents;
    this.#epochKey = order.epochKey;
    this.#visits = visitsOf({ piles: order.piles, records: totals.records, rangeCountOf }, share, part.from);
    this.#buffers = buffers;
  }

  static async open(view: StoreView, part: EpochPart, buffers: PortionBuffers): Promise<PortionReader> {
    return new PortionReader(view, await view.contents(), part, buffers);
  }

  /** The next portion that has records; undefined behind the last one. That before is gone then. */
  async next(): Promise<LoadedPortion | undefined> {
    for (;;) {
      if (this.#consumed !== undefined) this.#buffers.push(this.#consumed);
      this.#consumed = undefined;
      this.#loadAhead();
      const loading = this.#loading.shift();
      if (loading === undefined) return undefined;
      const { buffer, records, bytesAt, byteLength } = await this.#loaded(loading);
      this.#consumed = buffer;
      if (records > 0) {
        return { bytes: new Uint8Array(buffer, bytesAt, byteLength), ends: new Uint32Array(buffer, 0, records) };
      }
    }
  }

  async #loaded(loading: Promise<LoadResult>): Promise<LoadResult> {
    try {
      return await loading;
    } catch (error) {
      throw explainedByExpiry(error, this.#view.snapshot);
    }
  }

  #loadAhead(): void {
    while (this.#buffers.length > 0) {
      const next = this.#visits.next();
      if (next.done === true) return;
      const { value: visit } = next;
      const { totals, merged } = this.#contents;
      const loading = this.#view.threads.load({
        ...visit,
        ...(merged === undefined ? { pileSets: this.#view.pileSets } : { merged: merged[visit.pile] }),
        checksum: totals.checksums[visit.pile] ?? 0n,
        epochKey: this.#epochKey,
        buffer: this.#buffers.pop(),
      });
      // Told when it is its turn.
      loading.catch(() => {});
      this.#loading.push(loading);
    }
  }
}
