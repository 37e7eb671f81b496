/**
 * Writes the records of a pile store in random order: a shuffle pass on the piles of the store, whose totals come from
 * the indexes of the store instead of a scatter pass. This job only reads the store.
 *
 *     plan      current state of the store, memory                  prepareStoreShuffle
 *     gather    all pile sets of the store, and their totals        ../store/stored-totals.ts
 *     check     space for the output and for large piles            disk-space.ts
 *     between, shuffle, verify, commit                              as in shuffle.ts
 */
import { randomBytes } from 'node:crypto';
import type { Release } from '../floor/cleanup.js';
import { type GateNumber, type JobControl, UNGATED } from '../floor/job-control.js';
import { missingRecords, recordsOfOutput } from '../keep/keep-spec.js';
import { DeviceGates } from '../machine/devices.js';
import { refuseContradictions } from '../options/option.js';
import type { ShuffleReport } from '../options/reports.js';
import type { ShuffleStoreOptions } from '../options/shuffle-options.js';
import { SHUFFLE_STORE_OPTIONS } from '../options/shuffle-options.js';
import type { PileSetLayout } from '../piles/pile-layout.js';
import { INLINE_BYTES, type MemoryNeed, planMemory, type Tuning } from '../plan/memory-plan.js';
import { planPass2, planRescatter } from '../plan/pass2-memory.js';
import { NO_PLAIN_ENDS } from '../sinks/output-layout.js';
import { decideOutput } from '../stages/chain.js';
import { type ScatteredPiles, scatteredPiles } from '../stages/shuffle-work.js';
import type { MachinePlan } from '../stages/task-settings.js';
import { startThreads } from '../stages/threads.js';
import { describeUnowned, findUnowned } from '../store/store-attempt.js';
import { filesOfStore } from '../store/store-files.js';
import { longestRecordBytesOf } from '../store/store-manifest.js';
import {
  explainedByExpiry,
  layoutOnDevice,
  openSnapshot,
  pileSetsOf,
  type StoreSnapshot,
} from '../store/store-snapshot.js';
import { readStoredTotals } from '../store/stored-totals.js';
import { requireKnownOptions } from '../values/known-options.js';
import { needsAt, requireSpace } from './disk-space.js';
import { type LockedPlaces, lockPlaces } from './earlier-attempt.js';
import { runJob } from './job.js';
import { WITHOUT_INPUTS } from './job-description.js';
import { choosePlaces, type StreamPlaces } from './job-places.js';
import { ProfileLog } from './job-profile.js';
import { JobProgress, type Timed } from './job-progress.js';
import { type RunningJob, shuffleLocally } from './local-executor.js';
import {
  type Callbacks,
  completeCallbacks,
  completeMachine,
  completeOutput,
  type MachineRequest,
  NEVER_RESUMED,
  type OutputRequest,
  type ResumeRequest,
} from './request.js';
import { NOT_DONE, nameOfOutput, peakMemoryBytes } from './shuffle-report.js';
import { commitOutput, openStaging, runStaged } from './staging.js';
import { requireTempDirs, TempDisks } from './temp-disks.js';
import { createControl, memoryNeedOf } from './work-plan.js';

/**
 * Writes the records of a store in one uniformly random order: the same records as `shuffle` writes from the same inputs,
 * with the same seed and input ids. The output has the records that the store has when the call starts.
 *
 * @param tuning sizes for tests; they do not change the output.
 * @throws PileshufError as `shuffle`; UsageError ERR_STORE if the directory is not a store, or if its pile sets were
 *   expired and deleted meanwhile.
 */
