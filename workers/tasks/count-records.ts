/**
 * A task before the scatter pass: reads a slice and counts its records. Nothing is put on piles. Some groups of inputs have
 * a share of the output, and their weights follow from how much there is.
 */
import type { Coverage, InputPart } from '../../src/inputs/input-part.js';
import { BOUNDARY_TABLE_BYTES } from '../../src/plan/arena-sizes.js';
import { type Arena, ArenaLayout } from '../arena.js';
import type { Kernel } from '../kernel/kernel.js';
import { readSlice } from '../read/read-slice.js';
import { ReadWindow } from '../read/read-window.js';
import type { RecordTaker } from '../read/record-reader.js';
import type { ReadSettings } from '../settings.js';
import { readStateOf } from '../thread-state.js';

export interface CountRecordsTask {
  readonly job: ReadSettings;
  /** With weights: only then their reader counts records. */
  readonly parts: readonly InputPart[];
}

/** @returns the coverage of each part. */
export async function countRecords({ job, parts }: CountRecordsTask): Promise<readonly Coverage[]> {
  const thread = readStateOf(job);
  const { coverage } = await readSlice(parts, new NoTaker(thread.arena, job), thread, job);
  return coverage;
}

/** Takes records, and does nothing with them. */
class NoTaker implements RecordTaker {
  readonly window: ReadWindow;
  readonly table: number;
  readonly #arena: Arena;

  constructor(arena: Arena, { readBytes, maxRecordBytes }: ReadSettings) {
    this.#arena = arena;
    const layout = new ArenaLayout();
    this.table = layout.take(BOUNDARY_TABLE_BYTES);
    this.window = new ReadWindow(arena, layout.take(0, 4096), readBytes, maxRecordBytes);
  }

  get kernel(): Kernel {
    return this.#arena.kernel;
  }

  /** Pass 1 refuses records that are too long. */
  take(): number {
    return 0;
  }
}
