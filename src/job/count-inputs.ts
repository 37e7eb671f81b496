/**
 * Counts what groups of inputs hold, before the plan. A job whose groups have shares of the output reads all inputs, by a
 * small job of its own. A preview does the same with small inputs, and samples large ones.
 */
import type { ReadSettings } from '../../workers/settings.js';
import { releasingAll } from '../floor/cleanup.js';
import { UNGATED } from '../floor/job-control.js';
import { deriveSampleSeed } from '../floor/keys.js';
import { yieldAndCheckAbortAt } from '../floor/pause.js';
import type { Framing } from '../formats/framing.js';
import { framingOf } from '../formats/framing-table.js';
import type { RowFormat } from '../formats/rows/row-format.js';
import { parseSelector, withRowColumn } from '../formats/selector.js';
import { readBytes, withFile } from '../io/files.js';
import { countRuleOf } from '../keep/content-rule.js';
import type { CountedGroup } from '../keep/mix.js';
import type { DeviceGates } from '../machine/devices.js';
import { openInput } from '../places/inputs/input-kinds.js';
import { planIndex } from '../plan/index-plan.js';
import type { MemoryNeed, Tuning } from '../plan/memory-plan.js';
import { type Expected, exactly, inEachScenario } from '../plan/sampled-records.js';
import { planSlices } from '../plan/slices.js';
import { describeForSlices } from '../sources/cut-points.js';
import { isPlain, recordsIn, storedBytesOf } from '../sources/input.js';
import type { ReadableInputs } from '../sources/input-part.js';
import { openRows } from '../sources/rows.js';
import { type CountWork, countGroups } from '../stages/count.js';
import { startThreads } from '../stages/threads.js';
import { type Estimate, estimateInputs, sumBy } from './estimate.js';
import type { JobScope } from './job.js';
import { JobProgress, phasesOfShuffle } from './job-progress.js';
import type { ShuffleRequest } from './request.js';
import { filesOf, type SampledFile, sampleRecords } from './sample-records.js';
import { createReadControl } from './work-plan.js';

interface CountableInputs extends ReadableInputs, Pick<CountWork, 'groupOf' | 'groupCount'> {
  readonly estimate: Estimate;
  readonly rowFormat?: RowFormat | undefined;
  readonly deviceGates: DeviceGates;
}

export async function countInputs(
  named: CountableInputs,
  completed: ShuffleRequest,
  memoryNeed: MemoryNeed,
  tuning: Tuning,
  warn: JobScope['warn'],
): Promise<readonly CountedGroup[]> {
  const { readable, request } = await withOneColumn(named, completed);
  const { inputs, estimate, deviceGates } = readable;
  const { spec, memoryBytes: budgetBytes, workers, signal } = request;
  const plan = planIndex({ budgetBytes, workers }, estimate.recordBytes, tuning);
  const { sliceBytes, arenaBytes, readBytes, inline } = plan;
  const { companions } = readable;
  const described = await describeForSlices(inputs, estimate.decodedBytes, spec.read, sliceBytes, signal, companions);
  const slices = [...planSlices(described, sliceBytes)];
  const gates = inline ? inputs.map(() => UNGATED) : readable.gates;
  const inputBytes = storedBytesOf(inputs);
  return releasingAll(async (releases) => {
    const control = createReadControl(inline, plan.spareBytes, deviceGates);
    const threadCount = inline ? 0 : Math.min(plan.workers, slices.length);
    // A job that counts scatters once.
    const planned = { inputBytes, readBytes: 0, memoryNeed: estimate };
    const phases = phasesOfShuffle({ request, plan: planned, isCounted: true, earlier: undefined });
    const progress = new JobProgress(control, request, deviceGates, phases, releases);
    const threads = await startThreads({ threadCount, startCount: threadCount }, progress, () => {}, releases);
    const settings: ReadSettings = {
      jobName: threads.jobName,
      control: control.buffer,
      arenaBytes,
      readBytes,
      memoryNeed: { ...memoryNeed, reads: 'first' },
      read: spec.read,
      content: spec.keep.mix.shares && countRuleOf(spec),
    };
    const work = { ...readable, gates, slices, settings };
    return (await progress.during('count', inputBytes, () => countGroups(work, threads))).value;
  }, warn);
}

/** A column is counted without the others: then a row has only this one. */
async function withOneColumn(readable: CountableInputs, request: ShuffleRequest) {
  const { inputs, rowFormat: format } = readable;
  const { spec, signal } = request;
  const { sum, weightBy } = spec.keep;
  const isAlone = sum?.isUnit === true && weightBy?.value?.selector.kind !== 'row';
  if (sum?.selector.kind !== 'row' || format === undefined || !isAlone) return { readable, request };
  const rowChoice = { ...spec.read.rowChoice, ...format.choiceOf?.(sum.selector.value) };
  const read = { ...spec.read, rowChoice };
  const opened = await openRows(inputs, { read, signal, onWarning: () => {}, writes: false });
  if (opened === undefined) return { readable, request };
  const { rows } = opened;
  const estimate = estimateInputs(opened.inputs, undefined, deriveSampleSeed(spec.key.seed));
  const named = { ...sum, selector: parseSelector(sum.selector.text, '`mix`: unit') };
  const ofColumn = withRowColumn(named, (sought) => format.seek(rows, inputs.at(0)?.path ?? '', sought), 'number');
  const counted = { ...spec, read: { ...read, rows }, keep: { ...spec.keep, sum: ofColumn } };
  return { readable: { ...readable, inputs: opened.inputs, estimate }, request: { ...request, spec: counted } };
}

