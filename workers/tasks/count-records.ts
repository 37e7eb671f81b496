/**
 * A task before the scatter pass: counts the records of parts, or adds up a number of theirs. The weights of groups of inputs
 * may depend on that; and where keys come from ordinals, those of a part depend on how many records are before it.
 */
import { UncountedControl } from '../../src/floor/job-control.js';
import type { Coverage, InputPart } from '../../src/sources/input-part.js';
import { prepareKeys } from '../piles/record-values.js';
import { ReadArena, readPart } from '../read/read-part.js';
import { readSums } from '../read/weighed-sum.js';
import type { ReadSettings } from '../settings.js';
import { readStateOf } from '../thread-state.js';

interface CountRecordsTask {
  readonly job: ReadSettings;
  readonly parts: readonly InputPart[];
  /** True if the bytes count as done only when they are scattered: then records are counted, and not looked into. */
  readonly isPreparation: boolean;
}

export interface CountedRecords {
  readonly records: number;
  readonly coverage: readonly Coverage[];
  /** The sums of a number in the records of each part. */
  readonly sums: readonly ReturnType<typeof readSums>[];
}

export async function countRecords(task: CountRecordsTask): Promise<CountedRecords> {
  const { parts, isPreparation } = task;
  const job = isPreparation ? { ...task.job, content: undefined } : task.job;
  const state = readStateOf(job);
  const thread = isPreparation ? { ...state, control: new UncountedControl(job.control) } : state;
  const coverage: Coverage[] = [];
  const sums: ReturnType<typeof readSums>[] = [];
  let records = 0;
  for (const part of parts) {
    const counter = new RecordCounter(state.arena, job);
    prepareKeys(counter.kernel, job.content, false);
    coverage.push((await readPart(part, counter, thread, job)).coverage);
    sums.push(readSums(counter.kernel));
    records += counter.records;
  }
  return { records, coverage, sums };
}

class RecordCounter extends ReadArena {
  records = 0;

  /** Pass 1 refuses records that are too long. */
  take(count: number): number {
    this.records += count;
    this.kernel.wasm.weighRecords(this.table, count);
    return 0;
  }
}
