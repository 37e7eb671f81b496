/**
 * A task between the passes of a job that draws with replacement: copies the records that are drawn from its piles to piles by
 * their places in the output. The tasks of the shuffle pass write these.
 */
import { join } from 'node:path';
import { VerificationError } from '../errors.js';
import { NameTakenError, syncDirectory } from '../io/durable.js';
import { removeFile } from '../io/files.js';
import { checksumText, fileName, list, object, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { listNames } from '../io/paths.js';
import { SealedFormat } from '../io/sealed-format.js';
import { createDurably } from '../io/small-file.js';
import { requireDrawable } from '../jobs/draw-output.js';
import type { JobScope } from '../jobs/job.js';
import { deriveDrawKey } from '../keys.js';
import { readPileSet } from '../passes/committed-slices.js';
import { type DrawWork, drawFromPart, pilesOfCopies } from '../passes/draw-pass.js';
import { bytesOfPart } from '../passes/shuffle-work.js';
import { indexFilePath, type PileSetLayout } from '../pile-sets/pile-layout.js';
import { syncPileSets } from '../pile-sets/pile-set-file.js';
import type { PileSet } from '../pile-sets/pile-set-writer.js';
import { addTotals, checksumTextOf, emptyTotals, sumTotals } from '../pile-sets/pile-totals.js';
import { shareOfPiles } from '../plan/task-shares.js';
import type { AttemptLog } from './attempt-log.js';
import { CLUSTER_REMEDY, type CopyPlan } from './cluster-plan.js';
import { gatherDistinct } from './measure-part.js';
import type { OutputJob } from './open-job.js';
import { openPiles, type PilesToOpen } from './open-piles.js';
import { gatherScattered } from './scattered.js';
import { readVisible, recordNameOf, requireDone, taskCountOf } from './task-arrays.js';

const shape = object({
  /** The names of the pile sets of its copies. */
  pileSets: list(fileName),
  records: wholeNumber(),
  bytes: wholeNumber(),
  checksum: checksumText,
  longestRecordBytes: wholeNumber(),
});

type DrawRecord = ValueOf<typeof shape>;

const format = new SealedFormat({
  kind: 'cluster-draw',
  version: 1,
  mostBytes: 2 ** 24,
  role: 'temp',
  shape,
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
  const { directory, plan, piling, control } = job;
  if (plan.copies === undefined) throw new RangeError('the plan draws nothing');
  if (readRecord(directory, index) !== undefined) return undefined;
  const { piles: scattered } = await gatherScattered(job);
  const piles = await gatherDistinct(job, scattered);
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
  let mayBeNoted = false;
  try {
    const drawn = await drawFromPart(drawWork, threads, part, (more) => {
      drawnBytes += more;
    });
    const stored = drawn.pileSets.filter(({ dataFiles }) => dataFiles.length > 0);
    await syncPileSets(stored, layout, control);
    await syncDirectory(directory, 'temp');
    const { checksum, ...sum } = sumTotals(drawn.totals);
    const record: DrawRecord = {
      pileSets: stored.map(({ name }) => name),
      ...sum,
      checksum: checksumTextOf(checksum),
      longestRecordBytes: drawn.longestRecordBytes,
    };
    mayBeNoted = true;
    if (!(await noteFirst(directory, index, record))) removeOwn(layout, log.attempt);
    return bytes;
  } catch (error) {
    // No thread may make a file of this attempt behind the removal.
    await threads.pool.destroy();
    // A link that fails may have been made all the same: then later tasks read these files.
    if (!mayBeNoted) {
      try {
        removeOwn(layout, log.attempt);
      } catch (failure) {
        scope.warn(failure);
      }
    }
    throw error;
  }
}

/** The piles of all copies. @throws SystemError ERR_NOT_READY; VerificationError */
export async function gatherCopies(job: OutputJob, copies: CopyPlan): Promise<PilesToOpen> {
  const { directory, plan, patience, piling } = job;
  await requireDone(job, 'draw');
  const layout = layoutOfCopies(job, copies);
  const pileSets: PileSet[] = [];
  const totals = emptyTotals(layout.pileCount);
  let longestRecordBytes = 0;
  for (let task = 0; task < taskCountOf(plan, 'draw'); task++) {
    const record = await readVisible(job, 'draw', task, () => readRecord(directory, task));
    longestRecordBytes = Math.max(longestRecordBytes, record.longestRecordBytes);
    for (const name of record.pileSets) {
      const read = () => readPileSet(layout, indexFilePath(layout, name));
      const found = await patience.untilWhole(directory, read);
      pileSets.push(found.pileSet);
      addTotals(totals, found.totals);
    }
  }
  const draws = { count: copies.count };
  const piles = pilesOfCopies(
    { copies: copySettings(copies, layout), draws },
    { pileSets, totals, longestRecordBytes },
  );
  // Copies of one record are equal.
  return { piles, plan: copies, piling: { ...piling, layout }, unique: false, uniqueBy: undefined };
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
  if (first.records === own.records && first.bytes === own.bytes && first.checksum === own.checksum) return false;
  throw new VerificationError(
    `two attempts at draw task ${task} of ${directory} drew different records; check the memory of both machines`,
  );
}

/** Removes the files of all pile sets of an attempt. */
function removeOwn({ disks, indexDirectory }: PileSetLayout, attempt: string): void {
  for (const directory of [indexDirectory, ...disks.map((disk) => disk.directory)]) {
    for (const name of listNames(directory, 'temp'))
      if (name.startsWith('set-') && name.includes(attempt)) removeFile(join(directory, name), 'temp');
  }
}
