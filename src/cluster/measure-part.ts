/**
 * A task between the passes of a job that keeps one of equal records: finds what stays of its piles. All tasks of the shuffle
 * pass need that of all piles before they write, because it says where in the output each pile begins. If the job lists what
 * it drops, the task makes pile sets of the lines.
 */
import { join } from 'node:path';
import { VerificationError } from '../errors.js';
import { NameTakenError } from '../io/durable.js';
import { list, object, optional, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { SealedFormat } from '../io/sealed-format.js';
import { createDurably } from '../io/small-file.js';
import { distinctTally } from '../job-directory/distinct-note.js';
import type { JobScope } from '../jobs/job.js';
import { type ScatteredPiles, scatteredPiles } from '../passes/scattered-piles.js';
import { bytesOfPart } from '../passes/shuffle-work.js';
import { listPart, measureDistinct, requireDistinct, tallyOfText, textsOf } from '../passes/take-distinct.js';
import { type PileTotals, totalsOf, totalsOfRange } from '../pile-sets/pile-totals.js';
import { shareOfPiles } from '../plan/task-shares.js';
import type { AttemptLog } from './attempt-log.js';
import { CLUSTER_REMEDY, recordNameOf } from './cluster-plan.js';
import { gatherLines, type ListedLines, listingOf, planListed } from './listed-lines.js';
import type { OutputJob } from './open-job.js';
import { openPiles } from './open-piles.js';
import { isSameContent, keepPileSets, makeOwn, type NamedPileSets, namedPileSets } from './own-pile-sets.js';
import { gatherScattered, type Scattered } from './scattered.js';
import { readVisible, requireDone, taskCountOf } from './task-arrays.js';

const shape = object({
  /** The first of its piles. */
  first: wholeNumber(),
  /** What stays of each. */
  piles: list(distinctTally),
  /** The lines of what is dropped. Absent: nobody asks for them. */
  lines: optional(namedPileSets),
});

type MeasureRecord = ValueOf<typeof shape>;

const format = new SealedFormat({
  kind: 'cluster-measure',
  version: 1,
  mostBytes: 2 ** 24,
  role: 'temp',
  shape,
  remedy: CLUSTER_REMEDY,
});

/** @returns the bytes of the records that this attempt looked at; undefined if the task was done before. */
export async function measurePart(
  job: OutputJob,
  index: number,
  log: AttemptLog,
  scratchDir: string,
  scope: JobScope,
): Promise<number | undefined> {
  const { directory, plan, piling } = job;
  if (readRecord(directory, index) !== undefined) return undefined;
  const scattered = await gatherScattered(job);
  const { piles } = scattered;
  const { totals } = piles;
  const toOpen = { ...plan.request, piles, plan, piling };
  const { work, threads } = await openPiles(job, toOpen, log.attempt, scratchDir, scope);
  const part = shareOfPiles(totals, index, taskCountOf(plan, 'measure'));
  const bytes = bytesOfPart(totals, part);
  let measuredBytes = 0;
  log.count(bytes, () => measuredBytes);
  const onMeasured = (more: number) => {
    measuredBytes += more;
  };
  const recordOf = (distinct: PileTotals, lines: NamedPileSets | undefined): MeasureRecord => ({
    first: part.first,
    piles: textsOf(totalsOfRange(distinct, part.first, part.end)),
    lines,
  });
  if (plan.list === undefined) {
    const distinct = await measureDistinct(work, threads, part, onMeasured);
    await noteFirst(directory, index, recordOf(distinct, undefined));
    return bytes;
  }
  const lines = planListed(job, plan.list, scattered);
  const { layout } = lines;
  const list = async (): Promise<MeasureRecord> => {
    const listed = await listPart(work, threads, listingOf(lines, log.attempt), part, onMeasured);
    return recordOf(listed.distinct, await keepPileSets(job, layout, listed));
  };
  const attempt = { name: log.attempt, layout, threads };
  await makeOwn(attempt, list, (record) => noteFirst(directory, index, record), scope);
  return bytes;
}

/** What all measure tasks found. */
export interface Measured {
  /** The piles with the totals of what stays. */
  readonly distinct: ScatteredPiles;
  /** The lines of what is dropped; undefined: nobody asks for them. */
  readonly listed: ListedLines | undefined;
}

/** @throws SystemError ERR_NOT_READY; VerificationError */
export async function gatherMeasured(
  job: OutputJob,
  scattered: Pick<Scattered, 'piles'> & Partial<Scattered>,
): Promise<Measured> {
  const { directory, plan } = job;
  const { piles: all, found } = scattered;
  if (!plan.request.unique) return { distinct: all, listed: undefined };
  await requireDone(job, 'measure');
  const tallies = [];
  const named: NamedPileSets[] = [];
  for (let task = 0; task < taskCountOf(plan, 'measure'); task++) {
    const { first, piles, lines } = await readVisible(job, 'measure', task, () => readRecord(directory, task));
    if (first !== tallies.length) throw ofOtherPiles(task, directory);
    for (const tally of piles) tallies.push(tallyOfText(tally));
    if (lines !== undefined) named.push(lines);
  }
  if (tallies.length !== all.totals.records.length) throw ofOtherPiles(taskCountOf(plan, 'measure') - 1, directory);
  const totals = requireDistinct(totalsOf(tallies), all.totals);
  const distinct = scatteredPiles(all.pileSets, totals, all.longestRecordBytes);
  const listed =
    plan.list === undefined || found === undefined
      ? undefined
      : await gatherLines(job, plan.list, { piles: all, found }, named);
  return { distinct, listed };
}

function readRecord(directory: string, task: number): MeasureRecord | undefined {
  return format.read(join(directory, recordNameOf('measure', task)));
}

/** @returns whether this attempt was the first, or may have been. @throws VerificationError if another one found something else. */
async function noteFirst(directory: string, task: number, own: MeasureRecord): Promise<boolean> {
  try {
    await createDurably(directory, recordNameOf('measure', task), format.seal(own));
    return true;
  } catch (error) {
    if (!(error instanceof NameTakenError)) throw error;
  }
  const first = readRecord(directory, task);
  // It is this very record, or it is not visible yet, and nobody knows.
  if (first === undefined) return true;
  const isSame = first.first === own.first && JSON.stringify(first.piles) === JSON.stringify(own.piles);
  if (isSame && isSameContent(first.lines, own.lines))
    return first.lines?.pileSets.join() === own.lines?.pileSets.join();
  throw new VerificationError(
    `two attempts at measure task ${task} of ${directory} found different records; check the memory of both machines`,
  );
}

function ofOtherPiles(task: number, directory: string): VerificationError {
  return new VerificationError(
    `the record of measure task ${task} of ${directory} is not of these piles; ${CLUSTER_REMEDY.ifDamaged}`,
  );
}
