import { type VerifyPilesTask, verifyWindowBytes } from '../../workers/tasks/verify-piles.js';
import { VerificationError } from '../errors.js';
import { JobControl } from '../floor/job-control.js';
import { yieldAndCheckAbort } from '../floor/pause.js';
import { listNames } from '../io/paths.js';
import { DeviceGates } from '../machine/devices.js';
import { readCpuCount, readMemory } from '../machine/limits.js';
import { INSPECT_OPTIONS, type InspectOptions } from '../options/store-options.js';
import { STORED_HEADER_BYTES } from '../plan/arena-sizes.js';
import { INLINE_BYTES, type Tuning } from '../plan/memory-plan.js';
import { retryOnce, runTasks, tasksAtOnce } from '../stages/run-tasks.js';
import { startThreads } from '../stages/threads.js';
import { type GenerationSummary, generationsOf, summaryOf, sumOfChecksums } from '../store/generations.js';
import { describeUnowned, findUnowned, findWriterMarks, type UnownedPileSets } from '../store/store-attempt.js';
import { pileSetDirectoryOf } from '../store/store-files.js';
import {
  longestRecordBytesOf,
  missingReachedNote,
  requirePresent,
  verifyFormerManifests,
} from '../store/store-manifest.js';
import {
  explainedByExpiry,
  layoutOnDevice,
  openEvenIfLost,
  pileSetsOf,
  type StoreSnapshot,
} from '../store/store-snapshot.js';
import { readStoredTotals } from '../store/stored-totals.js';
import { requireKnownOptions } from '../values/known-options.js';
import { runJob } from './job.js';
import { JobProgress } from './job-progress.js';
import { type Callbacks, completeCallbacks } from './request.js';

export interface StoreReport {
  readonly directory: string;
  /** 16 hex digits, which no other store has. */
  readonly id: string;
  readonly seed: string;
  readonly piles: number;
  /** Number of the current state. */
  readonly state: number;
  /** The time when the current state was committed: ISO 8601, in UTC. */
  readonly time: string;
  /** Oldest first. */
  readonly generations: readonly GenerationSummary[];
  readonly inputs: number;
  readonly records: number;
  readonly bytes: number;
  /** Multiset checksum of all records, as in `ShuffleReport`. */
  readonly checksum: string;
  readonly longestRecordBytes: number;
  readonly pileSets: number;
  /** Bytes of the data files. */
  readonly diskBytes: number;
  /** Bytes of one pile: its records, plus 12 bytes a record. */
  readonly pileBytes: { readonly least: number; readonly mean: number; readonly most: number };
  /** Pile sets that were removed from the store and are not yet deleted. */
  readonly removedPileSets: number;
  /** Pile sets that belong to no state of the store and to no writer: a lost manifest has named them. */
  readonly unowned: UnownedPileSets;
  /** Writers at work, and writers that ended without cleaning up. */
  readonly writers: number;
  /** True if every record was read. */
  readonly verified: boolean;
}

/**
 * Describes a store in numbers, and compares its manifest with its indexes and data files. Others may read and write
 * the store meanwhile.
 *
 * @param tuning sizes for tests; they do not change the result.
 * @throws UsageError ERR_STORE if the directory is not a store, or if a pile set was expired and deleted meanwhile;
 *   VerificationError for the first damage, if the manifest of the present state is lost, and with `verify` if there
 *   are pile sets that a lost manifest has named; SystemError; AbortError
 */
export async function inspectStore(
  storeDirectory: string,
  options: InspectOptions = {},
  tuning: Partial<Tuning> = {},
): Promise<StoreReport> {
  requireKnownOptions('inspectStore()', options, INSPECT_OPTIONS);
  const { snapshot, newest } = openEvenIfLost(storeDirectory);
  const { directory, settings, manifest } = snapshot;
  const { verify: verified = false, signal } = options;
  const unowned = await findUnowned(snapshot, signal);
  requirePresent(newest, directory, unowned.pileSets === 0 ? '' : `, which does not name ${describeUnowned(unowned)}`);
  const totals = await readStoredTotals(snapshot, signal);
  const storedBytes = totals.recordBytes.map(
    (bytes, pile) => bytes + STORED_HEADER_BYTES * (totals.records[pile] ?? 0),
  );
  if (verified) {
    requireNoneUnowned(unowned, snapshot);
    const callbacks = completeCallbacks(options);
    await verifyFormerManifests(directory, manifest, signal);
    const note = missingReachedNote(directory, manifest.number);
    if (note !== undefined)
      callbacks.onWarning(
        `${note} is missing, so pileshuf cannot see whether a newer manifest is lost; the next change of the store writes the file again`,
      );
    await verifyStore(snapshot, callbacks, tuning);
  }

  const generations = generationsOf(manifest.commits).map(summaryOf);
  const sum = (count: (generation: GenerationSummary) => number) =>
    generations.reduce((total, generation) => total + count(generation), 0);
  return {
    directory,
    id: settings.id,
    seed: settings.seed,
    piles: settings.pileCount,
    state: manifest.number,
    time: new Date(manifest.time).toISOString(),
    generations,
    inputs: sum(({ inputs }) => inputs),
    records: sum(({ records }) => records),
    bytes: sum(({ bytes }) => bytes),
    checksum: sumOfChecksums(manifest.commits),
    longestRecordBytes: longestRecordBytesOf(manifest.commits),
    pileSets: sum(({ pileSets }) => pileSets),
    diskBytes: sum(({ diskBytes }) => diskBytes),
    pileBytes: {
      least: storedBytes.reduce((least, bytes) => Math.min(least, bytes), Number.POSITIVE_INFINITY),
      mean: storedBytes.reduce((total, bytes) => total + bytes, 0) / storedBytes.length,
      most: storedBytes.reduce((most, bytes) => Math.max(most, bytes), 0),
    },
    removedPileSets: manifest.removed.reduce((total, { pileSets }) => total + pileSets.length, 0),
    unowned,
    writers: findWriterMarks(listNames(pileSetDirectoryOf(directory), 'store')).length,
    verified,
  };
}

