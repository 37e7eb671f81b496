/** The splits that docs/ORDER.md defines for records of which a value chooses the split, computed in the plainest way. */
import { createHash } from 'node:crypto';
import type { SplitRule } from '#src/index.js';
import { recordHash, recordKey } from '../workers/kernel/kernel-twin.js';
import { keyedOrder } from './reference-order.js';

export const SPLITS: readonly SplitRule[] = [
  { name: 'train', share: 0.6 },
  { name: 'dev', share: 0.15 },
  { name: 'test', rest: true },
];
const BOUNDS = [0n, (60n << 64n) / 100n, (75n << 64n) / 100n, 1n << 64n];

function splitKey(seed: string): bigint {
  const texts = [seed, 'splits', ''].map((text) => Buffer.from(text));
  const parts = texts.flatMap((text) => [Buffer.from(new BigUint64Array([BigInt(text.byteLength)]).buffer), text]);
  return createHash('sha256').update(Buffer.concat(parts)).digest().readBigUInt64LE();
}

/**
 * The records of each of `SPLITS`, in order.
 * @param hashedOf the bytes that are hashed: of a string, a quote and its characters.
 * @param headerBytes before the first record of each input.
 */
export function referenceSplits(
  recordsOfInputs: readonly (readonly Buffer[])[],
  seed: string,
  hashedOf: (record: Buffer) => Buffer,
  headerBytes: readonly number[] = [],
): Buffer[][] {
  const ofDraws = splitKey(seed);
  const mapped = keyedOrder(recordsOfInputs, seed, headerBytes).map(({ key, record }) => {
    const draw = recordKey(recordHash(hashedOf(record)), ofDraws);
    const split = BOUNDS.findLastIndex((bound) => bound <= draw);
    const [low = 0n, high = 0n] = BOUNDS.slice(split, split + 2);
    return { split, key: low + ((key * (high - low)) >> 64n), record };
  });
  // The sort is stable, and mapping keeps the order of keys but for some that become equal.
  mapped.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return SPLITS.map((_, i) => mapped.filter(({ split }) => split === i).map(({ record }) => record));
}
