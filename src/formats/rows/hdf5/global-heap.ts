/** Global heaps: collections of numbered bytes, which hold the values of variable length. */
import type { Datatype } from './datatype.js';
import { Cursor, type Hdf5Bytes, Hdf5Problem, packed } from './hdf5-bytes.js';

const LEAST_HEAP_BYTES = 4096;
const ENTRY_HEAD_BYTES = 16;

/**
 * Returns the elements that a value of variable length leads to; undefined if there are none.
 * @param value begins with their number and their place.
 */
export function sequenceAt(file: Hdf5Bytes, element: Datatype, value: Buffer): Buffer | undefined {
  const cursor = new Cursor(value);
  const [count, address, index] = [cursor.u32(), cursor.u64OrNone() ?? 0, cursor.u32()];
  if (count === 0 || address === 0) return undefined;
  return heapObject(file, address, index).subarray(0, count * element.byteLength);
}

function heapObject(file: Hdf5Bytes, address: number, index: number): Buffer {
  const byteLength = file.kept(address, 16).expect('GCOL').skip(4).u64();
  const cursor = file.kept(address, byteLength).skip(16);
  while (cursor.left >= ENTRY_HEAD_BYTES) {
    const number = cursor.u16();
    const bytes = cursor.skip(6).u64();
    if (number === 0) break;
    const entry = cursor.take(bytes);
    if (number === index) return entry;
    cursor.skip(Math.min(cursor.left, (8 - (bytes % 8)) % 8));
  }
  throw new Hdf5Problem(`the heap at byte ${address} has no entry ${index}`);
}

export function collectionOf(entries: readonly Buffer[]): Buffer {
  const pieces = entries.flatMap((bytes, i) => [
    packed([i + 1, 2], [1, 2], [0, 4], [bytes.byteLength, 8], bytes),
    Buffer.alloc((8 - (bytes.byteLength % 8)) % 8),
  ]);
  const usedBytes = pieces.reduce((sum, { byteLength }) => sum + byteLength, ENTRY_HEAD_BYTES);
  const byteLength = Math.max(LEAST_HEAP_BYTES, usedBytes);
  // The rest is free: an entry without a number.
  const free = byteLength - usedBytes < ENTRY_HEAD_BYTES ? [] : [packed([0, 8], [byteLength - usedBytes, 8])];
  return Buffer.concat([packed(Buffer.from('GCOL'), [1, 4], [byteLength, 8]), ...pieces, ...free], byteLength);
}
