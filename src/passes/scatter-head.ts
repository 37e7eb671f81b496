/**
 * Pass 1 of a job that asks for the head of the order: a scatter that leaves out what cannot be among it. If the plan
 * expected far more records than there are, it may leave out too much. Then the inputs are read again.
 */
import { randomBytes } from 'node:crypto';
import { HeadLimit } from '../../workers/piles/head-limit.js';
import { removeFile } from '../io/files.js';
import { pileSetFiles, roleOf } from '../pile-sets/pile-layout.js';
import { type HeadPlan, largestKeyWith } from '../plan/head-plan.js';
import type { KeptPileSets } from './committed-slices.js';
import { type ScatterOutcome, type ScatterWork, scatterInputs } from './scatter-pass.js';
import type { Threads } from './threads.js';

/** @throws as `scatterInputs`. */
export async function scatterHead(
  work: ScatterWork,
  head: HeadPlan,
  threads: Threads,
  kept: KeptPileSets | undefined,
): Promise<ScatterOutcome> {
  const outcome = await scatterInputs(limited(work, head), threads, kept);
  const isEnough = outcome.records >= head.headCount || outcome.leftOut.records === 0;
  if (head.zeroBits === 0 || isEnough) return { ...outcome, keyScale: keyScaleOf(head) };
  const { layout } = work.settings;
  for (const { name } of outcome.pileSets)
    for (const path of pileSetFiles(layout, name)) removeFile(path, roleOf(layout));
  const { control } = threads;
  control.count('scatteredBytes', -control.counted('scatteredBytes'));
  const again = { ...work, attempt: randomBytes(4).toString('hex') };
  return scatterInputs(limited(again, { ...head, zeroBits: 0 }), threads, kept);
}

function limited(work: ScatterWork, head: HeadPlan): ScatterWork {
  const headLimit = HeadLimit.create(head.headCount, largestKeyWith(head.zeroBits));
  return { ...work, settings: { ...work.settings, headLimit, keyScale: keyScaleOf(head) } };
}

/** The piles share the keys up to the first limit. */
function keyScaleOf({ zeroBits }: HeadPlan): bigint {
  return 2n ** BigInt(zeroBits);
}
