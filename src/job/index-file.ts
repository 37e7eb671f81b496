/**
 * Makes the record index of a file.
 *
 *     plan      the file -> ranges of it, or members, one a task       openSource, writeSpans
 *     note      one task a range: where records lie -> blocks          ../../workers/tasks/note-records.ts
 *     commit    tables after the blocks, the header; sync, rename      ../record-index/index-attempt.ts
 *
 * The index gets its final name, and replaces a former index, when all of it is durable. As in a shuffle, the parts
 * that the tasks read must tile the file.
 */
import type { ReadSettings } from '../../workers/settings.js';
import type { NoteResult } from '../../workers/tasks/note-records.js';
import { counted, InputError, UsageError, VerificationError } from '../errors.js';
import { JobControl, UNGATED } from '../floor/job-control.js';
import type { Framing } from '../formats/framing.js';
import { type FramingSpec, framingOf } from '../formats/framing-table.js';
import { nameOfFormat } from '../formats/record-format.js';
import { type OpenFile, writeAt } from '../io/files.js';
import { INDEX_SUFFIX } from '../io/own-files.js';
import { statPath } from '../io/paths.js';
import { DeviceGates } from '../machine/devices.js';
import type { IndexReport } from '../options/reports.js';
import { INDEX_OPTIONS, type IndexOptions } from '../options/shuffle-options.js';
import { RegularInput } from '../places/inputs/input-source.js';
import { planIndex } from '../plan/index-plan.js';
import type { MemoryNeed, Tuning } from '../plan/memory-plan.js';
import { planSlices, type Slice } from '../plan/slices.js';
import { SpaceAllocator } from '../record-index/block-writer.js';
import { IndexAttempt } from '../record-index/index-attempt.js';
import {
  CELL_ENTRY_BYTES,
  CellEncoder,
  HEADER_BYTES,
  type IndexDescription,
  MOST_SPAN_BYTES,
  type Span,
} from '../record-index/index-layout.js';
import { fingerprintOf } from '../record-index/indexed-file.js';
import { type MemberCuts, plannedInput, walkMembers } from '../sources/cut-points.js';
import { type FileInput, isFileInput, storedBytesIn } from '../sources/input.js';
import { inputPart, type ReadableInputs } from '../sources/input-part.js';
import { CoverageCheck } from '../stages/coverage-check.js';
import { runTasks, tasksAtOnce } from '../stages/run-tasks.js';
import { countByteBeforeParts } from '../stages/start-states.js';
import { startThreads, type Threads } from '../stages/threads.js';
import { requireKnownOptions } from '../values/known-options.js';
import { type JobScope, runJob } from './job.js';
import { JobProgress } from './job-progress.js';
import { listNamedInputs, openHeaders } from './open-inputs.js';
import { completeReading, type ReadingRequest } from './request.js';
import { memoryNeedOf } from './work-plan.js';

/**
 * Makes the record index of a file, with which `openIndexed` reads the records in any order. A complete new index
 * replaces a former one.
 *
 * @param file a regular file. If it is compressed, its members must be small: at most 64 MiB decoded.
 * @param tuning sizes for tests.
 * @throws PileshufError: one of its subclasses, with a stable `code` and a message of one line.
 */
export async function indexFile(
  file: string,
  options: IndexOptions = {},
  tuning: Partial<Tuning> = {},
): Promise<IndexReport> {
  const { value, seconds } = await runJob(options, (scope) => makeIndex(file, options, tuning, scope));
  return { ...value, seconds };
}

