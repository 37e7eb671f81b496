/** Chunks of an array, in a grid. They may reach over the end of the array. */

export interface Box {
  /** The elements of the chunk, and of the array, in each dimension. */
  readonly chunkLengths: readonly number[];
  readonly lengths: readonly number[];
  /** The place of the chunk in the grid. */
  readonly place: readonly number[];
  readonly elementBytes: number;
}

/** Shorter runs are copied byte by byte, which costs less than a call. */
const LEAST_CALL_BYTES = 48;

/** Copies the part of an array that a chunk holds. @param toChunk else from the chunk to the array. */
export function copyBox(box: Box, chunk: Uint8Array, array: Uint8Array, toChunk: boolean): void {
  const { chunkLengths, lengths, place, elementBytes } = box;
  const starts = lengths.map((_, i) => (place[i] ?? 0) * (chunkLengths[i] ?? 1));
  const extents = lengths.map((length, i) => Math.min(chunkLengths[i] ?? 1, length - (starts[i] ?? 0)));
  // The last dimensions that a chunk has whole lie in one piece.
  let last = lengths.length - 1;
  while (last > 0 && chunkLengths[last] === lengths[last]) last -= 1;
  const strides = (of: readonly number[]) => {
    const result = of.map(() => elementBytes);
    for (let i = of.length - 2; i >= 0; i--) result[i] = (result[i + 1] ?? 1) * (of[i + 1] ?? 1);
    return result;
  };
  const [chunkStrides, arrayStrides] = [strides(chunkLengths), strides(lengths)];
  const runBytes = (extents[last] ?? 1) * (chunkStrides[last] ?? elementBytes);
  const copy = (inChunk: number, inArray: number) => {
    const [from, at, to, toAt] = toChunk ? [array, inArray, chunk, inChunk] : [chunk, inChunk, array, inArray];
    copyBytes(from, at, to, toAt, runBytes);
  };
  const walk = (dimension: number, inChunk: number, inArray: number) => {
    if (dimension >= last) {
      copy(inChunk, inArray + (starts[dimension] ?? 0) * (arrayStrides[dimension] ?? 0));
      return;
    }
    const [chunkStride, arrayStride] = [chunkStrides[dimension] ?? 0, arrayStrides[dimension] ?? 0];
    let inner = inArray + (starts[dimension] ?? 0) * arrayStride;
    for (let i = 0; i < (extents[dimension] ?? 0); i++, inner += arrayStride)
      walk(dimension + 1, inChunk + i * chunkStride, inner);
  };
  walk(0, 0, 0);
}

export function copyBytes(from: Uint8Array, at: number, to: Uint8Array, toAt: number, byteLength: number): void {
  if (byteLength >= LEAST_CALL_BYTES) to.set(from.subarray(at, at + byteLength), toAt);
  else for (let i = 0; i < byteLength; i++) to[toAt + i] = from[at + i] ?? 0;
}

export function productOf(lengths: readonly number[], factor = 1): number {
  return lengths.reduce((product, length) => product * length, factor);
}

/** Chunks in each dimension. */
export function gridOf(lengths: readonly number[], chunkLengths: readonly number[]): readonly number[] {
  return lengths.map((length, i) => Math.ceil(length / (chunkLengths[i] ?? 1)));
}

/** All places of a grid, in row-major order. */
export function* placesIn(grid: readonly number[]): Generator<number[]> {
  const count = productOf(grid);
  for (let i = 0; i < count; i++) yield placeOf(i, grid);
}

/** Returns the place of a number in row-major order. @param grid its first length does not matter. */
export function placeOf(number: number, grid: readonly number[]): number[] {
  const place = grid.map(() => 0);
  let rest = number;
  for (let dimension = grid.length - 1; dimension >= 0; dimension--) {
    const length = dimension === 0 ? Number.POSITIVE_INFINITY : (grid[dimension] ?? 1);
    place[dimension] = rest % length;
    rest = Math.floor(rest / length);
  }
  return place;
}
