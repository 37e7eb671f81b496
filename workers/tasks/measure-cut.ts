/**
 * A task before the shuffle pass: finds how many bytes of a pile come before a shard that begins inside the pile. It
 * orders the pile like that pass, and writes nothing.
 */

import { inPhase } from '../../src/phase-clock.js';
import { mergePiles } from '../../src/pile-sets/merged-pile.js';
import { wholePile } from '../piles/pile-orderer.js';
import { openOrderer, type PilesTask } from './open-orderer.js';

/** Finds the first record of `pile` whose rank or first byte, counted from the pile's beginning, is `limit` or more. */
export interface MeasureTask extends PilesTask {
  readonly pile: number;
  readonly by: 'rank' | 'byte';
  readonly limit: number;
}

const NO_RECORD = (1n << 63n) - 1n;

/** @returns the bytes of the pile before that record. */
export async function measureCut(task: MeasureTask): Promise<number> {
  const { job, by } = task;
  const orderer = await openOrderer(task, async () => {});
  const [merged] = mergePiles(task.pileSets, task.pile, task.pile + 1);
  if (merged === undefined) throw new RangeError(`there is no pile ${task.pile}`);
  let left = task.limit;
  let measuredBytes = 0;
  await orderer.order(wholePile(merged, job.layout), async (recordCount) => {
    const ranks = by === 'rank' ? Math.min(left, recordCount) : recordCount;
    const startLimit = by === 'byte' ? BigInt(Math.max(0, left)) : NO_RECORD;
    const byteLength = Number(inPhase('gather', () => orderer.wasm.measureUpTo(ranks, startLimit)));
    measuredBytes += byteLength;
    left -= by === 'rank' ? ranks : byteLength;
  });
  return measuredBytes;
}
