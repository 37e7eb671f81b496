/**
 * The list of dropped records in a job of tasks. The measure tasks put a line for each dropped record on piles by its place in
 * the inputs. The shuffle tasks write these piles, each a part, beside the output. The commit gives both their names.
 */
import { VerificationError } from '../errors.js';
import type { JobScope } from '../jobs/job.js';
import { type LinesPlan, ofLongLine, planLines } from '../jobs/plan-lines.js';
import { duplicatesDirectory } from '../output/duplicates-move.js';
import { layoutOfOne } from '../passes/between-passes.js';
import { type Listing, pilesOfLines } from '../passes/take-distinct.js';
import type { PileSetLayout } from '../pile-sets/pile-layout.js';
import { planMemory } from '../plan/memory-plan.js';
import type { ListPlan } from './cluster-plan.js';
import { morePiles } from './make-plan.js';
import type { OutputJob } from './open-job.js';
import { type OpenedPiles, openPiles, type PilesToOpen } from './open-piles.js';
import { type NamedPileSets, readNamed } from './own-pile-sets.js';
import type { Scattered } from './scattered.js';
import type { StagedFiles } from './staged-files.js';
import { taskCountOf } from './task-arrays.js';

/** How the lines of all tasks are put on piles: every task finds the same. */
export interface PlannedLines extends LinesPlan {
  readonly layout: PileSetLayout;
}

export function planListed(
  { plan, piling }: OutputJob,
  { names, compression, tuning }: ListPlan,
  { piles, found }: Scattered,
): PlannedLines {
  const { inline } = plan;
  const threads = taskCountOf(plan, 'shuffle') * plan.memory.workers;
  const { recordEnds } = found;
  const lines = planLines(plan.memoryNeed, names, { ...piles, recordEnds }, compression, (memoryNeed) => {
    const first = { memory: planMemory(memoryNeed, tuning), memoryNeed, inline };
    return planMemory(memoryNeed, { ...tuning, ...morePiles(first, threads, tuning) });
  });
  const { pileCount, stripeCount } = lines.memory;
  return { ...lines, layout: { ...piling.layout, pileCount, stripeCount } };
}

/** @param attempt part of the names of pile sets. */
export function listingOf(
  { names, longestLineBytes, sizes, keyScale, layout }: PlannedLines,
  attempt: string,
): Listing {
  return { lines: { ...sizes, layout, keyScale, ramPool: undefined }, names, longestLineBytes, linesAttempt: attempt };
}

/** The piles of all lines, and the file that they become. */
export interface ListedLines {
  readonly toOpen: PilesToOpen;
  readonly staged: StagedFiles;
}

/**
 * @param named what the records of all measure tasks say of the lines.
 * @throws VerificationError if a pile set is damaged, or holds other lines than its record says.
 */
export async function gatherLines(
  job: OutputJob,
  list: ListPlan,
  scattered: Scattered,
  named: readonly NamedPileSets[],
): Promise<ListedLines> {
  const { plan, piling, directory } = job;
  const { memory, memoryNeed, keyScale, layout } = planListed(job, list, scattered);
  const made = await readNamed(job, layout, named);
  const piles = pilesOfLines(made, keyScale);
  const expected = named.reduce((sum, { records }) => sum + records, 0);
  if (piles.records !== expected)
    throw new VerificationError(
      `the pile sets of ${directory} hold ${piles.records} lines of dropped records, expected ${expected}`,
    );
  // Lines have different keys, the places of their records, and all of them stay.
  const asTheyCome = { framing: undefined, unique: false, uniqueBy: undefined, keepsPlaces: false };
  const linePlan = { memory, memoryNeed, inline: plan.inline };
  const toOpen = { ...asTheyCome, piles, plan: linePlan, piling: { ...piling, layout } };
  const stagingDirectory = duplicatesDirectory(plan.stagingDirectory);
  return {
    toOpen,
    staged: { place: list.place, stagingDirectory, piles, layout: layoutOfOne(piles, list.compression) },
  };
}

/** Starts threads of their own for the lines. @throws InputError ERR_RECORD_TOO_LONG for a line that does not fit. */
export async function openLines(
  job: OutputJob,
  { toOpen }: ListedLines,
  attempt: string,
  scratchDir: string,
  scope: JobScope,
): Promise<OpenedPiles> {
  return openPiles(job, toOpen, attempt, scratchDir, scope).catch((error: unknown) => {
    throw ofLongLine(error, toOpen.piles.longestRecordBytes);
  });
}
