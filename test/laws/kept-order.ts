/**
 * What docs/ORDER.md says where one of equal records is kept and then weighed and put into a split, computed in the plainest
 * way: keep the first of each identity, make its copies, key them by the hash of the identity, sort.
 */
import { recordHash, recordKey } from '../workers/kernel/kernel-twin.js';
import { keyOf } from './reference-order.js';
import { type CopiesAndChance, copiesAndChance } from './weighed-order.js';

interface KeptRules {
  /** What equal records have in common. */
  readonly identityOf: (record: Buffer) => Buffer;
  /** Absent: each record comes once. */
  readonly weightOf?: (record: Buffer, ordinal: number) => CopiesAndChance;
  /** The keys at which splits begin, the first of them 0, and 2^64. Absent: there are no splits. */
  readonly bounds?: readonly bigint[];
  /** The value that chooses the split. Absent: the key of the first copy does. */
  readonly splitValueOf?: (record: Buffer) => Buffer;
}

/** Returns the records of each split, or of the only one. */
export function keptOrder(
  recordsOfInputs: readonly (readonly Buffer[])[],
  { identityOf, weightOf = () => copiesAndChance('1'), bounds = [0n, 1n << 64n], splitValueOf }: KeptRules,
  seed: string,
): Buffer[][] {
  const ofContent = keyOf(seed, 'content', '');
  const ofSplits = keyOf(seed, 'splits', '');
  const first = new Map<string, { readonly record: Buffer; readonly identity: Buffer; readonly ordinal: number }>();
  for (const [ordinal, records] of recordsOfInputs.entries()) {
    for (const record of records) {
      const identity = identityOf(record);
      const name = identity.toString('latin1');
      if (!first.has(name)) first.set(name, { record, identity, ordinal });
    }
  }
  const copies = [...first.values()].flatMap(({ record, identity, ordinal }) => {
    const position = recordHash(identity);
    const { copies: whole, chance } = weightOf(record, ordinal);
    const draw =
      splitValueOf === undefined
        ? recordKey(position, ofContent)
        : recordKey(recordHash(splitValueOf(record)), ofSplits);
    const split = bounds.findLastIndex((bound) => bound <= draw);
    const [low = 0n, high = 0n] = bounds.slice(split, split + 2);
    const count = whole + (recordKey(position, ofContent, whole, 1) < chance ? 1 : 0);
    return Array.from({ length: count }, (_, copy) => {
      const own = recordKey(position, ofContent, copy);
      const isMapped = splitValueOf !== undefined || copy > 0;
      return { split, identity, record, key: isMapped ? low + ((own * (high - low)) >> 64n) : own };
    });
  });
  copies.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : Buffer.compare(a.identity, b.identity)));
  return bounds.slice(1).map((_, i) => copies.filter(({ split }) => split === i).map(({ record }) => record));
}
