/**
 * Plans and checks a shuffle before it writes its first byte.
 *
 *     resolve   options -> the request; names -> inputs with their versions
 *     claim     the place of the output, and the work of an earlier attempt
 *     look      headers and rows of the inputs -> the whole spec
 *     weigh     how often the records of each group come
 *     plan      memory, piles and slices; the disks have the space          work-plan.ts
 */

import { UsageError } from '../errors.js';
import type { Release } from '../floor/cleanup.js';
import { type GateNumber, type JobControl, UNGATED } from '../floor/job-control.js';
import { deriveSampleSeed } from '../floor/keys.js';
import { framingOf } from '../formats/framing-table.js';
import type { RowFormat } from '../formats/rows/row-format.js';
import { withColumns, withRowColumns } from '../keep/content-rule.js';
import { mayKeepEqualKeys } from '../keep/distinct.js';
import { mostRecords } from '../keep/head.js';
import { recordsOfOutput, requireEnd } from '../keep/keep-spec.js';
import { type GroupedJob, groupInputsOfJob, weighByShares } from '../keep/mix.js';
import { DeviceGates } from '../machine/devices.js';
import type { ShuffleOptions } from '../options/shuffle-options.js';
import { inputName } from '../places/inputs/input-source.js';
import { openOutputPlaces } from '../places/outputs/output-kinds.js';
import { requireUnread } from '../places/outputs/output-place.js';
import type { MemoryNeed, Tuning } from '../plan/memory-plan.js';
import { memoryBesideTransfers } from '../remote/transfer-pool.js';
import { findCompanions, withCompanions } from '../sources/companions.js';
import { warnOfMates } from '../sources/doubtful-records.js';
import { chooseInputIds, type InputIds } from '../sources/ids.js';
import { type Input, type Inputs, identityOf, isFileInput, isPlain, recordsIn } from '../sources/input.js';
import type { ReadableInputs } from '../sources/input-part.js';
import { gatesOf, type ListedInputs } from '../sources/list-inputs.js';
import type { ShuffleSpec } from '../spec.js';
import { needsAt, requireSpace, warnOfMemoryDisks } from './disk-space.js';
import { lockPlaces } from './earlier-attempt.js';
import { type Estimate, estimateInputs } from './estimate.js';
import type { JobScope } from './job.js';
import {
  choosePlaces,
  type FilePlaces,
  type JobPlaces,
  requireFileForRows,
  requireOutputOfRows,
  streamName,
} from './job-places.js';
import { listNamedInputs, openHeaders, retryCallback } from './open-inputs.js';
import type { ReportLog } from './report/report-log.js';
import { completeShuffle, type ShuffleRequest } from './request.js';
import { filesOf } from './sample-records.js';
import { warnOfEmptyShards } from './split-report.js';
import { requireTempDirs, TempDisks } from './temp-disks.js';
import { createControl, expectMemoryNeed, isLarge, planShuffle, type ShufflePlan } from './work-plan.js';

/** The request of a job, and the inputs that it names. */
type ResolvedShuffle = Awaited<ReturnType<typeof resolve>>;

/** The place of the output, and the work of an earlier attempt there. */
type Claimed = Awaited<ReturnType<typeof claim>>;

/** The inputs as their beginnings tell, and the spec that is complete with them. */
interface ExaminedInputs extends Omit<ReadableInputs, 'weighing'> {
  /** Its spec is complete, with the seed of a resumed attempt. */
  readonly request: ShuffleRequest;
  /** All inputs, or none if the output has no records. */
  readonly inputsToRead: Inputs;
  /** Estimates the inputs that are read. */
  readonly estimate: Estimate;
}

export interface PreparedShuffle
  extends ExaminedInputs,
    ReadableInputs,
    Pick<Claimed, 'places' | 'earlier' | 'deviceGates' | 'disks'> {
  /** The row format. Undefined: the inputs hold no rows. */
  readonly rowFormat: RowFormat | undefined;
  readonly inputIds: InputIds;
  /** True if a pass of its own has counted the inputs. */
  readonly isCounted: boolean;
  readonly outputGate: GateNumber;
  readonly plan: ShufflePlan;
  readonly control: JobControl;
  readonly reportLog: ReportLog | undefined;
}

