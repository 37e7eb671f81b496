/** The splits that docs/ORDER.md defines, computed in the plainest way. */
import type { SplitRule } from '#src/index.js';
import { recordHash, recordKey } from '../workers/kernel/kernel-twin.js';
import { keyedOrder, keyOf } from './reference-order.js';

export const SPLITS: readonly SplitRule[] = [
  { name: 'train', share: 0.6 },
  { name: 'dev', share: 0.15 },
  { name: 'test', rest: true },
];
export const SPLITS_BEGIN = [0n, (60n << 64n) / 100n, (75n << 64n) / 100n, 1n << 64n];

/** The records of each of `SPLITS`, in order, where their keys choose the split. */
export function splitsByKey(
  recordsOfInputs: readonly (readonly Buffer[])[],
  seed: string,
  headerBytes: readonly number[] = [],
): Buffer[][] {
  const order = keyedOrder(recordsOfInputs, seed, headerBytes);
  const splitOf = (key: bigint) => SPLITS_BEGIN.findLastIndex((bound) => bound <= key);
  return SPLITS.map((_, i) => order.filter(({ key }) => splitOf(key) === i).map(({ record }) => record));
}

/**
 * The same, where values choose it.
 * @param hashedOf the bytes that are hashed: of a string, a quote and its characters.
 * @param headerBytes before the first record of each input.
 */
export function referenceSplits(
  recordsOfInputs: readonly (readonly Buffer[])[],
  seed: string,
  hashedOf: (record: Buffer) => Buffer,
  headerBytes: readonly number[] = [],
): Buffer[][] {
  const ofDraws = keyOf(seed, 'splits', '');
  const mapped = keyedOrder(recordsOfInputs, seed, headerBytes).map(({ key, record }) => {
    const draw = recordKey(recordHash(hashedOf(record)), ofDraws);
    const split = SPLITS_BEGIN.findLastIndex((bound) => bound <= draw);
    const [low = 0n, high = 0n] = SPLITS_BEGIN.slice(split, split + 2);
    return { split, key: low + ((key * (high - low)) >> 64n), record };
  });
  // The sort is stable, and mapping keeps the order of keys but for some that become equal.
  mapped.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return SPLITS.map((_, i) => mapped.filter(({ split }) => split === i).map(({ record }) => record));
}
