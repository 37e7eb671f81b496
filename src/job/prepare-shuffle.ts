/** Plans and checks a shuffle before it writes its first byte. */
import { UsageError } from '../errors.js';
import { framingOf } from '../formats/framing-table.js';
import type { RowFormat } from '../formats/rows/row-format.js';
import { inputName } from '../io/input-source.js';
import { type GateNumber, type JobControl, UNGATED } from '../job-control.js';
import { withColumns, withValuesOfRows } from '../keep/content-rule.js';
import { mayKeepEqualKeys } from '../keep/distinct.js';
import { mostRecords } from '../keep/head.js';
import { recordsOfOutput, requireEnd } from '../keep/keep-spec.js';
import { type GroupedJob, groupJob, weighByShares } from '../keep/mix.js';
import { deriveDrawSeed } from '../keys.js';
import { DeviceGates } from '../machine/devices.js';
import type { ShuffleOptions } from '../options/shuffle-options.js';
import { findPlaces } from '../places/outputs/find-place.js';
import { requireUnread } from '../places/outputs/output-place.js';
import { requireNotRead } from '../places/outputs/stream.js';
import type { Tuning } from '../plan/memory-plan.js';
import { warnOfMates } from '../sources/doubtful-records.js';
import { chooseInputIds, type InputIds } from '../sources/ids.js';
import type { ReadableInputs } from '../sources/input-part.js';
import { gatesOf, type ListedInputs } from '../sources/list-inputs.js';
import { type Input, identityOf, isKept, isPlain, rowsOf } from '../sources/source.js';
import type { ShuffleSpec } from '../spec.js';
import { needsAtSite, requireSpace, warnOfMemoryDisks } from './disk-space.js';
import { claimPlace, type EarlierAttempt, type HeldSite } from './earlier-attempt.js';
import { type Estimate, estimateInputs } from './estimate.js';
import type { JobScope } from './job.js';
import { listNamed, onRetryOf, openHeaders } from './open-inputs.js';
import type { ReportLog } from './report/report-log.js';
import { completeShuffle, type ShuffleRequest } from './request.js';
import { requireFileForRows, requireOutputOfRows } from './rows-options.js';
import { chooseSite, type JobSite, type StreamSite } from './site.js';
import { warnOfEmptyShards } from './split-report.js';
import { requireTempDirs, TempDisks } from './temp-disks.js';
import { createControl, expectMemoryNeed, isLarge, planShuffle, type ShufflePlan } from './work-plan.js';

export interface PreparedShuffle extends ReadableInputs {
  /** With the seed of a resumed attempt, and the framing from the headers. */
  readonly request: ShuffleRequest;
  /** All inputs, or none if the output has no records. */
  readonly inputsToRead: readonly Input[];
  /** Of these. */
  readonly estimate: Estimate;
  /** Undefined: the inputs hold no rows. */
  readonly rowFormat: RowFormat | undefined;
  readonly inputIds: InputIds;
  /** Whether a pass of its own has counted the inputs. */
  readonly isCounted: boolean;
  readonly site: StreamSite | HeldSite;
  readonly earlier: EarlierAttempt | undefined;
  readonly deviceGates: DeviceGates;
  readonly disks: TempDisks;
  readonly outputGate: GateNumber;
  readonly plan: ShufflePlan;
  readonly control: JobControl;
  readonly reportLog: ReportLog | undefined;
}

/** What is not as in a job of this process. */
interface Preparation {
  /** Whether this is a preview: it changes nothing, samples large inputs, and leaves streams to the job. */
  readonly isPreview?: boolean;
  /** Checks further places that the job writes to, before it reads any input. */
  readonly checkPlaces?: (listed: ListedInputs, site: JobSite) => void;
}

