/** What every shuffle task and the commit decide between the passes. The first that is done notes it for the others. */
import { type KeptNotes, readNote } from '../job-directory/notes.js';
import type { OutputLayout } from '../output/output-layout.js';
import { foundEnds, type OutputPlan, planOutput } from '../passes/between-passes.js';
import { sampleSourceOf } from '../passes/sample-places.js';
import type { PilesWork, ShuffleWork } from '../passes/shuffle-work.js';
import { leftOutOf } from '../passes/take-head.js';
import type { Threads } from '../passes/threads.js';
import { MOST_SHARDS } from '../plan/shard-cuts.js';
import { gatherScattered, openPilesOfJob, type Scattered } from './job-piles.js';
import { gatherMeasured } from './measure-part.js';
import type { ClusterJob } from './open-job.js';

export interface DecidedOutput extends Omit<OutputPlan<PilesWork & Pick<ShuffleWork, 'samples'>>, 'cut'> {
  readonly layout: OutputLayout;
  readonly found: Scattered['found'];
  /** The records dropped because an equal one is kept. Undefined: equal records stay. */
  readonly duplicates: { readonly records: number; readonly bytes: number } | undefined;
  readonly threads: Threads;
}

export async function decideOutput(job: ClusterJob): Promise<DecidedOutput> {
  const { plan, directory, keyOf, inputs, signal } = job;
  const { spec } = plan;
  const { piles: all, found } = await gatherScattered(job);
  const distinct = await gatherMeasured(job, all);
  const duplicates = spec.keep.unique !== undefined ? leftOutOf(all, distinct, found.leftOut) : undefined;
  const { work, threads } = await openPilesOfJob(job, distinct);
  const samples = sampleSourceOf(spec.read.framing, {
    inputs,
    recordEnds: found.recordEnds,
    keyOf,
    keys: spec.key.from,
    signal,
  });
  const limits = { pileCount: plan.memory.pileCount, mostShards: MOST_SHARDS };
  const notes: KeptNotes = {
    jobDirectory: directory,
    hasFinishedRanges: false,
    found: (name) => readNote(directory, name, limits),
  };
  const { cut, ...decided } = await planOutput(spec, foundEnds(spec.read, found), { ...work, samples }, threads, notes);
  return { ...decided, layout: await cut(), found, duplicates, threads };
}
