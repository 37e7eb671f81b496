/**
 * The piles of a job on the machine of a task: what all scatter tasks have made, what stays of it where one of equal records
 * is kept (that is what a measure task finds), and what the shuffle tasks and the commit decide of the output.
 */
import type { ScatterResult } from '../../workers/tasks/scatter-slice.js';
import { type OpenedPiles, openPiles } from '../job/task-settings.js';
import { requireTempDirs, TempDisks } from '../job/temp-disks.js';
import { makeScratchDirectory, removeLeftOverTempDirectories } from '../job-directory/held-directory.js';
import { type KeptNotes, NOTES } from '../job-directory/notes.js';
import { contentRuleOf } from '../keep/content-rule.js';
import { isDistinct } from '../keep/distinct.js';
import { lacksOf } from '../keep/keep-spec.js';
import { hearSignalsAt } from '../pause.js';
import { tallyOfText, totalsOf, totalsOfRange } from '../piles/pile-totals.js';
import { MOST_SHARDS } from '../plan/shard-cuts.js';
import { shareOfPiles } from '../plan/task-shares.js';
import type { OutputLayout } from '../sinks/output-layout.js';
import { foundEnds, type OutputPlan, planOutput } from '../stages/between-passes.js';
import { readCommitted } from '../stages/committed-slices.js';
import { GatheredSlices } from '../stages/gathered-slices.js';
import { sampleSourceOf } from '../stages/sample-places.js';
import type { ScatterOutcome } from '../stages/scatter-pass.js';
import {
  bytesOfPart,
  type PilesWork,
  type ScatteredPiles,
  type ShuffleWork,
  scatteredPiles,
} from '../stages/shuffle-work.js';
import { measureDistinct, requireDistinct, textsOf } from '../stages/take-distinct.js';
import type { Threads } from '../stages/threads.js';
import { recordNameOf, taskCountOf } from './cluster-plan.js';
import { type ClusterJob, notReady, requireDone, startTaskThreads, unfinished } from './open-job.js';

type Scattered = Pick<ScatterOutcome, 'piles' | 'found'>;

/** Checks that the tasks read every byte of every input once. */
async function gatherScattered(job: ClusterJob): Promise<Scattered> {
  const { plan, piling, inputs, signal } = job;
  const { firstHeader, weighing, spec } = plan;
  const gathered = new GatheredSlices({ inputs, firstHeader, weighing, settings: spec }, piling.layout.pileCount);
  await requireDone(job, 'scatter');
  for (const slice of plan.slices.keys()) {
    await hearSignalsAt(slice, signal);
    gathered.add(slice, await readScatteredSlice(job, slice));
  }
  return { piles: gathered.piles(), found: gathered };
}

export async function readScatteredSlice(
  { directory, plan, piling, patience }: ClusterJob,
  slice: number,
): Promise<ScatterResult> {
  const size = { sliceCount: plan.slices.length, inputCount: plan.inputs.length };
  return patience.untilWhole(directory, () =>
    readCommitted({ layout: piling.layout, size, isStripeDone: () => false }, slice),
  );
}

async function openPilesOfJob(job: ClusterJob, piles: ScatteredPiles): Promise<OpenedPiles> {
  const { plan, piling, onWarning, log, scope } = job;
  const { spec, inputIds } = plan;
  const first = await startTaskThreads(job);
  const rule = {
    framing: spec.read.framing,
    content: contentRuleOf(spec),
    tiesByBytes: isDistinct(spec.keep) || inputIds !== undefined,
    hashesOutput: true,
    rescatterTo: openScratch(job),
    isProfiled: plan.profile !== undefined,
  };
  const toOpen = { piles, attempt: log.attempt, onWarning };
  const opened = await openPiles(toOpen, rule, plan, piling, first, log.add, scope.releases);
  log.useThreads(opened.threads.pool.threadCount);
  return opened;
}