export interface ExpectedGroup {
  readonly records: Expected;
  /** Includes the delimiters that inputs lack. */
  readonly bytes: Expected;
  /** The sum of the field, in parts of 10^-15; 0 without a field. */
  readonly sum: bigint;
}

/** The most that is counted in about a second: bytes as stored, and decoded. */
const MOST_STORED_BYTES = 64 * 2 ** 20;
const MOST_DECODED_BYTES = 4 * MOST_STORED_BYTES;
/** A size that is estimated from the beginning of a file is too small: that compresses less well than the rest. */
const HEAD_EXPANSION = 1.2;
const MOST_INPUT_ENDS = 10_000;

/** Estimates what `countInputs` counts. */
export async function expectCounts(...call: Parameters<typeof countInputs>): Promise<readonly CountedGroup[]> {
  const groups = await expectGroups(...call);
  return groups.map(({ records, bytes, sum }) => ({ records: records.expected, bytes: bytes.expected, sum }));
}

export async function expectGroups(...call: Parameters<typeof countInputs>): Promise<readonly ExpectedGroup[]> {
  const [{ inputs, estimate, ...readable }, request, ...rest] = call;
  const { framing, rows, decompressProgram } = request.spec.read;
  const isSmall = storedBytesOf(inputs) <= MOST_STORED_BYTES && estimate.recordBytes <= MOST_DECODED_BYTES;
  // A program of the user may do more than decode. Files tell how many rows they have, but not the sum of a column.
  const isCounted =
    rows === undefined
      ? framing === undefined || (isSmall && decompressProgram === undefined)
      : request.spec.keep.sum?.isUnit === true;
  if (isCounted) {
    const silent = { ...request, onProgress: undefined };
    const counted = await countInputs({ ...readable, inputs, estimate }, silent, ...rest);
    return counted.map(({ records, bytes, sum }) => ({ records: exactly(records), bytes: exactly(bytes), sum }));
  }
  const groups: ExpectedGroup[] = [];
  for (let group = 0; group < readable.groupCount; group++) groups.push(await sampleGroup(group, call));
  return groups;
}

async function sampleGroup(
  group: number,
  [{ inputs, estimate, groupOf }, { spec, signal }]: Parameters<typeof countInputs>,
): Promise<ExpectedGroup> {
  const { framing } = spec.read;
  const files = filesOf(inputs, estimate).filter(({ ordinal }) => groupOf[ordinal] === group);
  const ofGroup = inputs.filter((_, i) => groupOf[i] === group);
  const seed = deriveSampleSeed(spec.key.seed);
  const sample = framing && (await sampleRecords(files, framing, seed, signal, countRuleOf(spec)));
  const known = sumBy(ofGroup, (input) => recordsIn(input) ?? 0);
  const fileBytes = sumBy(files, ({ bytes }) => bytes);
  const listBytes = sumBy(ofGroup, ({ list }) => list?.bytes.byteLength ?? 0);
  const ends = await missingEnds(files, framing && framingOf(framing).recordEnd, signal);
  const size = files.every(({ input }) => isPlain(input)) ? exactly(1) : decodedSize(estimate);
  return {
    records: inEachScenario((each) => (sample?.records[each] ?? 0) * size[each] + known),
    bytes: inEachScenario((each) => fileBytes * size[each] + listBytes + ends[each]),
    sum: BigInt(Math.round(sample?.fieldSum ?? 0)),
  };
}

/** Bytes that pass 1 appends to inputs whose last record has no end. The end of a compressed input cannot be seen. */
async function missingEnds(
  files: readonly SampledFile[],
  recordEnd: Framing['recordEnd'],
  signal: AbortSignal | undefined,
): Promise<Expected> {
  if (recordEnd === undefined) return exactly(0);
  const seen = files.filter(({ input }) => isPlain(input)).slice(0, MOST_INPUT_ENDS);
  let missing = 0;
  for (const [index, { input }] of seen.entries()) {
    const { path, version, header } = input;
    await yieldAndCheckAbortAt(index, signal);
    if (version.byteLength <= header.byteLength) continue;
    const [last] = withFile(openInput(path), (file) => readBytes(file, version.byteLength - 1, 1));
    if (last !== recordEnd.byte) missing += 1;
  }
  return { least: missing, expected: missing, most: missing + files.length - seen.length };
}

/** The size of decoded inputs, in parts of the estimate. */
function decodedSize({ recordBytes, leastBytes, mostBytes }: Estimate): Expected {
  const partOf = (bytes: number) => bytes / Math.max(1, recordBytes);
  return {
    least: partOf(leastBytes),
    expected: 1,
    most: partOf(mostBytes) * (mostBytes > leastBytes ? HEAD_EXPANSION : 1),
  };
}
