/**
 * Divides the passes of a job among tasks that run on several machines: slices among the tasks of the scatter pass, piles
 * or shards among those of the shuffle pass. Pure: every task finds the same shares.
 */
import type { PileTotals } from '../piles/pile-totals.js';
import { cutAt, type ShardCuts } from './shard-cuts.js';

/** Half-open: [first, end). */
export interface Share {
  readonly first: number;
  readonly end: number;
}

/**
 * Gives each task about the same number of bytes: the largest slice first, each to the task that has least. The slices
 * of a task ascend.
 */
export function shareSlices(bytes: readonly number[], taskCount: number): number[][] {
  const tasks = Array.from({ length: taskCount }, () => ({ slices: [] as number[], bytes: 0 }));
  const bySize = [...bytes.keys()].sort((a, b) => (bytes[b] ?? 0) - (bytes[a] ?? 0) || a - b);
  for (const slice of bySize) {
    const least = tasks.reduce((first, task) => (task.bytes < first.bytes ? task : first));
    least.slices.push(slice);
    least.bytes += bytes[slice] ?? 0;
  }
  return tasks.map(({ slices }) => slices.sort((a, b) => a - b));
}

/** The piles of one task: those whose middle lies in its part of the bytes. */
export function shareOfPiles({ recordBytes }: PileTotals, task: number, taskCount: number): Share {
  return shareOfMiddles(recordBytes.length, (pile) => recordBytes[pile] ?? 0, task, taskCount);
}

/** The shards of one task: those whose middle lies in its part of the records, or of the bytes, as the cuts count. */
export function shareOfShards(
  cuts: ShardCuts,
  { records, bytes }: { readonly records: number; readonly bytes: number },
  task: number,
  taskCount: number,
): Share {
  const whole = cuts.by === 'rank' ? records : bytes;
  const sizeOf = (shard: number) => Math.max(0, Math.min(cutAt(cuts, shard + 1), whole) - cutAt(cuts, shard));
  return shareOfMiddles(cuts.shardCount, sizeOf, task, taskCount);
}

function shareOfMiddles(count: number, sizeOf: (item: number) => number, task: number, taskCount: number): Share {
  let whole = 0;
  for (let item = 0; item < count; item++) whole += sizeOf(item);
  let before = 0;
  let first = count;
  let end = count;
  for (let item = 0; item < count; item++) {
    const size = sizeOf(item);
    const owner = Math.min(taskCount - 1, Math.floor(((before + size / 2) * taskCount) / Math.max(1, whole)));
    before += size;
    if (owner >= task) first = Math.min(first, item);
    if (owner > task) end = Math.min(end, item);
  }
  return { first: Math.min(first, end), end };
}
