/**
 * Finds where the records of a report's sample come in the output: looked up by their keys in ordered piles, just
 * before these are written. A thread works on one task of a profiled job at a time, so the notes are those of that
 * task.
 */
import type { PileOrderer } from './pile-orderer.js';

export interface WrittenRecord {
  readonly key: bigint;
  readonly pile: number;
  /** Its number, from 0, among the records that the output has of its pile. */
  readonly index: number;
  /** The key of the next record in the output; undefined where that one is ordered alone. */
  readonly nextKey: bigint | undefined;
}

let noted: WrittenRecord[] | undefined;

/**
 * Looks through the first `count` ordered records, and notes those that have one of the ascending `keys`.
 * @param begin the place of the first one.
 */
export function noteWritten(
  keys: BigUint64Array,
  order: Pick<PileOrderer, 'keyAt'>,
  count: number,
  begin: Pick<WrittenRecord, 'pile' | 'index'>,
): void {
  noted ??= [];
  if (count === 0) return;
  const last = order.keyAt(count - 1);
  let found = 0;
  for (let i = lowestAtLeast(order.keyAt(0), 0, keys.length, (at) => keys[at] ?? 0n); i < keys.length; i++) {
    const key = keys[i] ?? 0n;
    if (key > last) return;
    found = lowestAtLeast(key, found, count, (at) => order.keyAt(at));
    if (order.keyAt(found) !== key) continue;
    const nextKey = found + 1 < count ? order.keyAt(found + 1) : undefined;
    noted.push({ key, pile: begin.pile, index: begin.index + found, nextKey });
  }
}

/** `high` if no key is at least `key`. */
function lowestAtLeast(key: bigint, low: number, high: number, keyAt: (at: number) => bigint): number {
  let [first, end] = [low, high];
  while (first < end) {
    const middle = Math.floor((first + end) / 2);
    if (keyAt(middle) < key) first = middle + 1;
    else end = middle;
  }
  return first;
}

/** Returns the noted records, and forgets them. Undefined: the task was not asked to note. */
export function takeWrittenRecords(): readonly WrittenRecord[] | undefined {
  const records = noted;
  noted = undefined;
  return records;
}