/** The differences from a job of this process. */
interface Preparation {
  /** True if this is a preview: it changes nothing, samples large inputs, and leaves streams to the job. */
  readonly isPreview?: boolean;
  /** Checks further places that the job writes to, before it reads any input. */
  readonly checkPlaces?: (listed: ListedInputs, places: JobPlaces) => void;
}

export async function prepareShuffle(
  options: ShuffleOptions,
  tuning: Tuning,
  { releases, warn }: JobScope,
  { isPreview = false, checkPlaces }: Preparation = {},
): Promise<PreparedShuffle> {
  const resolved = await resolve(options, tuning.partBytes);
  const { rowFormat, inputIds, companions } = resolved;
  const claimed = await claim(resolved, releases, isPreview, checkPlaces);
  const { places, earlier, manifest, deviceGates, disks, reports } = claimed;
  const onDisk = { disks, hasFiles: places.kind === 'files', manifest, tuning, rowFormat };
  const seen = await examineInputs(resolved, claimed, (work) => expectMemoryNeed({ ...onDisk, ...work }), isPreview);
  const { request, inputs, inputsToRead, estimate } = seen;
  const toPlan = { ...onDisk, inputs: inputsToRead, companions, estimate };
  const counting: Counting = (count, readable) =>
    count(readable, request, expectMemoryNeed({ ...toPlan, request }), tuning, warn);
  const { weighing: weighed, isCounted } = await weigh(resolved, claimed, seen, counting, isPreview);
  const weighing = weighed && { ...weighed, meanNumber: await sampleNumbers(seen) };
  const plan = await planShuffle({ ...toPlan, request: { ...request, weighing } });
  requireSpaceFor(plan, claimed, request.onWarning);
  if (isLarge(plan) && !plan.isResumable) warnOfStream(places, inputs, request.onWarning);
  const control = createControl(plan, deviceGates);
  const { tempDirs, outputDirectory } = places;
  const reportLog = reports?.openReportLog({ request, inputs, deviceGates, inline: plan.inline, control, tempDirs });
  releases.push(() => reportLog?.close());
  return {
    ...seen,
    rowFormat,
    inputIds,
    companions,
    weighing,
    isCounted,
    places,
    earlier,
    deviceGates,
    disks,
    outputGate: outputDirectory === undefined ? UNGATED : deviceGates.gateOf(outputDirectory, 'output'),
    plan,
    control,
    reportLog,
  };
}

/** Completes the options, and lists the inputs that they name. Nothing is written yet, and no header read. */
async function resolve(options: ShuffleOptions, partBytes: number | undefined) {
  const given = completeShuffle(options);
  const { spec, memoryBytes, workers, service, onWarning } = given;
  const outputs = await openOutputPlaces(given.output, {
    memoryBytes,
    workers,
    service,
    onRetry: retryCallback(given),
    partBytes,
  });
  // Files with keys from ordinals must stay in their places.
  const header = spec.key.from === 'ordinal' ? undefined : spec.read.header;
  const { read, ...listed } = await listNamedInputs(
    { ...given, read: spec.read },
    { header, mayHaveHeaders: true, takesRows: true },
  );
  const machine = memoryBesideTransfers(given, listed.fetchBytes, outputs.poolBytes);
  const request = { ...given, ...machine, spec: { ...spec, read } };
  const { inputs } = listed;
  const rowFormat = await requireOutputOfRows(request, inputs);
  if (spec.key.from === 'position') warnOfMates(inputs, read, true, onWarning);
  const inputIds = chooseInputIds(request.inputIds, inputs);
  const grouped = await groupInputsOfJob(request.spec, inputs);
  const companions = await findCompanions(spec.keep.weightBy?.beside?.directory, inputs, request.signal);
  refuseToResumeStreams(request, inputs);
  return { request, listed, outputs, rowFormat, inputIds, companions, grouped };
}

