/**
 * The cuts of shards by bytes, computed from docs/ORDER.md with the lengths of all records in their order: whoever reads
 * the page could write this.
 */

const sum = (lengths: readonly number[]) => lengths.reduce((total, length) => total + length, 0);

/**
 * @returns the bytes of records in each shard.
 * @param room the limit less the bytes around the records.
 * @param longest of the whole output, if these are the records of a split.
 * @param areBundles whether the lengths are those of bundles: then cuts are never even.
 */
export function referenceShardBytes(
  lengths: readonly number[],
  room: number,
  longest = Math.max(0, ...lengths),
  areBundles = false,
): number[] {
  const total = sum(lengths);
  const isLong = (length: number) => length > room / 16;
  const evenCount = Math.max(1, Math.ceil(total / (room - Math.max(1, longest) + 1)));
  if (!areBundles && !isLong(longest)) return evenShardBytes(lengths, total, evenCount);
  if (total <= room) return [total];

  const evenIsAllowed = !areBundles && longest <= Math.floor(total / evenCount);
  const find = crossingFinder(lengths);
  let sizes: number[] = [];
  for (const d of [512, 16]) {
    const count = Math.ceil(total / (room - Math.floor(room / d)));
    if (evenIsAllowed && evenCount <= count) return evenShardBytes(lengths, total, evenCount);
    const crossings = Array.from({ length: count - 1 }, (_, i) => find(Math.floor(((i + 1) * total) / count)));
    const ends = [...new Set([...crossings.flat(), total])].sort((a, b) => a - b);
    const starts = [0];
    while (total - (starts.at(-1) ?? 0) > room) {
      const start = starts.at(-1) ?? 0;
      starts.push(ends.findLast((end) => end <= start + room) ?? total);
    }
    sizes = starts.map((start, i) => (starts[i + 1] ?? total) - start);
    const isShortAlone = (start: number, size: number) =>
      !isLong(size) && crossings.some(([a, b]) => a === start && b === start + size);
    if (!starts.some((start, i) => isShortAlone(start, sizes[i] ?? 0))) break;
  }
  return evenIsAllowed && evenCount <= sizes.length ? evenShardBytes(lengths, total, evenCount) : sizes;
}

/** Finds the record across a byte, as its first byte and its end. */
function crossingFinder(lengths: readonly number[]): (byte: number) => readonly [number, number] {
  const starts: number[] = [];
  let end = 0;
  for (const length of lengths) {
    starts.push(end);
    end += length;
  }
  return (byte) => {
    const start = starts.findLast((each) => each <= byte) ?? 0;
    return start === byte ? [byte, byte] : [start, starts.find((each) => each > byte) ?? end];
  };
}

function evenShardBytes(lengths: readonly number[], total: number, count: number): number[] {
  const sizes = new Array<number>(count).fill(0);
  let shard = 0;
  let byte = 0;
  for (const length of lengths) {
    while (shard + 1 < count && byte >= Math.floor(((shard + 1) * total) / count)) shard += 1;
    sizes[shard] = (sizes[shard] ?? 0) + length;
    byte += length;
  }
  return sizes;
}
