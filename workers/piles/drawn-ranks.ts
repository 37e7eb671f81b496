/** The draws of a job with replacement whose ranks lie among the records of a task. */
import type { Kernel } from '../kernel/kernel.js';

/** Draws for places [firstPlace, firstPlace + count) of the output, at most 2^32, from all records. */
export interface Draws {
  readonly key: bigint;
  readonly firstPlace: number;
  readonly count: number;
  readonly records: number;
}

/** Room in the memory of a kernel. */
export interface DrawRoom {
  readonly address: number;
  readonly byteLength: number;
}

/** The kernel writes up to three draws too many. */
const SLACK_DRAWS = 3;
const MORE = 1.1;

/**
 * @param low the first rank of the task, and `high` the first behind it, at most 2^32 more.
 * @returns draws as the kernel has them, by rank: the rank, counted from `low`, in the upper half of each, the place in
 *   the lower one.
 */
export function drawnRanks(
  { wasm, bytes }: Kernel,
  { key, firstPlace, count, records }: Draws,
  low: number,
  high: number,
  room: DrawRoom,
): BigUint64Array {
  const atOnce = Math.floor(room.byteLength / 8) - SLACK_DRAWS;
  let drawn = new BigUint64Array(Math.ceil((MORE * count * (high - low)) / records) + atOnce);
  let filled = 0;
  for (let from = 0; from < count; from += atOnce) {
    const some = Math.min(atOnce, count - from);
    const place = BigInt(firstPlace);
    const [of, first, end] = [BigInt(records), BigInt(low), BigInt(high)];
    const found = wasm.drawRanks(key, place, from, some, of, first, end, room.address) >>> 0;
    if (filled + found > drawn.length) {
      const larger = new BigUint64Array(2 * drawn.length);
      larger.set(drawn);
      drawn = larger;
    }
    drawn.set(new BigUint64Array(bytes.buffer, room.address, found), filled);
    filled += found;
  }
  return drawn.subarray(0, filled).sort();
}
