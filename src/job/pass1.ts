/** Pass 1 of a shuffle: opens the memory and the threads of the job, and puts each record on a random pile. */

import type { Release } from '../floor/cleanup.js';
import { drawsPlaces } from '../keep/keep-spec.js';
import { tooLargeToDrawFrom } from '../keep/repeat.js';
import { isTooLargeToDraw } from '../piles/pile-set-writer.js';
import { keyRuleOf } from '../sources/ids.js';
import { openRamPool } from '../stages/job-memory.js';
import { type SampleSource, sampleSourceOf } from '../stages/sample-places.js';
import { type ScatterOutcome, scatterInputs } from '../stages/scatter-slices.js';
import { startThreads, type Threads } from '../stages/threads.js';
import { watchSpace } from './disk-space.js';
import type { PreparedShuffle } from './prepare-shuffle.js';
import type { RunningJob } from './staging.js';
import { type PileStorage, scatterSettings } from './task-settings.js';

export interface RunningShuffle extends RunningJob {
  readonly prepared: PreparedShuffle;
  /** The name of this attempt, in the names of its files. */
  readonly attempt: string;
  readonly releases: Release[];
}

export interface Pass1 extends ScatterOutcome {
  readonly seconds: number;
  readonly threads: Threads;
  readonly storage: PileStorage;
  readonly samples: SampleSource | undefined;
}

/** By what was read of the inputs. The plan only guesses the size of a stream: it is taken for twice what was read. */
function expectedRecordBytes({ plan, control }: PreparedShuffle): number {
  const [decodedBytes, storedBytes] = [control.counted('decodedBytes'), control.counted('scatteredBytes')];
  const { inputBytes, memoryNeed, readBytes } = plan;
  const copies = memoryNeed.recordBytes / Math.max(1, readBytes);
  if (inputBytes === undefined) return Math.max(1, 2 * decodedBytes * copies);
  return Math.max(memoryNeed.recordBytes, (decodedBytes * inputBytes) / Math.max(1, storedBytes));
}

export async function runPass1({
  prepared,
  staging,
  progress,
  profile,
  attempt,
  releases,
}: RunningShuffle): Promise<Pass1> {
  const { request, inputIds, plan } = prepared;
  const { spec } = request;
  const { memory, inline, slices } = plan;
  const { pileCount, stripeCount } = memory;

  // The thread that keeps memory starts beside those of the task pool, and ends after them.
  const openingPool = openRamPool(memory.ramPoolBytes, inline, progress.stop, releases);
  openingPool.catch(() => {});
  // A single stream keeps one thread busy in pass 1; the others start when pass 2 has tasks for them.
  const size = { threadCount: inline ? 0 : memory.workers, startCount: slices.length };
  const threads = await startThreads(size, progress, profile.add, releases);
  const ramPool = await openingPool;
  // Draws are made from piles in memory alone.
  const layout = { pileCount, stripeCount, ...staging.piles, ...(drawsPlaces(spec.keep) && { disks: [] }) };
  const storage = { layout, ramPool, tempZstdLevel: request.tempZstdLevel };

  profile.pass1Begins(prepared.reportLog);
  const { kept } = staging;
  const work = {
    ...prepared,
    inputs: spec.keep.range === undefined ? prepared.inputsToRead : [],
    slices,
    keys: spec.key.from,
    head: plan.head,
    keyOf: keyRuleOf(spec, inputIds),
    settings: scatterSettings(threads, plan, spec, storage, {
      keepsPileSets: kept !== undefined,
      isProfiled: request.isProfiled,
      isSampled: request.isSampled,
      weighedField: spec.keep.mix.shares?.field,
    }),
    attempt,
    onWarning: request.onWarning,
  };
  const scatter = () => scatterInputs(work, threads, kept);
  // Nobody knows how much an earlier attempt has written.
  const watched = () => (prepared.earlier === undefined ? watchSpace(prepared, scatter, progress.stop) : scatter());
  const { value: outcome, seconds } = await progress
    .during('scatter', plan.inputBytes, watched)
    .catch((error: unknown) => {
      throw isTooLargeToDraw(error) ? tooLargeToDrawFrom(plan.memoryNeed, expectedRecordBytes(prepared)) : error;
    });
  const { beginnings, recordEnds } = outcome.found;
  beginnings.tell(prepared.inputs, 'output', request.onWarning);
  const samples = sampleSourceOf(spec, { ...work, signal: request.signal, recordEnds });
  return { ...outcome, seconds, threads, storage, samples };
}
