/**
 * Makes the record index of a file: `pileshuf index`.
 *
 *     plan      the file -> ranges of it, or members, one a task       index-source.ts, list-spans.ts
 *     note      one task a range: where records lie -> blocks          workers/tasks/note-records.ts
 *     commit    tables behind the blocks, the header; sync, rename     index-attempt.ts
 *
 * The index is written under a name of its own and gets its name when all of it is on the disk, in place of a former
 * one. As in a shuffle, what the tasks read must tile the file.
 */
import { randomUUID } from 'node:crypto';
import type { ReadShare } from '../../workers/tasks/job-share.js';
import type { NoteResult, NoteTask } from '../../workers/tasks/note-records.js';
import { type Release, releasingAll } from '../cleanup.js';
import { AbortedError, VerificationError } from '../errors.js';
import { framingOf } from '../formats/framing-table.js';
import { nameOfFormat } from '../formats/record-format.js';
import { type ListedSpans, listSpans } from '../inputs/list-spans.js';
import { type GateNumber, JobControl, UNGATED } from '../job-control.js';
import { type CountBefore, countBeforeRanges } from '../passes/count-before-ranges.js';
import { DeviceGates } from '../passes/device-gates.js';
import { JobStop } from '../passes/job-stop.js';
import { runTasks } from '../passes/run-tasks.js';
import { openTaskPool, type TaskPool } from '../passes/task-pool.js';
import { CoverageCheck } from '../passes/verify.js';
import { planIndex } from '../plan/index-plan.js';
import type { Tuning } from '../plan/memory-plan.js';
import { type PlannedInput, planSlices, type SlicePart } from '../plan/slices.js';
import { SharedPlaces } from '../record-index/block-writer.js';
import { IndexAttempt } from '../record-index/index-attempt.js';
import { HEADER_BYTES, INDEX_SUFFIX, type IndexDescription } from '../record-index/index-layout.js';
import { markOf } from '../record-index/indexed-file.js';
import { CELL_ENTRY_BYTES } from '../record-index/member-cells.js';
import type { IndexOptions, IndexReport } from './index-options.js';
import { type IndexSource, openSource } from './index-source.js';
import { JobProgress } from './job-progress.js';

/** What the tasks of one index share. */
interface IndexJob {
  readonly source: IndexSource;
  readonly spans: ListedSpans | undefined;
  readonly share: ReadShare;
  readonly gate: GateNumber;
  readonly pool: TaskPool;
  readonly stop: JobStop;
  readonly slices: readonly (readonly SlicePart[])[];
}

export async function runIndexJob(file: string, options: IndexOptions, tuning: Tuning): Promise<IndexReport> {
  const began = performance.now();
  if (options.signal?.aborted === true) throw new AbortedError();
  const warn = (error: unknown) => options.onWarning?.(error instanceof Error ? error.message : String(error));
  const report = await releasingAll((releases) => makeIndex(file, options, tuning, releases), warn);
  return { ...report, seconds: (performance.now() - began) / 1000 };
}

async function makeIndex(
  file: string,
  options: IndexOptions,
  tuning: Tuning,
  releases: Release[],
): Promise<Omit<IndexReport, 'seconds'>> {
  const source = await openSource(file, options);
  const { request, input, framing } = source;
  const target = options.index ?? `${file}${INDEX_SUFFIX}`;
  const attempt = IndexAttempt.begin(target);
  releases.push(() => attempt.release());

  const spans =
    input.codec === undefined
      ? undefined
      : await listSpans(input, framingOf(framing), attempt.file, HEADER_BYTES, request.signal);
  const decodedBytes = spans?.decodedBytes ?? input.version.byteLength;
  const plan = planIndex({ budgetBytes: request.memoryBytes, workers: request.workers }, decodedBytes, tuning);
  const gates = new DeviceGates(request.ioLimits);
  const gate = plan.inline ? UNGATED : gates.gateOf(file, 'input');
  const control = JobControl.create(gates.permits, plan.spareBytes);
  const stop = new JobStop(control, request.signal);
  releases.push(() => stop.release());
  const share: ReadShare = {
    jobName: randomUUID(),
    control: control.buffer,
    readBytes: plan.readBytes,
    arenaBytes: plan.arenaBytes,
    maxRecordBytes: request.maxRecordBytes,
    memoryNeed: source.memoryNeed,
    framing,
    header: request.header,
  };
  const slices = [...planSlices([plannedInput(source, spans)], plan.sliceBytes)];
  const threadCount = plan.inline ? 0 : Math.min(plan.workers, slices.length);
  const pool = await openTaskPool({ threadCount, startCount: threadCount }, share.jobName, () => {});
  releases.push(() => pool.destroy());

  const places = SharedPlaces.from(HEADER_BYTES + (spans?.cellCount ?? 0) * CELL_ENTRY_BYTES);
  const job: IndexJob = { source, spans, share, gate, pool, stop, slices };
  const progress = new JobProgress(control, stop, request.onProgress);
  const noted = await progress.during('scatter', input.version.byteLength, () => noteAll(job, attempt.path, places));
  const results = noted.value;
  const { recordCount, description } = verified(source, spans, results);
  const tables = { stretches: results, cellCount: spans?.cellCount ?? 0, blocksEnd: places.end, description };
  const committed = await progress.during('commit', undefined, async () => {
    const indexBytes = await attempt.complete(tables);
    source.requireUnchanged();
    await attempt.commit();
    return indexBytes;
  });
  return { records: recordCount, index: target, indexBytes: committed.value };
}