/** Takes hold of the place where the job writes, and of the work of an earlier attempt. */
async function claim(
  { request, listed, outputs, rowFormat, inputIds, companions }: ResolvedShuffle,
  releases: Release[],
  isPreview: boolean,
  checkPlaces: Preparation['checkPlaces'],
) {
  const { inputs } = listed;
  const read = withCompanions(inputs, companions);
  const files = () => [...read, ...listed.empty].map((input) => ({ path: input.path, identity: identityOf(input) }));
  const chosen = choosePlaces(request, { inputs, files, rows: inputs.at(0)?.rows?.format, outputs });
  if (chosen.kind === 'stream') requireFileForRows(rowFormat, inputs, chosen.output);
  else requireApart(request, chosen, listed);
  const reports = request.report === undefined ? undefined : await import('./report/write-report.js');
  checkPlaces?.(listed, chosen);
  requireTempDirs(chosen.tempDirs, chosen.tempChoice);
  const deviceGates = new DeviceGates(request.ioLimits);
  const disks = new TempDisks(chosen.tempDirs, deviceGates);
  const claimed = await lockPlaces(request, chosen, { request, inputs: read, inputIds }, releases, isPreview);
  // A job that is done has its report.
  reports?.requireReportPlace(request, listed, chosen);
  return { ...claimed, deviceGates, disks, reports };
}

type MemoryNeedOf = (
  work: Pick<Parameters<typeof expectMemoryNeed>[0], 'request' | 'inputs' | 'estimate'>,
) => MemoryNeed;

/** Reads the headers of the inputs or opens their rows, and completes the spec. */
async function examineInputs(
  { request, listed, grouped }: ResolvedShuffle,
  { manifest, deviceGates }: Claimed,
  memoryNeedOf: MemoryNeedOf,
  isPreview: boolean,
): Promise<ExaminedInputs> {
  const { read, keep, write } = request.spec;
  const writesNothing = mostRecords(keep) === 0;
  const key = manifest?.spec.key ?? request.spec.key;
  const sampleSeed = deriveSampleSeed(key.seed);
  const needBefore = () => {
    const estimate = estimateInputs(listed.inputs, read.framing, sampleSeed);
    return memoryNeedOf({ request: { ...request, weighing: grouped.given }, inputs: listed.inputs, estimate });
  };
  const { inputs, firstHeader, framing, rows } = await openHeaders(listed.inputs, { ...request, read }, needBefore, {
    comparesKeys: mayKeepEqualKeys(keep),
    readsStreams: writesNothing && !isPreview,
  });
  const known = {
    ...request.spec,
    read: { ...read, framing, rows: rows?.rows },
    key,
    write: { ...write, rows: rows && (await rows.complete(write.rowChoice ?? {})) },
  };
  const inputsToRead = writesNothing ? [] : inputs;
  const estimate = estimateInputs(inputsToRead, framing, sampleSeed);
  const found =
    rows === undefined
      ? withColumns(known, firstHeader)
      : withRowColumns(known, (sought) => rows.format.seek(rows.rows, inputs.at(0)?.path ?? '', sought));
  const { each } = found.cut;
  const sample = async () =>
    (await import('./sample-values.js')).sampleSections({
      spec: found,
      files: filesOf(inputsToRead, estimate),
      signal: request.signal,
    });
  const rule = each && { ...each, ranges: manifest?.spec.cut.each?.ranges ?? (await sample()) };
  const spec = { ...found, cut: { ...found.cut, each: rule } };
  warnOfEmptyShards(request, mostRecordsOf(spec, inputs, grouped));
  return {
    request: { ...request, spec },
    inputs,
    firstHeader,
    gates: await gatesOf(inputs, deviceGates, request.signal),
    inputsToRead,
    estimate,
  };
}

type CountCall = typeof import('./count-inputs.js').countInputs;
type Counting = (count: CountCall, readable: Parameters<CountCall>[0]) => ReturnType<CountCall>;

