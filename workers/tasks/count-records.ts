/**
 * A task before the scatter pass, where the keys come from ordinals: counts the records of a part of an input, to know the
 * ordinals of those behind it. It reads as that pass does, and scatters nothing.
 */
import { framingOf } from '../../src/formats/framing-table.js';
import type { InputPart } from '../../src/inputs/input-part.js';
import { JobControl } from '../../src/job-control.js';
import { BOUNDARY_TABLE_BYTES } from '../../src/plan/arena-sizes.js';
import { type Arena, ArenaLayout } from '../arena.js';
import type { Kernel } from '../kernel/kernel.js';
import { readPart } from '../read/read-part.js';
import { ReadWindow } from '../read/read-window.js';
import type { RecordTaker } from '../read/record-reader.js';
import type { ReadSettings } from '../settings.js';
import { readStateOf } from '../thread-state.js';

export interface CountRecordsTask {
  readonly job: ReadSettings;
  readonly part: InputPart;
}

export async function countRecords({ job, part }: CountRecordsTask): Promise<number> {
  const state = { ...readStateOf(job), control: new UncountedControl(job.control) };
  const counter = new RecordCounter(state.arena, job);
  await readPart(part, job.framing && framingOf(job.framing), counter, state, job);
  return counter.records;
}

/** The bytes count as done when they are scattered. */
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

  /** The lengths of records are checked when they are scattered. */
  take(count: number): number {
    this.records += count;
    return 0;
  }
}
