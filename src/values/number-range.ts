/** A range of whole numbers as lines: how many bytes they take, and which number has the byte at a place. */
/** The whole numbers from `low` to `high`, both included; none if `high` is `low - 1`. */
export interface NumberRange {
  readonly low: bigint;
  readonly high: bigint;
}

export function bytesOfNumbers({ low, high }: NumberRange): bigint {
  return bytesBelow(high + 1n) - bytesBelow(low);
}

/** The bytes of the lines of all numbers below `end`. */
export function bytesBelow(end: bigint): bigint {
  let bytes = 0n;
  for (let [first, next, lineBytes] = FIRST_LINES; first < end; [first, next, lineBytes] = linesAfter(next, lineBytes))
    bytes += ((end < next ? end : next) - first) * lineBytes;
  return bytes;
}

/** Returns the number whose line has the byte at a position in the lines of all numbers from 0 on. */
export function numberAt(position: bigint): bigint {
  let left = position;
  let [first, next, lineBytes] = FIRST_LINES;
  while (left >= (next - first) * lineBytes) {
    left -= (next - first) * lineBytes;
    [first, next, lineBytes] = linesAfter(next, lineBytes);
  }
  return first + left / lineBytes;
}

/** The numbers [first, next) have lines of one length. */
type Lines = readonly [first: bigint, next: bigint, lineBytes: bigint];

const FIRST_LINES: Lines = [0n, 10n, 2n];

function linesAfter(next: bigint, lineBytes: bigint): Lines {
  return [next, next * 10n, lineBytes + 1n];
}
