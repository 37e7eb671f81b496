/**
 * Cuts the output by bytes where some records are long. Arithmetic cuts leave room for the longest record in every shard,
 * so a few long records would multiply the shards, and many of these would be empty. Fitted cuts follow the records: near
 * each of the bytes at which equal shards would begin, they choose between the two ends of the record that lies there.
 *
 *     bytes of equal shards        |           |           |
 *     records               ..............[--------------]..........
 *     fitted cuts                  |      |              | |
 *
 * They depend on the order of the records alone. docs/ORDER.md has the rule.
 */
import {
  type CutsToFit,
  cutsAt,
  type EvenCuts,
  type FittedCuts,
  isLong,
  MOST_SHARDS,
  proportion,
  tooManyShards,
} from './shard-cuts.js';

/** The record [start, end) that lies across a byte of the output. If a record begins at that byte, both are this byte. */
export interface Crossing {
  readonly start: number;
  readonly end: number;
}

/** Finds the records across these bytes, which ascend. */
export type MeasureCrossings = (bytes: readonly number[]) => Promise<readonly Crossing[]>;

/**
 * The part of a shard that is kept free for the records across its ends. The first makes the fewest shards, and is nearly
 * always enough; the second always leaves room for records that are not long.
 */
const SPARE_SHARES = [512, 16] as const;

/**
 * @returns cuts with which no shard is empty or too large, and only next to a long record one may be much smaller than the
 *   others. Even cuts, if they make as few shards.
 * @throws UsageError for more than `MOST_SHARDS`.
 */
export async function fitCuts(limits: CutsToFit, measure: MeasureCrossings): Promise<EvenCuts | FittedCuts> {
  const { totalBytes, roomBytes, even, enoughShardBytes } = limits;
  let fitted: FittedCuts = cutsAt([0]);
  for (const share of SPARE_SHARES) {
    const count = Math.ceil(totalBytes / (roomBytes - Math.floor(roomBytes / share)));
    requireFew(Math.min(count, even?.shardCount ?? count), enoughShardBytes);
    if (even !== undefined && even.shardCount <= count) return even;
    const bytes = Array.from({ length: count - 1 }, (_, i) => proportion(i + 1, totalBytes, count));
    const crossings = await measure(bytes);
    fitted = cutsAt(chooseStarts(crossings, totalBytes, roomBytes));
    if (!leavesShortRecordAlone(fitted.starts, crossings, roomBytes)) break;
  }
  const cuts = even !== undefined && even.shardCount <= fitted.shardCount ? even : fitted;
  requireFew(cuts.shardCount, enoughShardBytes);
  return cuts;
}

function requireFew(shardCount: number, enoughShardBytes: number): void {
  if (shardCount <= MOST_SHARDS) return;
  throw tooManyShards(shardCount, `\`shards.maxShardBytes\` of at least ${enoughShardBytes}B`);
}

/**
 * Begins each shard at the last end of a crossing that keeps the shard before it within its room. There always is one: a
 * record fits a shard, and so does what lies between two crossings. No choice among these ends makes fewer shards.
 */
function chooseStarts(crossings: readonly Crossing[], totalBytes: number, roomBytes: number): number[] {
  const starts = [0];
  let begin = 0;
  let reached = 0;
  const reach = (byte: number) => {
    // Several bytes may lie in one record.
    if (byte <= reached) return;
    if (byte - begin > roomBytes) {
      starts.push(reached);
      begin = reached;
    }
    reached = byte;
  };
  for (const { start, end } of crossings) {
    reach(start);
    reach(end);
  }
  reach(totalBytes);
  return starts;
}

/** Whether a shard is one record that is not long: its neighbours have too little room for it. */
function leavesShortRecordAlone(starts: Iterable<number>, crossings: readonly Crossing[], roomBytes: number): boolean {
  const isStart = new Set(starts);
  return crossings.some(
    ({ start, end }) => start < end && !isLong(end - start, roomBytes) && isStart.has(start) && isStart.has(end),
  );
}
