/**
 * Adds inputs to a pile store: a scatter pass that leaves its pile sets in the store, then one commit.
 *
 *     plan      inputs -> slices; creates the store if needed        prepareAppend
 *     scatter   one task a slice -> its pile set in the store        ../stages/scatter-slices.ts
 *     commit    a new manifest of the store names all of them        ../store/commit-to-store.ts
 */

import { UsageError } from '../errors.js';
import { deriveSampleSeed, generateSeed } from '../floor/keys.js';
import { nameOfFormat } from '../formats/record-format.js';
import { KEEP_ALL } from '../keep/keep-spec.js';
import { UNCUT } from '../keep/splits.js';
import { DeviceGates } from '../machine/devices.js';
import type { AppendReport } from '../options/reports.js';
import type { AppendOptions } from '../options/store-options.js';
import { APPEND_OPTIONS } from '../options/store-options.js';
import { checksumTextOf } from '../piles/pile-totals.js';
import { requireOutside } from '../places/outputs/output-files.js';
import type { Tuning } from '../plan/memory-plan.js';
import { pilesForBytes, pilesForFirstInputs } from '../plan/store-sizes.js';
import { memoryBesideTransfers } from '../remote/transfer-pool.js';
import { warnOfMates } from '../sources/doubtful-records.js';
import { chooseInputIds, inputKeyOf } from '../sources/ids.js';
import type { Inputs } from '../sources/input.js';
import { gatesOf } from '../sources/list-inputs.js';
import type { ReadSpec, ShuffleSpec } from '../spec.js';
import { scatterInputs } from '../stages/scatter-slices.js';
import { scatterSettings } from '../stages/task-settings.js';
import { startThreads } from '../stages/threads.js';
import { commitToStore, requireIdsFree } from '../store/commit-to-store.js';
import { openOrCreateStore, type PlannedStore } from '../store/create-store.js';
import { generationOfToday, requireGeneration } from '../store/generations.js';
import { StoreAttempt } from '../store/store-attempt.js';
import { layoutOnDevice } from '../store/store-snapshot.js';
import { requireKnownOptions } from '../values/known-options.js';
import { type DiskNeed, requireSpace } from './disk-space.js';
import { type Estimate, estimateInputs } from './estimate.js';
import { type JobScope, runJob } from './job.js';
import { JobProgress } from './job-progress.js';
import { listNamedInputs, openHeaders } from './open-inputs.js';
import { completeReading, type ReadingRequest } from './request.js';
import { TempDisks } from './temp-disks.js';
import { createControl, memoryNeedOf, planAppend } from './work-plan.js';

/**
 * Adds the records of the inputs to a store, and creates the store if it does not exist. One commit adds all records; if
 * the call fails, it adds none.
 *
 * @param tuning sizes for tests; they do not change the content of the store.
 * @throws PileshufError as `shuffle`; UsageError ERR_INPUT_ID_TAKEN if the store already has one of the input ids,
 *   ERR_STORE_DIFFERS if it has another seed or number of piles, ERR_STORE if the directory is not a store.
 */
export async function appendToStore(
  storeDirectory: string,
  options: AppendOptions,
  tuning: Partial<Tuning> = {},
): Promise<AppendReport> {
  const { value, seconds } = await runJob(options, async (scope) =>
    append(await prepareAppend(storeDirectory, options, tuning), scope),
  );
  return { ...value, seconds: { total: seconds, ...value.seconds } };
}

async function append(prepared: PreparedAppend, { releases }: JobScope) {
  const { request, inputIds, snapshot, layout, plan, deviceGates, control } = prepared;
  const { generation, replace } = request;
  const phases = [
    { phase: 'scatter', bytes: plan.inputBytes },
    { phase: 'commit', bytes: 0 },
  ] as const;
  const progress = new JobProgress(control, request, deviceGates, phases, releases);
  const attempt = StoreAttempt.begin(snapshot);
  let isCommitted = false;
  releases.push(() => (isCommitted ? attempt.end() : attempt.abandon()));
  // Threads end before the attempt ends, which may delete the files that they write.
  const size = { threadCount: plan.inline ? 0 : plan.memory.workers, startCount: plan.slices.length };
  const threads = await startThreads(size, progress, () => {}, releases);
  const piling = { layout, ramPool: undefined, tempZstdLevel: undefined };
  const settings = scatterSettings(threads, plan, request.spec, piling, { commitsPileSets: true });
  const work = { ...prepared, slices: plan.slices, settings, attempt: attempt.name, onWarning: request.onWarning };

  const pass1 = await progress.during('scatter', plan.inputBytes, () => scatterInputs(work, threads, undefined));
  const { piles, found } = pass1.value;
  const { records, bytes, longestRecordBytes, pileSets } = piles;
  found.startFindings.tell(prepared.inputs, 'store', request.onWarning);
  const checksum = checksumTextOf(piles.checksum);
  const commit = await progress.during('commit', undefined, () =>
    commitToStore(
      snapshot,
      {
        name: attempt.name,
        generation,
        inputIds,
        format: nameOfFormat(request.spec.read),
        records,
        bytes,
        checksum,
        longestRecordBytes,
        pileSets: pileSets.map(({ name, diskBytes }) => ({ name, diskBytes })),
      },
      { replace, control },
    ),
  );
  isCommitted = true;
  return {
    records,
    bytes,
    checksum,
    inputCount: inputIds.length,
    blank: request.spec.read.skipsBlank === true ? found.blank : undefined,
    seed: snapshot.settings.seed,
    piles: snapshot.settings.pileCount,
    generation,
    state: commit.value.number,
    storedBytes: pileSets.reduce((sum, { diskBytes }) => sum + diskBytes, 0),
    workers: plan.memory.workers,
    seconds: { pass1: pass1.seconds, commit: commit.seconds },
  };
}

