/**
 * A task between the passes of a job that keeps one of equal records: finds what stays of its piles. All shuffle tasks
 * need that of all piles before they write, because it says where in the output each pile begins.
 */
import { join } from 'node:path';
import { VerificationError } from '../errors.js';
import { list, object, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { createOnce } from '../io/small-file.js';
import { distinctTally } from '../job-directory/notes.js';
import { bytesOfPart, type ScatteredPiles, scatteredPiles } from '../passes/shuffle-work.js';
import { measureDistinct, requireDistinct, tallyOfText, textsOf } from '../passes/take-distinct.js';
import { totalsOf, totalsOfRange } from '../pile-sets/pile-totals.js';
import { shareOfPiles } from '../plan/task-shares.js';
import { CLUSTER_REMEDY, formatOfJob, recordNameOf, taskCountOf } from './cluster-plan.js';
import { gatherScattered, openPilesOfJob } from './job-piles.js';
import type { ClusterJob } from './open-job.js';
import { readVisible, requireDone } from './task-arrays.js';

const shape = object({
  first: wholeNumber(),
  piles: list(distinctTally),
});

type MeasureRecord = ValueOf<typeof shape>;

const format = formatOfJob('cluster-measure', 2, 2 ** 24, shape);

/** @returns the bytes of the records that this attempt looked at; undefined if the task was done before. */
export async function measurePart(job: ClusterJob): Promise<number | undefined> {
  const { directory, plan, index, log } = job;
  if (readRecord(directory, index) !== undefined) return undefined;
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
  const record = { first: part.first, piles: textsOf(totalsOfRange(distinct, part.first, part.end)) };
  await noteFirst(directory, index, record);
  return bytes;
}

/** @returns the piles with the totals of what stays, as all measure tasks found them. */
export async function gatherMeasured(job: ClusterJob, all: ScatteredPiles): Promise<ScatteredPiles> {
  const { directory, plan } = job;
  if (plan.spec.keep.unique === undefined) return all;
  await requireDone(job, 'measure');
  const tallies = [];
  for (let task = 0; task < taskCountOf(plan, 'measure'); task++) {
    const { first, piles } = await readVisible(job, 'measure', task, () => readRecord(directory, task));
    if (first !== tallies.length) throw ofOtherPiles(task, directory);
    for (const tally of piles) tallies.push(tallyOfText(tally));
  }
  if (tallies.length !== all.totals.records.length) throw ofOtherPiles(taskCountOf(plan, 'measure') - 1, directory);
  const totals = requireDistinct(totalsOf(tallies), all.totals);
  return scatteredPiles(all.pileSets, totals, all.longestRecordBytes);
}

function readRecord(directory: string, task: number): MeasureRecord | undefined {
  return format.read(join(directory, recordNameOf('measure', task)));
}

async function noteFirst(directory: string, task: number, own: MeasureRecord): Promise<void> {
  if (await createOnce(directory, recordNameOf('measure', task), format.seal(own))) return;
  const first = readRecord(directory, task);
  // Not visible yet: nobody knows.
  if (first === undefined || JSON.stringify(first) === JSON.stringify(own)) return;
  throw new VerificationError(
    `two attempts at measure task ${task} of ${directory} found different records; check the memory of both machines`,
  );
}

function ofOtherPiles(task: number, directory: string): VerificationError {
  return new VerificationError(
    `the record of measure task ${task} of ${directory} is not of these piles; ${CLUSTER_REMEDY.ifDamaged}`,
  );
}