/** @returns what the tasks found, in the order of the file. */
async function noteAll(job: IndexJob, indexPath: string, places: SharedPlaces): Promise<readonly NoteResult[]> {
  const { source, share, gate, pool, stop, slices } = job;
  const plan = { slices };
  const countBefore = await countBeforeRanges(
    { inputs: [source.input], inputGates: [gate], share, pool, stop, plan },
    () => false,
  );
  function* tasks(): Generator<{ slice: number; task: NoteTask }> {
    for (const [slice, [part]] of slices.entries()) {
      if (part === undefined) continue;
      const range = partOf(job, part, countBefore);
      yield { slice, task: { job: share, part: range, indexPath, places: places.buffer } };
    }
  }
  const results: NoteResult[] = [];
  const take = (result: NoteResult, { slice }: { slice: number }) => {
    results[slice] = result;
  };
  await runTasks(tasks(), ({ task }) => pool.note(task), take, 2 * pool.threadCount, stop);
  return results;
}

function plannedInput({ input, framing }: IndexSource, spans: ListedSpans | undefined): PlannedInput {
  const { byteLength } = input.version;
  const start = input.header.byteLength;
  if (spans !== undefined) {
    const { decodedBytes, cutPoints } = spans;
    return { cutBytes: undefined, start, byteLength, decodedBytes, cutPoints };
  }
  const { cut } = framingOf(framing);
  const cutBytes = cut.kind === 'never' ? undefined : cut.kind === 'every' ? cut.byteLength : 1;
  return { cutBytes, start, byteLength, decodedBytes: byteLength };
}

function partOf({ source: { input }, gate }: IndexJob, part: SlicePart, countBefore: CountBefore): NoteTask['part'] {
  const { path, version, codec, header } = input;
  const file = { inputOrdinal: 0, path, inputKey: 0n, headerBytes: header.byteLength, version, gate };
  const { start, end, members } = part;
  if (codec === undefined) {
    return { kind: 'range', ...file, start, end: end ?? version.byteLength, countBefore: countBefore(part) };
  }
  if (members === undefined) return { kind: 'compressed', ...file, codec: codec.name };
  return { kind: 'members', ...file, codec: codec.name, start, end: end ?? members.decodedEnd, members };
}

/** @throws VerificationError when what the tasks read does not tile the file, or its members lie about their sizes. */
function verified(
  { input, request, framing }: IndexSource,
  spans: ListedSpans | undefined,
  results: readonly NoteResult[],
): { readonly recordCount: number; readonly description: IndexDescription } {
  const check = new CoverageCheck([input]);
  let recordCount = 0;
  let notedBytes = 0;
  let missing: Uint8Array = new Uint8Array();
  let recordsEnd = input.header.byteLength;
  for (const result of results) {
    const { coverage } = result;
    check.add(coverage);
    recordCount += result.recordCount;
    notedBytes += result.recordBytes;
    if (coverage.end > coverage.start) recordsEnd = Math.max(recordsEnd, coverage.end);
    if (result.missing.byteLength > 0) missing = result.missing;
    const { inputBytes } = coverage;
    if (spans === undefined || inputBytes === undefined || inputBytes === spans.decodedBytes) continue;
    throw new VerificationError(
      `${input.path} decodes to ${inputBytes} bytes, expected the ${spans.decodedBytes} that its members say they hold`,
    );
  }
  check.verify(notedBytes);
  return {
    recordCount,
    description: {
      file: markOf(input.path, input.version),
      format: nameOfFormat({ framing, header: request.header }),
      codec: input.codec?.name ?? null,
      recordsStart: input.header.byteLength,
      recordsEnd,
      missing: Buffer.from(missing).toString('hex'),
    },
  };
}