/** Where piles that are too large are scattered again: on this machine alone. */
function openScratch({ scratchDir, gates, scope }: ClusterJob) {
  requireTempDirs([scratchDir], 'tempDirs');
  const disks = new TempDisks([scratchDir], gates);
  removeLeftOverTempDirectories(scratchDir);
  const directory = makeScratchDirectory(scratchDir, scope.releases);
  return { disks: disks.in([directory]), indexDirectory: directory };
}

/**
 * A task between the passes. All shuffle tasks need what stays of all piles before they write, because it says where in the
 * output each pile begins.
 * @returns the bytes of the records that this attempt looked at; undefined if the task was done before.
 */
export async function measurePart(job: ClusterJob): Promise<number | undefined> {
  const { directory, plan, index, log } = job;
  const name = recordNameOf('measure', index);
  if (NOTES.distinct.read(directory, name) !== undefined) return undefined;
  const { piles } = await gatherScattered(job);
  const { totals } = piles;
  const { work, threads } = await openPilesOfJob(job, piles);
  const part = shareOfPiles(totals, index, taskCountOf(plan, 'measure'));
  const bytes = bytesOfPart(totals, part);
  let measuredBytes = 0;
  log.count(bytes, () => measuredBytes);
  const distinct = await measureDistinct(work, threads, part, (more) => {
    measuredBytes += more;
  });
  const note = { piles: textsOf(totalsOfRange(distinct, part.first, part.end)) };
  await NOTES.distinct.write(directory, name, note, `measure task ${index}`);
  return bytes;
}

/** @returns the piles with the totals of what stays, as all measure tasks found them. */
async function gatherMeasured(job: ClusterJob, all: ScatteredPiles): Promise<ScatteredPiles> {
  const { directory, plan, patience } = job;
  if (!isDistinct(plan.spec.keep)) return all;
  await requireDone(job, 'measure');
  const taskCount = taskCountOf(plan, 'measure');
  const tallies = [];
  for (let task = 0; task < taskCount; task++) {
    const { first, end } = shareOfPiles(all.totals, task, taskCount);
    const limits = { pileCount: end - first, mostShards: 0 };
    const read = () => NOTES.distinct.read(directory, recordNameOf('measure', task), limits);
    // It may not be visible here yet.
    const note = await patience.untilFound(directory, read);
    if (note === undefined) throw notReady(unfinished('measure', [task], directory));
    for (const tally of note.piles) tallies.push(tallyOfText(tally));
  }
  return scatteredPiles(all.pileSets, requireDistinct(totalsOf(tallies), all.totals), all.longestRecordBytes);
}

export interface DecidedOutput extends Omit<OutputPlan<PilesWork & Pick<ShuffleWork, 'samples'>>, 'cut'> {
  readonly layout: OutputLayout;
  readonly found: Scattered['found'];
  /** The records dropped because an equal one is kept. Undefined: equal records stay. */
  readonly duplicates: { readonly records: number; readonly bytes: number } | undefined;
  readonly threads: Threads;
}

/** The first task that is done notes for the others what took reading piles. */
export async function decideOutput(job: ClusterJob): Promise<DecidedOutput> {
  const { plan, directory, keyOf, inputs, signal } = job;
  const { spec } = plan;
  const { piles: all, found } = await gatherScattered(job);
  const distinct = await gatherMeasured(job, all);
  const { work, threads } = await openPilesOfJob(job, distinct);
  const samples = sampleSourceOf(spec.read.framing, {
    inputs,
    recordEnds: found.recordEnds,
    keyOf,
    keys: spec.key.from,
    isDistinct: isDistinct(spec.keep),
    signal,
  });
  const limits = { pileCount: plan.memory.pileCount, mostShards: MOST_SHARDS };
  const notes: KeptNotes = {
    jobDirectory: directory,
    hasFinishedRanges: false,
    found: (name) => NOTES[name].read(directory, name, limits),
  };
  const { cut, ...decided } = await planOutput(spec, foundEnds(spec.read, found), { ...work, samples }, threads, notes);
  const written = decided.work.piles;
  const { duplicates } = lacksOf(spec.keep, { all, leftOut: found.leftOut, distinct, written });
  return { ...decided, layout: await cut(), found, duplicates, threads };
}
