/**
 * Takes records and leaves them where they were read: notes their entries on the piles of a slice. When the record memory
 * is full, it scatters what the slice holds so far, and a scatter takes over.
 */
import type { PileTotals } from '../../src/pile-sets/pile-totals.js';
import { TALLY_BYTES } from '../../src/plan/arena-sizes.js';
import { blocksAtOnce } from '../../src/plan/hold-plan.js';
import type { Kernel } from '../kernel/kernel.js';
import { prepareKeys } from '../piles/prepare-keys.js';
import { totalsOfTallies } from '../piles/scatter-arena.js';
import type { RecordTaker } from '../read/record-reader.js';
import type { RecordMemory } from '../record-memory.js';
import type { HoldSettings, ScatterSettings } from '../settings.js';
import { HeldWindow } from './held-window.js';

export interface HolderSettings
  extends HoldSettings,
    Pick<ScatterSettings, 'maxRecordBytes' | 'splitBy' | 'unique' | 'uniqueBy'> {}

export class RecordHolder implements RecordTaker {
  readonly kernel: Kernel;
  readonly table: number;
  readonly window: HeldWindow;
  readonly #memory: RecordMemory;
  readonly #settings: HoldSettings;
  readonly #directory: number;
  readonly #scatter: (directory: number) => RecordTaker;
  #isFull: boolean;
  #successor: RecordTaker | undefined;

  private constructor(
    memory: RecordMemory,
    directory: number,
    settings: HolderSettings,
    scatter: (directory: number) => RecordTaker,
  ) {
    this.#memory = memory;
    this.#settings = settings;
    this.#directory = directory;
    this.#scatter = scatter;
    this.kernel = memory.kernel;
    this.table = memory.table;
    this.window = new HeldWindow(memory, settings);
    prepareKeys(this.kernel, settings);
    this.kernel.wasm.prepareHold(settings.pileCount, directory, settings.blockBytes);
    this.#isFull = !this.#takeBlocks();
  }

  /**
   * @param scatter scatters all records of the directory, and takes the records behind them.
   * @returns undefined: the memory has no room for a directory.
   */
  static open(
    memory: RecordMemory,
    settings: HolderSettings,
    scatter: (directory: number) => RecordTaker,
  ): RecordHolder | undefined {
    const directory = memory.take(settings.pileCount * TALLY_BYTES);
    return directory === undefined ? undefined : new RecordHolder(memory, directory, settings, scatter);
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  take(count: number, base: number, basePosition: number, inputKey: bigint): number {
    const { wasm, view } = this.kernel;
    wasm.holdRecords(this.table, count, base, BigInt(basePosition), inputKey);
    this.window.hold(view.getUint32(this.table + 8 * count - 4, true));
    this.#isFull = !this.#takeBlocks();
    return wasm.longestHeld() >>> 0;
  }

  /** Takes over for good. */
  successor(): RecordTaker {
    this.#isFull = true;
    this.#successor ??= this.#scatter(this.#directory);
    return this.#successor;
  }

  /** The held slice. */
  held(): { readonly directory: number; readonly totals: PileTotals } {
    const totals = totalsOfTallies(this.kernel.view, this.#directory, this.#settings.pileCount);
    return { directory: this.#directory, totals };
  }

  /** @returns whether there are blocks for all records of another table. */
  #takeBlocks(): boolean {
    const { wasm } = this.kernel;
    const { pileCount, blockBytes } = this.#settings;
    const neededCount = blocksAtOnce(pileCount, blockBytes);
    if (wasm.blocksLeft() >>> 0 >= neededCount) return true;
    // With as many as that, those of the last time are used up before more are needed.
    const address = this.#memory.take(neededCount * blockBytes, blockBytes);
    if (address === undefined) return false;
    wasm.addBlocks(address, address + neededCount * blockBytes);
    return true;
  }
}