interface AppendRequest extends Omit<ReadingRequest, 'read'> {
  readonly spec: ShuffleSpec;
  readonly generation: string;
  readonly replace: boolean;
}

/** All records go on piles once. */
const EVERY_RECORD: Omit<ShuffleSpec, 'read' | 'key'> = {
  keep: KEEP_ALL,
  cut: UNCUT,
  write: { compression: undefined },
};

type PreparedAppend = Awaited<ReturnType<typeof prepareAppend>>;

/** Plans and checks all before the store gets its first byte. The last step creates a missing store. */
async function prepareAppend(storeDirectory: string, options: AppendOptions, tuning: Tuning) {
  requireKnownOptions('appendToStore()', options, APPEND_OPTIONS);
  const { generation = generationOfToday(), replace = false, piles, expectedBytes, seed, inputIds = 'path' } = options;
  requireGeneration(generation);
  const { read, ...reading } = completeReading(options);
  refuseHeaders(read);
  const listing = { ...reading, read };
  const listed = await listNamedInputs(listing, { header: undefined, mayHaveHeaders: false });
  warnOfMates(listed.inputs, read, false, reading.onWarning);
  requireOutside(storeDirectory, 'the pile store', listed.directories);
  const machine = { ...reading, ...memoryBesideTransfers(reading, listed.fetchBytes) };
  const { inputs, firstHeader } = await openHeaders(listed.inputs, listing, () => memoryNeedOf(machine, 0));
  const ids = chooseInputIds(inputIds, inputs) ?? inputs.map((_, ordinal) => String(ordinal));
  // This seed draws samples; it changes only the estimate.
  const draws = seed ?? generateSeed();
  const estimate = estimateInputs(inputs, read.framing, deriveSampleSeed(draws));
  const spec = { read, key: { seed: draws, from: 'position' }, ...EVERY_RECORD } as const;
  const request = { ...machine, spec, generation, replace };
  const { snapshot, plan: work } = await openOrCreateStore(
    storeDirectory,
    { seed, pileCount: piles },
    {
      pileCount: expectedBytes === undefined ? pilesForFirstInputs(estimate.recordBytes) : pilesForBytes(expectedBytes),
    },
    (store) => {
      requireIdsFree(store.snapshot, ids, replace);
      return planStoreWork(request, inputs, estimate, store, tuning);
    },
  );
  const layout = layoutOnDevice(snapshot, work.deviceGates);
  const keyOf = (inputOrdinal: number) => inputKeyOf(snapshot.settings.seed, ids, inputOrdinal);
  return { ...work, request, inputs, firstHeader, inputIds: ids, keyOf, snapshot, layout };
}

/** Plans for a store that may not exist yet. */
async function planStoreWork(
  request: AppendRequest,
  inputs: Inputs,
  estimate: Estimate,
  { pileCount, place: directory }: PlannedStore,
  tuning: Tuning,
) {
  const { signal, onWarning } = request;
  const deviceGates = new DeviceGates(request.ioLimits);
  const disk = new TempDisks([directory], deviceGates);
  const gates = await gatesOf(inputs, deviceGates, signal);
  const work = { request, inputs, estimate, disks: disk, tuning };
  const plan = await planAppend(work, { pileCount, stripeCount: 1 });
  const needsOf = ({ tempBytes }: DiskNeed) => [{ directory, byteLength: tempBytes, what: 'the pile store' }] as const;
  requireSpace(plan.diskNeeds, needsOf, 1, deviceGates, onWarning);
  return { gates, deviceGates, plan, control: createControl(plan, deviceGates) };
}

/** A store has no place for a header, which every output of the store would need. */
function refuseHeaders({ header }: ReadSpec): void {
  if (header === undefined) return;
  throw new UsageError(
    'a pile store holds only records, and these inputs have headers (`header`, or records of npy or webdataset); give inputs without headers, or shuffle them without a store',
  );
}