function requireNoneUnowned(unowned: UnownedPileSets, { directory, manifest }: StoreSnapshot): void {
  if (unowned.pileSets === 0) return;
  throw new VerificationError(
    `the pile store ${directory} has ${describeUnowned(unowned)} that belong to no state and to no writer: a manifest newer than that of state ${manifest.number} may be lost; restore it from a copy, or give \`giveUpLost\` to \`collectStore\` to delete them`,
  );
}

const MIB = 2 ** 20;
/** Enough for a task to be worth its start, and little enough that all threads have work. */
const TASK_BYTES = 64 * MIB;
/** The memory for the buffers of all piles of a thread together; full buffers are discarded. */
const BUFFERS_BYTES = 32 * MIB;
const LARGEST_BUFFER_BYTES = 64 * 1024;
const MEMORY_SHARE = 0.5;

/** Verifies a store by reading every record, on as many threads as there are CPUs. */
export async function verifyStore(
  snapshot: StoreSnapshot,
  { signal, onProgress, onWarning }: Callbacks,
  tuning: Pick<Tuning, 'inline'>,
): Promise<void> {
  const { commits } = snapshot.manifest;
  const diskBytes = commits.flatMap(({ pileSets }) => pileSets).reduce((sum, pileSet) => sum + pileSet.diskBytes, 0);
  const inline = tuning.inline ?? diskBytes <= INLINE_BYTES;
  const gates = new DeviceGates({});
  const layout = layoutOnDevice(snapshot, gates, !inline);
  const control = JobControl.create(gates.permits, Number.MAX_SAFE_INTEGER);
  await runJob({ signal, onWarning }, async ({ releases }) => {
    const phases = [{ phase: 'verify', bytes: diskBytes }] as const;
    const progress = new JobProgress(control, { signal, onProgress }, gates, phases, releases);
    const longestRecordBytes = longestRecordBytesOf(commits);
    const threadCount = inline ? 0 : threadsFor(longestRecordBytes);
    const threads = await startThreads({ threadCount, startCount: 0 }, progress, () => {}, releases);
    const job = {
      jobName: threads.jobName,
      control: control.buffer,
      arenaBytes: 0,
      layout,
      bufferBytes: Math.min(LARGEST_BUFFER_BYTES, Math.ceil(BUFFERS_BYTES / layout.pileCount)),
    };
    const verify = async (task: VerifyPilesTask) => {
      try {
        await retryOnce(() => threads.pool.run('verify', task), onWarning);
      } catch (error) {
        throw explainedByExpiry(error, snapshot, task.pileSet.name);
      }
    };
    const tasks = tasksOf(snapshot, { job, longestRecordBytes });
    const verifyAll = () => runTasks(tasks, verify, () => {}, tasksAtOnce(threads), threads.stop);
    await progress.during('verify', diskBytes, verifyAll);
    // On this thread tasks block the event loop, which may need two turns to tell of a signal.
    await yieldAndCheckAbort(signal);
    await yieldAndCheckAbort(signal);
  });
}

function threadsFor(longestRecordBytes: number): number {
  const bytesOfThread = BUFFERS_BYTES + 2 * verifyWindowBytes(longestRecordBytes);
  return Math.max(
    1,
    Math.min(readCpuCount(), Math.floor((readMemory().availableBytes * MEMORY_SHARE) / bytesOfThread)),
  );
}

/** Cuts each pile set into equal parts. */
function* tasksOf(
  snapshot: StoreSnapshot,
  rest: Pick<VerifyPilesTask, 'job' | 'longestRecordBytes'>,
): Generator<VerifyPilesTask, void> {
  const { layout } = rest.job;
  const { pileCount } = layout;
  for (const pileSet of pileSetsOf(snapshot, layout)) {
    const partCount = Math.min(pileCount, Math.max(1, Math.ceil(pileSet.diskBytes / TASK_BYTES)));
    for (let part = 0; part < partCount; part++) {
      const first = Math.floor((part * pileCount) / partCount);
      const end = Math.floor(((part + 1) * pileCount) / partCount);
      yield { ...rest, pileSet, first, end };
    }
  }
}