async function makeIndex(
  file: string,
  options: IndexOptions,
  tuning: Tuning,
  { releases }: JobScope,
): Promise<Omit<IndexReport, 'seconds'>> {
  const source = await openSource(file, options);
  const { request, input, framing } = source;
  const target = options.index ?? `${file}${INDEX_SUFFIX}`;
  const attempt = new IndexAttempt(target);
  releases.push(() => attempt.release());

  const ofRecords = framingOf(framing);
  const spans =
    input.codec === undefined
      ? undefined
      : await writeSpans(input, ofRecords, attempt.file, HEADER_BYTES, request.signal);
  const decodedBytes = spans?.decodedBytes ?? input.version.byteLength;
  const plan = planIndex({ budgetBytes: request.memoryBytes, workers: request.workers }, decodedBytes, tuning);
  const slices = [...planSlices([plannedInput(input, ofRecords, decodedBytes, spans)], plan.sliceBytes)];

  const gates = new DeviceGates(request.ioLimits);
  const gate = plan.inline ? UNGATED : gates.gateOf(file, 'input');
  const control = JobControl.create(gates.permits, plan.spareBytes);
  const threadCount = plan.inline ? 0 : Math.min(plan.workers, slices.length);
  const storedBytes = input.version.byteLength;
  const phases = [
    { phase: 'scatter', bytes: storedBytes },
    { phase: 'commit', bytes: 0 },
  ] as const;
  const progress = new JobProgress(control, request, gates, phases, releases);
  const threads = await startThreads({ threadCount, startCount: threadCount }, progress, () => {}, releases);
  const { readBytes, arenaBytes } = plan;
  const settings: ReadSettings = {
    jobName: threads.jobName,
    control: control.buffer,
    arenaBytes,
    readBytes,
    memoryNeed: source.memoryNeed,
    read: { ...request.read, framing, igzip: false },
  };
  const readable = { inputs: [input], gates: [gate], firstHeader: undefined };

  const places = SpaceAllocator.from(HEADER_BYTES + (spans?.cellCount ?? 0) * CELL_ENTRY_BYTES);
  const noted = await progress.during('scatter', storedBytes, () =>
    noteRecords({ ...readable, slices, settings }, threads, attempt.path, places),
  );
  const results = noted.value;
  const { recordCount, description } = verified(source, spans, results);
  const tables = { stretches: results, cellCount: spans?.cellCount ?? 0, blocksEnd: places.end, description };
  const committed = await progress.during('commit', undefined, async () => {
    const indexBytes = await attempt.complete(tables);
    requireUnchanged(input);
    await attempt.commit();
    return indexBytes;
  });
  return { records: recordCount, index: target, indexBytes: committed.value };
}

interface IndexedSource {
  readonly request: ReadingRequest;
  readonly input: FileInput;
  readonly framing: FramingSpec;
  /** The need, for advice in messages. */
  readonly memoryNeed: MemoryNeed;
}

async function openSource(file: string, options: IndexOptions): Promise<IndexedSource> {
  requireKnownOptions('indexFile()', options, INDEX_OPTIONS);
  const { index } = options;
  if (index === '') throw new UsageError('`index`: expected a path that is not empty');
  const request = completeReading({ ...options, inputs: [{ path: file }] });
  if (statPath(file, 'input')?.isDirectory() === true) {
    throw new InputError(
      'ERR_INPUT_UNREADABLE',
      `${file} is a directory; expected one file, since each file has its own index`,
    );
  }
  const { inputs } = await listNamedInputs(request, { header: undefined, mayHaveHeaders: true, readsRemote: false });
  const [listed] = inputs;
  const memoryNeed: MemoryNeed = {
    ...memoryNeedOf(request, (listed && storedBytesIn(listed)) ?? 1),
    reads: 'only',
  };
  const { framing, ...opened } = await openHeaders(inputs, request, () => memoryNeed);
  const [input] = opened.inputs;
  if (input === undefined || !isFileInput(input) || framing === undefined) {
    throw new InputError(
      'ERR_INPUT_UNREADABLE',
      `${file} is not a regular file; only the records of a regular file can be read in any order`,
    );
  }
  return { request, input, framing, memoryNeed };
}

/** Opening a file compares it with the version that was planned. */
function requireUnchanged({ path, version }: FileInput): void {
  new RegularInput(path, version, JobControl.create([], 0), UNGATED).close();
}

