/** Opens files of rows as a job does, and cuts them into parts. */
import { JobControl, UNGATED } from '#src/floor/job-control.js';
import { LINES } from '#src/formats/framing-table.js';
import { memoryNeedOf } from '#src/job/work-plan.js';
import { planSlices } from '#src/plan/slices.js';
import { describeForSlices } from '#src/sources/cut-points.js';
import { type Coverage, type InputPart, inputPart } from '#src/sources/input-part.js';
import { listInputs } from '#src/sources/list-inputs.js';
import { asRows, openRows } from '#src/sources/rows.js';
import type { ReadSpec } from '#src/spec.js';
import type { Arena } from '#workers/arena.js';
import { ReadArena, readPart } from '#workers/read/read-part.js';
import type { ReadSettings } from '#workers/settings.js';
import { forgetJob, readStateOf } from '#workers/thread-state.js';

export const LINES_ASSUMED: ReadSpec = {
  framing: LINES,
  header: undefined,
  linesAssumed: true,
  decompressProgram: undefined,
  igzip: false,
  maxRecordBytes: 2 ** 30,
};

export interface OpenOptions {
  readonly columns?: readonly string[];
  readonly sliceBytes?: number;
  readonly onWarning?: (line: string) => void;
}

export async function openParts(paths: readonly string[], options: OpenOptions = {}) {
  const { columns, sliceBytes = 2 ** 40, onWarning = () => {} } = options;
  const given = { ...LINES_ASSUMED, rowChoice: { columns } };
  const { inputs: listed } = await listInputs(paths, onWarning, { format: given, takesRows: true });
  const asked = asRows(given, listed);
  const opened = await openRows(listed, { read: asked, signal: undefined, onWarning, writes: true });
  const { inputs, rows } = opened ?? { inputs: [], rows: undefined };
  const read = { ...asked, rows };
  const bytes = inputs.map((input) => input?.rows?.rowBytes);
  const planned = await describeForSlices(inputs, bytes, read, sliceBytes, undefined);
  const readable = { inputs, gates: inputs.map(() => UNGATED), firstHeader: undefined };
  const parts = [...planSlices(planned, sliceBytes)].flat().map((part) => inputPart(readable, part, 7n, 0));
  return { inputs, read, parts };
}

const READ_BYTES = 4096;
const JOB_NAME = 'tables';

export interface RowsOptions extends OpenOptions {
  readonly memoryBytes?: number;
  readonly maxRecordBytes?: number;
  /** Called each time that rows come. */
  readonly onRows?: () => void;
}

export interface RowsOfParts {
  readonly rows: readonly Buffer[];
  readonly coverage: readonly Coverage[];
  readonly parts: readonly InputPart[];
}

export async function rowsOfParts(paths: readonly string[], options: RowsOptions = {}): Promise<RowsOfParts> {
  const { memoryBytes = 2 ** 26, maxRecordBytes = 2 ** 30, onRows = () => {} } = options;
  const { read, parts } = await openParts(paths, options);
  const job: ReadSettings = {
    jobName: JOB_NAME,
    control: JobControl.create([], memoryBytes).buffer,
    arenaBytes: 2 ** 20,
    readBytes: READ_BYTES,
    memoryNeed: { ...memoryNeedOf({ memoryBytes, workers: 1 }, 1), reads: 'only' },
    read: { ...read, maxRecordBytes },
  };
  try {
    const thread = readStateOf(job);
    const taker = new RowList(thread.arena, job, onRows);
    const coverage: Coverage[] = [];
    for (const part of parts) coverage.push((await readPart(part, taker, thread, job)).coverage);
    return { rows: taker.rows, coverage, parts };
  } finally {
    forgetJob(JOB_NAME);
  }
}

class RowList extends ReadArena {
  readonly rows: Buffer[] = [];
  readonly #onRows: () => void;

  constructor(arena: Arena, job: ReadSettings, onRows: () => void) {
    super(arena, job);
    this.#onRows = onRows;
  }

  take(count: number): number {
    this.#onRows();
    const { view, bytes } = this.kernel;
    let longest = 0;
    for (let at = this.table; at < this.table + 8 * count; at += 8) {
      const [start, end] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
      this.rows.push(Buffer.from(bytes.slice(start, end)));
      longest = Math.max(longest, end - start);
    }
    return longest;
  }
}