export async function prepareShuffle(
  options: ShuffleOptions,
  tuning: Tuning,
  { releases, warn }: JobScope,
  { isPreview = false, checkPlaces }: Preparation = {},
): Promise<PreparedShuffle> {
  const given = completeShuffle(options);
  const { onWarning, signal } = given;
  const { key, keep } = given.spec;
  const writesNothing = mostRecords(keep) === 0;
  // Files with keys from ordinals must keep their places.
  const header = key.from === 'ordinal' ? undefined : given.spec.read.header;
  const { memoryBytes, workers, service } = given;
  const places = { memoryBytes, workers, service, onRetry: onRetryOf(given), partBytes: tuning.partBytes };
  const outputs = await findPlaces(given.output, places);
  const { read, ...listed } = await listNamed(
    { ...given, read: given.spec.read },
    { header, keepsHeaders: true, takesRows: true },
  );
  const transferBytes = Math.max(listed.fetchBytes, outputs.poolBytes);
  const asked = { ...given, memoryBytes: given.memoryBytes - transferBytes, spec: { ...given.spec, read } };
  const reading = { ...asked, read };
  const rowFormat = await requireOutputOfRows(asked, listed.inputs);
  if (key.from === 'position') warnOfMates(listed.inputs, read, true, onWarning);
  const inputIds = chooseInputIds(asked.inputIds, listed.inputs);
  const grouped = await groupJob(asked.spec, listed.inputs);
  refuseToResumeStreams(asked, listed.inputs);
  const chosen = chooseSite(asked, { ...listed, rows: rowsOf(listed.inputs[0])?.format, outputs });
  requireFileForRows(rowFormat, listed.inputs, chosen);
  const reports = asked.report === undefined ? undefined : await import('./report/tell-report.js');
  checkPlaces?.(listed, chosen);
  requireApart(asked, chosen, listed);
  requireTempDirs(chosen.tempDirs, chosen.tempChoice);
  const deviceGates = new DeviceGates(asked.ioLimits);
  const disks = new TempDisks(chosen.tempDirs, deviceGates);
  const compared = { request: asked, inputs: listed.inputs, inputIds };
  const { site, earlier, manifest } = await claimPlace(asked, chosen, compared, releases, isPreview);
  // A job that is done has its report.
  reports?.requireReportPlace(asked, listed, chosen);

  const place = { disks, hasFiles: site.kind === 'files', manifest, tuning };
  const draws = deriveDrawSeed((manifest?.spec ?? asked.spec).key.seed);
  const needBefore = () => {
    const estimate = estimateInputs(listed.inputs, read.framing, draws);
    const weighed = { ...asked, weighing: grouped.given };
    return expectMemoryNeed({ ...place, request: weighed, inputs: listed.inputs, estimate });
  };
  const { framing, rows, ...opened } = await openHeaders(listed.inputs, reading, needBefore, {
    comparesKeys: mayKeepEqualKeys(keep),
    readsStreams: writesNothing && !isPreview,
  });
  const { inputs, firstHeader } = opened;
  const ofRows = rows && (await rows.complete(asked.spec.write.rowChoice ?? {}));
  const known = {
    ...asked.spec,
    read: { ...read, framing, rows: rows?.rows },
    key: manifest?.spec.key ?? key,
    write: { ...asked.spec.write, rows: ofRows },
  };
  const path = inputs[0]?.path ?? '';
  const spec =
    rows === undefined
      ? withColumns(known, firstHeader)
      : withValuesOfRows(known, (sought) => rows.format.seek(rows.rows, path, sought));
  const request = { ...asked, spec };
  warnOfEmptyShards(asked, mostRecordsOf(spec, inputs, grouped));
  const gates = await gatesOf(inputs, deviceGates, signal);
  const outputGate = site.outputDirectory === undefined ? UNGATED : deviceGates.gateOf(site.outputDirectory, 'output');

  const inputsToRead = writesNothing ? [] : inputs;
  const work = { ...place, inputs: inputsToRead, estimate: estimateInputs(inputsToRead, framing, draws), rowFormat };
  const shared = inputsToRead.length === 0 ? undefined : grouped.shared;
  const noted = earlier?.manifest.shareWeights;
  const findWeighing = async () => {
    if (shared === undefined) return grouped.given;
    const { shares, groupOf, weigh } = shared;
    if (noted !== undefined) {
      return weigh(
        noted.map(({ weight }) => weight),
        noted.map(({ amount }) => amount),
      );
    }
    const counted = { groupOf, groupCount: shares.groups.length, field: spec.keep.mix.shares?.field };
    const readable = { ...work, ...counted, gates, firstHeader, site, deviceGates };
    const memoryNeed = expectMemoryNeed({ ...work, request });
    const { countInputs, expectCounts } = await import('./count-inputs.js');
    const count = isPreview ? expectCounts : countInputs;
    return weighByShares(shared, await count(readable, request, memoryNeed, tuning, warn));
  };
  const weighing = await findWeighing();
  const plan = await planShuffle({ ...work, request: { ...request, weighing } });
  const { memory } = plan;
  // A resumed job still needs an unknown amount of space; if a disk fills up, no work is lost.
  if (earlier === undefined) {
    if (memory.maySpill) warnOfMemoryDisks(site, deviceGates, onWarning);
    requireSpace(plan.diskNeeds, (need) => needsAtSite(need, site), memory.stripeCount, deviceGates, onWarning);
  }
  if (isLarge(plan) && !plan.isResumable) warnOfStream(site, inputs, onWarning);
  const control = createControl(plan, deviceGates);
  const { tempDirs } = site;
  const reportLog = reports?.openReportLog({ request, inputs, deviceGates, inline: plan.inline, control, tempDirs });
  releases.push(() => reportLog?.close());
  return {
    ...opened,
    request,
    inputsToRead,
    estimate: work.estimate,
    rowFormat,
    inputIds,
    gates,
    weighing,
    isCounted: shared !== undefined && noted === undefined,
    site,
    earlier,
    deviceGates,
    disks,
    outputGate,
    plan,
    control,
    reportLog,
  };
}