/** Returns the results of the tasks in the order of the file. */
async function noteRecords(
  work: ReadableInputs & { readonly slices: readonly Slice[]; readonly settings: ReadSettings },
  threads: Threads,
  indexPath: string,
  places: SpaceAllocator,
): Promise<readonly NoteResult[]> {
  const { slices, settings } = work;
  const countBefore = await countByteBeforeParts(work, threads, () => false);
  const results: NoteResult[] = [];
  const note = (slice: number): Promise<NoteResult> => {
    const [part] = slices[slice] ?? [];
    if (part === undefined) throw new RangeError(`slice ${slice} is empty`);
    const toRead = inputPart(work, part, 0n, countBefore(part));
    if (toRead.kind === 'stream') throw new RangeError('a stream has no record index');
    return threads.pool.run('note', { job: settings, part: toRead, indexPath, places: places.buffer });
  };
  const take = (result: NoteResult, slice: number) => {
    results[slice] = result;
  };
  await runTasks(slices.keys(), note, take, tasksAtOnce(threads), threads.stop);
  return results;
}

/** Checks that the parts that the tasks read tile the file, and that its members hold as many bytes as they say. */
function verified(
  { input, request, framing }: IndexedSource,
  spans: WrittenSpans | undefined,
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
      `${input.path} decodes to ${counted(inputBytes, 'byte')}, expected the ${counted(spans.decodedBytes, 'byte')} that its members say they hold`,
    );
  }
  check.verify(notedBytes);
  return {
    recordCount,
    description: {
      file: fingerprintOf(input.path, input.version),
      format: nameOfFormat({ framing, header: request.read.header }),
      codec: input.codec?.name ?? null,
      recordsStart: input.header.byteLength,
      recordsEnd,
      missing: Buffer.from(missing).toString('hex'),
    },
  };
}

interface WrittenSpans extends MemberCuts {
  readonly cellCount: number;
}

/** Decoded bytes between two points where the file may be cut. */
const POINT_SPACING_BYTES = 256 * 1024;

/**
 * Walks through the members of a compressed file. Finds the spans, which the index stores (a reader decodes one span to get
 * one record), and the points where the file is cut for the threads.
 * @param offset where the first cell goes.
 */
async function writeSpans(
  input: FileInput,
  framing: Framing,
  index: OpenFile,
  offset: number,
  signal: AbortSignal | undefined,
): Promise<WrittenSpans> {
  const { path, version, codec } = input;
  const { name, listMembers } = codec ?? { name: 'it' };
  if (listMembers === undefined) throw unreachableError(path, `${name} can only be decoded from its beginning`);
  let [pieces, pieceBytes, place]: [Buffer[], number, number] = [[], 0, offset];
  const writePieces = () => {
    writeAt(index, Buffer.concat(pieces), 0, pieceBytes, place);
    place += pieceBytes;
    [pieces, pieceBytes] = [[], 0];
  };
  const takeEntries = (entries: Buffer) => {
    pieces.push(entries);
    pieceBytes += entries.byteLength;
    if (pieceBytes >= PIECE_BYTES) writePieces();
  };
  const cells = new CellEncoder((span) => requireShort(path, span), takeEntries);
  const cuts = await walkMembers(input, framing, POINT_SPACING_BYTES, signal, (member) => {
    cells.add(member);
    return false;
  });
  if (cuts === undefined)
    throw unreachableError(path, `not all of its ${name} members say how many bytes they hold, or the file was cut`);
  cells.end(version.byteLength, cuts.decodedBytes);
  writePieces();
  return { ...cuts, cellCount: cells.cellCount };
}

const PIECE_BYTES = 256 * 1024;
const MOST_STORED_BYTES = 2 * MOST_SPAN_BYTES;

/** A reader decodes a whole span to get at one record. */
function requireShort(path: string, { storedStart, decodedBytes, storedBytes }: Span): void {
  if (decodedBytes <= MOST_SPAN_BYTES && storedBytes <= MOST_STORED_BYTES) return;
  throw unreachableError(
    path,
    `the member at its byte ${storedStart} (compressed) holds ${decodedBytes} bytes and must be decoded as a whole; expected at most ${MOST_SPAN_BYTES}`,
  );
}

function unreachableError(path: string, reason: string): UsageError {
  return new UsageError(
    `cannot index ${path}: ${reason}; decompress it, or compress it again in small members: with bgzip, or with \`pileshuf --compress zstd\``,
  );
}
