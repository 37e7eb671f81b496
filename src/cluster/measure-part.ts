/**
 * A task between the passes of a job that keeps one of equal records: finds what stays of its piles. All shuffle tasks
 * need that of all piles before they write, because it says where in the output each pile begins.
 */
import { NOTES } from '../job-directory/notes.js';
import { bytesOfPart, type ScatteredPiles, scatteredPiles } from '../passes/shuffle-work.js';
import { measureDistinct, requireDistinct, tallyOfText, textsOf } from '../passes/take-distinct.js';
import { totalsOf, totalsOfRange } from '../pile-sets/pile-totals.js';
import { shareOfPiles } from '../plan/task-shares.js';
import { recordNameOf, taskCountOf } from './cluster-plan.js';
import { gatherScattered, openPilesOfJob } from './job-piles.js';
import type { ClusterJob } from './open-job.js';
import { readVisible, requireDone } from './task-arrays.js';

/** @returns the bytes of the records that this attempt looked at; undefined if the task was done before. */
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
export async function gatherMeasured(job: ClusterJob, all: ScatteredPiles): Promise<ScatteredPiles> {
  const { directory, plan } = job;
  if (plan.spec.keep.unique === undefined) return all;
  await requireDone(job, 'measure');
  const taskCount = taskCountOf(plan, 'measure');
  const tallies = [];
  for (let task = 0; task < taskCount; task++) {
    const { first, end } = shareOfPiles(all.totals, task, taskCount);
    const limits = { pileCount: end - first, mostShards: 0 };
    const read = () => NOTES.distinct.read(directory, recordNameOf('measure', task), limits);
    const { piles } = await readVisible(job, 'measure', task, read);
    for (const tally of piles) tallies.push(tallyOfText(tally));
  }
  const totals = requireDistinct(totalsOf(tallies), all.totals);
  return scatteredPiles(all.pileSets, totals, all.longestRecordBytes);
}
