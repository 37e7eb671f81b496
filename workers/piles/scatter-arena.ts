/**
 * The arena of pass 1, and of the second scatter of an oversized pile: tallies, boundary table, one buffer for each
 * pile unless they lie in the memory pool, and the read window at the end, where it can grow.
 */

import type { ContentRule } from '../../src/keep/content-rule.js';
import type { SectionRule, SectionTally } from '../../src/keep/sections.js';
import type { PileSet, PileSetWriter } from '../../src/piles/pile-set-writer.js';
import {
  type Amount,
  emptyTotals,
  NO_TOTALS,
  type PileTotals,
  type RecordTotals,
  subtractRecordTotals,
} from '../../src/piles/pile-totals.js';
import type { PoolBuffers } from '../../src/piles/pool-buffers.js';
import {
  BOUNDARY_TABLE_BYTES,
  RECENT_TABLE_BYTES,
  SECTION_TABLE_BYTES,
  SLACK_BYTES,
  storedHeaderBytes,
  TALLY_BYTES,
} from '../../src/plan/arena-sizes.js';
import { type Arena, ArenaLayout } from '../arena.js';
import type { Kernel } from '../kernel/kernel.js';
import { ReadWindow } from '../read/read-window.js';
import type { RecordTaker } from '../read/record-reader.js';
import { HeadFilter, type HeadLimit, HISTOGRAM_BYTES } from './head-limit.js';
import { prepareKeys } from './record-values.js';
import { SectionTable } from './section-table.js';

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
  /** True if stored records have second keys, as the layout says. Absent: they have none. */
  readonly hasSecondKeys?: boolean | undefined;
  /** The buffers, if they lie in the pool. Absent: they lie in the arena. */
  readonly poolBuffers?: PoolBuffers | undefined;
  /** The rule that divides the records into sections. Absent: none does, or they are divided already. */
  readonly sections?: SectionRule | undefined;
  /** True if the totals have the sums of the keys. Absent: no. */
  readonly sumsKeys?: boolean;
  /**
   * True if keys follow the content of records, and some of those that are equal to others are dropped. Absent: as
   * `content` says.
   */
  readonly dropsEqual?: boolean;
}

type PileSetSink = Pick<PileSetWriter, 'append' | 'keep' | 'commit'>;

export class ScatterArena implements RecordTaker {
  readonly window: ReadWindow;
  readonly table: number;
  readonly #arena: Arena;
  readonly #writer: PileSetSink;
  readonly #pileCount: number;
  readonly #tallies: number;
  readonly #bufferBytes: number;
  readonly #keyScale: bigint;
  readonly #flush: Kernel['flush'];
  /** How many full buffers of each pile have left. */
  readonly #flushes: Float64Array;
  readonly #sumsKeys: boolean;
  readonly #headerBytes: number;
  readonly #sections: SectionTable | undefined;
  readonly #headFilter: HeadFilter | undefined;
  /** The totals of what the kernel had dropped before; undefined: it drops nothing. */
  readonly #droppedBefore: RecordTotals | undefined;

  constructor(arena: Arena, writer: PileSetSink, sizes: ScatterSizes) {
    const { pileCount, bufferBytes, poolBuffers, dropsEqual = sizes.content?.isDistinct === true } = sizes;
    const layout = new ArenaLayout(sizes.startAddress ?? arena.start);
    this.#arena = arena;
    this.#writer = writer;
    this.#pileCount = pileCount;
    this.#bufferBytes = bufferBytes;
    this.#flushes = new Float64Array(pileCount);
    this.#keyScale = sizes.keyScale;
    this.#sumsKeys = sizes.sumsKeys ?? false;
    this.#headerBytes = storedHeaderBytes(sizes);
    this.#tallies = layout.take(pileCount * TALLY_BYTES);
    this.table = layout.take(BOUNDARY_TABLE_BYTES);
    const strideBytes = bufferBytes + SLACK_BYTES;
    const buffers = layout.take(poolBuffers === undefined ? pileCount * strideBytes : 0, 4096);
    const histogram = sizes.headLimit === undefined ? 0 : layout.take(HISTOGRAM_BYTES);
    const sections = sizes.sections === undefined ? 0 : layout.take(SECTION_TABLE_BYTES);
    const recent = dropsEqual ? layout.take(RECENT_TABLE_BYTES) : 0;
    const window = layout.take(0, 4096);
    this.window = new ReadWindow(arena, window, sizes.windowBytes);

    const { kernel } = arena;
    prepareKeys(kernel, sizes.content, dropsEqual || sizes.content?.isBundled === true);
    kernel.wasm.useSecondKeys(sizes.hasSecondKeys === true, sizes.content?.isBundled === true);
    kernel.wasm.useWindow(0n, 0n, 0);
    this.#sections = sizes.sections && new SectionTable(kernel, sections, sizes.sections);
    if (sizes.headLimit !== undefined) this.#headFilter = new HeadFilter(kernel, sizes.headLimit, histogram);
    kernel.wasm.prepareScatter(pileCount, this.#tallies, bufferBytes, sizes.keyScale);
    const bufferOf = (pile: number) => poolBuffers?.addressOf(pile) ?? buffers + pile * strideBytes;
    for (let pile = 0; pile < pileCount; pile++) kernel.wasm.useBuffer(pile, bufferOf(pile));
    if (dropsEqual) {
      this.#droppedBefore = kernel.dropped;
      kernel.wasm.dropRecent(recent);
    }
    this.#flush = (pile, byteLength) => {
      const address = bufferOf(pile);
      this.#flushes[pile] = (this.#flushes[pile] ?? 0) + 1;
      const next = poolBuffers?.replace(pile);
      if (next !== undefined) {
        writer.keep(pile, address, byteLength);
        return next;
      }
      writer.append(pile, kernel.bytes, address, byteLength);
      return address;
    };
    kernel.flush = this.#flush;
  }

  /** Has the kernel go on with this scatter, although it has done another one since. */
  resume(): void {
    this.kernel.flush = this.#flush;
    this.kernel.wasm.resumeScatter(this.#pileCount, this.#tallies, this.#bufferBytes, this.#keyScale);
  }

  totals(): PileTotals {
    const { view } = this.kernel;
    const totals = emptyTotals(this.#pileCount, this.#sumsKeys);
    for (let pile = 0; pile < this.#pileCount; pile++) {
      const at = this.#tallies + pile * TALLY_BYTES;
      const records = Number(view.getBigUint64(at + 8, true));
      const storedBytes = (this.#flushes[pile] ?? 0) * this.#bufferBytes + this.#fillOf(pile);
      totals.records[pile] = records;
      totals.recordBytes[pile] = storedBytes - this.#headerBytes * records;
      totals.checksums[pile] = view.getBigUint64(at + 16, true);
      if (totals.keySums !== undefined) totals.keySums[pile] = view.getBigUint64(at + 24, true);
    }
    return totals;
  }

  /** The sections that the scatter has found. Undefined: there are none. */
  get sections(): readonly SectionTally[] | undefined {
    return this.#sections?.tallies();
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
      const fill = this.#fillOf(pile);
      const next = kernel.view.getUint32(this.#tallies + pile * TALLY_BYTES, true);
      if (fill > 0) this.#writer.append(pile, kernel.bytes, next - fill, fill);
    }
    const totals = this.totals();
    return { pileSet: this.#writer.commit(totals, report), totals };
  }

  /** Returns the bytes in the buffer of a pile. */
  #fillOf(pile: number): number {
    const { view } = this.kernel;
    const at = this.#tallies + pile * TALLY_BYTES;
    const [next, end] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
    return next - (end - this.#bufferBytes);
  }
}