export async function shuffleStore(
  storeDirectory: string,
  options: ShuffleStoreOptions,
  tuning: Partial<Tuning> = {},
): Promise<ShuffleReport> {
  requireKnownOptions('shuffleStore()', options, SHUFFLE_STORE_OPTIONS);
  refuseContradictions(SHUFFLE_STORE_OPTIONS, options);
  const snapshot = openSnapshot(storeDirectory);
  const profile = new ProfileLog();
  const { value, seconds } = await runJob(options, async (scope) => {
    const prepared = await prepareStoreShuffle(snapshot, options, tuning, scope.releases);
    const { request, plan, control, gates } = prepared;
    const phases = [
      { phase: 'scatter', bytes: 0 },
      { phase: 'shuffle', bytes: plan.memoryNeed.recordBytes },
      { phase: 'commit', bytes: 0 },
    ] as const;
    const progress = new JobProgress(control, request, gates, phases, scope.releases);
    await warnOfUnowned(snapshot, request);
    profile.pass1Begins();
    const stored = await progress.during('scatter', undefined, async () => {
      const totals = await readStoredTotals(snapshot, request.signal);
      const longestRecordBytes = longestRecordBytesOf(snapshot.manifest.commits);
      return scatteredPiles(pileSetsOf(snapshot, prepared.layout), totals, longestRecordBytes);
    });
    requireStoreSpace(prepared, stored.value);
    const staging = await openStaging({ ...prepared, ...WITHOUT_INPUTS, earlier: undefined }, scope);
    const job = { prepared, staging, progress, profile };
    return runStaged(staging, scope, ({ releases }) => shuffleStored({ ...job, releases }, stored));
  }).catch((error: unknown) => {
    throw explainedByExpiry(error, snapshot);
  });
  const report = { ...value, peakMemoryBytes: peakMemoryBytes(), seconds: { total: seconds, ...value.seconds } };
  await profile.tell(options, report);
  return report;
}

type StoreShuffleRequest = OutputRequest &
  MachineRequest &
  Callbacks &
  ResumeRequest & { readonly isProfiled: boolean };

interface PreparedStoreShuffle {
  readonly request: StoreShuffleRequest;
  readonly snapshot: StoreSnapshot;
  readonly layout: PileSetLayout;
  readonly places: StreamPlaces | LockedPlaces;
  readonly gates: DeviceGates;
  readonly disks: TempDisks;
  readonly outputGate: GateNumber;
  readonly plan: MachinePlan;
  readonly control: JobControl;
}

async function prepareStoreShuffle(
  snapshot: StoreSnapshot,
  options: ShuffleStoreOptions,
  tuning: Tuning,
  releases: Release[],
): Promise<PreparedStoreShuffle> {
  const request = {
    ...completeOutput(options, undefined),
    ...completeMachine(options),
    ...completeCallbacks(options),
    ...NEVER_RESUMED,
    isProfiled: options.onProfile !== undefined,
  };
  const inputs = snapshot.manifest.commits.flatMap(({ inputIds }) => inputIds.map((path) => ({ path })));
  const { directory } = snapshot;
  const files = () => filesOfStore(directory);
  const chosen = choosePlaces(request, { inputs, files, storeDirectory: directory });
  const gates = new DeviceGates(request.ioLimits);
  requireTempDirs(chosen.tempDirs, chosen.tempChoice);
  const disks = new TempDisks(chosen.tempDirs, gates);
  const { places } = await lockPlaces(request, chosen, undefined, releases);
  const layout = layoutOnDevice(snapshot, gates);
  const outputGate = places.outputDirectory === undefined ? UNGATED : gates.gateOf(places.outputDirectory, 'output');
  const plan = planStoreShuffle(request, snapshot, disks, tuning);
  const control = createControl(plan, gates);
  return { request, snapshot, layout, places, gates, disks, outputGate, plan, control };
}

function planStoreShuffle(
  { spec, memoryBytes, workers }: StoreShuffleRequest,
  { settings, manifest }: StoreSnapshot,
  disks: TempDisks,
  tuning: Tuning,
): MachinePlan {
  const records = manifest.commits.reduce((sum, commit) => sum + commit.records, 0);
  const bytes = manifest.commits.reduce((sum, commit) => sum + commit.bytes, 0);
  const inline = tuning.inline ?? bytes <= INLINE_BYTES;
  const memoryNeed: MemoryNeed = {
    ...memoryNeedOf({ memoryBytes, workers: inline ? 1 : workers }, bytes),
    meanRecordBytes: Math.max(1, bytes / Math.max(1, records)),
    exact: true,
    tempDiskCount: disks.count,
    tempDisksRotate: disks.rotate,
    outputWaits: spec.write.compression !== undefined,
  };
  // Plans as if this job made the piles, on disk; then sets their real number.
  const planned = planMemory(memoryNeed, { ...tuning, mayUseRamPool: false });
  const memory = { ...planned, pileCount: settings.pileCount, stripeCount: 1, maySpill: false };
  return { memory, memoryNeed, inline };
}

