/** What all tasks of the scatter pass have made, from the indexes of their pile sets. */
import type { ScatterResult } from '../../workers/tasks/scatter-slice.js';
import { nameSome, VerificationError } from '../errors.js';
import { statPath } from '../io/paths.js';
import { committedIndexPath } from '../job-directory/pile-set-commits.js';
import { readCommitted } from '../passes/committed-slices.js';
import { GatheredSlices } from '../passes/gathered-slices.js';
import type { ScatteredPiles } from '../passes/scattered-piles.js';
import { hearSignalsAt } from '../pause.js';
import { type ClusterJob, notReady, ungated } from './open-job.js';

/** The piles of all tasks, and what the tasks found of the inputs. */
export interface Scattered {
  readonly piles: ScatteredPiles;
  readonly found: Pick<GatheredSlices, 'header' | 'recordEnds' | 'leftOut'>;
}

/**
 * @throws SystemError ERR_NOT_READY that names the tasks that are not done; VerificationError if a record is damaged, or if
 *   the tasks did not read every byte of every input once.
 */
export async function gatherScattered(job: ClusterJob): Promise<Scattered> {
  const { plan, piling, signal } = job;
  const gathered = new GatheredSlices(
    { ...ungated(job), settings: { header: plan.request.header } },
    piling.layout.pileCount,
  );
  await requireScattered(job);
  for (const slice of plan.slices.keys()) {
    await hearSignalsAt(slice, signal);
    gathered.add(slice, await readSlice(job, slice));
  }
  return { piles: gathered.piles(), found: gathered };
}

/** The tasks of the scatter pass that are not done, as far as this machine sees. */
export function unfinishedScatterTasks({ directory, plan }: Pick<ClusterJob, 'directory' | 'plan'>): number[] {
  const isDone = (slice: number) => statPath(committedIndexPath(directory, slice), 'temp') !== undefined;
  return [...plan.scatterTasks.keys()].filter((task) => !(plan.scatterTasks[task] ?? []).every(isDone));
}

async function requireScattered(job: ClusterJob): Promise<void> {
  const { directory, patience } = job;
  const isReady = await patience.untilFound(directory, () => unfinishedScatterTasks(job).length === 0 || undefined);
  if (isReady === true) return;
  throw notReady(unfinished('scatter', unfinishedScatterTasks(job), directory));
}

/** Names tasks that must be done first, in one line. */
export function unfinished(kind: 'scatter' | 'shuffle', tasks: readonly number[], directory: string): string {
  const one = tasks.length === 1;
  return `${kind} task${one ? '' : 's'} ${nameSome(tasks.map(String))} of ${directory} ${one ? 'is' : 'are'} not done; run ${one ? 'it' : 'them'} first`;
}

/** @throws VerificationError if the pile set is damaged, or if its files do not become visible in time. */
export async function readSlice(
  { directory, plan, piling, patience }: ClusterJob,
  slice: number,
): Promise<ScatterResult> {
  const size = { sliceCount: plan.slices.length, inputCount: plan.inputs.length };
  let failure: unknown;
  const found = await patience.untilFound(directory, () => {
    try {
      return readCommitted({ layout: piling.layout, size, isStripeDone: () => false }, slice);
    } catch (error) {
      // A file that is written, and not visible yet, looks damaged.
      if (!(error instanceof VerificationError)) throw error;
      failure = error;
      return undefined;
    }
  });
  if (found !== undefined) return found;
  throw failure;
}
