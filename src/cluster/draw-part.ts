/**
 * A task between the passes of a job that draws with replacement: copies the records that are drawn from its piles to piles by
 * their places in the output. The tasks of the shuffle pass write these.
 */
import { join } from 'node:path';
import { VerificationError } from '../errors.js';
import { NameTakenError } from '../io/durable.js';
import { SealedFormat } from '../io/sealed-format.js';
import { createDurably } from '../io/small-file.js';
import { requireDrawable } from '../jobs/draw-output.js';
import type { JobScope } from '../jobs/job.js';
import { deriveDrawKey } from '../keys.js';
import { type DrawWork, drawFromPart, pilesOfCopies } from '../passes/draw-pass.js';
import { bytesOfPart } from '../passes/shuffle-work.js';
import type { PileSetLayout } from '../pile-sets/pile-layout.js';
import { shareOfPiles } from '../plan/task-shares.js';
import type { AttemptLog } from './attempt-log.js';
import { CLUSTER_REMEDY, type CopyPlan, recordNameOf } from './cluster-plan.js';
import { gatherMeasured } from './measure-part.js';
import type { OutputJob } from './open-job.js';
import { openPiles, type PilesToOpen } from './open-piles.js';
import { isSameContent, keepPileSets, makeOwn, type NamedPileSets, namedPileSets, readNamed } from './own-pile-sets.js';
import { gatherScattered } from './scattered.js';
import { readVisible, requireDone, taskCountOf } from './task-arrays.js';

type DrawRecord = NamedPileSets;

const format = new SealedFormat({
  kind: 'cluster-draw',
  version: 1,
  mostBytes: 2 ** 24,
  role: 'temp',
  shape: namedPileSets,
  remedy: CLUSTER_REMEDY,
});

/**
 * @returns the bytes of the records that this attempt drew from; undefined if the task was done before.
 * @throws InputError ERR_INPUT_EMPTY if there is no record to draw.
 */
export async function drawPart(
  job: OutputJob,
  index: number,
  log: AttemptLog,
  scratchDir: string,
  scope: JobScope,
): Promise<number | undefined> {
  const { directory, plan, piling } = job;
  if (plan.copies === undefined) throw new RangeError('the plan draws nothing');
  if (readRecord(directory, index) !== undefined) return undefined;
  const { distinct: piles } = await gatherMeasured(job, await gatherScattered(job));
  requireDrawable(piles, plan.copies.count);
  const { work, threads } = await openPiles(
    job,
    { ...plan.request, piles, plan, piling },
    log.attempt,
    scratchDir,
    scope,
  );
  const part = shareOfPiles(piles.totals, index, taskCountOf(plan, 'draw'));
  const bytes = bytesOfPart(piles.totals, part);
  let drawnBytes = 0;
  log.count(bytes, () => drawnBytes);
  const layout = layoutOfCopies(job, plan.copies);
  const drawWork: DrawWork = {
    ...work,
    draws: { key: deriveDrawKey(plan.request.seed), firstPlace: 0, count: plan.copies.count, records: piles.records },
    copies: copySettings(plan.copies, layout),
    drawsBytes: plan.copies.drawsBytes,
    copiesAttempt: log.attempt,
  };
  const draw = async (): Promise<DrawRecord> => {
    const drawn = await drawFromPart(drawWork, threads, part, (more) => {
      drawnBytes += more;
    });
    return keepPileSets(job, layout, drawn);
  };
  const attempt = { name: log.attempt, layout, threads };
  await makeOwn(attempt, draw, (record) => noteFirst(directory, index, record), scope);
  return bytes;
}

/** The piles of all copies. @throws SystemError ERR_NOT_READY; VerificationError */
export async function gatherCopies(job: OutputJob, copies: CopyPlan): Promise<PilesToOpen> {
  const { directory, plan, piling } = job;
  await requireDone(job, 'draw');
  const layout = layoutOfCopies(job, copies);
  const records: DrawRecord[] = [];
  for (let task = 0; task < taskCountOf(plan, 'draw'); task++)
    records.push(await readVisible(job, 'draw', task, () => readRecord(directory, task)));
  const draws = { count: copies.count };
  const drawn = await readNamed(job, layout, records);
  const piles = pilesOfCopies({ copies: copySettings(copies, layout), draws }, drawn);
  // Copies of one record are equal.
  const { framing } = plan.request;
  const order = { framing, unique: false, uniqueBy: undefined, keepsPlaces: false };
  return { ...order, piles, plan: copies, piling: { ...piling, layout } };
}

function layoutOfCopies({ piling }: OutputJob, { memory }: CopyPlan): PileSetLayout {
  return { ...piling.layout, pileCount: memory.pileCount, stripeCount: memory.stripeCount };
}

function copySettings({ memory, keyScale }: CopyPlan, layout: PileSetLayout): DrawWork['copies'] {
  const { bufferBytes, readBytes, pass1ArenaBytes: arenaBytes } = memory;
  return { layout, keyScale, ramPool: undefined, bufferBytes, readBytes, arenaBytes };
}

function readRecord(directory: string, task: number): DrawRecord | undefined {
  return format.read(join(directory, recordNameOf('draw', task)));
}

/** @returns whether this attempt was the first, or may have been. @throws VerificationError if another one drew other records. */
async function noteFirst(directory: string, task: number, own: DrawRecord): Promise<boolean> {
  try {
    await createDurably(directory, recordNameOf('draw', task), format.seal(own));
    return true;
  } catch (error) {
    if (!(error instanceof NameTakenError)) throw error;
  }
  const first = readRecord(directory, task);
  // It is this very record, or it is not visible yet, and nobody knows.
  if (first === undefined || first.pileSets.join() === own.pileSets.join()) return true;
  if (isSameContent(first, own)) return false;
  throw new VerificationError(
    `two attempts at draw task ${task} of ${directory} drew different records; check the memory of both machines`,
  );
}