/** The store is read as its newest manifest says. If there may be a newer one, the caller must know. */
async function warnOfUnowned(snapshot: StoreSnapshot, { signal, onWarning }: Callbacks): Promise<void> {
  const unowned = await findUnowned(snapshot, signal);
  if (unowned.pileSets === 0) return;
  onWarning(
    `the pile store ${snapshot.directory} has ${describeUnowned(unowned)} that belong to no state and to no writer: a manifest may be lost; \`inspectStore\` tells more`,
  );
}

/** The job writes the output, and scatters again the piles that do not fit in memory. */
function requireStoreSpace({ request, plan, places, gates }: PreparedStoreShuffle, piles: ScatteredPiles): void {
  const { spec, tempZstdLevel, onWarning } = request;
  const { memory, memoryNeed } = plan;
  const { totals, records, bytes, longestRecordBytes } = piles;
  const outputPart = recordsOfOutput(spec.keep, records) / Math.max(1, records);
  // Nobody knows how well records compress.
  const outputBytes = spec.write.compression === undefined ? bytes * outputPart : 0;
  const pass2 = planPass2(memory, memoryNeed.budgetBytes, 0, longestRecordBytes);
  // Without memory for the longest record, the job ends with an error that says so.
  const rescattered = pass2 && planRescatter(totals, pass2, memory.outputBytes);
  const leastTempBytes = tempZstdLevel === undefined ? (rescattered?.least ?? 0) : 0;
  const needs = {
    least: { tempBytes: leastTempBytes, outputBytes: outputPart < 1 ? 0 : outputBytes },
    expected: { tempBytes: rescattered?.most ?? 0, outputBytes },
  };
  const basis = 'if all threads scatter their largest piles again at the same time';
  requireSpace(needs, (need) => needsAt(need, places), 1, gates, onWarning, basis);
}

interface RunningStoreShuffle extends RunningJob {
  readonly releases: Release[];
  readonly prepared: PreparedStoreShuffle;
}

async function shuffleStored(job: RunningStoreShuffle, stored: Timed<ScatteredPiles>) {
  const { prepared, staging, progress, profile, releases } = job;
  const { request, snapshot, plan, control } = prepared;
  const threadCount = plan.inline ? 0 : plan.memory.workers;
  const threads = await startThreads({ threadCount, startCount: 0 }, progress, profile.add, releases);
  const { spec, tempZstdLevel, isProfiled, signal, onWarning } = request;
  const scattered = {
    piles: stored.value,
    storage: { layout: prepared.layout, ramPool: undefined, tempZstdLevel },
    order: { framing: undefined, tiesByBytes: true, hashesOutput: false, rescatterTo: staging.piles, isProfiled },
    threads,
    ends: NO_PLAIN_ENDS,
    samples: undefined,
  };
  const attempt = randomBytes(4).toString('hex');
  const chain = { spec, plan, attempt, notes: undefined, signal, onWarning, onProfile: profile.add, releases };
  const decided = await decideOutput(chain, {
    scatter: async () => scattered,
    measure: async ({ piles }) => piles,
  });
  const { output } = decided;
  const written = await shuffleLocally(job, decided, false);
  const commit = await commitOutput(staging, written, decided, undefined, progress);
  const { settings, manifest } = snapshot;
  return {
    ...NOT_DONE,
    ...commit.output,
    output: nameOfOutput(prepared.places),
    seed: settings.seed,
    seconds: { pass1: stored.seconds, pass2: written.seconds, commit: commit.seconds },
    ...missingRecords(request.spec.keep, { all: stored.value, distinct: stored.value, written: output.work.piles }),
    inputCount: manifest.commits.reduce((sum, { inputIds }) => sum + inputIds.length, 0),
    workers: plan.memory.workers,
    piles: settings.pileCount,
    tempBytes: control.counted('rescatteredBytes'),
  };
}
