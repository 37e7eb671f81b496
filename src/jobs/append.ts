/**
 * Adds inputs to a pile store: a scatter pass that leaves its pile sets in the store, then one commit.
 *
 *     plan      inputs -> slices; creates the store if needed        prepare-append.ts
 *     scatter   one task a slice -> its pile set in the store        ../passes/scatter-pass.ts
 *     commit    a new manifest of the store names all of them        ../store/commit-to-store.ts
 */
import { nameOfFormat } from '../formats/record-format.js';
import { scatterInputs } from '../passes/scatter-pass.js';
import { JobStop, startThreads } from '../passes/threads.js';
import { checksumTextOf } from '../pile-sets/pile-totals.js';
import type { Tuning } from '../plan/memory-plan.js';
import { commitToStore } from '../store/commit-to-store.js';
import { StoreAttempt } from '../store/store-attempt.js';
import { type JobScope, runJob } from './job.js';
import { JobProgress } from './job-progress.js';
import type { AppendOptions, AppendReport } from './options.js';
import { type PreparedAppend, prepareAppend } from './prepare-append.js';
import { scatterSettings } from './task-settings.js';

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
  const { request, inputIds, snapshot, layout, plan, control } = prepared;
  const { generation, replace } = request;
  const stop = new JobStop(control, request.signal, releases);
  const phases = [
    { phase: 'scatter', bytes: plan.inputBytes },
    { phase: 'commit', bytes: 0 },
  ] as const;
  const machine = { gates: prepared.deviceGates, budgetBytes: request.memoryBytes };
  const progress = new JobProgress(control, stop, request.onProgress, phases, machine);
  const attempt = StoreAttempt.begin(snapshot);
  let isCommitted = false;
  releases.push(() => (isCommitted ? attempt.end() : attempt.abandon()));
  // Threads end before the attempt ends, which may delete the files that they write.
  const size = { threadCount: plan.inline ? 0 : plan.memory.workers, startCount: plan.slices.length };
  const threads = await startThreads(size, { control, stop }, () => {}, releases);
  const piling = { layout, ramPool: undefined, tempZstdLevel: undefined };
  const settings = scatterSettings(threads, plan, request.spec, piling, { keepsPileSets: true });
  const work = { ...prepared, slices: plan.slices, settings, attempt: attempt.name, onWarning: request.onWarning };

  const pass1 = await progress.during('scatter', plan.inputBytes, () => scatterInputs(work, threads, undefined));
  const { piles, found } = pass1.value;
  const { records, bytes, longestRecordBytes, pileSets } = piles;
  found.beginnings.tell(prepared.inputs, 'store', request.onWarning);
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