/** Refuses an output without end in a file, and one that the job, or the next job of the same inputs, would read. */
function requireApart({ spec, output }: ShuffleRequest, site: JobSite, listed: ListedInputs): void {
  if (site.kind === 'stream') {
    const read = [...listed.inputs, ...listed.empty];
    requireNotRead(
      site.output.path,
      read.map((input) => ({ path: input.path, identity: identityOf(input) })),
    );
    return;
  }
  requireEnd(spec.keep);
  requireUnread(`the output ${output}`, site.place, listed.placeOf);
}

/** The most records that the output may have, as far as that is known before anything is counted; else infinite. */
function mostRecordsOf(
  { read: { framing }, keep }: ShuffleSpec,
  inputs: readonly Input[],
  { given, shared }: GroupedJob,
): number {
  const cut = framing === undefined ? undefined : framingOf(framing).cut;
  const comeOnce = given === undefined && shared === undefined;
  const countOf = (input: Input): number => {
    if (input.kind === 'list') return input.list.ends.length;
    const rows = rowsOf(input)?.rows;
    if (rows !== undefined) return rows;
    if (!isPlain(input) || cut?.kind !== 'every') return Number.POSITIVE_INFINITY;
    return (input.version.byteLength - input.header.byteLength) / cut.byteLength;
  };
  const all = comeOnce ? inputs.reduce((sum, input) => sum + countOf(input), 0) : Number.POSITIVE_INFINITY;
  return recordsOfOutput(keep, all);
}

/** What is wrong with a stream as an input of a job that must be resumable. */
export const READ_ONCE = 'cannot be read again to resume the job: name files, or leave out `resume` and `jobDir`';

function refuseToResumeStreams({ mustBeResumable }: ShuffleRequest, inputs: readonly Input[]): void {
  const stream = inputs.find((input) => !isKept(input));
  if (stream === undefined || !mustBeResumable) return;
  throw new UsageError(`${inputName(stream.path)} ${READ_ONCE}`);
}

function warnOfStream({ output }: JobSite, inputs: readonly Input[], onWarning: (line: string) => void): void {
  const input = inputs.find((each) => !isKept(each));
  const reason =
    output.kind === 'stream' ? `writes to ${outputName(output.path)}` : `reads ${inputName(input?.path ?? '')}`;
  onWarning(`this job cannot be resumed if it is interrupted, because it ${reason}`);
}

function outputName(path: string): string {
  return path === '-' ? 'standard output' : path;
}
