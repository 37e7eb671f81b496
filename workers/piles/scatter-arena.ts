/**
 * The arena of pass 1, and of the second scatter of an oversized pile: tallies, boundary table, one buffer for each
 * pile, and the read window at the end, where it can grow.
 */

import type { ContentRule } from '../../src/keep/content-rule.js';
import type { PileSet, PileSetWriter } from '../../src/piles/pile-set-writer.js';
import {
  type Amount,
  emptyTotals,
  NO_TOTALS,
  type PileTotals,
  type RecordTotals,
  subtractRecordTotals,
} from '../../src/piles/pile-totals.js';
import { BOUNDARY_TABLE_BYTES, RECENT_TABLE_BYTES, SLACK_BYTES, TALLY_BYTES } from '../../src/plan/arena-sizes.js';
import { type Arena, ArenaLayout } from '../arena.js';
import type { Kernel } from '../kernel/kernel.js';
import { ReadWindow } from '../read/read-window.js';
import type { RecordTaker } from '../read/record-reader.js';
import { HeadFilter, type HeadLimit, HISTOGRAM_BYTES } from './head-limit.js';
import { prepareKeys } from './record-values.js';

interface ScatterSizes {
  /** The address at which the layout begins. Absent: the beginning of the arena. */
  readonly startAddress?: number;
  readonly pileCount: number;
  readonly bufferBytes: number;
  readonly windowBytes: number;
  /** The product modulo 2^64 of the job's key scale and the pile counts of the levels above. */
  readonly keyScale: bigint;
  readonly headLimit?: HeadLimit | undefined;
  readonly content?: ContentRule | undefined;
  /**
   * True if keys follow the content of records, and some of those that are equal to others are dropped. Absent: as
   * `content` says.
   */
  readonly dropsEqual?: boolean;
}

type PileSetSink = Pick<PileSetWriter, 'append' | 'commit'>;

export class ScatterArena implements RecordTaker {
  readonly window: ReadWindow;
  readonly table: number;
  readonly #arena: Arena;
  readonly #writer: PileSetSink;
  readonly #pileCount: number;
  readonly #tallies: number;
  readonly #buffers: number;
  readonly #strideBytes: number;
  readonly #headFilter: HeadFilter | undefined;
  /** The totals of what the kernel had dropped before; undefined: it drops nothing. */
  readonly #droppedBefore: RecordTotals | undefined;

  constructor(arena: Arena, writer: PileSetSink, sizes: ScatterSizes) {
    const { pileCount, bufferBytes, dropsEqual = sizes.content?.isDistinct === true } = sizes;
    const layout = new ArenaLayout(sizes.startAddress);
    this.#arena = arena;
    this.#writer = writer;
    this.#pileCount = pileCount;
    this.#strideBytes = bufferBytes + SLACK_BYTES;
    this.#tallies = layout.take(pileCount * TALLY_BYTES);
    this.table = layout.take(BOUNDARY_TABLE_BYTES);
    this.#buffers = layout.take(pileCount * this.#strideBytes, 4096);
    const histogram = sizes.headLimit === undefined ? 0 : layout.take(HISTOGRAM_BYTES);
    const recent = dropsEqual ? layout.take(RECENT_TABLE_BYTES) : 0;
    const window = layout.take(0, 4096);
    this.window = new ReadWindow(arena, window, sizes.windowBytes);

    const { kernel } = arena;
    prepareKeys(kernel, sizes.content, dropsEqual);
    if (sizes.headLimit !== undefined) this.#headFilter = new HeadFilter(kernel, sizes.headLimit, histogram);
    kernel.wasm.prepareScatter(pileCount, this.#tallies, this.#buffers, bufferBytes, this.#strideBytes, sizes.keyScale);
    if (dropsEqual) {
      this.#droppedBefore = kernel.dropped;
      kernel.wasm.dropRecent(recent);
    }
    kernel.flush = (pile, byteLength) => {
      writer.append(pile, kernel.bytes, this.#buffers + pile * this.#strideBytes, byteLength);
    };
  }

  totals(): PileTotals {
    return readTotals(this.kernel.view, this.#tallies, this.#pileCount);
  }

  get longestRecordBytes(): number {
    return this.kernel.wasm.longestRecord.value >>> 0;
  }

  get kernel(): Kernel {
    return this.#arena.kernel;
  }

  take(count: number, base: number, basePosition: number, inputKey: bigint): number {
    const { wasm } = this.#arena.kernel;
    wasm.scatterRecords(this.table, count, base, BigInt(basePosition), inputKey);
    if (this.#headFilter === undefined) return this.longestRecordBytes;
    this.#headFilter.afterScatter();
    return Math.max(this.longestRecordBytes, wasm.longestLeftOut.value >>> 0);
  }

  /** The totals of the records dropped so far because an equal one is in the buffers. */
  get dropped(): RecordTotals {
    return this.#droppedBefore === undefined
      ? NO_TOTALS
      : subtractRecordTotals(this.kernel.dropped, this.#droppedBefore);
  }

  /** The amount that was left out. Undefined: the job leaves no records out. */
  get leftOut(): Amount | undefined {
    if (this.#droppedBefore !== undefined) {
      const { records, bytes } = this.dropped;
      return { records, bytes };
    }
    if (this.#headFilter === undefined) return undefined;
    const { wasm } = this.#arena.kernel;
    return { records: Number(wasm.leftOutRecords.value), bytes: Number(wasm.leftOutBytes.value) };
  }

  /** @param report any JSON value, which the index stores for the job. */
  commit(report: unknown): { readonly pileSet: PileSet; readonly totals: PileTotals } {
    const { kernel } = this.#arena;
    this.#headFilter?.end();
    for (let pile = 0; pile < this.#pileCount; pile++) {
      const fill = kernel.view.getUint32(this.#tallies + pile * TALLY_BYTES, true);
      if (fill > 0) kernel.flush(pile, fill);
    }
    const totals = this.totals();
    return { pileSet: this.#writer.commit(totals, report), totals };
  }
}

function readTotals(view: DataView, tallies: number, pileCount: number): PileTotals {
  const totals = emptyTotals(pileCount);
  for (let pile = 0; pile < pileCount; pile++) {
    const at = tallies + pile * TALLY_BYTES;
    totals.records[pile] = Number(view.getBigUint64(at + 8, true));
    totals.recordBytes[pile] = Number(view.getBigUint64(at + 16, true));
    totals.checksums[pile] = view.getBigUint64(at + 24, true);
  }
  return totals;
}
