/** Takes records and drops them, in an arena of its own: for an input that is read once more to find a mistake. */
import type { JobControl } from '../../src/job-control.js';
import { BOUNDARY_TABLE_BYTES } from '../../src/plan/arena-sizes.js';
import { Arena, ArenaLayout } from '../arena.js';
import type { Kernel } from '../kernel/kernel.js';
import type { ReadSettings } from '../settings.js';
import { ReadWindow } from './read-window.js';
import type { RecordTaker } from './record-reader.js';

const WINDOW_BYTES = 2 ** 20;

export class RecordDropper implements RecordTaker {
  readonly kernel: Kernel;
  readonly window: ReadWindow;
  readonly table: number;

  constructor(control: JobControl, { maxRecordBytes }: ReadSettings) {
    const arena = new Arena(control);
    const layout = new ArenaLayout();
    this.kernel = arena.kernel;
    this.table = layout.take(BOUNDARY_TABLE_BYTES);
    const start = layout.take(0, 4096);
    // The job has failed: this is beyond its budget.
    arena.allow(start + 2 * WINDOW_BYTES);
    this.window = new ReadWindow(arena, start, WINDOW_BYTES, maxRecordBytes);
  }

  take(): number {
    return 0;
  }
}
