/**
 * Everything that is decided and checked before a store gets the first byte of its inputs. What is made, in the end, is
 * the store, if there is none.
 */
import { SystemError, UsageError } from '../errors.js';
import type { GateNumber, JobControl } from '../io/job-control.js';
import { DeviceGates } from '../job/prepare/device-gates.js';
import { estimateInputs } from '../job/prepare/estimate.js';
import { findShortages } from '../job/prepare/free-space.js';
import { requireWholeRecords } from '../job/prepare/input-headers.js';
import { chooseInputIds } from '../job/prepare/input-ids.js';
import { type JobInput, listInputs } from '../job/prepare/job-inputs.js';
import { type DiskNeed, type JobPlan, planPass1 } from '../job/prepare/job-plan.js';
import { completeRequest, type JobRequest, requireWhole } from '../job/prepare/job-request.js';
import { createControl, gatesOfInputs } from '../job/prepare/prepare-job.js';
import { TempPlaces } from '../job/prepare/temp-places.js';
import { deriveDrawSeed } from '../key-derivation.js';
import { requireOutside } from '../output/output-place.js';
import { MOST_PILES, type StoreLayout } from '../pile-store/store-layout.js';
import type { Tuning } from '../plan/memory-plan.js';
import { pilesForBytes, pilesForFirstInputs } from '../plan/store-piles.js';
import { openOrCreateStore, type StoreInSight } from '../store/create-store.js';
import { generationOfToday, requireGeneration } from '../store/generation.js';
import { requireIdsFree } from '../store/input-ids.js';
import { layoutOf, type StoreSnapshot } from '../store/store-snapshot.js';
import type { AppendOptions } from './store-options.js';

export interface PreparedAppend {
  /** With the seed of the store. */
  readonly request: JobRequest;
  readonly snapshot: StoreSnapshot;
  readonly inputs: readonly JobInput[];
  readonly inputIds: readonly string[];
  readonly generation: string;
  readonly replace: boolean;
  readonly inputGates: readonly GateNumber[];
  readonly layout: StoreLayout;
  readonly plan: JobPlan;
  readonly control: JobControl;
}

/** @throws UsageError, InputError and SystemError for all that is wrong from the start. */
export async function prepareAppend(
  storeDirectory: string,
  options: AppendOptions,
  tuning: Tuning,
): Promise<PreparedAppend> {
  const { generation = generationOfToday(), replace = false, piles, expectedBytes, ...asked } = options;
  requireGeneration(generation);
  if (piles !== undefined) requireWhole('`piles`', piles, 1, MOST_PILES);
  if (expectedBytes !== undefined) requireWhole('`expectedBytes`', expectedBytes, 1);
  const named = completeRequest({ ...asked, inputIds: asked.inputIds ?? 'path' });
  refuseHeaders(named);
  const { inputs, directories } = await listInputs(
    named.inputs,
    named.onWarning,
    named.decompressProgram,
    named.signal,
  );
  requireOutside(storeDirectory, 'the pile store', directories);
  requireWholeRecords(inputs, named.framing);
  const inputIds = chooseInputIds(named.inputIds, inputs) ?? inputs.map((_, ordinal) => String(ordinal));
  const { recordBytes } = estimateInputs(inputs, named.framing, deriveDrawSeed(named.seed));
  const { snapshot, plan: work } = await openOrCreateStore(
    storeDirectory,
    { seed: options.seed, pileCount: piles },
    { pileCount: expectedBytes === undefined ? pilesForFirstInputs(recordBytes) : pilesForBytes(expectedBytes) },
    (store) => {
      requireIdsFree(store.snapshot, inputIds, replace);
      return planWork(named, inputs, store, tuning);
    },
  );
  const { inputGates, plan, control } = work;
  const request = { ...named, seed: snapshot.settings.seed };
  const layout = layoutOf(snapshot, work.storeGate, work.rotates);
  return { request, snapshot, inputs, inputIds, generation, replace, inputGates, layout, plan, control };
}

/** What is decided for a store, be it one that is still to be made. */
interface AppendWork extends Pick<PreparedAppend, 'inputGates' | 'plan' | 'control'> {
  readonly storeGate: GateNumber;
  /** Whether the disk of the store does. */
  readonly rotates: boolean;
}

async function planWork(
  request: JobRequest,
  inputs: readonly JobInput[],
  { pileCount, place }: StoreInSight,
  tuning: Tuning,
): Promise<AppendWork> {
  const gates = new DeviceGates(request.ioLimits);
  const disk = new TempPlaces([place], gates);
  const storeGate = gates.gateOf(place, 'store');
  const inputGates = await gatesOfInputs(inputs, gates, request.signal);
  const plan = await planPass1(request, inputs, disk, { pileCount, stripeCount: 1 }, tuning);
  requireSpace(plan, place, gates, request.onWarning);
  return { inputGates, plan, control: createControl(plan, gates), storeGate, rotates: disk.rotate };
}

/** @throws SystemError ERR_NO_SPACE when it is sure that the disk does not hold it all. */
function requireSpace(plan: JobPlan, directory: string, gates: DeviceGates, onWarning: JobRequest['onWarning']): void {
  const shortageOf = ({ tempBytes }: DiskNeed) =>
    findShortages([{ directory, byteLength: tempBytes, what: 'the pile store' }], 1, gates)[0];
  const sure = shortageOf(plan.least);
  if (sure !== undefined) {
    throw new SystemError('ERR_NO_SPACE', `not enough space ${sure.description}; ${sure.advice}`);
  }
  const likely = shortageOf(plan.expected);
  if (likely === undefined) return;
  onWarning(`by a sample of the inputs, there may not be enough space ${likely.description}; ${likely.advice}`);
}

/** They would have to stand before the records of every output that is made of the store. */
function refuseHeaders({ header }: JobRequest): void {
  if (header === undefined) return;
  throw new UsageError(
    'a pile store keeps records alone, and these inputs have headers (`header`, or records of npy or webdataset); give inputs without, or shuffle them with pileshuf alone',
  );
}
