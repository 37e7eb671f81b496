/** The arena of a task that reads records and puts none on piles: regions of its own, the boundary table, the read window. */
import { BOUNDARY_TABLE_BYTES } from '../../src/plan/arena-sizes.js';
import { type Arena, ArenaLayout } from '../arena.js';
import type { Kernel } from '../kernel/kernel.js';
import type { ReadSettings } from '../settings.js';
import { ReadWindow } from './read-window.js';
import type { RecordTaker } from './record-reader.js';

export abstract class ReadArena implements RecordTaker {
  readonly window: ReadWindow;
  readonly table: number;
  /** The place where the task's own bytes begin. */
  protected readonly own: number;
  readonly #arena: Arena;

  constructor(arena: Arena, { readBytes }: Pick<ReadSettings, 'readBytes'>, ownBytes = 0) {
    this.#arena = arena;
    const layout = new ArenaLayout();
    this.own = layout.take(ownBytes);
    this.table = layout.take(BOUNDARY_TABLE_BYTES);
    this.window = new ReadWindow(arena, layout.take(0, 4096), readBytes);
  }

  get kernel(): Kernel {
    return this.#arena.kernel;
  }

  abstract take(count: number, base: number, basePosition: number, inputKey: bigint, firstRow?: number): number;
}
