/**
 * What every shuffle task and the commit decide between the passes: which records the output has, where splits begin,
 * how it is cut. All of it follows from the piles, so each may find it. Where that takes reading piles, the first that
 * is done notes it, and later ones use the note.
 */

import {
  readCutsNote,
  readHeadNote,
  readSplitsNote,
  writeCutsNote,
  writeHeadNote,
  writeSplitsNote,
} from '../job-directory/notes.js';
import type { OutputLayout } from '../output/output-layout.js';
import { foundEnds, planOutput } from '../passes/between-passes.js';
import { cutOutput } from '../passes/cut-output.js';
import { type FoundSplit, findSplits } from '../passes/find-splits.js';
import { sampleSourceOf } from '../passes/sample-places.js';
import type { PilesWork, ShuffleWork } from '../passes/shuffle-work.js';
import { leftOutOf, takeHead } from '../passes/take-head.js';
import type { Threads } from '../passes/threads.js';
import { MOST_SHARDS } from '../plan/shard-cuts.js';
import { wasFirst } from './cluster-plan.js';
import { gatherScattered, openPiles, type Scattered } from './job-piles.js';
import { gatherMeasured } from './measure-part.js';
import type { ClusterJob } from './open-job.js';

export interface DecidedOutput {
  /** Its piles are those of the output alone. */
  readonly work: PilesWork & Pick<ShuffleWork, 'samples'>;
  readonly layout: OutputLayout;
  readonly splits: readonly FoundSplit[] | undefined;
  readonly found: Scattered['found'];
  /** The records dropped because an equal one is kept. Undefined: equal records stay. */
  readonly duplicates: { readonly records: number; readonly bytes: number } | undefined;
  readonly threads: Threads;
}

export async function decideOutput(job: ClusterJob): Promise<DecidedOutput> {
  const { plan, directory, keyOf, inputs, signal } = job;
  const { request } = plan;
  const { piles: all, found } = await gatherScattered(job);
  const distinct = await gatherMeasured(job, all);
  const duplicates = request.unique ? leftOutOf(all, distinct, found.leftOut) : undefined;
  const { work: toCut, threads } = await openPiles(job, distinct);
  const samples = sampleSourceOf(request.framing, {
    inputs,
    recordEnds: found.recordEnds,
    keyOf,
    keys: request.keys,
    signal,
  });
  const keptHead = keptNote(readHeadNote(directory), directory, writeHeadNote);
  const head = await takeHead(request, toCut, threads, keptHead);
  const work = { ...toCut, piles: head, samples };
  const keptSplits = keptNote(readSplitsNote(directory), directory, writeSplitsNote);
  const splits = await findSplits(request, work, threads, keptSplits);
  const outputPlan = planOutput(request, head, foundEnds(request, found), splits);
  const keptCuts = keptNote(readCutsNote(directory, { mostShards: MOST_SHARDS }), directory, writeCutsNote);
  const cuts = await cutOutput(outputPlan, work, threads, keptCuts);
  const { ends, recordBytes, compression } = outputPlan;
  return { work, layout: { ends, recordBytes, compression, cuts }, splits, found, duplicates, threads };
}

/** A note that every task would make alike. */
function keptNote<Note>(
  found: Note | undefined,
  directory: string,
  write: (directory: string, note: Note) => Promise<void>,
) {
  return {
    found,
    hasFinishedRanges: false,
    write: async (note: Note) => {
      await wasFirst(write(directory, note));
    },
  };
}
