/**
 * Loads the records of one rank portion by portion, epoch after epoch. While one portion is read the next few are
 * loaded, also those of the next epoch. The portions take turns in a fixed number of buffers.
 */
import type { LoadResult } from '../../workers/tasks/load-portion.js';
import { UsageError } from '../errors.js';
import { yieldAndCheckAbort } from '../floor/pause.js';
import type { PileTotals } from '../piles/pile-totals.js';
import { ENTRY_BYTES, LARGEST_ARENA_BYTES, STORED_HEADER_BYTES } from '../plan/arena-sizes.js';
import { longestRecordBytesOf } from '../store/store-manifest.js';
import { explainedByExpiry } from '../store/store-snapshot.js';
import { orderOfEpoch, type PortionVisit, shareOfRank, visitsOf } from './epoch-order.js';
import type { LoaderSettings } from './loader-options.js';
import type { MergedIndex, StoreView } from './store-view.js';

/** Records of a pile. Asking for the next portion reuses their memory. */
export interface LoadedPortion {
  /** The records without gaps. */
  readonly bytes: Uint8Array;
  /** The end of each record in `bytes`. */
  readonly ends: Uint32Array;
}

interface EpochsPart extends LoaderSettings {
  readonly epoch: number;
  /** Epochs below this one; Infinity: without end. */
  readonly endEpoch: number;
  /** The first record to give, counted in the rank's share of the first epoch. */
  readonly from: number;
  readonly prefetchPiles: number;
}

/** The memory of portions; undefined: made when it is needed. */
export type PortionBuffers = (SharedArrayBuffer | undefined)[];

interface EpochVisit extends PortionVisit {
  readonly epoch: number;
  readonly epochKey: bigint | undefined;
}

interface Loading {
  readonly epoch: number;
  /** Receives the portion, if it is large enough. */
  readonly buffer: SharedArrayBuffer | undefined;
  readonly result: Promise<LoadResult>;
}

export class PortionReader {
  readonly #view: StoreView;
  readonly #mergedIndex: MergedIndex;
  readonly #visits: Iterator<EpochVisit, void>;
  /** The portions in the order in which they are read. */
  readonly #loading: Loading[] = [];
  /** Free buffers: no portion is loaded into them or read from them. After the last portion, all of them. */
  readonly #buffers: PortionBuffers;
  #consumed: SharedArrayBuffer | undefined;

  private constructor(view: StoreView, mergedIndex: MergedIndex, part: EpochsPart, buffers: PortionBuffers) {
    this.#view = view;
    this.#mergedIndex = mergedIndex;
    this.#visits = visitsOfEpochs(view, mergedIndex, part);
    this.#buffers = buffers;
  }

  static async open(view: StoreView, part: EpochsPart, buffers: PortionBuffers): Promise<PortionReader> {
    const mergedIndex = await view.mergedIndex();
    const longestRecordBytes = longestRecordBytesOf(view.snapshot.manifest.commits);
    requireMemory(mergedIndex.totals, longestRecordBytes, memoryOf(view, part));
    return new PortionReader(view, mergedIndex, part, buffers);
  }

