/**
 * Everything that is decided and checked before a job writes its first byte.
 */
import { UsageError } from '../../errors.js';
import type { FoundHeader } from '../../formats/header.js';
import { inputName } from '../../io/input-source.js';
import { type GateNumber, JobControl, UNGATED } from '../../io/job-control.js';
import { hearSignalsAt } from '../../io/pause.js';
import { requireReplaceable } from '../../output/output-place.js';
import type { StoreLayout } from '../../pile-store/store-layout.js';
import type { Tuning } from '../../plan/memory-plan.js';
import { memoryForDecoder } from '../../plan/record-memory.js';
import type { Release } from '../../release-all.js';
import { checkDisks } from './check-disks.js';
import { DeviceGates } from './device-gates.js';
import { readInputHeaders, requireWholeRecords } from './input-headers.js';
import { chooseInputIds, type InputIds } from './input-ids.js';
import { type JobInput, listInputs } from './job-inputs.js';
import { choosePlaces, type FilesPlaces, type JobPlaces, type StreamPlaces } from './job-places.js';
import { expectMemoryNeed, isLarge, type JobPlan, planJob } from './job-plan.js';
import { completeRequest, type JobRequest } from './job-request.js';
import { type Continuation, findStart, hasWorkOnDisk, type JobStart } from './job-start.js';
import { requireSameJob } from './same-job.js';
import type { ShuffleOptions } from './shuffle-options.js';
import { TempPlaces } from './temp-places.js';

export interface PreparedJob {
  readonly request: JobRequest;
  readonly inputs: readonly JobInput[];
  readonly inputIds: InputIds;
  /** That of the first file; all inputs have the same. */
  readonly firstHeader: FoundHeader | undefined;
  /** Gate of each input; streams are ungated. */
  readonly inputGates: readonly GateNumber[];
  readonly site: JobSite;
  /** What is gone on with; undefined: the job begins anew. */
  readonly before: Continuation | undefined;
  readonly outputGate: GateNumber;
  readonly tempPlaces: TempPlaces;
  readonly plan: JobPlan;
  readonly control: JobControl;
  /** Where piles lie that are there already, for others, too; undefined: the job makes its own. */
  readonly storedPiles: StoreLayout | undefined;
}

/**
 * A thread that does all of a job must never wait for a permit: it would stop the event loop in which what holds the
 * permit comes to its end. It makes one call at a time anyway, and at most commits what is done beside it.
 */
const MOST_PERMITS = 2 ** 16;

/** Where the job takes place, and what is there of an earlier run. */
export type JobSite =
  | { readonly kind: 'stream'; readonly places: StreamPlaces }
  | { readonly kind: 'files'; readonly places: FilesPlaces; readonly start: JobStart };

/**
 * @param releases gets what is to be done when the job ends, whatever becomes of it.
 * @throws UsageError, InputError and SystemError for all that is wrong from the start.
 */
export async function prepareJob(options: ShuffleOptions, tuning: Tuning, releases: Release[]): Promise<PreparedJob> {
  const asked = completeRequest(options);
  const jobInputs = await listInputs(asked.inputs, asked.onWarning, asked.decompressProgram, asked.signal);
  const inputIds = chooseInputIds(asked.inputIds, jobInputs.inputs);
  refuseToResumeStreams(asked, jobInputs.inputs);
  const places = choosePlaces(asked, jobInputs);
  const gates = new DeviceGates(asked.ioLimits);
  const tempPlaces = new TempPlaces(places.tempDirs, gates);
  const site = await findSite(asked, places, releases);
  const former = site.kind === 'files' && site.start.kind === 'continue' ? site.start : undefined;
  const before = former !== undefined && hasWorkOnDisk(former) ? former : undefined;
  const manifest = former?.manifest;
  if (manifest !== undefined && site.kind === 'files')
    await requireSameJob(manifest, asked, jobInputs.inputs, inputIds, site.places);
  const isMoving = before?.journal !== undefined;
  if (site.kind === 'files' && !isMoving) {
    requireReplaceable(
      site.places.output,
      asked.output ?? '',
      jobInputs.inputs.map((input) => input.path),
    );
  }
  const nature = { hasFiles: site.kind === 'files', manifest };
  const budgetFor = (byteLength: number) =>
    memoryForDecoder(expectMemoryNeed(asked, jobInputs.inputs, tempPlaces, nature, tuning), byteLength);
  const { inputs, first: firstHeader } = await readInputHeaders(jobInputs.inputs, asked, budgetFor);
  const framing = asked.framing ?? firstHeader?.header.framing;
  requireWholeRecords(inputs, framing);
  const request = { ...asked, seed: manifest?.seed ?? asked.seed, framing };
  const inputGates = await gatesOfInputs(inputs, gates, asked.signal);
  const outputGate = places.outputDirectory === undefined ? UNGATED : gates.gateOf(places.outputDirectory, 'output');
  const plan = await planJob(request, inputs, tempPlaces, nature, tuning);
  // What a job that goes on still needs is less than it can be known; a full disk is no loss to it.
  if (before === undefined) checkDisks(request, plan, places, gates);
  if (isLarge(plan) && !plan.isResumable) warnOfStream(request, places, inputs);
  const control = createControl(plan, gates);
  const storedPiles = undefined;
  return {
    request,
    inputs,
    inputIds,
    firstHeader,
    inputGates,
    site,
    before,
    outputGate,
    tempPlaces,
    plan,
    control,
    storedPiles,
  };
}

export function createControl({ inline, memory }: JobPlan, gates: DeviceGates): JobControl {
  const permits = inline ? gates.permits.map(() => MOST_PERMITS) : gates.permits;
  return JobControl.create(permits, memory.pass1SpareBytes);
}

/** Of each input; streams have none. @throws AbortedError */
export async function gatesOfInputs(
  inputs: readonly JobInput[],
  gates: DeviceGates,
  signal: AbortSignal | undefined,
): Promise<GateNumber[]> {
  const inputGates: GateNumber[] = [];
  for (const input of inputs) {
    await hearSignalsAt(inputGates.length, signal);
    inputGates.push(input.kind === 'file' ? gates.gateOf(input.path, 'input') : UNGATED);
  }
  return inputGates;
}

/** @param releases gets what is to be done when the job ends. @throws UsageError as of `findStart` */
export async function findSite(request: JobRequest, places: JobPlaces, releases: Release[]): Promise<JobSite> {
  if (places.kind === 'stream') return { kind: 'stream', places };
  const start = await findStart(request, places);
  releases.push(() => start.directory.release());
  return { kind: 'files', places, start };
}

function refuseToResumeStreams(request: JobRequest, inputs: readonly JobInput[]): void {
  const stream = inputs.find((input) => input.kind === 'stream');
  if (stream === undefined || !request.mustBeResumable) return;
  throw new UsageError(
    `${inputName(stream.path)} cannot be read again to resume the job: name files, or leave out \`resume\` and \`jobDir\``,
  );
}

function warnOfStream(request: JobRequest, { output }: JobPlaces, inputs: readonly JobInput[]): void {
  const input = inputs.find(({ kind }) => kind === 'stream');
  const reason =
    output.kind === 'stream' ? `writes to ${outputName(output.path)}` : `reads ${inputName(input?.path ?? '')}`;
  request.onWarning(`this job cannot be resumed if it is interrupted, because it ${reason}`);
}

function outputName(path: string): string {
  return path === '-' ? 'standard output' : path;
}