/** Finds how often the records of each group come. An earlier attempt has noted it, or the groups are counted. */
async function weigh(
  { grouped: { given, shared }, companions, rowFormat }: ResolvedShuffle,
  { earlier, deviceGates }: Claimed,
  { inputsToRead: inputs, request, ...seen }: ExaminedInputs,
  counting: Counting,
  isPreview: boolean,
): Promise<Pick<PreparedShuffle, 'weighing' | 'isCounted'>> {
  if (shared === undefined || inputs.length === 0) return { weighing: given, isCounted: false };
  const noted = earlier?.manifest.shareWeights;
  if (noted !== undefined) {
    const [weights, amounts] = [noted.map(({ weight }) => weight), noted.map(({ amount }) => amount)];
    return { weighing: shared.weigh(weights, amounts), isCounted: false };
  }
  const { shares, groupOf } = shared;
  const groups = { groupOf, groupCount: shares.groups.length };
  const { countInputs, expectCounts } = await import('./count-inputs.js');
  const readable = { ...seen, ...groups, inputs, companions, weighing: undefined, rowFormat, deviceGates };
  const counted = await counting(isPreview ? expectCounts : countInputs, readable);
  return { weighing: weighByShares(shared, counted), isCounted: true };
}

async function sampleNumbers({ request: { spec, signal }, inputsToRead, estimate }: ExaminedInputs) {
  if (spec.keep.weightBy === undefined) return undefined;
  const { sampleMeanNumber } = await import('./sample-values.js');
  return sampleMeanNumber({ spec, files: filesOf(inputsToRead, estimate), signal });
}

/** A resumed job still needs an unknown amount of space; if a disk fills up, no work is lost. */
function requireSpaceFor(
  { memory, diskNeeds }: ShufflePlan,
  { places, earlier, deviceGates }: Claimed,
  onWarning: ShuffleRequest['onWarning'],
): void {
  if (earlier !== undefined) return;
  if (memory.maySpill) warnOfMemoryDisks(places, deviceGates, onWarning);
  requireSpace(diskNeeds, (need) => needsAt(need, places), memory.stripeCount, deviceGates, onWarning);
}

/** Refuses an output without end, and one that the next job of the same inputs would read. */
function requireApart({ spec, output }: ShuffleRequest, { place }: FilePlaces, { placeOf }: ListedInputs): void {
  requireEnd(spec.keep);
  requireUnread(`the output ${output}`, place, placeOf);
}

/** The most records that the output may have, as far as that is known before anything is counted; else infinite. */
function mostRecordsOf(
  { read: { framing }, keep }: ShuffleSpec,
  inputs: Inputs,
  { given, shared }: GroupedJob,
): number {
  const recordBytes = framing && framingOf(framing).recordBytes;
  const comeOnce = given === undefined && shared === undefined;
  const countOf = (input: Input): number => {
    const known = recordsIn(input);
    if (known !== undefined) return known;
    if (!isPlain(input) || recordBytes === undefined) return Number.POSITIVE_INFINITY;
    return (input.version.byteLength - input.header.byteLength) / recordBytes;
  };
  const all = comeOnce ? inputs.reduce((sum, input) => sum + countOf(input), 0) : Number.POSITIVE_INFINITY;
  return recordsOfOutput(keep, all);
}

/** The fault of a stream as an input of a job that must be resumable. */
export const READ_ONCE = 'cannot be read again to resume the job: name files, or leave out `resume` and `jobDir`';

function refuseToResumeStreams({ mustBeResumable }: ShuffleRequest, inputs: Inputs): void {
  const stream = inputs.find((input) => !isFileInput(input));
  if (stream === undefined || !mustBeResumable) return;
  throw new UsageError(`${inputName(stream.path)} ${READ_ONCE}`);
}

function warnOfStream({ output }: JobPlaces, inputs: Inputs, onWarning: (line: string) => void): void {
  const input = inputs.find((each) => !isFileInput(each));
  const reason =
    output.kind === 'stream' ? `writes to ${streamName(output.path)}` : `reads ${inputName(input?.path ?? '')}`;
  onWarning(`this job cannot be resumed if it is interrupted, because it ${reason}`);
}
