/**
 * Everything that is decided and checked before the records of a store are written in their order.
 */

import type { Release } from '../cleanup.js';
import { UNGATED } from '../job-control.js';
import { readOpenFileLimit } from '../machine/limits.js';
import { requireReplaceable } from '../output/output-place.js';
import { DeviceGates } from '../passes/device-gates.js';
import { type MemoryNeed, planMemory, type Tuning } from '../plan/memory-plan.js';
import { pileSetDirectoryOf } from '../store/store-files.js';
import { layoutOf, type StoreSnapshot } from '../store/store-snapshot.js';
import { checkDisks } from './check-disks.js';
import { choosePlaces } from './job-places.js';
import { INLINE_BYTES, type JobPlan } from './job-plan.js';
import { createControl, findSite, type PreparedJob } from './prepare-job.js';
import { completeRequest, type JobRequest } from './request.js';
import type { ShuffleStoreOptions } from './store-options.js';
import { TempPlaces } from './temp-places.js';

/**
 * @param releases gets what is to be done when the job ends, whatever becomes of it.
 * @throws UsageError, SystemError
 */
export async function prepareStoreShuffle(
  snapshot: StoreSnapshot,
  options: ShuffleStoreOptions,
  tuning: Tuning,
  releases: Release[],
): Promise<PreparedJob> {
  const request = completeRequest({ ...options, inputs: [], seed: snapshot.settings.seed });
  const inputs = snapshot.manifest.commits.flatMap(({ inputIds }) => inputIds.map((path) => ({ path })));
  const places = choosePlaces(request, { inputs, directories: [snapshot.directory] });
  const gates = new DeviceGates(request.ioLimits);
  const tempPlaces = new TempPlaces(places.tempDirs, gates);
  const site = await findSite(request, places, releases);
  if (places.kind === 'files') requireReplaceable(places.output, request.output ?? '', []);
  const pileSetDirectory = pileSetDirectoryOf(snapshot.directory);
  const rotates = gates.deviceOf(pileSetDirectory, 'store').deviceClass === 'rotating';
  const storedPiles = layoutOf(snapshot, gates.gateOf(pileSetDirectory, 'store'), rotates);
  const outputGate = places.outputDirectory === undefined ? UNGATED : gates.gateOf(places.outputDirectory, 'output');
  const plan = planPass2(snapshot, request, tempPlaces, tuning);
  checkDisks(request, plan, places, gates);
  return {
    request,
    inputs: [],
    inputIds: undefined,
    firstHeader: undefined,
    inputGates: [],
    site,
    before: undefined,
    outputGate,
    tempPlaces,
    plan,
    control: createControl(plan, gates),
    storedPiles,
  };
}

function planPass2(snapshot: StoreSnapshot, request: JobRequest, tempPlaces: TempPlaces, tuning: Tuning): JobPlan {
  const { settings, manifest } = snapshot;
  const bytes = manifest.commits.reduce((sum, commit) => sum + commit.bytes, 0);
  const records = manifest.commits.reduce((sum, commit) => sum + commit.records, 0);
  const inline = tuning.inline ?? bytes <= INLINE_BYTES;
  const memoryNeed: MemoryNeed = {
    budgetBytes: request.memoryBytes,
    workers: inline ? 1 : request.workers,
    mostSlices: Number.POSITIVE_INFINITY,
    recordBytes: Math.max(1, bytes),
    meanRecordBytes: Math.max(1, bytes / Math.max(1, records)),
    exact: true,
    tempDiskCount: tempPlaces.count,
    tempDisksRotate: tempPlaces.rotate,
    openFileLimit: readOpenFileLimit(),
    isResumable: false,
    holdsOutput: request.compression !== undefined,
    layout: undefined,
  };
  // As if the piles were to be made, and lay on disk: then as they are.
  const planned = planMemory(memoryNeed, { ...tuning, keepInRam: false });
  const memory = { ...planned, pileCount: settings.pileCount, stripeCount: 1, maySpill: false };
  const need = { tempBytes: 0, outputBytes: request.compression === undefined ? bytes : 0 };
  return {
    memory,
    memoryNeed,
    slices: [],
    inline,
    inputBytes: undefined,
    least: need,
    expected: need,
    isResumable: false,
    layout: undefined,
  };
}
