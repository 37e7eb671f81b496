/**
 * Orders a few records that are in memory, as a shuffle of one input would (docs/ORDER.md): by their keys, and by their
 * positions where keys are equal. It has no passes, no threads and no kernel to load, so a few records take a tenth of
 * the time. Philox is the generator of `workers/kernel/assembly/philox.ts`.
 *
 * Keys have 64 bits, and numbers here 53: a sort key is the upper half of the key, then the ordinal of the record. Records
 * of one upper half are neighbours then, and are put in order by the lower half. The sort is that of the engine, without
 * a function that compares.
 */
import type { RecordList } from '../formats/record-list.js';
import { deriveInputKey } from '../keys.js';

const ORDINAL_BITS = 21;
const ORDINALS = 2 ** ORDINAL_BITS;
/** Up to here, a loop copies faster than a call. */
const SHORT_BYTES = 64;
/** Positions are 32-bit numbers here. */
const MOST_BYTES = 2 ** 32;

const INPUT_ORDINAL = '0';

/** Whether there are few enough records. */
export function areFew({ bytes, ends }: RecordList): boolean {
  return ends.length <= ORDINALS && bytes.byteLength < MOST_BYTES;
}

/**
 * @param list few enough records: see `areFew`.
 * @param headCount only the first of the order, so many.
 * @returns the records in their order, one behind the other.
 */
export function orderFew({ bytes, ends }: RecordList, seed: string, headCount = Number.POSITIVE_INFINITY): Uint8Array {
  const order = orderOf(ends, deriveInputKey(seed, INPUT_ORDINAL)).subarray(0, Math.min(headCount, ends.length));
  let byteLength = 0;
  for (const record of order) byteLength += (ends[record] ?? 0) - startOf(ends, record);
  const ordered = new Uint8Array(byteLength);
  let filled = 0;
  for (const record of order) {
    const start = startOf(ends, record);
    const end = ends[record] ?? 0;
    if (end - start > SHORT_BYTES) ordered.set(bytes.subarray(start, end), filled);
    else for (let at = start; at < end; at++) ordered[filled + at - start] = bytes[at] ?? 0;
    filled += end - start;
  }
  return ordered;
}

function startOf(ends: Float64Array, record: number): number {
  return record === 0 ? 0 : (ends[record - 1] ?? 0);
}

/** The ordinals of the records in the order of their keys. */
function orderOf(ends: Float64Array, inputKey: bigint): Uint32Array {
  const count = ends.length;
  const upper = new Uint32Array(count);
  const lower = new Uint32Array(count);
  fillKeys(ends, inputKey, upper, lower);
  const sorted = new Float64Array(count);
  for (let record = 0; record < count; record++) sorted[record] = (upper[record] ?? 0) * ORDINALS + record;
  sorted.sort();
  const order = new Uint32Array(count);
  for (let rank = 0; rank < count; rank++) order[rank] = (sorted[rank] ?? 0) % ORDINALS;
  for (let first = 0, end = 1; first < count; first = end, end += 1) {
    const half = upper[order[first] ?? 0];
    while (end < count && upper[order[end] ?? 0] === half) end += 1;
    // Records of equal keys stay in the order of their positions.
    if (end - first > 1) order.subarray(first, end).sort((a, b) => (lower[a] ?? 0) - (lower[b] ?? 0) || a - b);
  }
  return order;
}

/** The keys of the records: words 1 and 0 of Philox4x32-10, with the position of a record as the counter. */
function fillKeys(ends: Float64Array, inputKey: bigint, upper: Uint32Array, lower: Uint32Array): void {
  const firstKey0 = Number(inputKey & 0xffffffffn) | 0;
  const firstKey1 = Number(inputKey >> 32n) | 0;
  let position = 0;
  for (let record = 0; record < ends.length; record++) {
    let c0 = position | 0;
    let c1 = 0;
    let c2 = 0;
    let c3 = 0;
    let k0 = firstKey0;
    let k1 = firstKey1;
    for (let round = 0; round < 10; round++) {
      const next0 = upperProduct(0xcd9e, 0x8d57, c2) ^ c1 ^ k0;
      const next2 = upperProduct(0xd251, 0x1f53, c0) ^ c3 ^ k1;
      c1 = Math.imul(0xcd9e8d57, c2);
      c3 = Math.imul(0xd2511f53, c0);
      c0 = next0;
      c2 = next2;
      k0 = (k0 + 0x9e3779b9) | 0;
      k1 = (k1 + 0xbb67ae85) | 0;
    }
    lower[record] = c0;
    upper[record] = c1;
    position = ends[record] ?? 0;
  }
}

/** The upper 32 bits of the product of two 32-bit numbers, one of them given as its halves. */
function upperProduct(upperHalf: number, lowerHalf: number, factor: number): number {
  const upper = factor >>> 16;
  const lower = factor & 0xffff;
  const middle = upper * lowerHalf + ((lower * lowerHalf) >>> 16);
  const other = lower * upperHalf + (middle & 0xffff);
  return (upper * upperHalf + (middle >>> 16) + (other >>> 16)) | 0;
}
