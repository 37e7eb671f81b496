/**
 * The records of one rank, epoch after epoch, portion by portion: a few are loaded ahead while one is consumed, also
 * those of the next epoch. What is held is that one and those ahead, in buffers that are used again and again.
 */
import type { LoadResult } from '../../workers/tasks/load-portion.js';
import { hearSignals } from '../pause.js';
import { explainedByExpiry } from '../store/store-snapshot.js';
import { orderOfEpoch } from './epoch-order.js';
import type { LoaderSettings } from './loader-state.js';
import { type LoaderMemory, rangeCountOfPile, requireMemory } from './portion-memory.js';
import { type PortionVisit, visitsOf } from './portion-visits.js';
import { shareOfRank } from './rank-share.js';
import { countSharedMemory } from './shared-memory-count.js';
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
export interface EpochsPart extends LoaderSettings {
  readonly epoch: number;
  /** Epochs below this one; Infinity: all that there are. */
  readonly endEpoch: number;
  /** The first record of the rank's share of the first epoch that is given. */
  readonly from: number;
  readonly prefetchPiles: number;
}

/** Where portions go; undefined: one that is made when it is needed. */
export type PortionBuffers = (SharedArrayBuffer | undefined)[];

/** For the portions that are loaded ahead, and the one that is consumed. */
export function newBuffers(prefetchPiles: number): PortionBuffers {
  return Array.from({ length: prefetchPiles + 1 }, () => undefined);
}

interface EpochVisit extends PortionVisit {
  readonly epoch: number;
  readonly epochKey: bigint | undefined;
}

interface Loading {
  readonly epoch: number;
  /** Where the portion goes if it has room there. */
  readonly buffer: SharedArrayBuffer | undefined;
  readonly result: Promise<LoadResult>;
}

export class PortionReader {
  readonly #view: StoreView;
  readonly #contents: StoreContents;
  readonly #visits: Iterator<EpochVisit, void>;
  /** In the order in which they are consumed. */
  readonly #loading: Loading[] = [];
  /** Those that nothing is loaded into, nor consumed from; all of them, when all portions were consumed. */
  readonly #buffers: PortionBuffers;
  #consumed: SharedArrayBuffer | undefined;

  private constructor(view: StoreView, contents: StoreContents, part: EpochsPart, buffers: PortionBuffers) {
    this.#view = view;
    this.#contents = contents;
    this.#visits = visitsOfEpochs(view, contents, part);
    this.#buffers = buffers;
  }

  /** @throws UsageError ERR_MEMORY_BUDGET; VerificationError */
  static async open(view: StoreView, part: EpochsPart, buffers: PortionBuffers): Promise<PortionReader> {
    const contents = await view.contents();
    const { commits } = view.snapshot.manifest;
    const longestRecordBytes = commits.reduce((most, commit) => Math.max(most, commit.longestRecordBytes), 0);
    requireMemory(contents.totals, longestRecordBytes, memoryOf(view, part));
    return new PortionReader(view, contents, part, buffers);
  }

  /** The next portion of the epoch that has records; undefined behind its last one. That before is gone then. */
  async next(epoch: number): Promise<LoadedPortion | undefined> {
    for (;;) {
      // Small stores are read on this thread, and a share may be empty: the event loop would never have its turn.
      await hearSignals(this.#view.limits.signal, 'incomplete');
      if (this.#consumed !== undefined) this.#buffers.push(this.#consumed);
      this.#consumed = undefined;
      this.#loadAhead();
      const [first] = this.#loading;
      if (first?.epoch !== epoch) return undefined;
      this.#loading.shift();
      const { records, bytesAt, byteLength, ...loaded } = await this.#loaded(first.result);
      // The same memory comes back as another object.
      const buffer = first.buffer?.byteLength === loaded.buffer.byteLength ? first.buffer : loaded.buffer;
      countSharedMemory(buffer);
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
      const { epoch, ...visit } = next.value;
      const { totals, merged } = this.#contents;
      const buffer = this.#buffers.pop();
      const result = this.#view.threads.load({
        ...visit,
        ...(merged === undefined ? { pileSets: this.#view.pileSets } : { merged: merged[visit.pile] }),
        checksum: totals.checksums[visit.pile] ?? 0n,
        buffer,
      });
      // Told when it is its turn.
      result.catch(() => {});
      this.#loading.push({ epoch, buffer, result });
    }
  }
}

function memoryOf({ limits, threads }: StoreView, { prefetchPiles }: EpochsPart): LoaderMemory {
  return { memoryBytes: limits.memoryBytes, threadCount: threads.count, bufferCount: prefetchPiles + 1 };
}

/** All visits of a rank, epoch after epoch. */
function* visitsOfEpochs(view: StoreView, { totals }: StoreContents, part: EpochsPart): Generator<EpochVisit, void> {
  const { seed, pileCount } = view.snapshot.settings;
  const memory = memoryOf(view, part);
  const rangeCountOf = (pile: number) =>
    rangeCountOfPile(totals.records[pile] ?? 0, totals.recordBytes[pile] ?? 0, memory);
  const share = shareOfRank(view.records, part);
  // Of no records there would be no end of epochs.
  if (share.count === 0) return;
  for (let epoch = part.epoch; epoch < part.endEpoch; epoch++) {
    const { piles, epochKey } = orderOfEpoch(seed, epoch, part.reshuffle, pileCount);
    const from = epoch === part.epoch ? part.from : 0;
    for (const visit of visitsOf({ piles, records: totals.records, rangeCountOf }, share, from)) {
      yield { ...visit, epoch, epochKey };
    }
  }
}
