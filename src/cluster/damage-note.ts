/**
 * What was found damaged in the output of a shuffle task when it was read back. The task is then not done: it writes
 * its output once more. No note is ever removed, so a late attempt at a task changes nothing.
 */
import { join } from 'node:path';
import { list, object, text, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { statPath } from '../io/paths.js';
import { SealedFormat } from '../io/sealed-format.js';
import { createOnce } from '../io/small-file.js';
import { CLUSTER_REMEDY, recordNameOf } from './cluster-plan.js';

/** Bytes of a staged file. */
const damagedRegion = object({ path: text, start: wholeNumber(), end: wholeNumber() });
const shape = object({ regions: list(damagedRegion) });

export type DamagedRegion = ValueOf<typeof damagedRegion>;

const format = new SealedFormat({
  kind: 'cluster-damage',
  version: 1,
  mostBytes: 2 ** 28,
  role: 'temp',
  shape,
  remedy: CLUSTER_REMEDY,
});

/** @param rewrite how often the output of the task had been found damaged before. */
export async function noteDamage(
  jobDirectory: string,
  task: number,
  rewrite: number,
  regions: readonly DamagedRegion[],
): Promise<void> {
  // Somebody else may have found it, too.
  await createOnce(jobDirectory, recordNameOf('damaged', task, rewrite), format.seal({ regions }));
}

/** How often the output of a shuffle task was found damaged. */
export function rewriteOf(jobDirectory: string, task: number): number {
  let rewrite = 0;
  while (statPath(join(jobDirectory, recordNameOf('damaged', task, rewrite)), 'temp') !== undefined) rewrite += 1;
  return rewrite;
}

export function lastDamage(jobDirectory: string, task: number): readonly DamagedRegion[] {
  const rewrite = rewriteOf(jobDirectory, task) - 1;
  if (rewrite < 0) return [];
  return format.read(join(jobDirectory, recordNameOf('damaged', task, rewrite)))?.regions ?? [];
}