  /** The next portion of the epoch with records; undefined after the last one. The portion before it becomes invalid. */
  async next(epoch: number): Promise<LoadedPortion | undefined> {
    for (;;) {
      // A small store is read on this thread, and a share may be empty: without this the event loop would never get a turn.
      await yieldAndCheckAbort(this.#view.threads.limits.signal, 'incomplete');
      if (this.#consumed !== undefined) this.#buffers.push(this.#consumed);
      this.#consumed = undefined;
      this.#prefetch();
      const [first] = this.#loading;
      if (first?.epoch !== epoch) return undefined;
      this.#loading.shift();
      const { records, bytesAt, byteLength, ...loaded } = await this.#loaded(first.result);
      // A thread returns the same memory as a new object.
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

  #prefetch(): void {
    while (this.#buffers.length > 0) {
      const next = this.#visits.next();
      if (next.done === true) return;
      const { epoch, ...visit } = next.value;
      const { totals, merged } = this.#mergedIndex;
      const buffer = this.#buffers.pop();
      const result = this.#view.threads.load({
        ...visit,
        ...(merged === undefined ? { pileSets: this.#view.pileSets } : { merged: merged[visit.pile] }),
        checksum: totals.checksums[visit.pile] ?? 0n,
        buffer,
      });
      // Thrown when it is this portion's turn.
      result.catch(() => {});
      this.#loading.push({ epoch, buffer, result });
    }
  }
}

function memoryOf({ threads }: StoreView, { prefetchPiles }: EpochsPart): LoaderMemory {
  return { memoryBytes: threads.limits.memoryBytes, threadCount: threads.count, bufferCount: prefetchPiles + 1 };
}

function* visitsOfEpochs(view: StoreView, { totals }: MergedIndex, part: EpochsPart): Generator<EpochVisit, void> {
  const { seed, pileCount } = view.snapshot.settings;
  const memory = memoryOf(view, part);
  const rangeCountOf = (pile: number) =>
    rangeCountOfPile(totals.records[pile] ?? 0, totals.recordBytes[pile] ?? 0, memory);
  const share = shareOfRank(view.records, part);
  // An empty share has no visits, and this loop would search for one without end.
  if (share.count === 0) return;
  for (let epoch = part.epoch; epoch < part.endEpoch; epoch++) {
    const { piles, epochKey } = orderOfEpoch(seed, epoch, pileCount);
    const from = epoch === part.epoch ? part.from : 0;
    for (const visit of visitsOf({ piles, records: totals.records, rangeCountOf }, share, from)) {
      yield { ...visit, epoch, epochKey };
    }
  }
}

/**
 * Makes V8's collector count shared memory. The collector does not see what a `SharedArrayBuffer` holds, and would retain
 * the buffers of ended loaders until the program makes enough other garbage. So each buffer gets a companion of the same
 * length, which the collector counts. The companion takes no memory, because nobody ever writes to it.
 */
const companions = new WeakMap<SharedArrayBuffer, ArrayBuffer>();

function countSharedMemory(buffer: SharedArrayBuffer): void {
  if (!companions.has(buffer)) companions.set(buffer, new ArrayBuffer(buffer.byteLength));
}

/** A thread holds the stored records of a portion and their sort entries, a buffer the records and their ends. */
interface LoaderMemory {
  readonly memoryBytes: number;
  readonly threadCount: number;
  /** Portions that are ready or being read. */
  readonly bufferCount: number;
}

/** How full a range is planned to be: keys are spread evenly, lengths of records are not. */
const RANGE_FILL = 0.8;
const END_BYTES = 4;
/** Most ranges of a pile that is too large for the addresses of a thread. */
const MOST_RANGES = 1024;
/** Most reads of a pile for lack of memory: a smaller memory is refused. */
const MOST_READS = 64;

type PileSizes = Pick<PileTotals, 'records' | 'recordBytes'>;

/** Throws if a thread cannot hold the longest record, or a pile needs too many reads. */
export function requireMemory(piles: PileSizes, longestRecordBytes: number, memory: LoaderMemory): void {
  let leastBytes = longestRecordBytes + STORED_HEADER_BYTES + ENTRY_BYTES;
  for (const [pile, records] of piles.records.entries()) {
    // A range has at least one record: such a pile never needs more reads.
    if (records <= MOST_READS) continue;
    const neededBytes = neededFor(records, piles.recordBytes[pile] ?? 0, memory);
    leastBytes = Math.max(leastBytes, Math.ceil(neededBytes / (RANGE_FILL * MOST_READS)));
  }
  if (memory.memoryBytes >= leastBytes) return;
  throw new UsageError(
    `a memory budget of ${memory.memoryBytes} bytes is too small for the piles of this store: expected at least ${leastBytes}; raise \`memoryBytes\`, or lower \`prefetchPiles\``,
    'ERR_MEMORY_BUDGET',
  );
}

/** Returns in how many key ranges a pile is read, so that the loader stays within its memory. */
export function rangeCountOfPile(records: number, recordBytes: number, memory: LoaderMemory): number {
  const inThread = inThreadFor(records, recordBytes);
  const neededBytes = neededFor(records, recordBytes, memory);
  const fits = neededBytes <= memory.memoryBytes && inThread <= LARGEST_ARENA_BYTES * RANGE_FILL;
  if (fits || records <= 1) return 1;
  const fittingShare = RANGE_FILL * Math.min(memory.memoryBytes / neededBytes, LARGEST_ARENA_BYTES / inThread);
  return Math.max(2, Math.min(Math.ceil(1 / fittingShare), records, MOST_RANGES));
}

/** Memory to read a whole pile of this size in every thread and buffer. */
function neededFor(records: number, recordBytes: number, { threadCount, bufferCount }: LoaderMemory): number {
  return threadCount * inThreadFor(records, recordBytes) + bufferCount * (recordBytes + END_BYTES * records);
}

function inThreadFor(records: number, recordBytes: number): number {
  return recordBytes + (STORED_HEADER_BYTES + ENTRY_BYTES) * records;
}
