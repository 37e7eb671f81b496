/**
 * A task before the scatter pass: reads parts of inputs as that pass does, and counts their records. Nothing is put on
 * piles. Groups of inputs may have a share of the output, and their weights follow from how much there is; or keys come from
 * ordinals, and those of a part from how many records are before it.
 */
import type { Coverage, InputPart } from '../../src/inputs/input-part.js';
import { JobControl } from '../../src/job-control.js';
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
  readonly parts: readonly InputPart[];
  /** Whether the bytes count as done only when they are scattered. */
  readonly isPreparation: boolean;
}

export interface CountedRecords {
  readonly records: number;
  /** Of each part. */
  readonly coverage: readonly Coverage[];
}

export async function countRecords({ job, parts, isPreparation }: CountRecordsTask): Promise<CountedRecords> {
  const state = readStateOf(job);
  const thread = isPreparation ? { ...state, control: new UncountedControl(job.control) } : state;
  const counter = new RecordCounter(state.arena, job);
  const { coverage } = await readSlice(parts, counter, thread, job);
  return { records: counter.records, coverage };
}

class UncountedControl extends JobControl {
  override count(): void {}
}

class RecordCounter implements RecordTaker {
  readonly window: ReadWindow;
  readonly table: number;
  readonly #arena: Arena;
  records = 0;

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
  take(count: number): number {
    this.records += count;
    return 0;
  }
}
