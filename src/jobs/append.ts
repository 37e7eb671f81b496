/**
 * Pass 1 into a store: the records of inputs become pile sets of it, all in one commit.
 */
import { randomUUID } from 'node:crypto';
import type { ScatterShare } from '../../workers/tasks/job-share.js';
import { type Release, releasingAll } from '../cleanup.js';
import { AbortedError } from '../errors.js';
import { nameOfFormat } from '../formats/record-format.js';
import { checksumTextOf } from '../output/output-target.js';
import type { JobContext } from '../passes/job-context.js';
import { JobStop } from '../passes/job-stop.js';
import { scatterInputs } from '../passes/scatter-pass.js';
import { openTaskPool } from '../passes/task-pool.js';
import type { Tuning } from '../plan/memory-plan.js';
import { commitToStore } from '../store/commit-to-store.js';
import { StoreAttempt } from '../store/store-attempt.js';
import { JobProgress } from './job-progress.js';
import { type PreparedAppend, prepareAppend } from './prepare-append.js';
import type { AppendOptions, AppendReport } from './store-options.js';

/**
 * Adds the records of inputs to a store, which is made if it is not there: all of them, in one commit, or none.
 *
 * @param tuning sizes that only tests have a reason to change; they do not change what the store holds.
 * @throws PileshufError as `shuffle`; UsageError ERR_INPUT_ID_TAKEN when the store has one of the input ids
 */
export async function appendToStore(
  storeDirectory: string,
  options: AppendOptions,
  tuning: Partial<Tuning> = {},
): Promise<AppendReport> {
  const began = performance.now();
  if (options.signal?.aborted === true) throw new AbortedError();
  const warnOfLeftover = (error: unknown) => {
    try {
      options.onWarning?.(error instanceof Error ? error.message : String(error));
    } catch {
      // What the store has is decided already.
    }
  };
  return releasingAll(async (releases) => {
    const prepared = await prepareAppend(storeDirectory, options, tuning);
    const report = await append(prepared, releases);
    return { ...report, seconds: { total: (performance.now() - began) / 1000, ...report.seconds } };
  }, warnOfLeftover);
}

async function append(prepared: PreparedAppend, releases: Release[]) {
  const { request, snapshot, inputIds, generation, replace, plan, control } = prepared;
  const stop = new JobStop(control, request.signal);
  releases.push(() => stop.release());
  const progress = new JobProgress(control, stop, request.onProgress);
  const attempt = StoreAttempt.begin(snapshot);
  let isCommitted = false;
  releases.push(() => (isCommitted ? attempt.end() : attempt.abandon()));
  const share = shareOf(prepared);
  const threadCount = plan.inline ? 0 : plan.memory.workers;
  const pool = await openTaskPool({ threadCount, startCount: plan.slices.length }, share.jobName, () => {});
  // Threads end before it is decided what becomes of the files that they write.
  releases.push(() => pool.destroy());
  const { seed, onWarning } = request;
  const job: JobContext<ScatterShare> = {
    ...prepared,
    firstHeader: undefined,
    seed,
    share,
    stop,
    pool,
    onWarning,
    onTaskProfile: () => {},
    attempt: attempt.name,
    keepsPiles: true,
    kept: undefined,
  };
  const pass1 = await progress.during('scatter', plan.inputBytes, () => scatterInputs(job));
  const { records, bytes, longestRecordBytes, pileSets, tempBytes } = pass1.value;
  const checksum = checksumTextOf(pass1.value.checksum);
  const commit = await progress.during('commit', undefined, () =>
    commitToStore(
      snapshot,
      {
        name: attempt.name,
        generation,
        inputIds,
        format: nameOfFormat(request),
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
    seed,
    piles: snapshot.settings.pileCount,
    generation,
    state: commit.value.number,
    storedBytes: tempBytes,
    workers: plan.memory.workers,
    seconds: { pass1: pass1.seconds, commit: commit.seconds },
  };
}

function shareOf({ request, plan, control, layout }: PreparedAppend): ScatterShare {
  const { memory } = plan;
  return {
    jobName: randomUUID(),
    control: control.buffer,
    layout,
    keepsPileSets: true,
    framing: request.framing,
    header: request.header,
    decompressProgram: request.decompressProgram,
    bufferBytes: memory.bufferBytes,
    readBytes: memory.readBytes,
    arenaBytes: memory.pass1ArenaBytes,
    maxRecordBytes: request.maxRecordBytes,
    memoryNeed: plan.memoryNeed,
  };
}
