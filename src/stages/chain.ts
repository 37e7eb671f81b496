/**
 * The chain of every job, once, up to the output. Each link asks for the one before it:
 *
 *     scatter   inputs -> piles                              a stage: one task a slice
 *               what stays of equal records -> other piles   a stage, if its weight or split is of the kept records alone
 *     open      threads whose memory fits the piles
 *     measure   what stays of equal records                  a stage: one task a range of piles
 *     decide    head and splits, from piles and notes; cuts when they are asked for
 *
 * An executor has the tasks of a stage done. The threads of one process do all that no note covers. A task of an array takes
 * the notes of the other tasks for each stage before its own, and does its share of that.
 */
import type { Release } from '../floor/cleanup.js';
import type { CheckpointNotes } from '../job-directory/notes.js';
import { isScatteredTwice } from '../keep/content-rule.js';
import { drawsPlaces } from '../keep/keep-spec.js';
import type { PlainEnds } from '../sinks/output-layout.js';
import type { OutputSpec, ReadSpec, ShuffleSpec } from '../spec.js';
import { type OutputPlan, planOutput } from './between-passes.js';
import { planDraws } from './draw.js';
import type { SampleSource } from './sample-places.js';
import { type KeptRecords, settingsOfKept, withRoomForBuffers } from './scatter-kept.js';
import type { PilesWork, ScatteredPiles } from './shuffle-work.js';
import type { OnProfile } from './task-pool.js';
import { type MachinePlan, type OpenedPiles, openPiles, type ScatteredState } from './task-settings.js';
import type { Threads } from './threads.js';

export interface ChainJob {
  /** The records of a store were read by other jobs. */
  readonly spec: ShuffleSpec | (OutputSpec & { readonly read?: Pick<ReadSpec, 'rows'> });
  readonly plan: MachinePlan;
  /** Part of the names of temp files, that no other attempt at the job has. */
  readonly attempt: string;
  /** The notes of what was decided before of the output. Undefined: if the job fails, its output is lost. */
  readonly notes: CheckpointNotes | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onWarning: (line: string) => void;
  readonly onProfile: OnProfile;
  readonly releases: Release[];
}

export interface Scattered extends ScatteredState {
  readonly piles: ScatteredPiles;
  readonly ends: PlainEnds;
  /** The source of samples. Undefined: the records have no keys of samples. */
  readonly samples: SampleSource | undefined;
  /** Set if the piles are those of a second scatter. */
  readonly twice?: KeptRecords | undefined;
}

export interface Executor<From extends Scattered = Scattered> {
  scatter(): Promise<From>;
  /** Scatters what stays of equal records once more. Absent: once is enough. */
  readonly scatterKept?: ((from: From, work: PilesWork, threads: Threads) => Promise<From>) | undefined;
  /** Returns the piles with the totals of what stays. Not called after a second scatter: all of that stays. */
  measure(work: PilesWork, threads: Threads): Promise<ScatteredPiles>;
}

type OpenedScatter<From> = OpenedPiles & { readonly scattered: From };

/** Has the records scattered once, and opens the piles. */
export async function openScattered<From extends Scattered>(
  { spec, plan, attempt, onWarning, onProfile, releases }: ChainJob,
  executor: Pick<Executor<From>, 'scatter'>,
): Promise<OpenedScatter<From>> {
  const scattered = await executor.scatter();
  const { piles } = scattered;
  const isTwice = 'key' in spec && isScatteredTwice(spec);
  const toFit = { piles: isTwice ? withRoomForBuffers(piles) : piles, attempt, onWarning };
  const { work, threads } = await openPiles(toFit, scattered, plan, onProfile, releases);
  return { scattered, work: { ...work, piles }, threads };
}

/** Has what stays scattered once more, if need be. Its threads and their memory serve the later stages, too. */
async function openKept<From extends Scattered>(job: ChainJob, executor: Executor<From>): Promise<OpenedScatter<From>> {
  const first = await openScattered(job, executor);
  if (executor.scatterKept === undefined) return first;
  const { work, threads } = first;
  const scattered = await executor.scatterKept(first.scattered, work, threads);
  return { scattered, work: { ...work, piles: scattered.piles, settings: settingsOfKept(work.settings) }, threads };
}

export interface OutputDecision<From = Scattered> {
  readonly scattered: From;
  /** The part of the piles that stays, before they are cut down to the head. */
  readonly distinct: ScatteredPiles;
  readonly output: OutputPlan;
  readonly threads: Threads;
}

export async function decideOutput<From extends Scattered>(
  job: ChainJob,
  executor: Executor<From>,
): Promise<OutputDecision<From>> {
  const { spec, notes } = job;
  const { scattered, work: opened, threads } = await openKept(job, executor);
  const { ends, samples } = scattered;
  const distinct = scattered.twice === undefined ? await executor.measure(opened, threads) : opened.piles;
  const work = { ...opened, piles: distinct, samples };
  const output = isDrawn(spec)
    ? planDraws(spec, ends, work, threads, job)
    : await planOutput(spec, ends, work, threads, notes);
  return { scattered, distinct, output, threads };
}

function isDrawn(spec: ChainJob['spec']): spec is ShuffleSpec {
  return 'key' in spec && drawsPlaces(spec.keep);
}
