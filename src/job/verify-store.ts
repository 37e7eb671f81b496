/** Verifies a store by reading every record, on as many threads as there are CPUs. */
import { type VerifyTask, verifyWindowBytes } from '../../workers/tasks/verify-piles.js';
import { JobControl } from '../floor/job-control.js';
import { hearSignals } from '../floor/pause.js';
import { DeviceGates } from '../machine/devices.js';
import { readCpuCount, readMemory } from '../machine/limits.js';
import { INLINE_BYTES, type Tuning } from '../plan/memory-plan.js';
import { onceMore, runTasks, tasksAtOnce } from '../stages/run-tasks.js';
import { startThreads } from '../stages/threads.js';
import { longestRecordBytesOf } from '../store/store-manifest.js';
import { explainedByExpiry, layoutOnDevice, pileSetsOf, type StoreSnapshot } from '../store/store-snapshot.js';
import { runJob } from './job.js';
import { JobProgress } from './job-progress.js';
import type { TalkRequest } from './request.js';

const MIB = 2 ** 20;
/** Enough for a task to be worth its start, and little enough to keep all threads busy. */
const TASK_BYTES = 64 * MIB;
/** The memory for the buffers of all piles of a thread together; full buffers are discarded. */
const BUFFERS_BYTES = 32 * MIB;
const LARGEST_BUFFER_BYTES = 64 * 1024;
const MEMORY_SHARE = 0.5;

export async function verifyStore(
  snapshot: StoreSnapshot,
  { signal, onProgress, onWarning }: TalkRequest,
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
    const verify = async (task: VerifyTask) => {
      try {
        await onceMore(() => threads.pool.run('verify', task), onWarning);
      } catch (error) {
        throw explainedByExpiry(error, snapshot, task.pileSet.name);
      }
    };
    const tasks = tasksOf(snapshot, { job, longestRecordBytes });
    const verifyAll = () => runTasks(tasks, verify, () => {}, tasksAtOnce(threads), threads.stop);
    await progress.during('verify', diskBytes, verifyAll);
    // On this thread tasks block the event loop, which may need two turns to tell of a signal.
    await hearSignals(signal);
    await hearSignals(signal);
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
  rest: Pick<VerifyTask, 'job' | 'longestRecordBytes'>,
): Generator<VerifyTask, void> {
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
