/** Plans and checks an append before the store gets its first byte. The last step creates a missing store. */
import { UsageError } from '../errors.js';
import { refuseForeignFiles, warnOfMates, warnOfNamesOfRecords } from '../inputs/doubtful-records.js';
import { type Estimate, estimateInputs } from '../inputs/estimate.js';
import { requireDirectory } from '../inputs/file-choice.js';
import { readInputHeaders, requireWholeRecords } from '../inputs/headers.js';
import { chooseInputIds, inputKeyOf } from '../inputs/ids.js';
import type { ReadableInputs } from '../inputs/input-part.js';
import { gatesOf, type Input, listInputs } from '../inputs/list-inputs.js';
import type { GateNumber, JobControl } from '../job-control.js';
import { deriveDrawSeed, drawSeed } from '../keys.js';
import { requireKnownOptions } from '../known-options.js';
import { DeviceGates } from '../machine/devices.js';
import { requireOutside } from '../output/output-place.js';
import type { PileSetLayout } from '../pile-sets/pile-layout.js';
import type { Tuning } from '../plan/memory-plan.js';
import { pilesForBytes, pilesForFirstInputs } from '../plan/store-sizes.js';
import type { ReadSpec, ShuffleSpec } from '../spec.js';
import { requireIdsFree } from '../store/commit-to-store.js';
import { openOrCreateStore, type StoreInSight } from '../store/create-store.js';
import { generationOfToday, requireGeneration } from '../store/generations.js';
import { layoutOf, type StoreSnapshot } from '../store/store-snapshot.js';
import { type DiskNeed, requireSpace } from './disk-space.js';
import { APPEND_OPTIONS } from './option-checks.js';
import type { AppendOptions } from './options.js';
import { completeReading, type ReadingRequest } from './request.js';
import { TempDisks } from './temp-disks.js';
import { createControl, planAppend, type ScatterPlan } from './work-plan.js';

interface AppendRequest extends Omit<ReadingRequest, 'read'> {
  readonly spec: ShuffleSpec;
  readonly generation: string;
  readonly replace: boolean;
}

export interface PreparedAppend extends ReadableInputs {
  readonly request: AppendRequest;
  readonly inputIds: readonly string[];
  readonly keyOf: (inputOrdinal: number) => bigint;
  readonly snapshot: StoreSnapshot;
  readonly layout: PileSetLayout;
  readonly plan: ScatterPlan;
  readonly deviceGates: DeviceGates;
  readonly control: JobControl;
}

/** All records go on piles once. */
const EVERY_RECORD: Omit<ShuffleSpec, 'read' | 'key'> = {
  keep: {
    headCount: undefined,
    repeat: false,
    unique: undefined,
    mix: { weights: [], shares: undefined, option: '`weights`', words: [] },
  },
  cut: { shards: undefined, shardPrefix: '', splits: undefined, splitBy: undefined },
  write: { compression: undefined },
};

export async function prepareAppend(
  storeDirectory: string,
  options: AppendOptions,
  tuning: Tuning,
): Promise<PreparedAppend> {
  requireKnownOptions('appendToStore()', options, APPEND_OPTIONS);
  const { generation = generationOfToday(), replace = false, piles, expectedBytes, seed, inputIds = 'path' } = options;
  requireGeneration(generation);
  const { read, ...reading } = completeReading(options);
  const { fileChoice, signal, onWarning, memoryBytes } = reading;
  refuseHeaders(read);
  const listed = await listInputs(reading.inputs, onWarning, { ...read, fileChoice, signal, format: read });
  requireDirectory(fileChoice, listed.directories);
  refuseForeignFiles(listed.inputs, read, onWarning);
  warnOfNamesOfRecords(listed.inputs, read, false, onWarning);
  warnOfMates(listed.inputs, read, false, onWarning);
  requireOutside(storeDirectory, 'the pile store', listed.directories);
  // An append has no headers, so no decoder asks for memory here.
  const { inputs, first: firstHeader } = await readInputHeaders(
    listed.inputs,
    { ...read, memoryBytes, signal, onWarning },
    () => '',
  );
  requireWholeRecords(inputs, read.framing);
  const ids = chooseInputIds(inputIds, inputs) ?? inputs.map((_, ordinal) => String(ordinal));
  // This seed draws samples; it changes only the estimate.
  const draws = seed ?? drawSeed();
  const estimate = estimateInputs(inputs, read.framing, deriveDrawSeed(draws));
  const { recordBytes } = estimate;
  const spec = { read, key: { seed: draws, from: 'position' }, ...EVERY_RECORD } as const;
  const request = { ...reading, spec, generation, replace };
  const { snapshot, plan: work } = await openOrCreateStore(
    storeDirectory,
    { seed, pileCount: piles },
    { pileCount: expectedBytes === undefined ? pilesForFirstInputs(recordBytes) : pilesForBytes(expectedBytes) },
    (store) => {
      requireIdsFree(store.snapshot, ids, replace);
      return planStoreWork(request, inputs, estimate, store, tuning);
    },
  );
  const { gates, deviceGates, plan, control, storeGate, rotates } = work;
  const layout = layoutOf(snapshot, storeGate, rotates);
  const keyOf = (inputOrdinal: number) => inputKeyOf(snapshot.settings.seed, ids, inputOrdinal);
  return { request, inputs, firstHeader, gates, inputIds: ids, keyOf, snapshot, layout, plan, deviceGates, control };
}

/** The plan for a store that may not exist yet. */
interface StoreWork extends Pick<PreparedAppend, 'gates' | 'deviceGates' | 'plan' | 'control'> {
  readonly storeGate: GateNumber;
  readonly rotates: boolean;
}

async function planStoreWork(
  request: AppendRequest,
  inputs: readonly Input[],
  estimate: Estimate,
  { pileCount, place: directory }: StoreInSight,
  tuning: Tuning,
): Promise<StoreWork> {
  const { signal, onWarning } = request;
  const deviceGates = new DeviceGates(request.ioLimits);
  const disk = new TempDisks([directory], deviceGates);
  const storeGate = deviceGates.gateOf(directory, 'store');
  const gates = await gatesOf(inputs, deviceGates, signal);
  const work = { request, inputs, estimate, disks: disk, tuning };
  const plan = await planAppend(work, { pileCount, stripeCount: 1 });
  const needsOf = ({ tempBytes }: DiskNeed) => [{ directory, byteLength: tempBytes, what: 'the pile store' }] as const;
  requireSpace(plan.diskNeeds, needsOf, 1, deviceGates, onWarning);
  return { gates, deviceGates, plan, control: createControl(plan, deviceGates), storeGate, rotates: disk.rotate };
}

/** A store has no place for a header, which every output of the store would need. */
function refuseHeaders({ header }: ReadSpec): void {
  if (header === undefined) return;
  throw new UsageError(
    'a pile store keeps only records, and these inputs have headers (`header`, or records of npy or webdataset); give inputs without headers, or shuffle them without a store',
  );
}
